//! A real file that is watched. Each step waits for the event of the one before, at most ten seconds.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use reattempt::config;
use reattempt::observe::{self, Event};

use crate::support::{File, turn};

const BOUND: Duration = Duration::from_secs(10);

/// The event of each configuration.
fn events() -> (Receiver<String>, observe::ObserverHandle) {
    let (send, events) = channel();
    let send = std::sync::Mutex::new(send);
    let added = observe::add(move |event: &Event<'_>| {
        let said = match event {
            Event::Reloaded { .. } => event.name().to_owned(),
            Event::ReloadRefused(faults) => format!("{}: {faults}", event.name()),
            _ => return,
        };
        let _ = send.lock().unwrap().send(said);
    });
    (events, added)
}

fn max() -> Option<u32> {
    config::policy("watched").unwrap().attempts()
}

#[test]
fn a_file_that_changes_is_loaded_again() {
    let _turn = turn();
    let file = File::new("[policies.watched]\nmax = 2\n");
    let (events, added) = events();
    let next = || events.recv_timeout(BOUND).unwrap();
    let watching = config::watch(file.path()).unwrap();
    assert_eq!((next().as_str(), max()), ("reloaded", Some(2)));

    file.write("[policies.watched]\nmax = 3\n");
    assert_eq!((next().as_str(), max()), ("reloaded", Some(3)));
    assert!(watching.last_error().is_none());

    file.replace("[policies.watched]\nmax = 4\n");
    assert_eq!((next().as_str(), max()), ("reloaded", Some(4)));

    file.write("[policies.watched]\nmax = 0\n");
    let said = next();
    assert!(
        said.starts_with("reload_refused: ") && said.contains("R1"),
        "{said}"
    );
    assert_eq!(max(), Some(4));
    assert!(config::status().last_error().is_some());

    // Read again, and reported no more. Nothing tells that it was read, so this waits: it is read after 50 ms.
    file.write("[policies.watched]\nmax = 0\n");
    let again = events.recv_timeout(Duration::from_millis(500));
    assert!(again.is_err(), "reported again: {again:?}");

    // Cut off, and then whole.
    file.write("[policies.watched]\nmax = 5");
    assert!(next().contains("cut off"));
    file.write("[policies.watched]\nmax = 5\n");
    assert_eq!((next().as_str(), max()), ("reloaded", Some(5)));
    assert!(config::status().last_error().is_none());

    // Nobody looks any more.
    drop(watching);
    file.write("[policies.watched]\nmax = 6\n");
    assert_eq!(max(), Some(5));
    added.remove();
    assert!(events.recv().is_err(), "an event after the end");
}

#[test]
fn an_observer_that_panics_ends_nothing() {
    let _turn = turn();
    let file = File::new("[policies.watched]\nmax = 2\n");
    let watching = config::watch(file.path()).unwrap();
    let panics = observe::add(|event: &Event<'_>| {
        assert!(
            !matches!(event, Event::Reloaded { .. }),
            "an observer panics"
        );
    });
    let (events, added) = events();
    let next = || events.recv_timeout(BOUND).unwrap();
    file.write("[policies.watched]\nmax = 0\n");
    assert!(next().contains("R1"));
    // Nor the report to the observers after it.
    file.write("[policies.watched]\nmax = 3\n");
    assert_eq!(next(), "reloaded");
    assert_eq!(max(), Some(3));
    file.write("[policies.watched]\nmax = 0\n");
    assert!(next().contains("R1"));
    drop(watching);
    panics.remove();
    added.remove();
}

/// As Kubernetes does it: the file is a link into a folder that is a link, which is turned.
#[cfg(unix)]
#[test]
fn a_link_that_is_turned_is_followed() {
    use std::os::unix::fs::symlink;

    let _turn = turn();
    let holder = File::new("");
    let folder = holder.folder().join("mounted");
    for (version, max) in [("one", 2), ("two", 3)] {
        let version = folder.join(version);
        std::fs::create_dir_all(&version).unwrap();
        let text = format!("[policies.watched]\nmax = {max}\n");
        std::fs::write(version.join("retry.toml"), text).unwrap();
    }
    symlink("one", folder.join("data")).unwrap();
    symlink("data/retry.toml", folder.join("retry.toml")).unwrap();
    let (events, added) = events();
    let watching = Arc::new(config::watch(folder.join("retry.toml")).unwrap());
    assert_eq!(events.recv_timeout(BOUND).unwrap(), "reloaded");
    assert_eq!(max(), Some(2));
    symlink("two", folder.join("data.new")).unwrap();
    std::fs::rename(folder.join("data.new"), folder.join("data")).unwrap();
    assert_eq!(events.recv_timeout(BOUND).unwrap(), "reloaded");
    assert_eq!(max(), Some(3));
    drop(watching);
    added.remove();
}

#[test]
fn what_cannot_be_watched() {
    let _turn = turn();
    let file = File::new("[policies.watched]\nmax = 0\n");
    let error = config::watch(file.path()).unwrap_err();
    assert!(error.is_refused() && error.faults().is_some());
    assert!(error.to_string().contains("R1"), "{error}");
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(config::current().is_none_or(|config| config.policy("watched").is_none()));
}

fn text(max: u32) -> String {
    format!("[policies.watched]\nmax = {max}\n")
}

/// A service may start before the volume with its configuration is there.
#[test]
fn a_file_that_is_missing_is_waited_for() {
    let _turn = turn();
    for missing in ["retry.toml", "later/config/retry.toml"] {
        let holder = File::new("");
        let path = holder.folder().join("mounted").join(missing);
        std::fs::create_dir(holder.folder().join("mounted")).unwrap();
        let (events, added) = events();
        let next = || events.recv_timeout(BOUND).unwrap();
        let watching = config::watch(&path).unwrap();
        let said = watching.last_error().unwrap().to_string();
        let start = format!("{}: cannot ", path.display());
        assert!(
            said.starts_with(&start) && said.contains("[file]"),
            "{said}"
        );
        assert_eq!(next(), format!("reload_refused: {said}"));
        assert!(config::status().watched_since().is_some());

        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Whole at once, however long this thread is not run.
        let new = holder.folder().join("new.toml");
        std::fs::write(&new, text(2)).unwrap();
        std::fs::rename(&new, &path).unwrap();
        assert_eq!((next().as_str(), max()), ("reloaded", Some(2)));
        // The handle is told after the observers.
        let start = Instant::now();
        while watching.last_error().is_some() {
            assert!(start.elapsed() < BOUND);
            std::thread::yield_now();
        }
        drop(watching);
        assert_eq!(config::status().watched_since(), None);
        added.remove();
    }
}

/// As Capistrano and Nix do it: the link that is turned is above the folder of the file.
#[cfg(unix)]
#[test]
fn a_link_above_the_folder_is_followed() {
    use std::os::unix::fs::symlink;

    let _turn = turn();
    let holder = File::new("");
    let root = holder.folder().join("service");
    for release in 1..4 {
        let folder = root.join(format!("releases/{release}/config"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("retry.toml"), text(release + 1)).unwrap();
    }
    symlink("releases/1", root.join("current")).unwrap();
    let (events, added) = events();
    let next = || events.recv_timeout(BOUND).unwrap();
    let watching = config::watch(root.join("current/config/retry.toml")).unwrap();
    assert_eq!((next().as_str(), max()), ("reloaded", Some(2)));
    for release in 2..4 {
        symlink(format!("releases/{release}"), root.join("new")).unwrap();
        std::fs::rename(root.join("new"), root.join("current")).unwrap();
        assert_eq!((next().as_str(), max()), ("reloaded", Some(release + 1)));
        let mode = config::status().watch_mode();
        assert_eq!(mode, Some(config::WatchMode::Events));
    }
    drop(watching);
    added.remove();
}

/// A deployment moves the folder and makes it anew, more than once.
#[test]
fn a_folder_that_is_made_anew_is_followed() {
    let _turn = turn();
    let holder = File::new("");
    let folder = holder.folder().join("config");
    let make = |max| {
        let new = holder.folder().join(format!("new-{max}"));
        std::fs::create_dir(&new).unwrap();
        std::fs::write(new.join("retry.toml"), text(max)).unwrap();
        if folder.exists() {
            std::fs::rename(&folder, holder.folder().join(format!("old-{max}"))).unwrap();
        }
        std::fs::rename(&new, &folder).unwrap();
    };
    make(2);
    let (events, added) = events();
    // Between the two renames the file may be seen to be missing.
    let next = || {
        let said = std::iter::repeat_with(|| events.recv_timeout(BOUND).unwrap());
        said.into_iter().find(|said| said == "reloaded").unwrap()
    };
    let watching = config::watch(folder.join("retry.toml")).unwrap();
    assert_eq!((next().as_str(), max()), ("reloaded", Some(2)));
    for max_now in 3..6 {
        make(max_now);
        assert_eq!((next().as_str(), max()), ("reloaded", Some(max_now)));
    }
    drop(watching);
    added.remove();
}

/// A file that has lost a key may be cut off: it is read when nobody has written for a second.
#[test]
fn a_key_that_is_removed_is_removed_later() {
    let _turn = turn();
    let file = File::new("[policies.watched]\nbase = '2s'\nmax = 2\n");
    let (events, added) = events();
    let next = || events.recv_timeout(BOUND).unwrap();
    let watching = config::watch(file.path()).unwrap();
    assert_eq!((next().as_str(), max()), ("reloaded", Some(2)));
    let start = Instant::now();
    file.replace("[policies.watched]\nbase = '2s'\n");
    assert_eq!((next().as_str(), max()), ("reloaded", Some(3)));
    assert!(start.elapsed() >= Duration::from_secs(1));
    drop(watching);
    added.remove();
}

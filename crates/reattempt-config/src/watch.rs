//! Reloading when the file changes. Watched is each folder on the way to the file: editors and deployments put another file
//! in its place, turn a link above it, or move the folder and make it anew.

use core::fmt;
use std::collections::HashSet;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::ConfigError;
use super::live::{self, WatchMode};
use super::way::Way;
use retry_runtime::rules::RuleId;

/// Nothing has been written for this long, so that whoever writes is done with it.
const QUIET: Duration = Duration::from_millis(50);

/// A folder that is never quiet is read all the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// For so long a file that has lost keys is not read: whoever writes may go on.
const HOLD: Duration = Duration::from_secs(1);

/// How often it looks at the file, whatever the system tells.
const LOOK: Duration = Duration::from_secs(60);

/// Loads the file at `path`, and again whenever it changes, until the answer is dropped.
///
/// A change is read when the file has been quiet for 50 ms; where a key is gone and the file is shorter, for a second, since
/// the file may be cut off in the middle of a write. Files that are renamed over it are seen, links that are turned,
/// as Kubernetes does with config maps, also above the folder of the file, and folders that are moved and made anew. Where
/// the system tells of no change, as with some network volumes, the file is looked at once a minute. A reload that is
/// refused changes nothing.
///
/// A file that is not there is waited for. Until then [`status`](super::status) and [`WatchHandle::last_error`] say that it
/// is missing, and the keys in the code hold.
///
/// # Errors
///
/// [`WatchError::is_refused`] when the file has faults; otherwise the operating system gives no thread.
pub fn watch(path: impl AsRef<Path>) -> Result<WatchHandle, WatchError> {
    watch_every(path, LOOK)
}

/// As [`watch`], and looks at the file each `look`, which is one minute there.
///
/// # Errors
///
/// As [`watch`].
pub fn watch_every(path: impl AsRef<Path>, look: Duration) -> Result<WatchHandle, WatchError> {
    let path = path.as_ref();
    let (tell, told) = channel();
    // Watched first: what changes while it is read is read again.
    let armed = Armed::at(path, &tell);
    let last = match live::load(path) {
        Ok(()) => None,
        Err(faults) if path.exists() => return Err(WatchError(Why::Refused(faults))),
        Err(faults) => Some(faults),
    };
    live::set_watch(Some((SystemTime::now(), armed.mode)));
    let last = Arc::new(Mutex::new(last));
    let thread = {
        let following = Following {
            path: path.to_owned(),
            look,
            tell: tell.clone(),
            last: Arc::clone(&last),
        };
        std::thread::Builder::new()
            .name("reattempt-config".to_owned())
            .spawn(move || following.run(armed, &told))
            .map_err(|error| WatchError(Why::NoThread(path.to_owned(), error)))?
    };
    Ok(WatchHandle {
        tell,
        thread: Some(thread),
        last,
    })
}

/// What the thread is told.
enum Told {
    Changed,
    Ended,
}

/// What tells of a change of one state of the file, and that state.
struct Armed {
    /// Dropped it tells no more.
    _watcher: Option<RecommendedWatcher>,
    mode: WatchMode,
    way: Way,
}

impl Armed {
    fn at(path: &Path, tell: &Sender<Told>) -> Self {
        let way = Way::to(path);
        let watcher = watcher(&way, tell);
        let mode = match &watcher {
            Some(_) => WatchMode::Events,
            None => WatchMode::Polling,
        };
        Self {
            _watcher: watcher,
            mode,
            way,
        }
    }
}

/// None, if the system does not tell of changes in the folder of the file.
fn watcher(way: &Way, tell: &Sender<Told>) -> Option<RecommendedWatcher> {
    let (entries, tell): (HashSet<PathBuf>, _) = (way.entries().collect(), tell.clone());
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // Reading it is no change, and of the folders above it one entry matters.
        let is_change = event.map_or(true, |event| {
            let is_on_the_way = event.paths.iter().any(|path| entries.contains(path));
            let matters = event.paths.is_empty() || is_on_the_way;
            matters && !matches!(event.kind, EventKind::Access(_))
        });
        if is_change {
            // Nobody listens any more when this ends.
            let _ = tell.send(Told::Changed);
        }
    })
    .ok()?;
    let mut tells_of_last = false;
    for folder in way.folders() {
        let begun = watcher.watch(folder, RecursiveMode::NonRecursive);
        tells_of_last = begun.is_ok();
    }
    tells_of_last.then_some(watcher)
}

/// The thread that reads the file again.
struct Following {
    path: PathBuf,
    look: Duration,
    tell: Sender<Told>,
    last: Arc<Mutex<Option<ConfigError>>>,
}

impl Following {
    fn run(self, mut armed: Armed, told: &Receiver<Told>) {
        while let Some(has_changed) = self.has_changed(&armed, told) {
            if !has_changed {
                continue;
            }
            if live::has_lost_keys(&self.path) && !settles(told, HOLD) {
                break;
            }
            armed = Armed::at(&self.path, &self.tell);
            live::set_watch_mode(armed.mode);
            self.read();
        }
        live::set_watch(None);
    }

    /// Waits for a change, or until it is time to look; `None` when nobody watches any more.
    fn has_changed(&self, armed: &Armed, told: &Receiver<Told>) -> Option<bool> {
        match told.recv_timeout(self.look) {
            Ok(Told::Changed) => settles(told, QUIET).then_some(true),
            Err(RecvTimeoutError::Timeout) => Some(armed.way != Way::to(&self.path)),
            Ok(Told::Ended) | Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    fn read(&self) {
        // A subscriber of `tracing` that panics ends the report, not the watching: the policies hold by then.
        let faults = match catch_unwind(|| live::load_again(&self.path)) {
            Ok(came) => came.err(),
            Err(_) => live::status().last_error().cloned(),
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = faults;
    }
}

/// Waits for the end of a write, after which nothing changes for as long as `quiet`; `false` when nobody watches any more.
fn settles(told: &Receiver<Told>, quiet: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match told.recv_timeout(quiet) {
            Ok(Told::Changed) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Ok(Told::Ended) | Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}

/// A file that is watched; dropping this ends it.
#[must_use = "dropped at once it watches nothing"]
pub struct WatchHandle {
    tell: Sender<Told>,
    thread: Option<JoinHandle<()>>,
    last: Arc<Mutex<Option<ConfigError>>>,
}

impl WatchHandle {
    /// Returns why the last change was refused; `None` after a good one.
    pub fn last_error(&self) -> Option<ConfigError> {
        self.last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for WatchHandle {
    fn drop(&mut self) {
        let _ = self.tell.send(Told::Ended);
        // Dropped by an observer, this is that thread.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ended = thread.join();
        }
    }
}

impl fmt::Debug for WatchHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchHandle").finish_non_exhaustive()
    }
}

/// Why a file is not watched.
///
/// `Debug` writes the same as `Display`, so a `main` that returns the error shows it.
pub struct WatchError(Why);

enum Why {
    Refused(ConfigError),
    NoThread(PathBuf, std::io::Error),
}

impl WatchError {
    /// Returns whether the file was read, and has faults.
    pub const fn is_refused(&self) -> bool {
        matches!(self.0, Why::Refused(_))
    }

    /// Returns the faults of the file.
    pub const fn faults(&self) -> Option<&ConfigError> {
        match &self.0 {
            Why::Refused(faults) => Some(faults),
            Why::NoThread(..) => None,
        }
    }
}

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Refused(faults) => fmt::Display::fmt(faults, f),
            Why::NoThread(path, error) => write!(
                f,
                "{}: there is no thread to watch the file ({error}); raise the limit, or load the file without watching it [{file}] ({})",
                path.display(),
                RuleId::File.url(),
                file = RuleId::File,
            ),
        }
    }
}

impl fmt::Debug for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for WatchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Why::Refused(_) => None,
            Why::NoThread(_, error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_of_many_pieces_is_one() {
        let (tell, told) = channel();
        for _ in 0..1000 {
            let _ = tell.send(Told::Changed);
        }
        assert!(settles(&told, QUIET));
        assert!(told.try_recv().is_err(), "read before the last piece");
        let _ = tell.send(Told::Ended);
        assert!(!settles(&told, QUIET));
    }

    /// Looks at the file at `path` each millisecond, and the system tells of nothing.
    fn looking(path: &Path, tell: &Sender<Told>) -> (Following, Armed) {
        let following = Following {
            path: path.to_owned(),
            look: Duration::from_millis(1),
            tell: tell.clone(),
            last: Arc::default(),
        };
        let armed = Armed {
            _watcher: None,
            mode: WatchMode::Polling,
            way: Way::to(path),
        };
        (following, armed)
    }

    #[test]
    fn a_file_is_read_again_where_it_has_changed() {
        let (tell, told) = channel();
        let (following, armed) = looking(Path::new("/there is no such file"), &tell);
        assert_eq!(following.has_changed(&armed, &told), Some(false));
        let (other, _) = looking(&std::env::temp_dir(), &tell);
        assert_eq!(other.has_changed(&armed, &told), Some(true));
        let _ = tell.send(Told::Changed);
        assert_eq!(following.has_changed(&armed, &told), Some(true));
        let _ = tell.send(Told::Changed);
        let _ = tell.send(Told::Ended);
        assert_eq!(following.has_changed(&armed, &told), None);
        let _ = tell.send(Told::Ended);
        assert_eq!(following.has_changed(&armed, &told), None);
    }

    #[test]
    fn an_error_says_whether_the_file_was_refused() {
        use std::error::Error as _;

        let faults = super::super::Config::from_toml("max = 3").expect_err("it has a fault");
        let refused = WatchError(Why::Refused(faults.clone()));
        assert!(refused.is_refused() && refused.source().is_none());
        assert_eq!(refused.faults(), Some(&faults));
        assert_eq!(refused.to_string(), faults.to_string());
        let path = PathBuf::from("retry.toml");
        let none = WatchError(Why::NoThread(path, std::io::ErrorKind::OutOfMemory.into()));
        assert!(!none.is_refused() && none.source().is_some());
        assert_eq!(none.faults(), None);
        let text = none.to_string();
        assert!(
            text.starts_with("retry.toml: there is no thread to watch the file (out of memory)"),
            "{text}"
        );
    }

    #[test]
    fn a_change_that_nobody_tells_is_seen() {
        let path = std::env::temp_dir().join(format!("reattempt-look-{}.toml", std::process::id()));
        let write = |max: u32| std::fs::write(&path, format!("[policies.looked]\nmax = {max}0\n"));
        write(1).expect("written");
        let (tell, told) = channel();
        let (following, armed) = looking(&path, &tell);
        std::fs::remove_file(&path).expect("removed");
        write(2).expect("written");
        std::thread::scope(|threads| {
            threads.spawn(move || following.run(armed, &told));
            let max = || live::policy("looked").and_then(|policy| policy.attempts());
            let start = Instant::now();
            while max() != Some(20) && start.elapsed() < Duration::from_secs(10) {
                std::thread::yield_now();
            }
            assert_eq!(max(), Some(20));
            let _ = tell.send(Told::Ended);
        });
        std::fs::remove_file(&path).expect("removed");
    }
}

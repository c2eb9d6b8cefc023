//! Reloading when the file changes. What is watched is the folder: editors and deployments put another file in
//! its place, or turn a link.

use core::fmt;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::ConfigError;
use super::live;
use retry_runtime::rules::RuleId;

/// Nothing has been written for this long, so that whoever writes is done with it.
const QUIET: Duration = Duration::from_millis(50);

/// A folder that is never quiet is read all the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// Loads the file at `path`, and again whenever it changes, until the answer is dropped.
///
/// A change is read when the file has been quiet for 50 ms. Files that are renamed over it are seen, and links that
/// are turned, as Kubernetes does with config maps. Of a link into another folder the one that it points to when
/// watching begins is watched, too. A reload that is refused changes nothing.
///
/// # Errors
///
/// [`WatchError::is_refused`] when the file has faults; otherwise the operating system does not let it be watched.
pub fn watch(path: impl AsRef<Path>) -> Result<WatchHandle, WatchError> {
    let path = path.as_ref();
    let (notify, changes) = channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // Reading it is none.
        let is_change = event.map_or(true, |event| !matches!(event.kind, EventKind::Access(_)));
        if is_change {
            // Nobody listens any more when this ends.
            let _ = notify.send(());
        }
    })
    .map_err(|error| unwatched(path, error))?;
    // Watched first: what changes while it is read is read again.
    for folder in folders(path) {
        watcher
            .watch(&folder, RecursiveMode::NonRecursive)
            .map_err(|error| unwatched(path, error))?;
    }
    live::load(path)?;
    let last = Arc::new(Mutex::new(None));
    let thread = {
        let (file, last) = (path.to_owned(), Arc::clone(&last));
        std::thread::Builder::new()
            .name("reattempt-config".to_owned())
            .spawn(move || follow(&file, &changes, &last))
            .map_err(|error| unwatched(path, notify::Error::io(error)))?
    };
    Ok(WatchHandle {
        watcher: Some(watcher),
        thread: Some(thread),
        last,
    })
}

/// Where the file lies, and where what it points to does.
fn folders(path: &Path) -> Vec<PathBuf> {
    let of = |path: &Path| {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        folder.unwrap_or(Path::new(".")).to_owned()
    };
    let mut folders = vec![of(path)];
    if let Ok(target) = path.canonicalize() {
        let folder = of(&target);
        let is_known = folders
            .iter()
            .any(|known| known.canonicalize().is_ok_and(|known| known == folder));
        if !is_known {
            folders.push(folder);
        }
    }
    folders
}

/// Until the watcher is dropped, which ends the channel.
fn follow(path: &Path, changes: &Receiver<()>, last: &Mutex<Option<ConfigError>>) {
    while changes.recv().is_ok() && settles(changes) {
        // An observer that panics ends the report, not the watching: the policies hold by then.
        let faults = match catch_unwind(|| live::load_again(path)) {
            Ok(came) => came.err(),
            Err(_) => live::status().last_error().cloned(),
        };
        *last.lock().unwrap_or_else(PoisonError::into_inner) = faults;
    }
}

/// Waits for the end of a write; `false` when nobody watches any more.
fn settles(changes: &Receiver<()>) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match changes.recv_timeout(QUIET) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}

/// A file that is watched; dropping this ends it.
#[must_use = "dropped at once it watches nothing"]
pub struct WatchHandle {
    watcher: Option<RecommendedWatcher>,
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
        drop(self.watcher.take());
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
    Unwatched(PathBuf, notify::Error),
}

fn unwatched(path: &Path, error: notify::Error) -> WatchError {
    WatchError(Why::Unwatched(path.to_owned(), error))
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
            Why::Unwatched(..) => None,
        }
    }
}

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, error) = match &self.0 {
            Why::Refused(faults) => return fmt::Display::fmt(faults, f),
            Why::Unwatched(path, error) => (path.display(), error),
        };
        write!(f, "{path}: cannot watch the folder of the file (")?;
        // Notify appends the paths to what it says.
        match &error.kind {
            ErrorKind::Generic(said) => f.write_str(said)?,
            ErrorKind::Io(error) => write!(f, "{error}")?,
            ErrorKind::PathNotFound => f.write_str("there is none")?,
            _ => write!(f, "{error}")?,
        }
        let fix = match error.kind {
            ErrorKind::MaxFilesWatch => "raise the limit, or load the file without watching it",
            _ => "check the path and its permissions",
        };
        let file = RuleId::File;
        write!(f, "); {fix} [{file}] ({})", file.url())
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
            Why::Unwatched(_, error) => Some(error),
        }
    }
}

impl From<ConfigError> for WatchError {
    fn from(faults: ConfigError) -> Self {
        Self(Why::Refused(faults))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_of_many_pieces_is_one() {
        let (notify, changes) = channel();
        for _ in 0..1000 {
            let _ = notify.send(());
        }
        assert!(settles(&changes));
        assert!(changes.try_recv().is_err(), "read before the last piece");
        drop(notify);
        assert!(!settles(&changes));
    }
}

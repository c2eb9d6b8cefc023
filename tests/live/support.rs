//! Turns, files, and errors.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reattempt::config::{self, Config};
use reattempt::testing::{VirtualTime, virtual_time};

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

static TURN: Mutex<()> = Mutex::new(());

/// One test at a time, with nothing loaded and retries on; and so it is left.
pub(crate) struct Turn {
    _turn: MutexGuard<'static, ()>,
}

/// The turn of an async test, whose time is tokio's.
pub(crate) fn turn() -> Turn {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    clear();
    Turn { _turn: turn }
}

/// The turn of a sync test, and its time.
pub(crate) fn sync_turn() -> (Turn, VirtualTime) {
    (turn(), virtual_time())
}

impl Drop for Turn {
    fn drop(&mut self) {
        clear();
    }
}

fn clear() {
    config::resume_retries();
    install("");
}

#[track_caller]
pub(crate) fn install(text: &str) {
    Config::from_toml(text).unwrap().install().unwrap();
}

/// A file of a folder of its own, which goes with it.
pub(crate) struct File {
    folder: PathBuf,
    path: PathBuf,
}

impl File {
    pub(crate) fn new(text: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("reattempt-live-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("retry.toml");
        std::fs::write(&path, text).unwrap();
        Self { folder, path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// In place.
    pub(crate) fn write(&self, text: &str) {
        std::fs::write(&self.path, text).unwrap();
    }

    /// Another file, renamed over it.
    pub(crate) fn replace(&self, text: &str) {
        let other = self.folder.join("retry.toml.new");
        std::fs::write(&other, text).unwrap();
        std::fs::rename(&other, &self.path).unwrap();
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// An error that cannot be sent between threads.
#[derive(Debug)]
pub(crate) struct Local(pub(crate) std::rc::Rc<str>);

impl Local {
    pub(crate) fn new() -> Self {
        Self("local".into())
    }
}

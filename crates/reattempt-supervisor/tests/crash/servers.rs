//! A folder or a server for one run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(feature = "postgres")]
#[path = "../../../../examples/servers/mod.rs"]
mod postgres;

/// How many folders there were.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// The resources that are removed when the run is over.
pub(crate) enum Kept {
    Folder(PathBuf),
    #[cfg(feature = "postgres")]
    Server(postgres::Server),
}

impl Drop for Kept {
    fn drop(&mut self) {
        match self {
            Self::Folder(folder) => drop(std::fs::remove_dir_all(folder)),
            #[cfg(feature = "postgres")]
            Self::Server(_) => {}
        }
    }
}

/// The address for workers, and the resources behind it.
pub(crate) fn start(kind: &str) -> Option<(String, Kept)> {
    match kind {
        "sqlite" => {
            // A store that still closes its file may remove another one of the same name.
            let nth = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("retry-crash-{}-{nth}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            let file = folder.join("tasks.db").display().to_string();
            Some((file, Kept::Folder(folder)))
        }
        #[cfg(feature = "postgres")]
        "postgres" => {
            let server = postgres::Server::postgres()?;
            let url = server.url();
            Some((url, Kept::Server(server)))
        }
        other => panic!("there is no store `{other}`"),
    }
}

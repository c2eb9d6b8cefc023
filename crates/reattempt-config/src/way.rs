//! The way to a file: the folders and links that decide which file it is.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// As many links as a system follows.
const LINKS: u32 = 40;

/// Each entry on the way to a file, as it was found, and the file: if nothing of it is another one, neither is the file.
#[derive(Debug, PartialEq)]
pub(super) struct Way {
    /// The folders that are there, and the name that is looked for in each.
    entries: Vec<Entry>,
    file: Option<Written>,
}

#[derive(Debug, PartialEq)]
struct Entry {
    folder: PathBuf,
    name: OsString,
    /// The folder itself: another one may come to be at the same place.
    identity: Option<Identity>,
}

/// The device and the number of a file, where the system has them.
#[derive(Debug, PartialEq)]
struct Identity(u64, u64);

/// What a write changes.
#[derive(Debug, PartialEq)]
struct Written {
    identity: Option<Identity>,
    changed_at: Option<SystemTime>,
    length: u64,
}

impl Way {
    pub(super) fn to(path: &Path) -> Self {
        let absolute = std::path::absolute(path);
        let absolute = absolute.unwrap_or_else(|_| path.to_owned());
        let mut names = Names::default();
        names.start_with(&absolute);
        let mut entries = Vec::new();
        let mut links = 0;
        while let Some(name) = names.rest.pop_front() {
            if name == ".." {
                names.folder.pop();
                continue;
            }
            let Ok(folder) = names.folder.symlink_metadata() else {
                break;
            };
            let next = names.folder.join(&name);
            entries.push(Entry {
                folder: names.folder.clone(),
                name,
                identity: Identity::of(&folder),
            });
            match next.read_link() {
                Ok(target) if links < LINKS => {
                    links = u32::saturating_add(links, 1);
                    names.start_with(&target);
                }
                _ => names.folder = next,
            }
        }
        let file = path.metadata().ok().map(|file| Written {
            identity: Identity::of(&file),
            changed_at: file.modified().ok(),
            length: file.len(),
        });
        Self { entries, file }
    }

    /// The folders on the way, that of the file last.
    pub(super) fn folders(&self) -> impl Iterator<Item = &Path> {
        let mut known: Vec<&Path> = Vec::new();
        for entry in self.entries.iter().rev() {
            if !known.contains(&&*entry.folder) {
                known.push(&entry.folder);
            }
        }
        known.into_iter().rev()
    }

    /// The places of what is looked for.
    pub(super) fn entries(&self) -> impl Iterator<Item = PathBuf> {
        let entries = self.entries.iter();
        entries.map(|entry| entry.folder.join(&entry.name))
    }
}

/// The names that are still to be found, from a folder on.
#[derive(Default)]
struct Names {
    folder: PathBuf,
    rest: VecDeque<OsString>,
}

impl Names {
    /// Takes what a path says in front of the other names.
    fn start_with(&mut self, path: &Path) {
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::Prefix(_) | Component::RootDir => self.folder.push(component),
                Component::Normal(_) | Component::ParentDir => names.push(component.as_os_str()),
                Component::CurDir => {}
            }
        }
        for name in names.into_iter().rev() {
            self.rest.push_front(name.to_owned());
        }
    }
}

impl Identity {
    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
    fn of(file: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        Some(Self(file.dev(), file.ino()))
    }

    #[cfg(not(unix))]
    const fn of(_: &Metadata) -> Option<Self> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::{env, fs, process};

    use super::*;

    /// As the system goes it: `.` and `..` lead nowhere else, and what is not there ends the way.
    #[test]
    fn a_way_has_each_folder_once_and_ends_with_that_of_the_file() {
        let folder = env::temp_dir().join(format!("reattempt-ways-{}", process::id()));
        fs::create_dir_all(folder.join("sub")).expect("a folder");
        let folder = folder.canonicalize().expect("its path");
        let file = folder.join("file");
        fs::write(&file, "one").expect("a file");
        for detour in ["sub/../file", "./file", "sub/.././file"] {
            let way = Way::to(&folder.join(detour));
            assert_eq!(way.entries().last().as_ref(), Some(&file), "{detour}");
            assert_eq!(way.folders().last(), Some(&*folder), "{detour}");
            let folders: Vec<_> = way.folders().collect();
            assert!((1..folders.len()).all(|at| !folders[..at].contains(&folders[at])));
        }
        let gone = Way::to(&folder.join("gone/file"));
        assert_eq!(gone.entries().last(), Some(folder.join("gone")));
        let before = Way::to(&file);
        assert_eq!(before, Way::to(&file));
        fs::write(&file, "longer").expect("a file");
        assert_ne!(before, Way::to(&file));
        fs::remove_dir_all(folder).expect("nothing is left");
    }

    /// What lies behind more of them is not the file.
    #[test]
    fn as_many_links_as_the_system_follows() {
        let folder = env::temp_dir().join(format!("reattempt-way-{}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let folder = folder.canonicalize().expect("its path");
        let file = folder.join("file");
        fs::write(&file, "").expect("a file");
        let mut path = file.clone();
        for number in 0..=LINKS {
            let link = folder.join(number.to_string());
            symlink(&path, &link).expect("a link");
            path = link;
            let leads_there = Way::to(&path).entries().last().as_ref() == Some(&file);
            assert_eq!(leads_there, path.exists(), "{} links", number + 1);
        }
        assert!(!path.exists());
        fs::remove_dir_all(folder).expect("nothing is left");
    }
}

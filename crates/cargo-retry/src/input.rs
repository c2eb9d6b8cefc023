//! Files that are read: only regular ones, and none without an end. A pipe or a device that somebody's code names would
//! never end.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// Bytes of the largest file that is read.
const LARGEST: u64 = 16 << 20;

/// Why the file at `path` is not read, if it is there and no file for reading.
pub(crate) fn refused(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    if about.is_dir() {
        Some("this is a folder, no file".to_owned())
    } else if !about.is_file() {
        Some("this is not a regular file, so it may have no end".to_owned())
    } else if about.len() > LARGEST {
        let (size, most) = (about.len() >> 20, LARGEST >> 20);
        Some(format!(
            "the file has {size} MiB, and at most {most} MiB are read"
        ))
    } else {
        None
    }
}

/// What stands in the file at `path`, or why it is not read.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    if let Some(why) = refused(path) {
        return Err(why);
    }
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    let read = file.take(LARGEST).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    Ok(text)
}

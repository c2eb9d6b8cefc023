//! Where the files of modules are, and what stands in them.

use std::path::{Component, Path, PathBuf};

use proc_macro2::Span;
use syn::{Item, LitStr, Macro};

use super::nested::is_deep;
use super::{File, loose};
use crate::input;

/// Where the files of a module's modules are.
#[derive(Clone)]
pub(super) struct Folder {
    /// Of `mod name;`.
    pub(super) children: PathBuf,
    /// Of `#[path]`.
    pub(super) own: PathBuf,
}

impl Folder {
    /// Both are the same.
    pub(super) fn inside(folder: PathBuf) -> Self {
        Self {
            children: folder.clone(),
            own: folder,
        }
    }
}

/// One file has one name, however it is reached.
pub(super) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// `name.rs` or `name/mod.rs`; neither: where it is expected.
pub(super) fn of_name(folder: &Path, name: &str) -> Result<(Folder, PathBuf), PathBuf> {
    let inside = folder.join(name);
    let beside = folder.join(format!("{name}.rs"));
    let within = inside.join("mod.rs");
    // Beside `name.rs`, `#[path]` is looked up where the file is.
    if beside.exists() {
        let own = folder.to_owned();
        Ok((
            Folder {
                children: inside,
                own,
            },
            beside,
        ))
    } else if within.exists() {
        let own = inside.clone();
        Ok((
            Folder {
                children: inside,
                own,
            },
            within,
        ))
    } else {
        Err(beside)
    }
}

/// The file of `include!("name")`.
pub(super) fn included(mac: &Macro, file: &File) -> Option<PathBuf> {
    let is_include = mac.path.segments.last()?.ident == "include";
    let name: LitStr = is_include.then(|| mac.parse_body().ok())??;
    Some(file.path.parent()?.join(name.value()))
}

/// Brackets in brackets.
const DEEP: usize = 2000;

pub(super) type NotParsed = (String, Option<Span>);

/// What could be read of a file.
pub(super) struct Parsed {
    pub(super) items: Vec<Item>,
    /// Why some of it could not.
    pub(super) fault: Option<NotParsed>,
}

pub(super) fn parsed(path: &Path) -> Result<Parsed, NotParsed> {
    let text = input::text(path).map_err(|why| (why, None))?;
    if is_deep(&text, DEEP) {
        return Err(("its code is nested too deeply".to_owned(), None));
    }
    let error = match syn::parse_file(&text) {
        Ok(file) => {
            return Ok(Parsed {
                items: file.items,
                fault: None,
            });
        }
        Err(error) => error,
    };
    let said = error.to_string();
    let is_lexed = said != "cannot parse string into token stream";
    let why = if is_lexed {
        said
    } else {
        "brackets or quotes do not match".to_owned()
    };
    let fault = (why, Some(error.span()));
    match text.parse().map(loose::readable) {
        Ok(items) if !items.is_empty() => Ok(Parsed {
            items,
            fault: Some(fault),
        }),
        _ => Err(fault),
    }
}

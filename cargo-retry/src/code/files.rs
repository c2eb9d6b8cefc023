//! Where the files of modules are, and what stands in them.

use std::fs;
use std::path::{Component, Path, PathBuf};

use proc_macro2::Span;
use syn::{Item, LitStr, Macro};

use super::{File, loose};

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
    let text = fs::read_to_string(path).map_err(|error| (error.to_string(), None))?;
    if is_deep(&text) {
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

/// Whether brackets stand in each other as no code has it that people write, and as the stack cannot hold it.
pub(super) fn is_deep(text: &str) -> bool {
    let (mut depth, mut signs) = (0_usize, 0_usize);
    let deepest = text.bytes().map(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        // `&&&x` is as deep as `(((x`; lines of `---` and `***` are comments.
        signs = if matches!(byte, b'&' | b'!') {
            signs.saturating_add(1)
        } else {
            0
        };
        depth.saturating_add(signs)
    });
    // Brackets in texts count, too, since only what is far beyond is refused.
    deepest.max().unwrap_or_default() > DEEP
}

//! Where a key stands. Figment tells the source of each value, but no line: that is looked up in the text of the file.

use core::fmt::Write as _;
use core::ops::Range;

use figment::value::{Tag, Value};
use figment::{Figment, Metadata};
use toml_edit::{ImDocument, TableLike};

use super::diagnostic::Diagnostic;
use super::syntax;
use super::variable::PREFIX;

/// A source and, if it is a text, the place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) source: String,
    pub(super) line: Option<usize>,
    pub(super) column: Option<usize>,
}

impl Place {
    /// The source as a whole.
    pub(super) fn of(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            line: None,
            column: None,
        }
    }

    /// The character at `offset` of `text`.
    pub(super) fn at(source: &str, text: &str, offset: usize) -> Self {
        // An offset past the end, or within a character, is that of what comes before.
        let before = (0..=offset).rev().find_map(|end| text.get(..end));
        let before = before.unwrap_or_default();
        let line = before.matches('\n').count().saturating_add(1);
        let start = before.rsplit('\n').next().unwrap_or_default();
        // No editor counts a byte order mark.
        let start = start.trim_start_matches('\u{feff}');
        Self {
            source: source.to_owned(),
            line: Some(line),
            column: Some(start.chars().count().saturating_add(1)),
        }
    }
}

/// The path of a key, from the top of the file.
pub(super) type Path = [String];

/// `policies."my storage".max`
pub(super) fn shown(path: &Path) -> String {
    let is_bare = |key: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !key.is_empty() && key.chars().all(plain)
    };
    let keys = path.iter().map(|key| {
        if is_bare(key) {
            key.clone()
        } else {
            quoted(key)
        }
    });
    keys.collect::<Vec<_>>().join(".")
}

/// A text of TOML, or of JSON.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a `String` does not fail.
                _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A file of TOML, or a text in place of one.
#[derive(Debug)]
pub(super) struct File {
    name: String,
    document: ImDocument<String>,
}

impl File {
    /// Reads a text.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Diagnostic> {
        match ImDocument::parse(text.to_owned()) {
            Ok(document) => Ok(Self {
                name: name.to_owned(),
                document,
            }),
            Err(error) => Err(syntax::fault(name, text, &error)),
        }
    }

    /// The place of a key, if this file has it.
    pub(super) fn find(&self, path: &Path) -> Option<Place> {
        let span = span(self.document.as_table(), path)?;
        Some(Place::at(&self.name, self.document.raw(), span.start))
    }
}

fn span(table: &dyn TableLike, path: &Path) -> Option<Range<usize>> {
    let (key, rest) = path.split_first()?;
    let (key, item) = table.get_key_value(key)?;
    if rest.is_empty() {
        return key.span().or_else(|| item.span());
    }
    span(item.as_table_like()?, rest)
}

/// All that values may come from.
pub(super) struct Places<'a> {
    figment: &'a Figment,
    files: Vec<File>,
}

impl<'a> Places<'a> {
    /// `files` have the names of their metadata; others are read when there is something to say about them.
    pub(super) fn new(figment: &'a Figment, mut files: Vec<File>) -> Self {
        for metadata in figment.metadata() {
            let name = source(metadata);
            if let Some(path) = file(metadata)
                && metadata.name.contains("TOML")
                && files.iter().all(|file| file.name != name)
            {
                let text = std::fs::read_to_string(path).unwrap_or_default();
                files.extend(File::parse(&name, &text));
            }
        }
        Self { figment, files }
    }

    /// The environment variable that a value comes from; of a table without a source, that of its first value.
    pub(super) fn variable(&self, value: &Value) -> Option<&'a str> {
        let Some(metadata) = self.figment.get_metadata(value.tag()) else {
            let (_, inner) = value.as_dict()?.first_key_value()?;
            return self.variable(inner);
        };
        let is_variable = metadata.source.is_none() && metadata.name.starts_with(PREFIX);
        is_variable.then_some(&*metadata.name)
    }

    /// The place of the value that `tag` is on; of a table also if several have made it.
    pub(super) fn of(&self, path: &Path, tag: Tag) -> Place {
        let metadata = self.figment.get_metadata(tag);
        let name = metadata.map_or_else(|| "configuration".to_owned(), source);
        let own = self.files.iter().find(|file| file.name == name);
        let others = self.files.iter().filter(|_| metadata.is_none());
        let found = own.into_iter().chain(others);
        found
            .into_iter()
            .find_map(|file| file.find(path))
            .unwrap_or_else(|| Place::of(name))
    }
}

/// The name of a source: its file, or what the provider calls itself.
pub(super) fn source(metadata: &Metadata) -> String {
    match file(metadata) {
        Some(path) => path.display().to_string(),
        None => metadata.name.clone().into_owned(),
    }
}

/// The file of a source that is one.
pub(super) fn file(metadata: &Metadata) -> Option<&std::path::Path> {
    metadata.source.as_ref()?.file_path()
}

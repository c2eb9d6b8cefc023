//! Where a key stands. Figment tells the source of each value, but no line: that is looked up in the text of the file.

use core::fmt::Write as _;
use core::ops::Range;

use figment::value::Tag;
use figment::{Figment, Metadata};
use toml_edit::{ImDocument, TableLike, TomlError};

use super::fault::Fault;
use crate::words::nearest;

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
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Fault> {
        match ImDocument::parse(text.to_owned()) {
            Ok(document) => Ok(Self {
                name: name.to_owned(),
                document,
            }),
            Err(error) => Err(syntax(name, text, &error)),
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

/// What is no TOML: toml says what it expected, which is the mend.
fn syntax(name: &str, text: &str, error: &TomlError) -> Fault {
    let place = match error.span() {
        Some(span) => Place::at(name, text, span.start),
        None => Place::of(name),
    };
    let said = error.message();
    if let Some((_, rest)) = said.split_once("duplicate key `")
        && let Some((key, rest)) = rest.split_once('`')
    {
        let table = rest.split('`').nth(1).unwrap_or_default();
        let table = if table == "document root" { "" } else { table };
        let separate = if table.is_empty() { "" } else { "." };
        return Fault::new(
            place,
            format!("{table}{separate}{key}"),
            "R16",
            format!("`{key}` stands here twice; keep one of them"),
        );
    }
    let said = said.lines().collect::<Vec<_>>().join(", ");
    let line = place
        .line
        .and_then(|line| text.lines().nth(line.saturating_sub(1)));
    let message = format!("no TOML: {said}; {}", mend(line.unwrap_or_default()));
    Fault::new(place, "", "syntax", message)
}

/// What was most likely meant by a line that is no TOML.
fn mend(line: &str) -> String {
    let line = line.split('#').next().unwrap_or_default().trim();
    let is_word = |text: &str| {
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        text.len() < 40 && text.starts_with(char::is_alphanumeric) && text.chars().all(plain)
    };
    let pair = line.split_once('=');
    match pair.map(|(key, value)| (key.trim(), value.trim())) {
        _ if line.starts_with('[') => {
            "write `[policies.standard]`, a name with dots or spaces in quotes".to_owned()
        }
        Some((key, "")) if is_word(key) => format!("give `{key}` a value, or drop it"),
        Some((key, value)) if is_word(key) && is_word(value) => {
            if let Some(flag) = flag(&value.to_lowercase()) {
                format!("write `{key} = {flag}`")
            } else if value.starts_with(|c: char| c.is_ascii_digit())
                && !value.contains(char::is_alphabetic)
            {
                format!("write a number such as `{key} = 5`")
            } else {
                format!("write `{key} = \"{value}\"`")
            }
        }
        _ => "write `key = value`, a text or a duration in quotes".to_owned(),
    }
}

/// The flag that a word means here; other formats know more words for it.
fn flag(word: &str) -> Option<&'static str> {
    match word {
        "yes" | "on" => Some("true"),
        "no" | "off" => Some("false"),
        _ => nearest(word, &["true", "false"]),
    }
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

//! Where a key stands. Figment tells the source of each value, but no line: that is looked up in the text of the file.

use core::ops::Range;

use figment::value::{Tag, Value};
use figment::{Figment, Metadata};
use toml_edit::{ImDocument, TableLike};

use super::diagnostic::Diagnostic;
use super::span::{Path, Place};
use super::syntax;
use super::variable::PREFIX;

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

//! Where a key stands: a source, a line and a column, and the path of a key as messages name it.

use core::fmt::Write as _;

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
            // What turns or hides the text around it is not printed as it is.
            c if c.is_control() || c != ' ' && reattempt_policy::written::is_unseen(c) => {
                // Writing to a `String` does not fail.
                _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn what_turns_text_is_not_printed() {
        assert_eq!(
            quoted("a\u{202E}b\u{200B}c d\n"),
            r#""a\u202eb\u200bc d\u000a""#
        );
    }
}

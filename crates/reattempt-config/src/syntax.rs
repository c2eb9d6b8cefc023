//! A file that is not TOML: where, and what was most likely meant by the line.

use toml_edit::TomlError;

use super::diagnostic::Diagnostic;
use super::span::{Place, shown};
use super::{OPERATIONS, POLICIES};
use reattempt_policy::rules::{Key, RuleId};
use reattempt_policy::written::nearest;

/// What is not TOML: toml says what it expected, which is the fix.
pub(super) fn fault(name: &str, text: &str, error: &TomlError) -> Diagnostic {
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
        return Diagnostic::new(
            place,
            format!("{table}{separate}{key}"),
            RuleId::R16,
            format!("`{key}` stands here twice; keep one of them"),
        );
    }
    let said = said.lines().collect::<Vec<_>>().join(", ");
    let line = place
        .line
        .and_then(|line| text.lines().nth(line.saturating_sub(1)));
    let line = line.unwrap_or_default();
    let message = match other_format(line) {
        Some(format) => format!(
            "this is {format}, and a file of policies is TOML; write `[policies.standard]` and its keys below it, such as `max = 3`"
        ),
        None => format!("not TOML: {said}; {}", fix(line)),
    };
    Diagnostic::new(place, "", RuleId::Syntax, message)
}

/// The format of a whole file, by the first line of it that is not TOML.
fn other_format(line: &str) -> Option<&'static str> {
    let line = line.split('#').next().unwrap_or_default().trim();
    match line.chars().next()? {
        '{' => Some("JSON"),
        '<' => Some("XML"),
        '(' => Some("RON"),
        _ if line.starts_with("---") || line.starts_with("- ") || line.ends_with(':') => {
            Some("YAML")
        }
        _ => None,
    }
}

/// What was most likely meant by a line that is not TOML.
fn fix(line: &str) -> String {
    if let Some(text) = comment(line) {
        return text;
    }
    let line = line.split('#').next().unwrap_or_default().trim();
    let straight = line.replace(['“', '”', '„', '«', '»'], "\"");
    if straight != line {
        return format!("quotes are straight, write `{straight}`");
    }
    let is_word = |text: &str| {
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        text.len() < 40 && text.starts_with(char::is_alphanumeric) && text.chars().all(plain)
    };
    // `max: 3`, `max 3`, `max := 3`.
    let signs = [":=", "=>", "==", ": "];
    let separated = signs.iter().find_map(|sign| line.split_once(sign));
    let separated = separated.or_else(|| {
        line.split_once(' ')
            .filter(|(_, value)| !value.contains('='))
    });
    if let Some((key, value)) = separated.map(|(key, value)| (key.trim(), value.trim()))
        && is_word(key)
    {
        let is_whole = value.parse::<f64>().is_ok() || value.starts_with('"');
        let same = format!("{key} = {value}");
        return if is_whole {
            format!("write `{same}`")
        } else {
            fix(&same)
        };
    }
    let pair = line.split_once('=');
    match pair.map(|(key, value)| (key.trim(), value.trim())) {
        _ if line.starts_with('[') => head(line),
        Some((key, "{")) if is_word(key) => format!(
            "a table in braces stands on one line; or write `[policies.standard.{key}]`, and the keys of `{key}` below it"
        ),
        Some((key, "")) if is_word(key) => format!("give `{key}` a value, or drop it"),
        Some((key, value)) if is_word(key) && is_nothing(key, value) => {
            format!("drop `{key}`: a key that is not here has its default")
        }
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
        Some((_, value)) if value.contains("${") || value.contains("{{") => {
            "a file has no variables; leave the key out and set a variable of the environment, such as `REATTEMPT_POLICIES__STANDARD__MAX`".to_owned()
        }
        Some((key, value)) if is_word(key) && value.matches('"').count() == 1 => {
            format!("close the quotes: `{key} = \"{}\"`", value.replace('"', ""))
        }
        Some((key, value)) if is_word(key) && value.ends_with([',', ';']) => {
            format!(
                "end the line with its value, `{}`",
                line.trim_end_matches([',', ';'])
            )
        }
        _ => "write `key = value`, a text or a duration in quotes".to_owned(),
    }
}

/// `max = 3 // with the first`, `; the retries`: a comment of another format.
fn comment(line: &str) -> Option<String> {
    let (before, after) = match line.trim().strip_prefix(';') {
        Some(after) => ("", after),
        None => line.split_once("//")?,
    };
    let is_comment = before.trim().is_empty() || before.trim_end() != before;
    let said = format!("{} #{after}", before.trim());
    (is_comment && !before.contains(['"', '\'', '#']))
        .then(|| format!("a comment begins with `#`, write `{}`", said.trim()))
}

/// What was meant by the head of a table.
fn head(line: &str) -> String {
    let inside = line.trim_start_matches('[');
    let (inside, rest) = inside.split_once(']').unwrap_or((inside, ""));
    let bare = |text: &str| text.replace(['"', '\''], "").trim().to_owned();
    let rest = rest.trim_start_matches(']').trim();
    let rule = "a name with dots or spaces stands in quotes";
    let named = inside.split_once('.').map(|(kind, name)| {
        let kind = nearest(kind.trim(), &[POLICIES, OPERATIONS]);
        (kind, bare(name))
    });
    match named {
        Some((Some(kind), name)) if !name.is_empty() => {
            let (name, below) = match name.rsplit_once('.') {
                Some((name, key))
                    if [Key::Budget, Key::Codes, Key::Telemetry]
                        .iter()
                        .any(|it| it.as_str() == key) =>
                {
                    (bare(name), Some(key.to_owned()))
                }
                _ => (name, None),
            };
            let mut path = vec![kind.to_owned(), name];
            path.extend(below);
            let path = shown(&path);
            if !rest.is_empty() {
                format!("write `[{path}]` on a line of its own, and its keys below it")
            } else if path.contains('"') {
                format!("write `[{path}]`, as {rule}")
            } else {
                format!("write `[{path}]`")
            }
        }
        _ => format!("close the brackets of a table, on a line of its own; {rule}"),
    }
}

/// Whether a word of another format says that there is no value.
fn is_nothing(key: &str, value: &str) -> bool {
    let has_none = [Key::Backoff, Key::Jitter, Key::Budget].map(Key::as_str);
    match &*value.to_lowercase() {
        "null" | "nil" | "undefined" | "~" => true,
        "none" => !has_none.contains(&key),
        _ => false,
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

#[cfg(test)]
mod tests {
    use super::*;

    const ELSE: &str = "write `key = value`, a text or a duration in quotes";

    #[test]
    fn a_line_has_the_fix_that_it_most_likely_means() {
        let braces = "a table in braces stands on one line; or write `[policies.standard.budget]`, and the keys of `budget` below it";
        let variables = "a file has no variables; leave the key out and set a variable of the environment, such as `REATTEMPT_POLICIES__STANDARD__MAX`";
        for (line, expected) in [
            (
                "max = 3 // with the first",
                "a comment begins with `#`, write `max = 3 # with the first`",
            ),
            ("// all", "a comment begins with `#`, write `# all`"),
            (
                "; the retries",
                "a comment begins with `#`, write `# the retries`",
            ),
            ("base = 1s//x", ELSE),
            ("base = \"a // b", "close the quotes: `base = \"a // b\"`"),
            ("base = 'a // b", ELSE),
            ("base = a # b // c", "write `base = \"a\"`"),
            (
                "base = \u{201c}1s\u{201d}",
                "quotes are straight, write `base = \"1s\"`",
            ),
            ("max: 3", "write `max = 3`"),
            ("max := 3", "write `max = 3`"),
            ("max => 3", "write `max = 3`"),
            ("max == 3", "write `max = 3`"),
            ("max 3", "write `max = 3`"),
            ("budget.tokens: 3", "write `budget.tokens = 3`"),
            ("fast_first: yes", "write `fast_first = true`"),
            ("name: \"a b\"", "write `name = \"a b\"`"),
            ("_max: 3", ELSE),
            ("m-x: 3", ELSE),
            ("budget = {", braces),
            ("max =", "give `max` a value, or drop it"),
            (
                "max = NULL",
                "drop `max`: a key that is not here has its default",
            ),
            (
                "max = none",
                "drop `max`: a key that is not here has its default",
            ),
            ("jitter = none", "write `jitter = \"none\"`"),
            (
                "jitter = nil",
                "drop `jitter`: a key that is not here has its default",
            ),
            ("fast_first = Off", "write `fast_first = false`"),
            ("fast_first = ture", "write `fast_first = true`"),
            ("max = 1.2.3", "write a number such as `max = 5`"),
            ("base = 1s", "write `base = \"1s\"`"),
            ("base = s1", "write `base = \"s1\"`"),
            ("max = ${MAX}", variables),
            ("max = {{max}}", variables),
            ("base = \"1s", "close the quotes: `base = \"1s\"`"),
            ("max = 3,", "end the line with its value, `max = 3`"),
            ("max = \"3\";", "end the line with its value, `max = \"3\"`"),
            ("= 3", ELSE),
        ] {
            assert_eq!(fix(line), expected, "{line}");
        }
        for (length, is_word) in [(39, true), (40, false)] {
            let key = "a".repeat(length);
            assert_eq!(fix(&format!("{key}: 3")) != ELSE, is_word, "{length}");
        }
    }

    #[test]
    fn the_head_of_a_table_is_closed_and_quoted() {
        let quotes = "a name with dots or spaces stands in quotes";
        let close = format!("close the brackets of a table, on a line of its own; {quotes}");
        for (line, expected) in [
            ("[policies.a", "write `[policies.a]`".to_owned()),
            ("[[policie.a]]", "write `[policies.a]`".to_owned()),
            (
                "[policies.a] max = 3",
                "write `[policies.a]` on a line of its own, and its keys below it".to_owned(),
            ),
            (
                "[operations.a b]",
                format!("write `[operations.\"a b\"]`, as {quotes}"),
            ),
            (
                "[operations.'a.b'",
                format!("write `[operations.\"a.b\"]`, as {quotes}"),
            ),
            (
                "[policies.a.budget",
                "write `[policies.a.budget]`".to_owned(),
            ),
            ("[policies.a.codes", "write `[policies.a.codes]`".to_owned()),
            (
                "[policies.a.telemetry",
                "write `[policies.a.telemetry]`".to_owned(),
            ),
            (
                "[operations.a.other",
                format!("write `[operations.\"a.other\"]`, as {quotes}"),
            ),
            ("[policies.", close.clone()),
            ("[policies", close.clone()),
            ("[other.a", close),
        ] {
            assert_eq!(fix(line), expected, "{line}");
        }
    }

    #[test]
    fn a_file_of_another_format_is_known_by_its_first_line() {
        for (line, format) in [
            ("{ \"policies\": {", Some("JSON")),
            ("<policies>", Some("XML")),
            ("(policies: {", Some("RON")),
            ("---", Some("YAML")),
            ("- max", Some("YAML")),
            ("policies: # all", Some("YAML")),
            ("-max", None),
            ("max = 3", None),
            ("# max:", None),
            ("", None),
        ] {
            assert_eq!(other_format(line), format, "{line}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_named_with_its_table() {
        for (text, key, line) in [
            ("enabled = true\nenabled = false\n", "enabled", 2),
            ("[policies.a]\nmax = 3\nmax = 4\n", "policies.a.max", 3),
        ] {
            let error = text
                .parse::<toml_edit::DocumentMut>()
                .expect_err("it is there twice");
            let fault = fault("TOML", text, &error);
            assert_eq!((fault.key(), fault.rule()), (key, RuleId::R16), "{error}");
            assert_eq!(fault.line(), Some(line));
            assert!(
                fault
                    .message()
                    .ends_with("stands here twice; keep one of them")
            );
        }
    }
}

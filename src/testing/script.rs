//! Fault scripts as text: `fail x2, ok`.

use std::fmt::Write as _;

/// A number of calls in a row, and whether they fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) calls: usize,
    pub(super) fails: bool,
}

/// Returns the runs, or a message about the mistake in the text.
pub(super) fn parse(text: &str) -> Result<Vec<Run>, String> {
    let runs: Vec<Run> = text.split(',').map(run).collect::<Result<_, _>>()?;
    if runs.iter().all(|run| run.calls == 0) {
        return Err("a fault script needs at least one call".to_owned());
    }
    Ok(runs)
}

fn run(entry: &str) -> Result<Run, String> {
    let mut words = entry.split_whitespace();
    let fails = match words.next() {
        Some("fail") => true,
        Some("ok") => false,
        Some(word) => {
            return Err(format!(
                "`{word}` is not a word of a fault script; write `fail` or `ok`, with a count if need be: `fail x3`"
            ));
        }
        None => return Err("an entry of the fault script is empty".to_owned()),
    };
    let calls = match (words.next(), words.next()) {
        (None, _) => 1,
        (Some(count), None) => count
            .strip_prefix('x')
            .and_then(|count| count.parse().ok())
            .ok_or_else(|| format!("`{count}` is not a count; write it so: `x3`"))?,
        (Some(_), Some(word)) => {
            return Err(format!(
                "unexpected `{word}`; entries are separated by commas"
            ));
        }
    };
    Ok(Run { calls, fails })
}

/// Returns the script of these runs.
pub(super) fn text(runs: impl IntoIterator<Item = Run>) -> String {
    let mut text = String::new();
    for run in runs {
        let separate = if text.is_empty() { "" } else { ", " };
        let word = if run.fails { "fail" } else { "ok" };
        // Writing to a string does not fail.
        let _written = match run.calls {
            1 => write!(text, "{separate}{word}"),
            calls => write!(text, "{separate}{word} x{calls}"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for script in ["fail", "ok", "fail x2, ok", "ok x0, fail, ok x12, fail"] {
            assert_eq!(parse(script).map(text).as_deref(), Ok(script));
        }
        assert_eq!(parse(" fail  x1,ok "), parse("fail, ok"));
    }

    #[test]
    fn a_mistake_is_reported_with_its_fix() {
        for (script, message) in [
            (
                "fail, fial",
                "`fial` is not a word of a fault script; write `fail` or `ok`, with a count if need be: `fail x3`",
            ),
            ("", "an entry of the fault script is empty"),
            ("fail,, ok", "an entry of the fault script is empty"),
            ("fail 3", "`3` is not a count; write it so: `x3`"),
            ("fail x", "`x` is not a count; write it so: `x3`"),
            ("fail fail", "`fail` is not a count; write it so: `x3`"),
            (
                "fail x2 ok",
                "unexpected `ok`; entries are separated by commas",
            ),
            ("fail x0", "a fault script needs at least one call"),
        ] {
            assert_eq!(parse(script).map(text), Err(message.to_owned()), "{script}");
        }
    }
}

//! What is said of keys that do not exist. The table of those that do is the runtime's, which reads them in files.

use retry_runtime::words;
pub(crate) use retry_runtime::words::{KEYS, listed, nearest};

/// Keys that stand on functions only.
pub(crate) const FUNCTION_ONLY: &[&str] = &["clone"];

/// Whether `word` is one of `words`.
pub(crate) fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.contains(&word)
}

/// What to say about a key that does not exist.
pub(crate) fn unknown(word: &str) -> String {
    if word == "never" {
        return "`never` stands alone: it takes the function out of every policy; drop it or the other keys".to_owned();
    }
    if words::foreign(word).is_none() && nearest(&word.to_lowercase(), &["never"]).is_some() {
        return format!("unknown key `{word}`; did you mean `never`, alone?");
    }
    if word.contains("::") {
        return format!(
            "`{word}` is no key; a policy is given by its key, write `policy = {word}(...)`"
        );
    }
    words::unknown(word, KEYS)
}

#[cfg(test)]
mod tests {
    use super::KEYS;

    /// The table of the documentation and its headings have these keys, in this order.
    #[test]
    fn the_documentation_has_every_key() {
        let text = include_str!("../docs/retry.md");
        let rows = text.lines().filter_map(|line| line.strip_prefix("| [`"));
        let rows: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
        assert_eq!(rows, KEYS);
        let headings = text.lines().filter_map(|line| line.strip_prefix("## `"));
        let headings: Vec<_> = headings
            .map(|heading| heading.trim_end_matches('`'))
            .filter(|heading| KEYS.contains(heading))
            .collect();
        assert_eq!(headings, KEYS);
    }

    /// So do those of durable tasks.
    #[test]
    #[cfg(feature = "durable")]
    fn the_documentation_has_every_key_of_durable_tasks() {
        for (text, keys) in [
            (include_str!("../docs/step.md"), crate::durable::OF_STEP),
            (
                include_str!("../docs/workflow.md"),
                crate::durable::OF_WORKFLOW,
            ),
        ] {
            let rows = text.lines().filter_map(|line| line.strip_prefix("| [`"));
            let rows: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
            assert_eq!(rows, keys);
            let headings = text.lines().filter_map(|line| line.strip_prefix("## `"));
            let headings: Vec<_> = headings
                .map(|heading| heading.trim_end_matches('`'))
                .collect();
            assert_eq!(headings, keys);
        }
    }
}

//! Whether a file was read in the middle of a write.

use super::diagnostic::Diagnostic;
use super::span::Place;
use retry_runtime::rules::RuleId;

/// The last line of a file that says that it is whole.
const END: &str = "# end";

pub(super) fn fault(text: &str, before: Option<&str>) -> Option<Diagnostic> {
    let missing = if !text.ends_with('\n') {
        "it does not end with the end of a line"
    } else if before.is_some_and(has_end) && !has_end(text) {
        "its last line `# end` is missing"
    } else {
        return None;
    };
    let message = format!(
        "looks cut off in the middle of a write: {missing}; write to another file and rename it, or end the file with a line `# end`"
    );
    let place = Place::at("TOML", text, text.len());
    Some(Diagnostic::new(place, "", RuleId::CutOff, message))
}

/// Whether a key that was there is gone, and the file is shorter: it may have been cut off behind a whole line.
#[cfg(feature = "watch")]
pub(super) fn has_lost_keys(text: &str, before: &str) -> bool {
    text.len() < before.len() && !keys(before).is_subset(&keys(text))
}

/// The keys of a file, each with the line that heads its table.
#[cfg(feature = "watch")]
fn keys(text: &str) -> std::collections::BTreeSet<(&str, &str)> {
    let mut table = "";
    let keys = text.lines().filter_map(|line| {
        let line = line.trim();
        if line.starts_with('[') {
            table = line;
        }
        let (key, _) = line.split_once('=')?;
        (!line.starts_with('#')).then_some((table, key.trim()))
    });
    keys.collect()
}

fn has_end(text: &str) -> bool {
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    last.is_some_and(|line| line.trim() == END)
}

#[cfg(all(test, feature = "watch"))]
mod tests {
    use super::*;

    const BEFORE: &str = "[policies.a]\nmax = 7\nbase = '1s'\n[policies.b]\nmax = 2\n";

    #[test]
    fn a_key_that_is_gone_may_be_cut_off() {
        for (text, has_lost) in [
            ("[policies.a]\nmax = 7\n", true),
            ("[policies.a]\nmax = 7\nbase = '1s'\n[policies.b]\n", true),
            // Whole: another value, or a comment that is gone.
            (BEFORE, false),
            (
                "[policies.a]\nmax=7\nbase='1s'\n[policies.b]\nmax=2\n",
                false,
            ),
            (
                "[policies.a]\nmax = 7\nbase = '1s'\n[policies.b]\nmax = 2\n# longer, and a key more\ncap = '3s'\n",
                false,
            ),
            (
                "[policies.a]\nmax = 7\n# base = '1s'\n[policies.b]\nmax = 2 # as it was, and longer\n",
                false,
            ),
        ] {
            assert_eq!(has_lost_keys(text, BEFORE), has_lost, "{text}");
        }
    }
}

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

fn has_end(text: &str) -> bool {
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    last.is_some_and(|line| line.trim() == END)
}

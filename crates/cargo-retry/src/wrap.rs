//! Words in lines of some width.

use std::fmt::Write as _;

/// Lines no wider than `width`, the first one after `first`, the others under it.
pub(crate) fn wrapped(words: &str, first: &str, width: u16) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    let width = usize::from(width);
    let indent = " ".repeat(first.chars().count());
    let mut is_new = true;
    for word in unbroken(words) {
        let line = lines.last().map_or(0, |line| line.chars().count());
        let needed = line.saturating_add(word.chars().count()).saturating_add(1);
        if !is_new && needed > width {
            lines.push(indent.clone());
            is_new = true;
        }
        if let Some(line) = lines.last_mut() {
            // Writing to a `String` does not fail.
            _ = write!(line, "{}{word}", if is_new { "" } else { " " });
        }
        is_new = false;
    }
    lines
}

/// The words, a number with its unit as one.
fn unbroken(words: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in words.split(' ') {
        let is_unit = matches!(
            word.trim_end_matches([',', ';', '.', ':']),
            "ns" | "us" | "ms" | "s" | "m" | "h" | "%"
        );
        match all.last_mut() {
            Some(number) if is_unit => {
                number.push(' ');
                number.push_str(word);
            }
            _ => all.push(word.to_owned()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_with_their_units() {
        let lines = wrapped("up to 1 m and 10 % more, or 3", "- ", 12);
        assert_eq!(lines, ["- up to 1 m", "  and 10 %", "  more, or 3"]);
        assert_eq!(wrapped("", "", 0), [""]);
        assert_eq!(wrapped("a word", "", 0), ["a", "word"]);
    }
}

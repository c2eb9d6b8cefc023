//! The difference of two short strings, line by line.

/// Returns the lines of both, with `-` before a line that only `expected` has and `+` before a line
/// that only `got` has; `None` when they are the same.
pub(super) fn lines(expected: &str, got: &str) -> Option<String> {
    let (expected, got) = (trimmed(expected), trimmed(got));
    (expected != got).then(|| difference(&expected, &got))
}

/// Returns the lines without blank lines, blanks at the end of lines and the indentation that all
/// lines have.
fn trimmed(text: &str) -> Vec<&str> {
    let lines = || {
        text.lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty())
    };
    let indent = lines()
        .map(|line| line.len().saturating_sub(line.trim_start().len()))
        .min()
        .unwrap_or(0);
    lines()
        .map(|line| line.get(indent..).unwrap_or(line))
        .collect()
}

#[expect(
    clippy::indexing_slicing,
    reason = "a row and a column more than lines"
)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "at most the number of lines"
)]
fn difference(expected: &[&str], got: &[&str]) -> String {
    let common = common(expected, got);
    let (mut i, mut j) = (0, 0);
    let mut text = String::new();
    loop {
        let (sign, line) = match (expected.get(i), got.get(j)) {
            (None, None) => break text,
            (Some(old), Some(new)) if old == new => (' ', old),
            (Some(old), Some(_)) if common[i + 1][j] >= common[i][j + 1] => ('-', old),
            (Some(old), None) => ('-', old),
            (_, Some(new)) => ('+', new),
        };
        i += usize::from(sign != '+');
        j += usize::from(sign != '-');
        text.push(sign);
        text.push_str(line);
        text.push('\n');
    }
}

/// Returns how many lines `a` from its i-th line on and `b` from its j-th line on have in common,
/// in the same order.
#[expect(
    clippy::indexing_slicing,
    reason = "a row and a column more than lines"
)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "at most the number of lines"
)]
fn common(a: &[&str], b: &[&str]) -> Vec<Vec<usize>> {
    let mut common = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, line) in a.iter().enumerate().rev() {
        for (j, other) in b.iter().enumerate().rev() {
            common[i][j] = if line == other {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_and_blank_lines_do_not_count() {
        let expected = "\n        a\n          1. x  \n\n        b\n    ";
        assert_eq!(lines(expected, "a\n  1. x\nb\n"), None);
        assert_eq!(lines("", "\n"), None);
    }

    #[test]
    fn a_changed_line_is_in_its_place() {
        let expected = "a\n  1\n  2\n  3";
        let got = "a\n  1\n  two\n  3\n  4";
        let difference = " a\n   1\n-  2\n+  two\n   3\n+  4\n";
        assert_eq!(lines(expected, got).as_deref(), Some(difference));
        assert_eq!(lines("a\nb", "").as_deref(), Some("-a\n-b\n"));
        assert_eq!(lines("", "a").as_deref(), Some("+a\n"));
        assert_eq!(lines("é\n ö", "é").as_deref(), Some(" é\n- ö\n"));
    }
}

//! Comments that answer a question: `// retry: no_limit: the caller has a time-out`.

use super::questions::Question;

/// What the comments of a place say about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    None,
    /// The word stands there, and no reason after it.
    Bare,
    Given,
}

/// Looks on line `line` of `text`, which counts from 1, and on the comments and attributes directly above it.
pub(super) fn answer(text: &str, line: usize, question: Question) -> Answer {
    let lines: Vec<&str> = text.lines().take(line).map(str::trim).collect();
    let above = lines.iter().rev().enumerate();
    let near = above.take_while(|(distance, line)| *distance == 0 || line.starts_with(['#', '/']));
    let mut found = Answer::None;
    for (_, line) in near {
        match in_line(line, question) {
            Answer::Given => return Answer::Given,
            Answer::Bare => found = Answer::Bare,
            Answer::None => {}
        }
    }
    found
}

fn in_line(line: &str, question: Question) -> Answer {
    let Some((before, said)) = line.split_once("retry: ") else {
        return Answer::None;
    };
    if !before.trim_end().ends_with(['/', '#']) {
        return Answer::None;
    }
    match said.trim_start().strip_prefix(question.word()) {
        Some(rest)
            if rest
                .trim()
                .strip_prefix(':')
                .is_some_and(|reason| !reason.trim().is_empty()) =>
        {
            Answer::Given
        }
        Some(rest) if rest.is_empty() || rest.starts_with([' ', ':']) => Answer::Bare,
        _ => Answer::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, line: usize) -> Answer {
        answer(text, line, Question::NoLimit)
    }

    #[test]
    fn a_comment_answers_the_question_of_the_place_below_it() {
        let said = "// retry: no_limit: the queue waits\n#[inline]\n#[retry]\nfn f() {}\n";
        assert_eq!(at(said, 3), Answer::Given);
        assert_eq!(answer(said, 3, Question::NoJitter), Answer::None);
        assert_eq!(
            at("#[retry] // retry: no_limit: the queue waits", 1),
            Answer::Given
        );
        assert_eq!(
            at("# retry: no_limit: the queue waits\n[policies.a]\n", 2),
            Answer::Given
        );
    }

    #[test]
    fn a_comment_of_something_else_answers_nothing() {
        assert_eq!(
            at("// retry: no_limit: reason\nfn g() {}\n#[retry]\n", 3),
            Answer::None
        );
        assert_eq!(
            at("// retry: no_limits: reason\n#[retry]\n", 2),
            Answer::None
        );
        assert_eq!(
            at("#[retry]\n// retry: no_limit: reason\n", 1),
            Answer::None
        );
        assert_eq!(at("", 1), Answer::None);
    }

    #[test]
    fn a_word_needs_a_reason() {
        for bare in [
            "// retry: no_limit",
            "// retry: no_limit:",
            "// retry: no_limit:  ",
            "// retry: no_limit because",
        ] {
            assert_eq!(
                at(&format!("{bare}\n#[retry]\n"), 2),
                Answer::Bare,
                "{bare}"
            );
        }
    }
}

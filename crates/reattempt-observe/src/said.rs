//! What errors of others say of themselves, also where they cannot.

use core::error::Error;
use core::fmt::{self, Write as _};

/// As far as it could be written: `to_string` panics where a `Display` fails, as that of a date with a wrong format does.
pub fn said(what: &(impl fmt::Display + ?Sized)) -> String {
    written(format_args!("{what}"))
}

/// Returns the same of its `Debug`.
pub fn shown(what: &(impl fmt::Debug + ?Sized)) -> String {
    written(format_args!("{what:?}"))
}

/// What an error and its causes say, as in `reading: timed out`. A cause that is part of the text already is left out.
pub fn said_with_causes(error: &(dyn Error + '_)) -> String {
    // A `source` that returns the error itself would have no end.
    const CAUSES: usize = 64;

    let mut text = said(error);
    let causes = core::iter::successors(error.source(), |&cause| cause.source());
    for cause in causes.take(CAUSES).map(said) {
        if !mentions(&text, &cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Whether `part` is there as words of its own, or empty.
fn mentions(text: &str, part: &str) -> bool {
    let is_apart = |(at, _): (usize, &str)| {
        let (before, after) = (text.get(..at), text.get(at.saturating_add(part.len())..));
        let before = before.and_then(|before| before.chars().next_back());
        let after = after.and_then(|after| after.chars().next());
        [before, after]
            .into_iter()
            .flatten()
            .all(|next| !next.is_alphanumeric())
    };
    part.is_empty() || text.match_indices(part).any(is_apart)
}

fn written(what: fmt::Arguments<'_>) -> String {
    let mut text = String::new();
    let _as_far = text.write_fmt(what);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error, and what caused it.
    #[derive(Debug)]
    struct Link(&'static str, Option<Box<Link>>);

    impl fmt::Display for Link {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Link {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self.1.as_deref()?)
        }
    }

    /// An error that is its own source.
    #[derive(Debug)]
    struct Endless;

    impl fmt::Display for Endless {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("again")
        }
    }

    impl Error for Endless {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }

    fn chain(links: &[&'static str]) -> String {
        let links = links.iter().rev();
        let chain = links.fold(None, |below, text| Some(Box::new(Link(text, below))));
        chain.map_or_else(String::new, |first| said_with_causes(&*first))
    }

    #[test]
    fn causes_follow_each_other() {
        assert_eq!(chain(&["reading"]), "reading");
        assert_eq!(chain(&["reading", "timed out"]), "reading: timed out");
        assert_eq!(chain(&["a", "b", "c"]), "a: b: c");
    }

    #[test]
    fn a_cause_that_was_said_is_not_repeated() {
        assert_eq!(
            chain(&["reading: timed out", "timed out"]),
            "reading: timed out"
        );
        assert_eq!(
            chain(&["no answer (timed out)", "timed out", "late"]),
            "no answer (timed out): late"
        );
        assert_eq!(chain(&["same", "same"]), "same");
        assert_eq!(chain(&["reading", ""]), "reading");
        // Part of a word is not what it says.
        assert_eq!(chain(&["reading", "read"]), "reading: read");
        assert_eq!(chain(&["prétée", "é"]), "prétée: é");
    }

    #[test]
    fn a_chain_without_an_end_has_one() {
        assert_eq!(said_with_causes(&Endless), "again");
    }
}

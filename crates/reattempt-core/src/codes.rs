//! Statuses and codes as a table of a policy writes them: `Classify::has_code`, asked as the type of an error allows. The method
//! that needs fewer references is found first.

use core::fmt::{self, Write as _};

use crate::verdict::Classify;

/// Returns whether `code` is this number.
pub fn is_number(number: u16, code: &str) -> bool {
    code.parse() == Ok(number)
}

/// Returns whether an error that is no answer has this code: `timeout` if time ran out, else `connection` if another attempt
/// may help.
pub fn without_answer(code: &str, is_late: bool, error: &impl Classify) -> bool {
    match code {
        "timeout" => is_late,
        "connection" => !is_late && error.classify().is_retryable(),
        _ => false,
    }
}

/// The names of the codes of gRPC, by their numbers.
const GRPC: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// Returns whether `code` is the name or the number of this code of gRPC.
pub fn has_grpc_code(number: i32, code: &str) -> bool {
    let name = usize::try_from(number).ok().and_then(|it| GRPC.get(it));
    name.is_some_and(|name| name.eq_ignore_ascii_case(code)) || code.parse() == Ok(number)
}

/// Returns whether `shown` says `code`, and nothing else.
pub fn is_shown(shown: fmt::Arguments<'_>, code: &str) -> bool {
    let mut rest = Rest(code);
    rest.write_fmt(shown).is_ok() && rest.0.is_empty()
}

/// What of a text has not been written yet.
struct Rest<'t>(&'t str);

impl fmt::Write for Rest<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(part).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// An error.
#[derive(Debug)]
pub struct Coded<'e, E: ?Sized>(pub &'e E);

/// Asks an error that knows its codes.
pub trait ByClassify {
    /// Returns whether it has this code.
    fn reattempt_has_code(&self, code: &str) -> bool;
}

impl<E: Classify + ?Sized> ByClassify for &Coded<'_, E> {
    fn reattempt_has_code(&self, code: &str) -> bool {
        self.0.has_code(code)
    }
}

/// A field of an error, which may be its code.
#[derive(Debug)]
pub struct Field<'f, T: ?Sized>(pub &'f T);

/// Asks a field that can be shown.
pub trait ByText {
    /// Returns whether it is this code.
    fn reattempt_has_code(&self, code: &str) -> bool;
}

impl<T: fmt::Display + ?Sized> ByText for &Field<'_, T> {
    fn reattempt_has_code(&self, code: &str) -> bool {
        is_shown(format_args!("{}", self.0), code)
    }
}

/// Asks nothing.
pub trait NoCode {
    /// Returns `false`.
    fn reattempt_has_code(&self, _code: &str) -> bool {
        false
    }
}

impl<E: ?Sized> NoCode for Coded<'_, E> {}
impl<T: ?Sized> NoCode for Field<'_, T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{IntoVerdict as _, Verdict};

    #[test]
    fn a_status_is_its_number() {
        for (code, is_it) in [
            ("429", true),
            ("0429", true),
            ("430", false),
            ("-429", false),
            ("4 29", false),
            ("", false),
        ] {
            assert_eq!(is_number(429, code), is_it, "{code}");
        }
    }

    struct Judged(bool);

    impl Classify for Judged {
        fn classify(&self) -> Verdict {
            self.0.into_verdict()
        }
    }

    #[test]
    fn without_an_answer_time_ran_out_or_the_connection_failed() {
        for (is_late, retried, timeout, connection) in [
            (false, false, false, false),
            (false, true, false, true),
            (true, false, true, false),
            (true, true, true, false),
        ] {
            let error = Judged(retried);
            assert_eq!(without_answer("timeout", is_late, &error), timeout);
            assert_eq!(without_answer("connection", is_late, &error), connection);
            assert!(!without_answer("429", is_late, &error));
        }
    }

    #[test]
    fn names_and_numbers_of_grpc() {
        for code in ["UNAVAILABLE", "unavailable", "14"] {
            assert!(has_grpc_code(14, code));
            assert!(!has_grpc_code(4, code));
        }
        for (number, code) in [
            (-1, "UNKNOWN"),
            (17, "UNKNOWN"),
            (14, ""),
            (0, "UNAVAILABLE"),
        ] {
            assert!(!has_grpc_code(number, code));
        }
    }

    /// As expansions ask: what an error does not know, its field may be.
    #[test]
    #[expect(
        clippy::needless_borrow,
        reason = "which method is found depends on it"
    )]
    fn a_code_is_asked_as_the_type_allows() {
        struct Nothing;

        let late = crate::GaveUp::new(crate::GiveUpReason::Attempts, 1).timed_out();
        for (code, is_late, is_seven) in [("timeout", true, false), ("7", false, true)] {
            assert_eq!((&&Coded(&late)).reattempt_has_code(code), is_late);
            assert_eq!((&&Field(&7)).reattempt_has_code(code), is_seven);
            assert!(!(&&Coded(&Nothing)).reattempt_has_code(code));
            assert!(!(&&Field(&Nothing)).reattempt_has_code(code));
        }
    }

    #[test]
    fn a_kind_by_its_whole_name() {
        assert!(is_shown(
            format_args!("Connection{}", "Reset"),
            "ConnectionReset"
        ));
        for code in ["Connection", "ConnectionResets", "connectionreset", ""] {
            assert!(
                !is_shown(format_args!("Connection{}", "Reset"), code),
                "{code}"
            );
        }
    }
}

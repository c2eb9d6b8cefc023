//! The errors of the standard library.

use core::fmt;
use std::io;

use crate::codes::{is_shown, without_answer};
use crate::tables;
use crate::verdict::{Classify, Verdict};

/// `std`: the kind decides. Lost connections, time-outs and interrupted calls are transient. If the connection was
/// refused or the host has no address, nothing ran. Other kinds are final. An error that was made of a
/// [`GaveUp`](crate::GaveUp) has the verdict of that.
#[diagnostic::do_not_recommend]
impl Classify for io::Error {
    fn classify(&self) -> Verdict {
        if let Some(end) = super::gave_up::gave_up(self) {
            return end.classify();
        }
        match tables::io(self.kind()) {
            Verdict::Permanent if is_unknown_host(self) => Verdict::Refused,
            verdict => verdict,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    /// The name of its kind, such as `ConnectionReset`.
    fn has_code(&self, code: &str) -> bool {
        let kind = self.kind();
        let is_local = matches!(
            kind,
            io::ErrorKind::Interrupted | io::ErrorKind::ResourceBusy
        );
        match super::gave_up::gave_up(self) {
            Some(end) if matches!(code, "connection" | "timeout") => end.has_code(code),
            _ => {
                is_shown(format_args!("{kind:?}"), code)
                    || !is_local && without_answer(code, tables::is_late(kind), self)
            }
        }
    }
}

/// What the resolver of the standard library says, on every Unix.
const UNKNOWN_HOST: &str = "failed to lookup address information";

/// The standard library has no name for the kind of its resolver's error, and it is the only one who makes errors of that
/// kind with a text: a text alone may be anybody's, also that of the other side.
fn is_unknown_host(error: &io::Error) -> bool {
    let unnamed = io::Error::from_raw_os_error(i32::MAX).kind();
    error.kind() == unnamed
        && unnamed != io::ErrorKind::Other
        && error.raw_os_error().is_none()
        && error.to_string().starts_with(UNKNOWN_HOST)
}

/// The error of the resolver, for tests.
#[cfg(test)]
pub(super) fn unknown_host() -> io::Error {
    let unnamed = io::Error::from_raw_os_error(i32::MAX).kind();
    io::Error::new(
        unnamed,
        format!("{UNKNOWN_HOST}: Name or service not known"),
    )
}

#[cfg(test)]
mod tests {
    use std::net::ToSocketAddrs as _;

    use super::*;

    #[test]
    fn the_resolver_proves_that_nothing_ran() {
        assert_eq!(unknown_host().classify(), Verdict::Refused);
        // A name that no resolver asks for: it answers without the network.
        let real = ("no name", 80)
            .to_socket_addrs()
            .expect_err("there is none");
        assert_eq!(real.classify(), Verdict::Refused, "{real:?}");
    }

    /// The name of the kind, the code of what is no answer, and the same of a call that was given up.
    #[test]
    fn an_error_has_the_codes_of_its_kind() {
        use crate::{GaveUp, GiveUpReason};
        use io::ErrorKind as Kind;

        let end = GaveUp::new(GiveUpReason::Deadline, 1);
        for (error, codes) in [
            (
                Kind::ConnectionReset.into(),
                &["ConnectionReset", "connection"][..],
            ),
            (
                Kind::ConnectionRefused.into(),
                &["ConnectionRefused", "connection"],
            ),
            (Kind::TimedOut.into(), &["TimedOut", "timeout"]),
            (Kind::WouldBlock.into(), &["WouldBlock", "timeout"]),
            (Kind::Interrupted.into(), &["Interrupted"]),
            (Kind::ResourceBusy.into(), &["ResourceBusy"]),
            (Kind::NotFound.into(), &["NotFound"]),
            (io::Error::from(end), &["TimedOut"]),
            (io::Error::from(end.timed_out()), &["TimedOut", "timeout"]),
            (
                io::Error::from(GaveUp::new(GiveUpReason::Budget, 1)),
                &["Other"],
            ),
        ] {
            for code in [
                "connection",
                "timeout",
                "TimedOut",
                "Other",
                "NotFound",
                "ResourceBusy",
                "Interrupted",
                "WouldBlock",
                "ConnectionReset",
                "ConnectionRefused",
            ] {
                assert_eq!(
                    error.has_code(code),
                    codes.contains(&code),
                    "{error:?} {code}"
                );
            }
            assert_eq!(
                error.message().map(ToString::to_string),
                Some(error.to_string())
            );
        }
    }

    #[test]
    fn a_text_proves_nothing() {
        for text in [
            format!("{UNKNOWN_HOST}: Name or service not known"),
            format!("order stored, but not announced: {UNKNOWN_HOST}"),
            format!("502 from the shop: {UNKNOWN_HOST}"),
        ] {
            for kind in [
                io::ErrorKind::Other,
                io::ErrorKind::InvalidData,
                io::ErrorKind::TimedOut,
            ] {
                let error = io::Error::new(kind, text.clone());
                assert_ne!(error.classify(), Verdict::Refused, "{error:?}");
            }
            let inside = io::Error::new(unknown_host().kind(), format!("order stored: {text}"));
            assert_ne!(inside.classify(), Verdict::Refused, "{inside:?}");
        }
    }
}

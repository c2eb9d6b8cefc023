//! Errors inside errors: the first of a chain that tells what became of a request.

use core::iter;

use std::error::Error;
use std::io;

use crate::chained::below;
use crate::failure::GaveUp;
use crate::said::said;
use crate::tables;
use crate::verdict::{Classify, Verdict};

/// The verdict of the first error, from `error` down, that says something about a connection. Unless one of
/// them says that the connection did not come about, it stood.
pub(super) fn in_chain(error: &(dyn Error + 'static)) -> Option<Verdict> {
    let mut next = Some(error);
    while let Some(error) = next {
        let said = of(error);
        if said.is_some() {
            return said;
        }
        next = error.source();
    }
    None
}

fn of(error: &(dyn Error + 'static)) -> Option<Verdict> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        // What it wraps knows more than a kind.
        let inner = error.get_ref().and_then(|inner| in_chain(inner));
        return Some(inner.unwrap_or_else(|| of_standing(error)));
    }
    if let Some(end) = error.downcast_ref::<GaveUp>() {
        return Some(end.classify());
    }
    #[cfg(all(feature = "hyper1", not(target_os = "unknown")))]
    if let Some(error) = error.downcast_ref::<hyper1::Error>() {
        return Some(error.classify());
    }
    #[cfg(all(feature = "hyper1", not(target_os = "unknown")))]
    if let Some(error) = error.downcast_ref::<hyper_util::client::legacy::Error>() {
        return Some(error.classify());
    }
    #[cfg(feature = "http2")]
    if let Some(error) = error.downcast_ref::<h2::Error>() {
        return Some(error.classify());
    }
    None
}

/// An error, and those that it was made of.
pub(super) fn causes<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    iter::successors(Some(error), |error: &&'e (dyn Error + 'static)| {
        below(*error)
    })
}

/// Returns whether an error, or one that it was made of, says that an answer did not come in time.
pub(super) fn is_late(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|error| {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        #[cfg(all(feature = "hyper1", not(target_os = "unknown")))]
        let is_of_hyper = error.downcast_ref().is_some_and(hyper1::Error::is_timeout);
        #[cfg(not(all(feature = "hyper1", not(target_os = "unknown"))))]
        let is_of_hyper = false;
        is_of_hyper || kind.is_some_and(tables::is_late)
    })
}

/// A refusal is also what the network says of a connection that stood, when it lets no more through.
pub(super) fn of_standing(error: &io::Error) -> Verdict {
    match error.classify() {
        Verdict::Refused => Verdict::Transient,
        verdict => verdict,
    }
}

/// How hyper-util begins when a proxy wants a password; the type is private.
const NO_PASSWORD: &str = "tunnel error: proxy authorization required";

/// The verdict on a connection that did not come about: nothing was executed. What tries
/// again in vain, such as a certificate that is not trusted, is final.
pub(super) fn of_connecting(error: &(dyn Error + 'static)) -> Verdict {
    let is_final = causes(error).any(|error| {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        let is_invalid = matches!(
            kind,
            Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput)
        );
        is_invalid || said(error) == NO_PASSWORD
    });
    if is_final {
        Verdict::Permanent
    } else {
        Verdict::Refused
    }
}

/// The verdict on what broke before there was a connection, of TLS or while a client signed in: nothing
/// of the caller's was sent yet.
pub(super) fn before_sending(error: &(dyn Error + 'static)) -> Verdict {
    match in_chain(error) {
        Some(verdict) if verdict.is_retryable() => Verdict::Refused,
        _ => Verdict::Permanent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_late_by_any_of_its_causes() {
        let late = io::Error::from(io::ErrorKind::TimedOut);
        assert!(is_late(&late));
        assert!(is_late(&io::Error::other(late)));
        assert!(!is_late(&io::Error::other(io::Error::from(
            io::ErrorKind::ConnectionReset
        ))));
        assert!(!is_late(&std::fmt::Error));
    }

    /// What broke before anything was sent did not run.
    #[test]
    fn what_an_error_proves_depends_on_when_it_came() {
        for (error, standing, before) in [
            (
                io::ErrorKind::ConnectionReset,
                Verdict::Transient,
                Verdict::Refused,
            ),
            (
                io::ErrorKind::ConnectionRefused,
                Verdict::Transient,
                Verdict::Refused,
            ),
            (
                io::ErrorKind::InvalidData,
                Verdict::Permanent,
                Verdict::Permanent,
            ),
        ] {
            let error = io::Error::from(error);
            assert_eq!(
                (of_standing(&error), before_sending(&error)),
                (standing, before)
            );
        }
        assert_eq!(before_sending(&std::fmt::Error), Verdict::Permanent);
        let open = GaveUp::new(crate::GiveUpReason::BreakerOpen, 0);
        assert_eq!(in_chain(&open), Some(Verdict::Refused));
        for kind in [io::ErrorKind::InvalidData, io::ErrorKind::InvalidInput] {
            assert_eq!(of_connecting(&io::Error::from(kind)), Verdict::Permanent);
        }
        let no_password = io::Error::other(NO_PASSWORD);
        assert_eq!(of_connecting(&no_password), Verdict::Permanent);
    }

    #[test]
    fn what_an_io_error_wraps_is_looked_at() {
        // As tokio-rustls and the connectors of hyper-util wrap a certificate that is not trusted.
        let distrust = io::Error::new(io::ErrorKind::InvalidData, "unknown issuer");
        let wrapped = io::Error::other(io::Error::other(distrust));
        assert_eq!(of_connecting(&wrapped), Verdict::Permanent);
        assert_eq!(in_chain(&wrapped), Some(Verdict::Permanent));

        for kind in [
            io::ErrorKind::ConnectionReset,
            // Of a connection that stood: an unreachable port, when the system stops to send again.
            io::ErrorKind::ConnectionRefused,
        ] {
            let wrapped = io::Error::other(io::Error::from(kind));
            assert_eq!(of_connecting(&wrapped), Verdict::Refused);
            assert_eq!(in_chain(&wrapped), Some(Verdict::Transient));
        }
        assert_eq!(in_chain(&std::fmt::Error), None);
    }
}

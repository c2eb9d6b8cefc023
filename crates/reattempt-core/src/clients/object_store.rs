//! What the errors of `object_store` mean: the store's last answer, which stands in the text alone, else what
//! broke.

use core::fmt;

use std::error::Error;

use object_store014::client::{HttpError, HttpErrorKind};

use super::chain::{causes, in_chain, is_late, of_connecting};
use crate::codes::without_answer;
use crate::http::Statuses;
use crate::said::said;
use crate::verdict::{Classify, Verdict};

// So writes `impl Display for RequestError`, src/client/retry.rs of 0.14.2; the type is private.
const STATUS: &str = "Server returned non-2xx status code: ";
/// An error in the body of an answer that began well.
const ANSWER: &str = "Server returned error response: ";
/// What S3 says there when it has too much to do.
const SLOW_DOWN: &str = "SlowDown";
/// How it says that it has tried again by itself.
const REPEATED: &str = " retries, max_retries: ";

/// `object_store` 0.14: the status of the store's last answer decides, else the cause of the failure. If the crate has
/// retried by itself, an earlier request may have run.
#[diagnostic::do_not_recommend]
impl Classify for object_store014::Error {
    fn classify(&self) -> Verdict {
        match self {
            Self::Generic { source, .. } => of(source.as_ref()),
            // An object that is there or is not, a condition, a right, a mistake of the caller.
            _ => Verdict::Permanent,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        let transport = causes(self).find_map(|error| error.downcast_ref::<HttpError>());
        transport.is_some_and(|error| {
            let is_late = error.kind() == HttpErrorKind::Timeout || is_late(error);
            without_answer(code, is_late, self)
        })
    }
}

fn of(source: &(dyn Error + 'static)) -> Verdict {
    let verdict = of_last(source);
    if said(source).contains(REPEATED) {
        verdict.into_ambiguous()
    } else {
        verdict
    }
}

fn of_last(source: &(dyn Error + 'static)) -> Verdict {
    let mut next = Some(source);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<HttpError>() {
            return of_http(error);
        }
        let text = said(error);
        if let Some(rest) = text.strip_prefix(STATUS) {
            return of_status(rest);
        }
        if let Some(body) = text.strip_prefix(ANSWER) {
            return of_body(body).unwrap_or(Verdict::Transient);
        }
        next = error.source();
    }
    in_chain(source).unwrap_or(Verdict::Permanent)
}

/// As in `503 Service Unavailable: a body`.
fn of_status(text: &str) -> Verdict {
    let status = text
        .split(' ')
        .next()
        .and_then(|digits| digits.parse().ok());
    of_body(text).unwrap_or_else(|| Statuses::STANDARD.of(status.unwrap_or_default()))
}

fn of_body(text: &str) -> Option<Verdict> {
    text.contains(SLOW_DOWN).then_some(Verdict::Throttled(None))
}

fn of_http(error: &HttpError) -> Verdict {
    match error.kind() {
        HttpErrorKind::Connect => error.source().map_or(Verdict::Refused, of_connecting),
        HttpErrorKind::Request | HttpErrorKind::Timeout | HttpErrorKind::Interrupted => {
            Verdict::Transient
        }
        // An error of an HTTP client that it does not know by kind.
        _ => error
            .source()
            .and_then(in_chain)
            .unwrap_or(Verdict::Permanent),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;
    use std::io::{self, ErrorKind};

    use object_store014::{Error as Store, path};

    use super::*;

    /// Errors of its own types, which are private: a text for each level.
    #[derive(Debug)]
    struct Level(String, Option<Box<dyn Error + Send + Sync>>);

    impl fmt::Display for Level {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&self.0)
        }
    }

    impl Error for Level {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self.1.as_ref()?.as_ref())
        }
    }

    fn generic(retries: usize, request: impl Error + Send + Sync + 'static) -> Store {
        let repeated = match retries {
            0 => String::new(),
            _ => format!(", after {retries} retries, max_retries: 10, retry_timeout: 180s "),
        };
        let text = format!("Error performing GET http://store/ in 1ms{repeated} - {request}");
        let source = Box::new(Level(text, Some(Box::new(request))));
        Store::Generic {
            store: "S3",
            source,
        }
    }

    fn answer(text: &str) -> Level {
        Level(text.to_owned(), None)
    }

    #[test]
    fn by_the_last_answer() {
        for (text, verdict) in [
            ("503 Service Unavailable: ", Verdict::Transient),
            (
                "503 Service Unavailable: <Code>SlowDown</Code>",
                Verdict::Throttled(None),
            ),
            ("429 Too Many Requests: wait", Verdict::Throttled(None)),
            ("500 Internal Server Error: ", Verdict::Transient),
            ("400 Bad Request: 503 is in the body", Verdict::Permanent),
            ("what", Verdict::Permanent),
        ] {
            let error = generic(0, answer(&format!("{STATUS}{text}")));
            assert_eq!(error.classify(), verdict, "{error}");
            let error = generic(2, answer(&format!("{STATUS}{text}")));
            assert_eq!(error.classify(), verdict.into_ambiguous(), "{error}");
        }
        for (text, verdict) in [
            ("<Code>InternalError</Code>", Verdict::Transient),
            ("<Code>SlowDown</Code>", Verdict::Throttled(None)),
        ] {
            let error = generic(0, answer(&format!("{ANSWER}{text}")));
            assert_eq!(error.classify(), verdict, "{error}");
        }
    }

    #[test]
    fn by_what_broke() {
        use HttpErrorKind as Kind;
        let http = |kind, cause: ErrorKind| HttpError::new(kind, io::Error::from(cause));
        for (error, verdict) in [
            (
                http(Kind::Connect, ErrorKind::ConnectionRefused),
                Verdict::Refused,
            ),
            (
                http(Kind::Connect, ErrorKind::InvalidData),
                Verdict::Permanent,
            ),
            (http(Kind::Request, ErrorKind::Other), Verdict::Transient),
            (http(Kind::Timeout, ErrorKind::Other), Verdict::Transient),
            (
                http(Kind::Interrupted, ErrorKind::Other),
                Verdict::Transient,
            ),
            (
                http(Kind::Unknown, ErrorKind::ConnectionReset),
                Verdict::Transient,
            ),
            (http(Kind::Unknown, ErrorKind::Other), Verdict::Permanent),
            (http(Kind::Decode, ErrorKind::Other), Verdict::Permanent),
        ] {
            let error = generic(0, error);
            assert_eq!(error.classify(), verdict, "{error}");
        }
        for (kind, codes) in [
            (Kind::Connect, [true, false]),
            (Kind::Interrupted, [true, false]),
            (Kind::Timeout, [false, true]),
            (Kind::Decode, [false, false]),
        ] {
            let error = generic(0, http(kind, ErrorKind::Other));
            let has = ["connection", "timeout"].map(|code| error.has_code(code));
            assert_eq!(has, codes, "{error}");
        }
        let file = io::Error::from(ErrorKind::Interrupted);
        let file = Store::Generic {
            store: "LocalFileSystem",
            source: file.into(),
        };
        assert_eq!(file.classify(), Verdict::Transient);
    }

    #[test]
    fn what_the_store_does_not_have_is_final() {
        let source = || io::Error::from(ErrorKind::ConnectionReset).into();
        let path = String::new;
        for error in [
            Store::NotFound {
                path: path(),
                source: source(),
            },
            Store::AlreadyExists {
                path: path(),
                source: source(),
            },
            Store::Precondition {
                path: path(),
                source: source(),
            },
            Store::PermissionDenied {
                path: path(),
                source: source(),
            },
            Store::InvalidPath {
                source: path::Error::EmptySegment { path: path() },
            },
        ] {
            assert_eq!(error.classify(), Verdict::Permanent, "{error:?}");
        }
    }
}

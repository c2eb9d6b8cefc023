//! What the errors of redis mean: by the server's word, else by what broke.

use core::fmt;

use std::error::Error;
use std::io;
use std::sync::Arc;

use crate::codes::without_answer;
use crate::verdict::{Classify, Verdict};

/// redis 1: the error word of the server decides, without one the cause of the failure.
///
/// A client for clusters repeats commands itself, so its last error proves nothing about earlier
/// ones. Set its retries to 0 beside `idempotent = false`.
#[diagnostic::do_not_recommend]
impl Classify for redis1::RedisError {
    fn classify(&self) -> Verdict {
        use redis1::ErrorKind;

        if let Some(verdict) = of_several(self) {
            return verdict;
        }
        if let Some(word) = self.code() {
            return of_word(word, self.detail().unwrap_or_default());
        }
        // Also said of a Unix socket that is not there.
        if self.is_connection_refusal() {
            return Verdict::Refused;
        }
        if let Some(source) = self.source() {
            return of_source(source);
        }
        match self.kind() {
            // Nobody was found to send anything to.
            ErrorKind::MasterNameNotFoundBySentinel | ErrorKind::NoValidReplicasFoundBySentinel => {
                Verdict::Refused
            }
            ErrorKind::ClusterConnectionNotFound => Verdict::Transient,
            _ => self.is_io_error().into(),
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        if self.is_io_error() {
            without_answer(code, self.is_timeout(), self)
        } else {
            self.code() == Some(code)
        }
    }
}

/// By the first word of an error that the server returned.
fn of_word(word: &str, text: &str) -> Verdict {
    match word {
        // Not ready, or not the one to ask: fewer requests would change nothing.
        "LOADING" | "READONLY" | "MASTERDOWN" | "NOREPLICAS" | "CLUSTERDOWN" | "TRYAGAIN"
        | "MOVED" | "ASK" => Verdict::Refused,
        // Its only thread, its memory or its connections are used up.
        "BUSY" | "OOM" => Verdict::Throttled(None),
        "ERR" if text.starts_with("max number of clients") => Verdict::Throttled(None),
        // A failover; `CLIENT UNBLOCK` is somebody's wish, with the same word.
        "UNBLOCKED" if text.contains("instance state changed") => Verdict::Transient,
        // `MIGRATE`: the key may be in both places.
        "IOERR" => Verdict::Transient,
        _ => Verdict::Permanent,
    }
}

/// A pipeline or a transaction of which commands failed; `None` for anything else.
fn of_several(error: &redis1::RedisError) -> Option<Verdict> {
    // Only the error of a single command has a source.
    if error.source().is_some() {
        return None;
    }
    let failed = error.clone().into_server_errors()?;
    let verdicts = failed
        .iter()
        .map(|(_, error)| of_word(error.code(), error.details().unwrap_or_default()));
    let worst = verdicts.max_by_key(|verdict| match verdict {
        Verdict::Refused => 0,
        Verdict::Throttled(_) => 1,
        Verdict::Transient => 2,
        _ => 3,
    })?;
    // Commands that could not be queued, so that none was executed; of a pipeline the others were.
    let is_transaction = error.code() == Some("EXECABORT");
    Some(match worst {
        Verdict::Refused | Verdict::Throttled(_) if !is_transaction => Verdict::Transient,
        worst => worst,
    })
}

fn of_source(source: &(dyn Error + 'static)) -> Verdict {
    // Since 1.0 it is shared, which hides its type.
    let shared = source.downcast_ref::<Arc<dyn Error + Send + Sync>>();
    let error = source
        .downcast_ref::<io::Error>()
        .or_else(|| shared?.downcast_ref());
    // Anything else is an answer that was not asked for, or certificates.
    error.map_or(Verdict::Permanent, Classify::classify)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

    use super::*;
    use redis1::{ErrorKind, RedisError};

    const REFUSED: Verdict = Verdict::Refused;
    const THROTTLED: Verdict = Verdict::Throttled(None);
    const TRANSIENT: Verdict = Verdict::Transient;
    const PERMANENT: Verdict = Verdict::Permanent;

    /// What servers answer, in their own words.
    const ANSWERS: &[(Verdict, &[&str])] = &[
        (
            REFUSED,
            &[
                "LOADING Redis is loading the dataset in memory",
                "READONLY You can't write against a read only replica.",
                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
                "NOREPLICAS Not enough good replicas to write.",
                "CLUSTERDOWN The cluster is down",
                "CLUSTERDOWN Hash slot not served",
                "TRYAGAIN Multiple keys request during rehashing of slot",
                "MOVED 3999 127.0.0.1:6381",
                "ASK 3999 127.0.0.1:6381",
            ],
        ),
        (
            THROTTLED,
            &[
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
                "OOM command not allowed when used memory > 'maxmemory'.",
                "ERR max number of clients reached",
                "ERR max number of clients + cluster connections reached",
            ],
        ),
        (
            TRANSIENT,
            &[
                "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
                "IOERR error or timeout reading from target instance",
            ],
        ),
        (
            PERMANENT,
            &[
                "ERR value is not an integer or out of range",
                "ERR",
                "UNBLOCKED client unblocked via CLIENT UNBLOCK",
                "NOAUTH Authentication required.",
                "WRONGPASS invalid username-password pair or user is disabled.",
                "NOPERM this user has no permissions to run the 'get' command",
                "WRONGTYPE Operation against a key holding the wrong kind of value",
                "EXECABORT Transaction discarded because of previous errors.",
                "NOSCRIPT No matching script. Please use EVAL.",
                "MISCONF Errors writing to the AOF file: No space left on device",
                "CROSSSLOT Keys in request don't hash to the same slot",
                "BUSYGROUP Consumer Group name already exists",
                "BUSYKEY Target key name already exists.",
                "NOTBUSY No scripts in execution right now.",
                "DENIED Redis is running in protected mode",
            ],
        ),
    ];

    /// What the commands of a pipeline get as answers.
    type Pipelines = &'static [(&'static [&'static str], Verdict)];

    /// Where all failures are known.
    const ALL: Pipelines = &[
        (&[":1", "-READONLY"], TRANSIENT),
        (&["-READONLY", "-OOM"], TRANSIENT),
        (&["-READONLY", "-WRONGTYPE"], PERMANENT),
        (&["-WRONGTYPE", "-READONLY"], PERMANENT),
        (&["+OK", "-READONLY", "-EXECABORT"], PERMANENT),
        (&["-EXECABORT"], PERMANENT),
    ];

    fn server_error(text: &str) -> RedisError {
        let value = redis1::parse_redis_value(format!("-{text}\r\n").as_bytes());
        value.unwrap().extract_error().unwrap_err()
    }

    fn broke(error: io::Error) -> Verdict {
        RedisError::from(error).classify()
    }

    #[test]
    fn words() {
        for &(verdict, answers) in ANSWERS {
            for text in answers {
                assert_eq!(server_error(text).classify(), verdict, "{text}");
            }
        }
    }

    #[test]
    fn broken_connections() {
        use io::ErrorKind as Kind;
        assert_eq!(broke(Kind::ConnectionRefused.into()), REFUSED);
        assert_eq!(broke(Kind::NotFound.into()), REFUSED); // a Unix socket
        assert_eq!(broke(crate::clients::io::unknown_host()), REFUSED);
        for kind in [
            Kind::TimedOut,
            Kind::WouldBlock,
            Kind::BrokenPipe,
            Kind::ConnectionReset,
            Kind::UnexpectedEof,
        ] {
            assert_eq!(broke(kind.into()), TRANSIENT, "{kind}");
        }
        for kind in [Kind::PermissionDenied, Kind::InvalidData, Kind::Other] {
            assert_eq!(broke(kind.into()), PERMANENT, "{kind}");
        }
        // The library's own, of which nothing more is known.
        let dropped = RedisError::from((ErrorKind::Io, "connection dropped"));
        assert_eq!(dropped.classify(), TRANSIENT);
    }

    #[test]
    fn what_the_client_says() {
        for (kind, verdict) in [
            (ErrorKind::MasterNameNotFoundBySentinel, REFUSED),
            (ErrorKind::NoValidReplicasFoundBySentinel, REFUSED),
            (ErrorKind::EmptySentinelList, PERMANENT),
            (ErrorKind::ClusterConnectionNotFound, TRANSIENT),
            (ErrorKind::AuthenticationFailed, PERMANENT),
            (ErrorKind::InvalidClientConfig, PERMANENT),
            (ErrorKind::RESP3NotSupported, PERMANENT),
        ] {
            assert_eq!(RedisError::from((kind, "")).classify(), verdict, "{kind:?}");
        }
    }

    #[test]
    fn what_is_not_what_was_asked_for() {
        let value = |text: &str| redis1::parse_redis_value(text.as_bytes()).unwrap();
        let read = redis1::cmd("GET").query::<u8>(&mut Connection(vec![value("+a\r\n")]));
        assert_eq!(read.unwrap_err().classify(), PERMANENT);
        let broken = redis1::parse_redis_value(b"HTTP/1.1 400 Bad Request\r\n");
        assert_eq!(broken.unwrap_err().classify(), PERMANENT);
    }

    /// Answers the commands of a pipeline.
    struct Connection(Vec<redis1::Value>);

    impl redis1::ConnectionLike for Connection {
        fn req_packed_command(&mut self, _: &[u8]) -> redis1::RedisResult<redis1::Value> {
            Ok(self.0.remove(0))
        }

        fn req_packed_commands(
            &mut self,
            _: &[u8],
            _: usize,
            _: usize,
        ) -> redis1::RedisResult<Vec<redis1::Value>> {
            Ok(self.0.clone())
        }

        fn get_db(&self) -> i64 {
            0
        }

        fn check_connection(&mut self) -> bool {
            true
        }

        fn is_open(&self) -> bool {
            true
        }
    }

    /// The verdict on a pipeline whose commands get these answers.
    fn pipeline(answers: &[&str]) -> Verdict {
        let values = answers
            .iter()
            .map(|text| redis1::parse_redis_value(format!("{text}\r\n").as_bytes()).unwrap());
        let mut pipeline = redis1::pipe();
        for _ in answers {
            pipeline.cmd("INCR").arg("key");
        }
        let answer = pipeline.query::<Vec<u8>>(&mut Connection(values.collect()));
        answer.unwrap_err().classify()
    }

    #[test]
    fn pipelines() {
        for &(answers, verdict) in ALL {
            assert_eq!(pipeline(answers), verdict, "{answers:?}");
        }
    }
}

//! `test/retry_test.go` of grpc-go: which calls of a server that fails by number are retried, with a budget and without, and what
//! it asks for in its trailers. `tests/ports/README.md` lists what is different here.

use std::cell::Cell;
use std::time::Duration;

use reattempt::{Backoff, Budget, Jitter, Policy, testing};
use tonic::{Code, Status};

const POLICY: Policy = Policy::new()
    .max(4)
    .backoff(Backoff::Fixed)
    .base(Duration::from_millis(10))
    .jitter(Jitter::None);

/// A server that answers by the number of the call, from 0.
struct Server {
    next: Cell<u32>,
    answer: fn(u32) -> Code,
}

impl Server {
    fn call(&self) -> Result<(), Status> {
        let number = self.next.replace(self.next.get() + 1);
        match (self.answer)(number) {
            Code::Ok => Ok(()),
            code => Err(Status::new(code, "")),
        }
    }

    /// How a call ended, and the number of the last one that came to the server.
    fn ended(&self, end: Result<(), Status>) -> (Code, u32) {
        (
            end.err().map_or(Code::Ok, |status| status.code()),
            self.next.get() - 1,
        )
    }
}

/// `TestRetryUnary`: one code is retried.
#[test]
fn retry_unary() {
    let server = Server {
        next: Cell::new(0),
        answer: |number| match number {
            0 | 2 | 5 => Code::Ok,
            6 | 8 | 11 => Code::Internal,
            _ => Code::AlreadyExists,
        },
    };
    let _time = testing::virtual_time();
    for (case, expected) in [
        (Code::Ok, 0),
        (Code::Ok, 2),
        (Code::Ok, 5),
        (Code::Internal, 6),
        (Code::Internal, 8),
        (Code::Internal, 11),
        (Code::AlreadyExists, 15),
    ]
    .into_iter()
    .enumerate()
    {
        let end = POLICY
            .on(|status: &Status| status.code() == Code::AlreadyExists)
            .run(|| server.call());
        assert_eq!(server.ended(end), expected, "case {case}");
    }
}

/// `TestRetryThrottling`: 10 tokens, half of one for a success.
#[test]
fn retry_throttling() {
    let budget = Budget::grpc(10, 0.5);
    let server = Server {
        next: Cell::new(0),
        answer: |number| match number {
            0 | 3 | 6 | 10..=14 | 16 | 18 => Code::Ok,
            _ => Code::Unavailable,
        },
    };
    let _time = testing::virtual_time();
    for (code, count, tokens) in [
        (Code::Ok, 0, 10.0),
        (Code::Ok, 3, 8.5),
        (Code::Ok, 6, 7.0),
        (Code::Unavailable, 8, 5.0),
        (Code::Unavailable, 9, 4.0),
        (Code::Ok, 10, 4.5),
        (Code::Ok, 11, 5.0),
        (Code::Ok, 12, 5.5),
        (Code::Ok, 13, 6.0),
        (Code::Ok, 14, 6.5),
        (Code::Ok, 16, 6.0),
        (Code::Unavailable, 17, 5.0),
    ] {
        let end = POLICY.runner().budget(&budget).run(|| server.call());
        assert_eq!(server.ended(end), (code, count));
        assert_eq!(
            budget.balance().to_string(),
            tokens.to_string(),
            "after call {count}"
        );
    }
}

/// The rows of `TestRetryStreaming` that are about attempts and pushback, and the pushback of `TestRetryStats`.
#[test]
fn retry_pushback() {
    for (name, code, pushback, attempts, waits) in [
        ("Non-retryable error code", Code::Internal, &[][..], 1, 0),
        ("Exceed max attempts (4)", Code::Unavailable, &[], 4, 30),
        ("Negative server pushback", Code::Unavailable, &["-1"], 1, 0),
        (
            "Non-numeric server pushback",
            Code::Unavailable,
            &["xxx"],
            1,
            0,
        ),
        (
            "Multiple server pushback values",
            Code::Unavailable,
            &["100", "10"],
            1,
            0,
        ),
        ("1s server pushback", Code::Unavailable, &["1000"], 4, 3000),
        ("10 ms", Code::Unavailable, &["10"], 4, 30),
    ] {
        let time = testing::virtual_time();
        let calls = Cell::new(0);
        let end = POLICY.run(|| {
            calls.set(calls.get() + 1);
            let mut status = Status::new(code, "this is a test error");
            for value in pushback {
                let value = value.parse().expect("ASCII");
                status
                    .metadata_mut()
                    .append("grpc-retry-pushback-ms", value);
            }
            Err::<(), _>(status)
        });
        assert_eq!(end.expect_err("it fails").code(), code, "{name}");
        assert_eq!(calls.get(), attempts, "{name}");
        // What the service asks for is spread by up to a tenth.
        let bounds = Duration::from_millis(waits)..=Duration::from_millis(waits + waits / 10);
        assert!(
            bounds.contains(&time.elapsed()),
            "{name}: {:?}",
            time.elapsed()
        );
    }
}

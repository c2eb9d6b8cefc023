//! What errors of a status or a code mean, and how long the delays after them are: the key `codes`.

use std::io::{self, ErrorKind};
use std::time::Duration;

use reattempt::policy::{Codes, OnCode};
use reattempt::{Classify, Jitter, Policy, Verdict, retry, testing};

use crate::support::ms;

const TABLE: Codes = Codes::new(&[
    OnCode::throttled("503").base(Duration::from_secs(5)),
    OnCode::throttled("429"),
    OnCode::transient("404").base(Duration::from_millis(700)),
    OnCode::transient("403"),
    OnCode::refused("409"),
    OnCode::permanent("500"),
    // The first row of a code decides.
    OnCode::permanent("404"),
]);

/// An error with a status, and a verdict of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Answer(u16, Verdict);

impl Classify for Answer {
    fn classify(&self) -> Verdict {
        self.1
    }

    fn has_code(&self, code: &str) -> bool {
        code == self.0.to_string()
    }
}

fn policy() -> Policy {
    Policy::new().max(9).jitter(Jitter::None).codes(TABLE)
}

/// The delays of a call that fails with these, and its answer.
fn run(policy: Policy, errors: &[Answer]) -> (Vec<Duration>, Result<(), Answer>) {
    let _time = testing::virtual_time();
    let recorder = testing::record();
    let mut left = errors.iter();
    let answer = policy.run(|| left.next().map_or(Ok(()), |error| Err(*error)));
    (recorder.calls()[0].delays(), answer)
}

#[test]
fn a_row_decides_in_place_of_the_type() {
    let asked = ms(1_500);
    for (error, delay) in [
        (Answer(503, Verdict::Permanent), Some(ms(5_000))),
        (Answer(503, Verdict::Transient), Some(ms(5_000))),
        (Answer(429, Verdict::Transient), Some(ms(1_000))),
        (Answer(404, Verdict::Permanent), Some(ms(700))),
        (Answer(403, Verdict::Throttled(None)), Some(ms(100))),
        (Answer(409, Verdict::Permanent), Some(ms(100))),
        (Answer(500, Verdict::Transient), None),
        (Answer(500, Verdict::Throttled(Some(asked))), None),
        // Without a row the type decides.
        (Answer(502, Verdict::Transient), Some(ms(100))),
        (Answer(502, Verdict::Permanent), None),
        // The service knows better than a table.
        (Answer(503, Verdict::RetryForbidden), None),
    ] {
        let (delays, answer) = run(policy(), &[error]);
        assert_eq!(delays, Vec::from_iter(delay), "{error:?}");
        assert_eq!(answer.err(), delay.is_none().then_some(error), "{error:?}");
    }
    // A delay that the error asks for holds, with its spread of a tenth.
    let (delays, _) = run(policy(), &[Answer(503, Verdict::TransientAfter(asked))]);
    assert!(delays[0] >= asked && delays[0] <= ms(1_650), "{delays:?}");
}

#[test]
fn the_delays_after_a_row_grow_from_its_base() {
    let [slow, fast] = [404, 403].map(|code| Answer(code, Verdict::Transient));
    let (delays, _) = run(policy(), &[slow, slow, fast, slow]);
    assert_eq!(delays, [ms(700), ms(1_400), ms(400), ms(5_600)]);
    // As after throttling, nothing comes at once.
    let (delays, _) = run(policy().fast_first(true), &[slow]);
    assert_eq!(delays, [ms(700)]);
}

#[test]
fn a_row_says_whether_anything_may_have_run() {
    let policy = policy().idempotent(false);
    for (code, is_retried) in [
        (409, true),
        (429, true),
        (503, true),
        (403, false),
        (404, false),
    ] {
        for verdict in [Verdict::Transient, Verdict::Refused] {
            let (_, answer) = run(policy, &[Answer(code, verdict)]);
            assert_eq!(answer.is_ok(), is_retried, "{code} {verdict:?}");
        }
    }
}

const MISSING: Codes = Codes::new(&[
    OnCode::transient("NotFound").base(Duration::from_millis(300)),
    OnCode::permanent("ConnectionReset"),
]);

#[retry(max = 3, jitter = "none", codes = MISSING)]
fn read(kind: ErrorKind) -> io::Result<()> {
    Err(kind.into())
}

#[retry(max = 3, jitter = "none", codes = MISSING)]
async fn read_later(kind: ErrorKind) -> io::Result<()> {
    Err(kind.into())
}

/// `on` gives way, too.
#[retry(max = 3, jitter = "none", codes = MISSING, on = |_| true)]
fn read_any(kind: ErrorKind) -> io::Result<()> {
    Err(kind.into())
}

/// A box has no code.
#[retry(max = 3, jitter = "none", codes = MISSING, on = reattempt::chain![io::Error])]
fn read_boxed(kind: ErrorKind) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Err(io::Error::from(kind).into())
}

#[derive(Debug, Classify)]
enum ShopError {
    #[retry(inherit)]
    Io(io::Error),
    #[retry(with = |code: &u16| *code == 503)]
    Status(u16),
    #[retry(transient)]
    #[expect(dead_code, reason = "it has no code")]
    Other(u16),
}

#[test]
fn attributes_ask_errors_of_every_kind() {
    let _time = testing::virtual_time();
    let recorder = testing::record();
    let run = |call: &dyn Fn()| {
        call();
        recorder.calls().last().expect("it has failed").delays()
    };
    let calls: [fn(ErrorKind) -> io::Result<()>; 2] = [read, read_any];
    for call in calls {
        let delays = run(&|| drop(call(ErrorKind::NotFound)));
        assert_eq!(delays, [ms(300), ms(600)]);
        let delays = run(&|| drop(call(ErrorKind::ConnectionReset)));
        assert!(delays.is_empty(), "{delays:?}");
        let delays = run(&|| drop(call(ErrorKind::Interrupted)));
        assert_eq!(delays, [ms(100), ms(200)]);
    }
    let _boxed = read_boxed(ErrorKind::ConnectionReset);
    assert_eq!(
        recorder
            .calls()
            .last()
            .expect("it has failed")
            .delays()
            .len(),
        2
    );
    assert!(ShopError::Io(ErrorKind::NotFound.into()).has_code("NotFound"));
    assert!(ShopError::Status(404).has_code("404"));
    assert!(!ShopError::Status(404).has_code("40"));
    assert!(!ShopError::Other(404).has_code("404"));
}

#[tokio::test(start_paused = true)]
async fn async_calls_ask_them_too() {
    let recorder = testing::record();
    let _missing = read_later(ErrorKind::NotFound).await;
    let _reset = read_later(ErrorKind::ConnectionReset).await;
    let calls = recorder.calls();
    assert_eq!(calls[0].delays(), [ms(300), ms(600)]);
    assert!(calls[1].delays().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_time_out_of_tokio_has_a_code() {
    let late = tokio::time::timeout(ms(1), std::future::pending::<()>()).await;
    let late = late.expect_err("a time-out");
    let codes = ["timeout", "connection", ""].map(|code| late.has_code(code));
    assert_eq!(codes, [true, false, false]);
    assert_eq!(late.classify(), Verdict::Transient);
    assert!(
        late.message()
            .is_some_and(|text| !text.to_string().is_empty())
    );
}

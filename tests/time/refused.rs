//! A value that `until` refuses is seen by the hooks that have a parameter for it.

use std::cell::{Cell, RefCell};
use std::future::pending;

use reattempt::{RetryError, retry, retry_block};

use crate::support::{Hand, drive, ms};

type Seen = RefCell<Vec<Option<u32>>>;
type Answer = Result<u32, RetryError<&'static str>>;

/// Fails once, and then counts up; `until` waits for 3.
#[derive(Default)]
struct Job {
    attempts: Cell<u32>,
    seen: Seen,
    hand: Hand,
}

impl Job {
    fn ask(&self) -> Result<u32, &'static str> {
        let attempt = self.attempts.replace(self.attempts.get() + 1);
        if attempt == 0 {
            Err("busy")
        } else {
            Ok(attempt)
        }
    }

    fn see(&self, value: Option<&u32>) {
        self.seen.borrow_mut().push(value.copied());
    }
}

#[retry(max = 5, base = "1ms", timer = &job.hand, on(_), until = |value| *value == 3, on_retry = |retry, value| { assert_eq!(value.is_none(), retry.error().is_some()); job.see(value) })]
fn sync(job: &Job) -> Answer {
    job.ask()
}

#[retry(max = 5, base = "1ms", timer = &job.hand, on(_), until = |value| *value == 3, before_retry = |_, value| job.see(value))]
fn before(job: &Job) -> Answer {
    job.ask()
}

impl Job {
    #[retry(max = 5, base = "1ms", timer = &self.hand, on(_), until = |value| *value == 3, before_retry = |_, value| self.see(value))]
    fn method(&self) -> Answer {
        self.ask()
    }
}

fn block(job: &Job) -> Answer {
    retry_block!(
        max = 5,
        base = "1ms",
        timer = &job.hand,
        on(_),
        until = |value| *value == 3,
        on_retry = |_, value: Option<&u32>| job.see(value),
        || -> Answer { job.ask() }
    )
}

#[retry(max = 5, base = "1ms", on(_), until = |value| *value == 3, on_retry = |_, value| job.see(value), timer = &job.hand)]
async fn asynchronous(job: &Job) -> Answer {
    job.ask()
}

#[retry(max = 5, base = "1ms", on(_), until = |value| *value == 3, before_retry = async |_, value| job.see(value), timer = &job.hand)]
async fn async_hook(job: &Job) -> Answer {
    job.ask()
}

#[test]
fn hooks_see_it() {
    for call in [sync, before, Job::method, block] {
        let job = Job::default();
        assert_eq!(call(&job), Ok(3));
        assert_eq!(*job.seen.borrow(), [None, Some(1), Some(2)]);
    }
    let (job, other) = (Job::default(), Job::default());
    assert_eq!(drive(asynchronous(&job)), Ok(3));
    assert_eq!(drive(async_hook(&other)), Ok(3));
    for job in [job, other] {
        assert_eq!(*job.seen.borrow(), [None, Some(1), Some(2)]);
    }
}

#[test]
fn an_attempt_that_timed_out_has_none() {
    #[retry(max = 3, base = "1ms", on(_), timeout = "20ms", until = |value| *value == 2, on_retry = |_, value| job.see(value), timer = &job.hand)]
    async fn hangs(job: &Job) -> Answer {
        match job.ask() {
            Err(_) => pending().await,
            answer => answer,
        }
    }
    let job = Job::default();
    assert_eq!(drive(hangs(&job)), Ok(2));
    assert_eq!(*job.seen.borrow(), [None, Some(1)]);
    assert!(job.hand.passed() >= ms(20));
}

#[test]
fn a_whole_value_is_seen() {
    #[retry(max = 3, backoff = "none", until = |value| *value == 2, on_retry = |_, value| seen.borrow_mut().push(value.copied()))]
    fn count(next: &Cell<u32>, seen: &Seen) -> u32 {
        next.replace(next.get() + 1)
    }
    let seen = Seen::default();
    assert_eq!(count(&Cell::new(0), &seen), 2);
    assert_eq!(*seen.borrow(), [Some(0), Some(1)]);
}

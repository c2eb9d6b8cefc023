//! `reset_after`: an attempt that ran for long starts the count and the delays anew.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use reattempt::strategy::{FailedAttempt, Strategy};
use reattempt::tower::RetryLayer;
use reattempt::{
    Budget, GiveUpReason, Jitter, Policy, Retry, RetryError, retry, retry_block,
    strategy::Decision, testing,
};
use tower::{Layer as _, Service as _, service_fn};

use crate::support::{Hand, drive};

type Answer = Result<(), RetryError<&'static str>>;

/// A session that stays up for so many seconds, attempt by attempt, and then fails.
#[derive(Default)]
struct Session {
    hand: Hand,
    up: Vec<u64>,
    attempts: Cell<usize>,
    /// The attempts that were retried, and the delays after them in milliseconds.
    retries: RefCell<Vec<(u32, u128)>>,
}

impl Session {
    fn up(seconds: &[u64]) -> Self {
        Self {
            up: seconds.to_vec(),
            ..Self::default()
        }
    }

    fn run(&self) -> Result<(), &'static str> {
        let attempt = self.attempts.replace(self.attempts.get() + 1);
        let up = self.up.get(attempt).copied().unwrap_or_default();
        self.hand.spend(Duration::from_secs(up));
        Err("gone")
    }

    fn retried<E>(&self, retry: &Retry<'_, E>) {
        let retried = (retry.attempt(), retry.delay().as_millis());
        self.retries.borrow_mut().push(retried);
    }

    #[track_caller]
    fn ended(self, answer: Answer, end: (GiveUpReason, u32), retries: &[(u32, u128)]) {
        let failed = answer.unwrap_err();
        assert_eq!((failed.reason(), failed.attempts()), end);
        assert_eq!(*self.retries.borrow(), retries);
    }
}

const SESSION: Policy = Policy::new()
    .max(4)
    .jitter(Jitter::None)
    .reset_after(Duration::from_secs(60))
    .deadline(Duration::from_secs(24 * 60 * 60));

/// The third attempt lasts a minute, the second almost one.
const UP: [u64; 3] = [0, 59, 60];
const RETRIES: [(u32, u128); 5] = [(1, 100), (2, 200), (1, 100), (2, 200), (3, 400)];
const END: (GiveUpReason, u32) = (GiveUpReason::Attempts, 4);

macro_rules! functions {
    ($($name:ident $asynchronous:ident { $($keys:tt)* })*) => { $(
        #[retry($($keys)*, on(_), timer = session.hand, on_retry = |retry| session.retried(retry))]
        fn $name(session: &Session) -> Result<(), RetryError<&'static str>> {
            session.run()
        }

        #[retry($($keys)*, on(_), timer = session.hand, on_retry = |retry| session.retried(retry))]
        async fn $asynchronous(session: &Session) -> Result<(), RetryError<&'static str>> {
            session.run()
        }

        let session = Session::up(&UP);
        let answer = $name(&session);
        session.ended(answer, END, &RETRIES);
        let session = Session::up(&UP);
        let answer = drive($asynchronous(&session));
        session.ended(answer, END, &RETRIES);
    )* };
}

#[test]
fn the_count_and_the_delays_start_anew() {
    const MINUTE: Duration = Duration::from_secs(60);
    let policy = SESSION;
    functions! {
        literal literal_async { max = 4, jitter = "none", reset_after = "1m", deadline = "24h" }
        expression expression_async { max = 4, jitter = "none", reset_after = MINUTE, deadline = "24h" }
        constant constant_async { policy = SESSION }
        overridden overridden_async { policy = Policy::new().max(4).jitter(Jitter::None), reset_after = "1m", deadline = "24h" }
    }
    let session = Session::up(&UP);
    let answer: Answer = retry_block!(
        policy = policy,
        on(_),
        timer = session.hand,
        on_retry = |retry| session.retried(retry),
        || -> Result<(), RetryError<&'static str>> { session.run() }
    );
    session.ended(answer, END, &RETRIES);
    let session = Session::up(&UP);
    let runner = policy.on(|_: &&str| true).timer(session.hand.clone());
    let answer = runner
        .on_retry(|retry: &Retry<'_, _>| session.retried(retry))
        .try_run(|| session.run());
    session.ended(answer, END, &RETRIES);
    let session = Session::up(&UP);
    let runner = policy.on(|_: &&str| true).timer(session.hand.clone());
    let answer = runner
        .on_retry(|retry: &Retry<'_, _>| session.retried(retry))
        .try_run_async(async || session.run());
    let answer = drive(answer);
    session.ended(answer, END, &RETRIES);
}

/// Nobody would want an immediate retry each time that the session falls over.
#[test]
fn the_first_retry_is_fast_once() {
    #[retry(max = 3, jitter = "none", fast_first, reset_after = "1m", deadline = "24h", on(_),
        timer = session.hand, on_retry = |retry| session.retried(retry))]
    fn session(session: &Session) -> Result<(), RetryError<&'static str>> {
        session.run()
    }
    let up = Session::up(&[0, 60, 60, 0]);
    let answer = session(&up);
    up.ended(
        answer,
        (GiveUpReason::Attempts, 3),
        &[(1, 0), (1, 100), (1, 100), (2, 200)],
    );
}

#[test]
fn decorrelated_delays_start_from_base() {
    #[retry(backoff = "decorrelated", base = "1s", cap = "1m", max = 20, reset_after = "1m", deadline = "24h",
        on(_), timer = session.hand, on_retry = |retry| session.retried(retry))]
    fn session(session: &Session) -> Result<(), RetryError<&'static str>> {
        session.run()
    }
    for seed in 0..50 {
        let _seed = testing::seed(seed);
        let up = Session::up(&[0, 0, 0, 0, 0, 0, 0, 60]);
        drop(session(&up));
        let retries = up.retries.borrow();
        let first = retries.iter().filter(|(attempt, _)| *attempt == 1);
        let first: Vec<_> = first.map(|(_, delay)| *delay).collect();
        assert_eq!(first.len(), 2);
        assert!(
            first.iter().all(|delay| (1000..=3000).contains(delay)),
            "{first:?}"
        );
    }
}

#[test]
fn the_deadline_goes_on() {
    #[retry(max = 3, jitter = "none", reset_after = "1m", deadline = "10m", on(_), timer = session.hand,
        on_retry = |retry| session.retried(retry))]
    fn session(session: &Session) -> Result<(), RetryError<&'static str>> {
        session.run()
    }
    let up = Session::up(&[300, 299, 1]);
    let answer = session(&up);
    up.ended(answer, (GiveUpReason::Deadline, 2), &[(1, 100), (1, 100)]);
}

#[test]
fn the_budget_goes_on() {
    static TWICE: Budget = Budget::per_success(0.1).initial(2).floor(0.0);
    #[retry(max = 3, jitter = "none", reset_after = "1m", budget = &TWICE, on(_), timer = session.hand,
        on_retry = |retry| session.retried(retry))]
    fn session(session: &Session) -> Result<(), RetryError<&'static str>> {
        session.run()
    }
    let up = Session::up(&[60, 60, 60]);
    let answer = session(&up);
    up.ended(answer, (GiveUpReason::Budget, 1), &[(1, 100), (1, 100)]);
}

/// Its state belongs to the count.
#[test]
fn a_strategy_starts_anew() {
    struct Longer;

    impl Strategy<&'static str> for Longer {
        type State = u64;

        fn start(&self) -> u64 {
            0
        }

        fn failed(&self, waited: &mut u64, failure: &FailedAttempt<'_, &'static str>) -> Decision {
            *waited += 1;
            if failure.attempt() == 4 {
                return Decision::Stop;
            }
            Decision::Retry(Duration::from_secs(*waited))
        }
    }

    #[retry(strategy = Longer, reset_after = "1m", on(_), timer = session.hand,
        on_retry = |retry| session.retried(retry))]
    fn session(session: &Session) -> Result<(), RetryError<&'static str>> {
        session.run()
    }
    let up = Session::up(&UP);
    let answer = session(&up);
    let retries = [(1, 1000), (2, 2000), (1, 1000), (2, 2000), (3, 3000)];
    up.ended(answer, (GiveUpReason::Strategy, 4), &retries);
}

#[test]
fn a_record_shows_where_it_starts_anew() {
    let record = testing::record();
    let session = Session::up(&UP);
    let policy = SESSION.max(3);
    let runner = policy.on(|_: &&str| true).name("shop::session");
    drop(runner.timer(session.hand.clone()).try_run(|| session.run()));
    record.assert(
        "
        shop::session
          1. failed (transient), retry in 100ms
          2. failed (transient), retry in 200ms
          1. failed (transient), retry in 100ms
          2. failed (transient), retry in 200ms
          3. failed (transient), gave up (attempts)
        ",
    );
}

/// The layer reads the clock when each of its attempts begins.
#[test]
fn a_layer_starts_anew() {
    static ENOUGH: Budget = Budget::per_success(0.1).initial(100);
    const BUDGETED: Policy = Policy::new()
        .max(4)
        .jitter(Jitter::None)
        .reset_after(Duration::from_secs(60))
        .budget(&ENOUGH);
    let session = Session::up(&UP);
    let layer = RetryLayer::new(BUDGETED).timer(session.hand.clone());
    let layer =
        layer.on_retry(|retry: &Retry<'_, Result<(), std::io::Error>>| session.retried(retry));
    let mut service = layer.layer(service_fn(async |()| {
        session
            .run()
            .map_err(|_| std::io::ErrorKind::ConnectionReset.into())
    }));
    assert!(drive(service.call(())).is_err());
    assert_eq!(*session.retries.borrow(), RETRIES);
}

/// A constant policy without the key keeps nothing for it.
#[test]
fn without_the_key_it_takes_no_place() {
    static BUDGET: Budget = Budget::per_success(0.1);
    const PLAIN: Policy = Policy::new().budget(&BUDGET);
    const RESETS: Policy = PLAIN.reset_after(Duration::from_secs(60));

    async fn hold(large: [u8; 256]) -> Result<u8, std::io::Error> {
        std::future::ready(()).await;
        Ok(large[0])
    }

    #[retry(policy = PLAIN)]
    async fn plain(large: [u8; 256]) -> Result<u8, std::io::Error> {
        hold(large).await
    }

    #[retry(policy = RESETS)]
    async fn resets(large: [u8; 256]) -> Result<u8, std::io::Error> {
        hold(large).await
    }

    let large = [0; 256];
    let start = size_of::<reattempt::timer::Timestamp>();
    assert_eq!(
        size_of_val(&plain(large)) + start,
        size_of_val(&resets(large))
    );
}

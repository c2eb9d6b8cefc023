//! Delays by a clock that draws the largest number each time: what they grow from.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};
use reattempt::{Classify, GiveUpReason, RetryError, Verdict, retry, retry_block};

use crate::support::{drive, ms};

/// A timer that draws the largest number, and keeps how long it was asked to sleep.
#[derive(Default)]
struct Largest {
    now: Cell<Duration>,
    slept: RefCell<Vec<u128>>,
    slack: Duration,
}

impl Clock for Largest {
    fn slack(&self) -> Duration {
        self.slack
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.now.get())
    }

    fn random(&self) -> u64 {
        u64::MAX
    }
}

impl BlockingTimer for Largest {
    fn sleep(&self, duration: Duration) {
        self.now.set(self.now.get() + duration);
        self.slept.borrow_mut().push(duration.as_millis());
    }
}

impl Timer for Largest {
    type Sleep = std::future::Ready<()>;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        BlockingTimer::sleep(self, duration);
        std::future::ready(())
    }
}

/// What the attempts answer one after the other: a value, or an error.
type Script<'s> = &'s RefCell<std::slice::Iter<'s, Result<u32, Fault>>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Down,
    Busy,
}

impl Classify for Fault {
    fn classify(&self) -> Verdict {
        match self {
            Self::Down => Verdict::Transient,
            Self::Busy => Verdict::Throttled(Some(ms(50))),
        }
    }
}

type Answer = Result<u32, RetryError<Fault>>;

fn next(script: Script<'_>) -> Result<u32, Fault> {
    script.borrow_mut().next().copied().unwrap_or(Ok(0))
}

macro_rules! forms {
    ($($key:ident = $value:expr),*) => {{
        #[retry($($key = $value,)* max = 9, timer = timer)]
        fn blocking(script: Script<'_>, timer: &Largest) -> Answer {
            next(script)
        }
        #[retry($($key = $value,)* max = 9, timer = timer)]
        async fn asynchronous(script: Script<'_>, timer: &Largest) -> Answer {
            next(script)
        }
        fn block(script: Script<'_>, timer: &Largest) -> Answer {
            retry_block!($($key = $value,)* max = 9, timer = timer, || -> Answer { next(script) })
        }
        let forms: [fn(Script<'_>, &Largest) -> Answer; 3] = [
            blocking,
            |script, timer| drive(asynchronous(script, timer)),
            block,
        ];
        forms
    }};
}

/// Returns the milliseconds that each form sleeps.
fn slept(
    forms: [fn(Script<'_>, &Largest) -> Answer; 3],
    answers: &[Result<u32, Fault>],
) -> Vec<u128> {
    let [blocking, others @ ..] = forms.map(|form| {
        let (script, timer) = (RefCell::new(answers.iter()), Largest::default());
        assert!(form(&script, &timer).is_ok());
        timer.slept.into_inner()
    });
    for other in others {
        assert_eq!(other, blocking);
    }
    blocking
}

const DOWN: Result<u32, Fault> = Err(Fault::Down);
const BUSY: Result<u32, Fault> = Err(Fault::Busy);

/// Each may be three times as long as the one before; one of throttling is passed over.
#[test]
fn decorrelated_delays_grow_from_the_one_before() {
    let forms = forms!(backoff = "decorrelated", base = "100ms", cap = "5s");
    assert_eq!(slept(forms, &[DOWN; 5]), [300, 900, 2700, 5000, 5000]);
    let answers = [DOWN, DOWN, BUSY, DOWN, Ok(0)];
    let [first, second, _, next] = slept(forms, &answers)[..] else {
        unreachable!("four attempts have failed");
    };
    assert_eq!([first, second, next], [300, 900, 2700]);
}

/// One that asks again for a value that is not final is as long as one after an error, and the next grows from it.
#[test]
fn a_delay_after_a_value_that_is_not_final_grows_alike() {
    let forms = forms!(
        base = "100ms",
        jitter = "none",
        until = |value: &u32| *value == 0
    );
    for answers in [[DOWN; 4], [Ok(1); 4], [Ok(1), DOWN, Ok(1), DOWN]] {
        assert_eq!(slept(forms, &answers), [100, 200, 400, 800], "{answers:?}");
    }
}

/// A delay that may end late, by the word of its timer, has to end in time all the same.
#[test]
fn a_delay_ends_before_the_deadline_however_late_its_timer_is() {
    #[retry(max = 2, base = "100ms", jitter = "none", deadline = "105ms", timer = timer)]
    fn blocking(script: Script<'_>, timer: &Largest) -> Answer {
        next(script)
    }
    #[retry(max = 2, base = "100ms", jitter = "none", deadline = "105ms", timer = timer)]
    async fn asynchronous(script: Script<'_>, timer: &Largest) -> Answer {
        next(script)
    }
    let forms: [fn(Script<'_>, &Largest) -> Answer; 2] =
        [blocking, |script, timer| drive(asynchronous(script, timer))];
    for form in forms {
        for (slack, end) in [
            (0, (GiveUpReason::Attempts, 2)),
            (4, (GiveUpReason::Attempts, 2)),
            (6, (GiveUpReason::Deadline, 1)),
        ] {
            let timer = Largest {
                slack: ms(slack),
                ..Largest::default()
            };
            let script = RefCell::new([DOWN; 9].iter());
            let error = form(&script, &timer).expect_err("it is down");
            assert_eq!((error.reason(), error.attempts()), end, "{slack} ms");
        }
    }
}

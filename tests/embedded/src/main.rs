//! Calls that are retried on a microcontroller: with a timer of its own, without `std` and without an allocator.
#![no_std]
#![no_main]

mod board;
mod timer;

use core::cell::Cell;
use core::time::Duration;

use reattempt::timer::{BlockingTimer, Clock as _};
use reattempt::{Classify, GaveUp, Jitter, Policy, RetryError, retry, retry_block};

use timer::Ticks;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Classify)]
enum Fault {
    #[retry(transient)]
    Busy,
    #[retry(permanent)]
    Wrong,
    #[retry(forbidden)]
    Late,
}

impl From<GaveUp> for Fault {
    fn from(_: GaveUp) -> Self {
        Self::Late
    }
}

/// A sensor that answers after some faults.
struct Sensor<'f> {
    faults: &'f [Fault],
    asked: Cell<usize>,
}

impl Sensor<'_> {
    fn new(faults: &[Fault]) -> Sensor<'_> {
        let asked = Cell::new(0);
        Sensor { faults, asked }
    }

    fn ask(&self) -> Result<u32, Fault> {
        let nth = self.asked.replace(self.asked.get() + 1);
        self.faults.get(nth).map_or(Ok(21), |fault| Err(*fault))
    }

    #[retry(max = 4, base = "10ms", jitter = "none", timer = Ticks)]
    fn read(&self) -> Result<u32, Fault> {
        self.ask()
    }

    #[retry(max = 4, base = "10ms", jitter = "none", timer = Ticks)]
    async fn read_async(&self) -> Result<u32, Fault> {
        self.ask()
    }

    #[retry(max = 4, backoff = "fixed", base = "10ms", jitter = "none", deadline = "50ms", timer = Ticks)]
    fn read_slowly(&self) -> Result<u32, RetryError<Fault>> {
        BlockingTimer::sleep(&Ticks, Duration::from_millis(30));
        Ok(self.ask()?)
    }

    #[retry(max = 2, base = "10ms", jitter = "none", timeout = "20ms", timer = Ticks)]
    async fn hang(&self) -> Result<u32, RetryError<Fault>> {
        self.asked.set(self.asked.get() + 1);
        core::future::pending().await
    }
}

const POLICY: Policy = Policy::new()
    .max(4)
    .base(Duration::from_millis(10))
    .jitter(Jitter::None);

/// Returns how many milliseconds a case took. The emulator counts instructions, so the time of its host does not matter.
fn took(case: impl FnOnce()) -> u128 {
    let start = Ticks.now();
    case();
    Ticks.now().since(start).as_millis()
}

fn main() {
    let busy = [Fault::Busy, Fault::Busy];
    let sensor = Sensor::new(&busy);
    let taken = took(|| assert_eq!(sensor.read(), Ok(21)));
    assert!((30..34).contains(&taken), "{taken} ms, not 10 and 20");
    assert_eq!(sensor.asked.get(), 3);

    let sensor = Sensor::new(&busy);
    let taken = took(|| assert_eq!(timer::block_on(sensor.read_async()), Ok(21)));
    assert!((30..34).contains(&taken), "{taken} ms, not 10 and 20");
    assert_eq!(sensor.asked.get(), 3);

    let sensor = Sensor::new(&[Fault::Wrong]);
    let taken = took(|| assert_eq!(sensor.read(), Err(Fault::Wrong)));
    assert!(taken < 2, "{taken} ms for no delay");
    assert_eq!(sensor.asked.get(), 1);

    let sensor = Sensor::new(&[Fault::Busy; 4]);
    let ended = sensor.read_slowly().unwrap_err();
    assert_eq!(ended.attempts(), 2, "the second attempt ends after 70 ms");

    let sensor = Sensor::new(&busy);
    let answer = POLICY
        .on(|fault: &Fault| *fault == Fault::Busy)
        .timer(Ticks)
        .run(|| sensor.ask());
    assert_eq!((answer, sensor.asked.get()), (Ok(21), 3));

    let sensor = Sensor::new(&busy);
    let answer: Result<u32, Fault> =
        retry_block!(policy = POLICY, timer = Ticks, { Ok(sensor.ask()? * 2) });
    assert_eq!((answer, sensor.asked.get()), (Ok(42), 3));

    let sensor = Sensor::new(&[]);
    let taken = took(|| assert!(timer::block_on(sensor.hang()).is_err()));
    assert!((50..55).contains(&taken), "{taken} ms, not 20, 10 and 20");
    assert_eq!(sensor.asked.get(), 2);
}

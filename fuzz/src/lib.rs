//! What several targets have in common: a clock that shows what the input says, and policies.

pub mod policy;

use core::cell::Cell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use arbitrary::Arbitrary;
use retry_runtime::timer::{BlockingTimer, Clock, Timer, Timestamp};

/// What happens to a clock.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Jump {
    Stand,
    Nanos(u16),
    Millis(u16),
    Seconds(u16),
    /// Back by so many milliseconds.
    Back(u16),
    /// Anywhere.
    To(u64),
    /// So many nanoseconds before its end.
    NearEnd(u8),
}

impl Jump {
    /// The time after it.
    pub fn from(self, now: u64) -> u64 {
        match self {
            Self::Stand => now,
            Self::Nanos(nanos) => now.saturating_add(nanos.into()),
            Self::Millis(millis) => now.saturating_add(u64::from(millis) * 1_000_000),
            Self::Seconds(seconds) => now.saturating_add(u64::from(seconds) * 1_000_000_000),
            Self::Back(millis) => now.saturating_sub(u64::from(millis) * 1_000_000),
            Self::To(moment) => moment,
            Self::NearEnd(nanos) => u64::MAX - u64::from(nanos),
        }
    }

    /// The time after it by a clock that never goes back.
    pub fn onwards(self, now: u64) -> u64 {
        self.from(now).max(now)
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct HandClock {
    now: Cell<u64>,
    seed: Cell<u64>,
    /// How much later than asked its sleeps end.
    late: Cell<u64>,
    /// The longest that it sleeps.
    longest: Cell<u64>,
}

impl HandClock {
    pub const fn new(now: u64, seed: u64) -> Self {
        Self {
            now: Cell::new(now),
            seed: Cell::new(seed),
            late: Cell::new(0),
            longest: Cell::new(u64::MAX),
        }
    }

    pub fn nanos(&self) -> u64 {
        self.now.get()
    }

    pub fn set(&self, nanos: u64) {
        self.now.set(nanos);
    }

    pub fn jump(&self, jump: Jump) {
        self.set(jump.from(self.nanos()));
    }

    /// From now on sleeps end so many nanoseconds late.
    pub fn be_late(&self, nanos: u64) {
        self.late.set(nanos);
    }

    /// From now on no sleep takes longer.
    pub fn sleep_at_most(&self, nanos: u64) {
        self.longest.set(nanos);
    }

    fn slept(&self, duration: Duration) -> u64 {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let nanos = nanos.min(self.longest.get());
        let late = self.late.get();
        self.nanos().saturating_add(nanos).saturating_add(late)
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_nanos(self.nanos()))
    }

    /// The ends first of all: there the arithmetic breaks, if it does.
    fn random(&self) -> u64 {
        let seed = self.seed.get();
        self.seed.set(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
        match seed % 4 {
            0 => 0,
            1 => u64::MAX,
            _ => seed.wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(31),
        }
    }
}

impl BlockingTimer for HandClock {
    fn sleep(&self, duration: Duration) {
        self.set(self.slept(duration));
    }
}

impl<'c> Timer for &'c HandClock {
    type Sleep = HandSleep<'c>;

    fn sleep(&self, duration: Duration) -> HandSleep<'c> {
        HandSleep {
            clock: self,
            until: self.slept(duration),
            polled: false,
        }
    }
}

/// Is pending once, then moves the clock to its end.
#[derive(Debug)]
pub struct HandSleep<'c> {
    clock: &'c HandClock,
    until: u64,
    polled: bool,
}

impl Future for HandSleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.clock.nanos() >= self.until {
            return Poll::Ready(());
        }
        if self.polled {
            self.clock.set(self.until);
            return Poll::Ready(());
        }
        self.polled = true;
        Poll::Pending
    }
}

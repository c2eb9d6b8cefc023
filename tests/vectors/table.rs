//! The vectors, by their numbers. Delays are milliseconds.

use std::time::Duration;

use reattempt::{Backoff, Jitter, Policy};

pub(crate) struct Vector {
    pub(crate) id: &'static str,
    pub(crate) policy: Policy,
    /// Calls that fail before one succeeds.
    pub(crate) faults: u32,
    /// Calls that must be made.
    pub(crate) calls: u32,
    pub(crate) succeeds: bool,
    /// The schedule; a run may use only the start of it.
    pub(crate) delays: &'static [f64],
}

impl Vector {
    /// The delays that a run comes to.
    pub(crate) fn slept(&self) -> impl Iterator<Item = Duration> {
        let retries = (self.calls - 1) as usize;
        self.delays.iter().take(retries).copied().map(ms)
    }
}

pub(crate) fn ms(milliseconds: f64) -> Duration {
    Duration::from_secs_f64(milliseconds / 1000.0)
}

const fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

const fn exact(max: u32) -> Policy {
    Policy::new().max(max).jitter(Jitter::None)
}

const fn always(id: &'static str, policy: Policy, calls: u32, delays: &'static [f64]) -> Vector {
    Vector {
        id,
        policy,
        faults: u32::MAX,
        calls,
        succeeds: false,
        delays,
    }
}

pub(crate) const VECTORS: &[Vector] = &[
    Vector {
        id: "V1 AWS standard mode",
        policy: exact(5).base(millis(1000)),
        faults: 2,
        calls: 3,
        succeeds: true,
        delays: &[1000.0, 2000.0],
    },
    always(
        "V6 AWS",
        exact(5).base(millis(1000)).cap(millis(20_000)),
        5,
        &[1000.0, 2000.0, 4000.0, 8000.0],
    ),
    always(
        "V7 AWS",
        exact(5).base(millis(1000)).cap(millis(3000)),
        5,
        &[1000.0, 2000.0, 3000.0, 3000.0],
    ),
    always(
        "V30 Polly",
        exact(4).backoff(Backoff::Linear).base(millis(1000)),
        4,
        &[1000.0, 2000.0, 3000.0],
    ),
    // tokio-retry2 0.9.1, src/strategy/fibonacci_backoff.rs: `returns_the_fibonacci_series_starting_at_10`, with a cap.
    always(
        "fibonacci, tokio-retry2",
        exact(8)
            .backoff(Backoff::Fibonacci)
            .base(millis(10))
            .cap(millis(100)),
        8,
        &[10.0, 10.0, 20.0, 30.0, 50.0, 80.0, 100.0],
    ),
    always(
        "V37 resilience4j",
        exact(13).base(millis(100)).cap(millis(100_000)),
        13,
        &[
            100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0, 12800.0, 25600.0, 51200.0,
            100_000.0, 100_000.0,
        ],
    ),
    always(
        "V46 MicroProfile",
        exact(6).base(millis(1)),
        6,
        &[1.0, 2.0, 4.0, 8.0, 16.0],
    ),
    // Five attempts there; more than three without a millisecond between them are not accepted.
    always(
        "V47 MicroProfile",
        exact(3)
            .backoff(Backoff::Fixed)
            .base(Duration::from_nanos(1)),
        3,
        &[0.000_001, 0.000_001],
    ),
    always(
        "V70 Finagle",
        exact(6)
            .backoff(Backoff::Linear)
            .first(millis(7))
            .base(millis(10)),
        6,
        &[7.0, 17.0, 27.0, 37.0, 47.0],
    ),
    always(
        "V72 tenacity",
        exact(9).base(millis(1)).cap(millis(40)),
        9,
        &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 40.0],
    ),
    always(
        "V76 Spring",
        exact(9).base(millis(2000)).factor(1.5).cap(millis(30_000)),
        9,
        &[
            2000.0, 3000.0, 4500.0, 6750.0, 10125.0, 15187.5, 22781.25, 30000.0,
        ],
    ),
    always(
        "V78 cenkalti",
        exact(14).base(millis(500)).factor(1.5).cap(millis(60_000)),
        14,
        &[
            500.0,
            750.0,
            1125.0,
            1687.5,
            2531.25,
            3796.875,
            5695.3125,
            8542.96875,
            12_814.453_125,
            19_221.679_688,
            28_832.519_531,
            43_248.779_297,
            60_000.0,
        ],
    ),
    always(
        "V80 EF Core",
        exact(7)
            .first(Duration::ZERO)
            .base(millis(1000))
            .cap(millis(30_000)),
        7,
        &[0.0, 1000.0, 3000.0, 7000.0, 15000.0, 30000.0],
    ),
    always(
        "V81 transient fault handling",
        exact(5)
            .first(millis(1000))
            .base(millis(10_000))
            .cap(millis(30_000)),
        5,
        &[1000.0, 11000.0, 30000.0, 30000.0],
    ),
    always(
        "V81 transient fault handling, fast first",
        exact(5)
            .first(millis(1000))
            .base(millis(10_000))
            .cap(millis(30_000))
            .fast_first(true),
        5,
        &[0.0, 11000.0, 30000.0, 30000.0],
    ),
    always(
        "V82 Temporal",
        exact(10).base(millis(1000)).cap(millis(10_000)),
        10,
        &[
            1000.0, 2000.0, 4000.0, 8000.0, 10000.0, 10000.0, 10000.0, 10000.0, 10000.0,
        ],
    ),
];

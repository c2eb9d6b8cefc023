//! What is done in one measurement.

use std::sync::OnceLock;
use std::time::Duration;

/// What a step does: nothing, wait as for another service, or answer with much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Nothing,
    Waits,
    Answers,
}

impl Work {
    pub const ALL: [Self; 3] = [Self::Nothing, Self::Waits, Self::Answers];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Waits => "5 ms",
            Self::Answers => "10 kB",
        }
    }
}

/// How much of it, and with what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    pub work: Work,
    /// Workflows at the same time.
    pub in_flight: usize,
    /// Connections of a peer to PostgreSQL; ours has as many as it has.
    pub pool: u32,
    pub time: Duration,
}

impl Load {
    /// As the arguments of a process.
    pub fn to_arguments(self) -> [String; 4] {
        [
            self.work.name().to_owned(),
            self.in_flight.to_string(),
            self.pool.to_string(),
            self.time.as_secs_f64().to_string(),
        ]
    }

    /// In that process, whose steps do this from now on.
    pub fn of(arguments: [&str; 4]) -> Self {
        let [work, in_flight, pool, time] = arguments;
        let work = Work::ALL.into_iter().find(|known| known.name() == work);
        let work = work.expect("a kind of work");
        WORK.set(work).expect("one measurement in a process");
        Self {
            work,
            in_flight: in_flight.parse().expect("a number"),
            pool: pool.parse().expect("a number"),
            time: Duration::from_secs_f64(time.parse().expect("seconds")),
        }
    }
}

static WORK: OnceLock<Work> = OnceLock::new();

/// The body of each step.
pub async fn step() -> String {
    match WORK.get().expect("set when the process began") {
        Work::Nothing => String::new(),
        Work::Waits => {
            tokio::time::sleep(Duration::from_millis(5)).await;
            String::new()
        }
        Work::Answers => "0123456789".repeat(1000),
    }
}

//! Every driver does with a case what it does alone, whoever is beside it: in the same task, in another one of its thread,
//! in another runtime there, on other threads, and in turn on both. A neighbour fails, succeeds later, times out, panics,
//! is dropped between two polls, and gives up operations, also that of the case in a call of its own; `noise.rs` says
//! what it does, and `company.rs` when: before and between the calls, at each poll of a future, in each wait of a thread.
//! It asserts that it sees nothing of the case. What a case does alone it does on a thread that has never had a neighbour.
//! Time is virtual, and nothing depends on which thread comes first. `tests/neighbours` asks the same of a few fixed calls.
//!
//! `REATTEMPT_SEED` and `REATTEMPT_CASES` choose other cases.

use std::fmt;
use std::num::NonZero;
use std::pin::pin;
use std::sync::mpsc::sync_channel;
use std::task::{Context, Poll, Waker};
use std::thread;

use tokio::task::LocalSet;

use crate::agree::{chosen, seeds};
use crate::case::Case;
use crate::company::{self, KINDS, Kind, Scenario};
use crate::drivers::{self, Driver};
use crate::random::Random;
use crate::trace::Trace;
use crate::world::World;

/// Many cases are nested in a call that knows of nothing that has been given up.
fn case(seed: u64) -> Case {
    let mut case = Case::random(seed);
    if Random(seed.rotate_left(32)).percent(30) {
        (case.nested, case.is_fresh) = (true, true);
    }
    case
}

/// A case with one driver.
struct Run<'r> {
    seed: u64,
    number: u64,
    driver: &'r Driver,
    case: Case,
    /// The neighbour does what comes of it.
    of_neighbour: u64,
}

impl Run<'_> {
    fn kind(&self) -> Kind {
        Random(self.of_neighbour).pick(&KINDS)
    }

    fn trace(&self, kind: Kind) -> Trace {
        let call = self.driver.call;
        let scenario = Scenario {
            case: self.case.clone(),
            call,
            is_async: self.driver.is_async(),
        };
        let case = self.case.clone();
        let calls = move || World::run(&case, call);
        // A runtime of tokio does not run inside of a task.
        let is_task = !self.case.tokio && self.of_neighbour.is_multiple_of(3);
        company::run(scenario, kind, self.of_neighbour, || {
            if is_task { in_a_task(calls) } else { calls() }
        })
    }
}

impl fmt::Display for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, number, name) = (self.seed, self.number, self.driver.name);
        write!(
            f,
            "REATTEMPT_SEED={seed}, case {number}, {name}, {:?}",
            self.kind()
        )
    }
}

/// Says what ran where something panics.
impl Drop for Run<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            println!("{self}\n{:#?}", self.case);
        }
    }
}

#[test]
fn calls_beside_others_are_as_they_are_alone() {
    let (seed, cases) = chosen(1_000);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for nth in 0..threads {
            let own = (0..cases).zip(seeds(seed)).skip(nth).step_by(threads);
            let quiet = own.clone();
            let (sender, alone) = sync_channel(64);
            scope.spawn(move || {
                each(seed, quiet, |run| {
                    sender.send(run.trace(Kind::Alone)).is_ok()
                });
            });
            scope.spawn(move || {
                each(seed, own, |run| {
                    let found = run.trace(run.kind());
                    let Ok(expected) = alone.recv() else {
                        return false;
                    };
                    assert!(
                        expected == found,
                        "{run}\nalone: {expected}\nbeside: {found}\nalone: {expected:?}\nbeside: {found:?}"
                    );
                    true
                });
            });
        }
    });
}

/// Each case with each driver that takes it, until `done` says no.
fn each(
    seed: u64,
    cases: impl Iterator<Item = (u64, u64)>,
    mut done: impl FnMut(&Run<'_>) -> bool,
) {
    let drivers = drivers::all();
    for (number, of_case) in cases {
        let case = case(of_case);
        let mut random = Random(!of_case);
        for driver in drivers.iter().filter(|driver| driver.takes(&case)) {
            let run = Run {
                seed,
                number,
                driver,
                case: driver.part_of(&case),
                of_neighbour: random.next(),
            };
            if !done(&run) {
                return;
            }
        }
    }
}

/// The whole case is one poll of a task.
fn in_a_task(calls: impl FnOnce() -> Trace + 'static) -> Trace {
    let tasks = LocalSet::new();
    let task = tasks.spawn_local(async move { calls() });
    let mut done = pin!(tasks.run_until(task));
    loop {
        let mut cx = Context::from_waker(Waker::noop());
        if let Poll::Ready(done) = done.as_mut().poll(&mut cx) {
            return done.unwrap_or_else(|end| std::panic::resume_unwind(end.into_panic()));
        }
    }
}

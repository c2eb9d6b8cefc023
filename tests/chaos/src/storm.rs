//! The storm: workers that make calls, while everything misbehaves as the plan says.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use reattempt::config::{self, Config};
use tokio::runtime::Runtime;
use tokio::time::sleep;

use crate::calls::Call;
use crate::log::{self, What};
use crate::ops;
use crate::other::Other;
use crate::plan::{Act, Plan};
use crate::policies::FILES;
use crate::run::resident;

/// Tasks that make calls, and threads.
const TASKS: u64 = 28;
const THREADS: u64 = 4;
pub(crate) const WORKERS: u64 = TASKS + THREADS;

/// Until the time is over and every call has ended; the memory in use in the middle of it.
pub(crate) fn rage(plan: Plan, other: &Other, runtime: &Runtime) -> usize {
    let is_over = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (1..=TASKS)
        .map(|worker| {
            let is_over = Arc::clone(&is_over);
            runtime.spawn(async move {
                for number in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    let next = plan.call(worker, number, false);
                    let call =
                        Arc::new(Call::begin(log::id(worker, number), next.spec, next.policy));
                    ops::call(&call).await;
                    sleep(next.pause).await;
                }
            })
        })
        .collect();
    let threads: Vec<_> = (TASKS + 1..=WORKERS)
        .map(|worker| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                for number in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    let next = plan.call(worker, number, true);
                    let call =
                        Arc::new(Call::begin(log::id(worker, number), next.spec, next.policy));
                    ops::call_blocking(&call);
                    thread::sleep(next.pause);
                }
            })
        })
        .collect();
    let middle = act(plan, other);
    is_over.store(true, Ordering::SeqCst);
    for task in tasks {
        runtime.block_on(task).expect("a worker panicked");
    }
    for thread in threads {
        thread.join().expect("a worker panicked");
    }
    middle
}

/// What happens to all, each at its time.
fn act(plan: Plan, other: &Other) -> usize {
    let start = Instant::now();
    let wait = |at: Duration| thread::sleep(at.saturating_sub(start.elapsed()));
    let mut middle = None;
    for (at, act) in plan.acts() {
        if at > plan.length / 2 && middle.is_none() {
            wait(plan.length / 2);
            middle = Some(resident());
        }
        wait(at);
        match act {
            Act::Fault(side, fault) => other.set(side, fault),
            Act::Reload(file) => {
                let read = Config::from_toml(FILES[file]).map(Config::install);
                assert_eq!(read.is_err(), FILES[file].contains("max = 0"));
                log::note(0, What::Reloaded);
            }
            // Reported after they are off, and before they are on: in between they are off.
            Act::RetriesOn(false) => {
                config::stop_retries();
                log::note(0, What::RetriesOn(false));
            }
            Act::RetriesOn(true) => {
                log::note(0, What::RetriesOn(true));
                config::resume_retries();
            }
        }
    }
    wait(plan.length);
    middle.unwrap_or_else(resident)
}

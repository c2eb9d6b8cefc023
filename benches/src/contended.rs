//! Calls per second through one closed breaker. The only times that are measured here: the breakers take turns,
//! and the median of the rounds is shown, but a busy machine still shows in it.

use std::error::Error;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crate::cases::breakers::{failsafe, ours, recloser};

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(100);
/// Calls between two looks at the clock.
const CALLS: u32 = 256;

/// Millions of calls per second, all threads together: recloser, failsafe, ours.
pub(crate) fn throughput(threads: usize) -> Result<[f64; 3], Box<dyn Error>> {
    let mut rounds = [[0.0; ROUNDS]; 3];
    for round in 0..ROUNDS {
        for (breaker, rates) in [recloser, failsafe, ours].into_iter().zip(&mut rounds) {
            rates[round] = rate(threads, black_box(breaker))?;
        }
    }
    Ok(rounds.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[ROUNDS / 2]
    }))
}

fn rate(threads: usize, breaker: fn(u64)) -> Result<f64, Box<dyn Error>> {
    let (start, stop) = (Barrier::new(threads + 1), AtomicBool::new(false));
    let work = || {
        start.wait();
        let (began, mut looks) = (Instant::now(), 0_u32);
        while !stop.load(Ordering::Relaxed) {
            breaker(u64::from(CALLS));
            looks += 1;
        }
        f64::from(looks) * f64::from(CALLS) / began.elapsed().as_secs_f64() / 1e6
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        start.wait();
        thread::sleep(ROUND);
        stop.store(true, Ordering::Relaxed);
        let rates = workers.into_iter().map(ScopedJoinHandle::join);
        let rates: Result<Vec<f64>, _> = rates.collect();
        Ok(rates.map_err(|_| "a thread panicked")?.iter().sum())
    })
}

//! The budget that an operation has by default: every storm that comes back without retries comes back with it.

use retry_runtime::Verdict;

use super::*;

/// A fault of a server that so many processes use.
#[derive(Debug)]
struct Storm {
    calls: f64,
    capacity: f64,
    processes: usize,
    trigger: Trigger,
    timeout: Duration,
    stale: Stale,
}

impl Storm {
    const fn outage(calls: f64, processes: usize) -> Self {
        Self {
            calls,
            capacity: 120.0,
            processes,
            trigger: Trigger::outage(20..25),
            timeout: secs(1),
            stale: Stale::Served,
        }
    }

    /// Seconds from the end of the fault until at least nine of ten calls succeed, if they do at the end, and the share
    /// of all calls that succeed.
    fn play(&self, policy: Policy, seed: u64) -> (Option<f64>, f64) {
        let scene = Scene {
            calls: self.calls,
            arrivals: Arrivals::Poisson,
            capacity: self.capacity,
            stale: self.stale,
            timeout: self.timeout,
            trigger: self.trigger.clone(),
            end: secs(500),
            seed,
        };
        let clients: Vec<Client> = (0..self.processes).map(|_| Client::new(policy)).collect();
        let record = run(&scene, &clients);
        let (succeeded, calls) = (record.total(|it| it.succeeded), record.total(|it| it.calls));
        let share = number(succeeded) / number(calls);
        let is_bad = |it: &Second| it.failed * 10 > it.calls;
        let end = record
            .seconds
            .iter()
            .rposition(is_bad)
            .map_or(0, |last| last + 1);
        let back = number(end as u64) - scene.trigger.time.end.as_secs_f64();
        (
            (end + 10 < record.seconds.len()).then_some(back.max(0.0)),
            share,
        )
    }
}

/// The picture of the README: 52 calls a second, and an outage of 5 s.
#[test]
fn the_default_policy_comes_back() {
    let storm = Storm::outage(52.0, 10);
    let (never, lost) = storm.play(Policy::new().without_budget(), 1);
    assert_eq!(never, None, "without a budget it collapses");
    assert!(lost < 0.3, "{lost}");
    let (alone, most) = storm.play(Policy::new().max(1), 1);
    let (back, share) = storm.play(Policy::new(), 1);
    let (alone, back) = (alone.expect("no retries"), back.expect("it comes back"));
    assert!(
        back <= 2.0 * alone + 5.0 && share > most - 0.01,
        "{back} s, {alone} s, {share}, {most}"
    );
}

/// Faults of 5 s at a load that is all right without one, and clients that wait for 1, 3 and 30 s.
fn storms() -> Vec<(u32, Storm)> {
    let mut storms = Vec::new();
    for processes in [1, 10, 100] {
        for max in [3, 5, 10] {
            for utilisation in [0.43, 0.55, 0.67, 0.78, 0.9] {
                for kind in [Kind::Outage, Kind::Slowdown(0.2)] {
                    for timeout in [1, 3, 30] {
                        for stale in [Stale::Served, Stale::Dropped] {
                            let mut storm = Storm::outage(utilisation * 120.0, processes);
                            storm.trigger.kind = kind;
                            storm.timeout = secs(timeout);
                            storm.stale = stale;
                            storms.push((max, storm));
                        }
                    }
                }
            }
        }
    }
    storms
}

/// How many come back without retries, and how many of them much later, or never, with the default budget.
fn judge(storms: &[(u32, Storm)], seed: u64) -> (usize, usize, usize) {
    let (mut all, mut late, mut never) = (0, 0, 0);
    for (max, storm) in storms {
        let (Some(alone), _) = storm.play(Policy::new().max(1), seed) else {
            continue;
        };
        let (back, share) = storm.play(Policy::new().max(*max), seed);
        all += 1;
        match back {
            Some(back) if back <= 2.0 * alone + 5.0 => continue,
            Some(_) => late += 1,
            None => never += 1,
        }
        println!(
            "seed {seed}, max {max}, {storm:?}: {back:?} s instead of {alone} s, {share:.3} succeed"
        );
    }
    println!("seed {seed}: of {all} storms {late} are late, and {never} are never back");
    (all, late, never)
}

#[test]
#[ignore = "all of them take minutes; `cargo test --release -p reattempt-storm -- --ignored`"]
fn each_storm_that_ends_without_retries_ends_with_them() {
    let (all, late, never) = judge(&storms(), fresh_seed());
    assert!(
        never == 0 && late * 100 <= all * 6,
        "{late} and {never} of {all}"
    );
}

/// A sample of them.
#[test]
fn storms_that_end_without_retries_end_with_them() {
    let seed = fresh_seed();
    let storms = storms()
        .into_iter()
        .skip(usize::try_from(seed % 23).expect("it is small"));
    let (all, late, never) = judge(&storms.step_by(23).collect::<Vec<_>>(), seed);
    assert!(
        all > 15 && never == 0 && late * 4 <= all,
        "{late} and {never} of {all}"
    );
}

fn number(count: u64) -> f64 {
    f64::from(u32::try_from(count).expect("a run is short"))
}

/// Random, and printed with what fails.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(0) % 10_000
}

/// A failure in ten, or in three, is retried as without a budget.
#[test]
fn what_fails_now_and_then_is_retried() {
    for (failing, max, least) in [(0.1, 3, 0.998), (0.3, 5, 0.99)] {
        let (client, clock) = (Client::new(Policy::new().max(max)), Virtual::new(7));
        let mut succeeded = 0;
        for _ in 0..10_000 {
            let answer = || {
                if clock.happens(failing) {
                    Err(Verdict::Transient)
                } else {
                    Ok(())
                }
            };
            succeeded += u32::from(client.run(&clock, answer).1);
            clock.sleep(Duration::from_millis(1));
        }
        let share = f64::from(succeeded) / 10_000.0;
        assert!(share >= least, "{failing}: {share}");
    }
}

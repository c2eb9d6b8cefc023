//! Reloading under load: a file that changes a thousand times, also to garbage and in the middle of a write, while
//! two threads call.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use reattempt::timer::{BlockingTimer, Clock, Timestamp};
use reattempt::{config, retry};

use crate::support::{File, ms, turn};

const CALLS: u64 = 50_000;
const CHANGES: u64 = 1_000;

/// A decision belongs to one policy wholly: so many attempts, and this delay.
const A: (u32, Duration) = (3, ms(30));
const B: (u32, Duration) = (6, ms(60));

fn text((max, base): (u32, Duration), more: &str) -> String {
    let base = base.as_millis();
    format!(
        "# {more}\n[policies.load]\nmax = {max}\nbase = \"{base}ms\"\ncap = \"{base}ms\"\nbackoff = \"fixed\"\njitter = \"none\"\n# end\n"
    )
}

/// Does not wait.
struct Restless;

impl Clock for Restless {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::ZERO)
    }
}

impl BlockingTimer for Restless {
    fn sleep(&self, _: Duration) {}
}

static DECISIONS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

#[retry(policy = "load", max = 3, base = "30ms", cap = "30ms", backoff = "fixed", jitter = "none", timer = Restless, on(_), on_retry = |retry| note(retry.max(), retry.delay()))]
fn call(failures: &Cell<u64>) -> Result<(), &'static str> {
    match failures.get().checked_sub(1) {
        Some(left) => {
            failures.set(left);
            Err("no")
        }
        None => Ok(()),
    }
}

#[track_caller]
fn note(max: Option<u32>, delay: Duration) {
    let which = match (max.unwrap(), delay) {
        A => 0,
        B => 1,
        torn => panic!("a policy that nobody wrote: {torn:?}"),
    };
    DECISIONS[which].fetch_add(1, Ordering::Relaxed);
}

#[test]
fn no_call_fails_and_no_policy_is_torn() {
    let _turn = turn();
    let (good_a, good_b) = (text(A, "a"), text(B, "b"));
    let file = File::new(&good_a);
    config::load(file.path()).unwrap();
    let changing = AtomicBool::new(true);
    let (mut refused, mut failed) = (0, 0);
    std::thread::scope(|scope| {
        let callers = [7, 11].map(|seed| {
            let changing = &changing;
            scope.spawn(move || call_while(changing, seed))
        });
        for changes in 0..CHANGES {
            let good = if changes % 2 == 0 { &good_b } else { &good_a };
            match changes % 7 {
                0 | 1 => file.write(good),
                2 | 3 => file.replace(good),
                4 => file.write("= garbage [[\n"),
                5 => file.write("[policies.load]\nmax = 0\n# end\n"),
                _ => {
                    // In the middle of a write, at another place each time.
                    let end = usize::try_from(changes).unwrap() % (good.len() - 2);
                    file.write(&good[..=end]);
                }
            }
            let came = config::reload();
            assert_eq!(came.is_ok(), changes % 7 < 4, "change {changes}: {came:?}");
            refused += u64::from(came.is_err());
        }
        changing.store(false, Ordering::Relaxed);
        for caller in callers {
            failed += caller.join().unwrap();
        }
    });
    assert_eq!(
        refused,
        (0..CHANGES).filter(|change| change % 7 > 3).count() as u64
    );
    let decisions = DECISIONS
        .each_ref()
        .map(|number| number.load(Ordering::Relaxed));
    // Every failure was decided, and both policies have decided some.
    assert_eq!(decisions.iter().sum::<u64>(), failed);
    assert!(decisions.iter().all(|number| *number > 0), "{decisions:?}");
    assert!(config::policy("load").is_some());
}

/// Calls as long as the file changes, and so many times at least; how many attempts failed.
fn call_while(changing: &AtomicBool, seed: u64) -> u64 {
    let (mut number, mut failed) = (0, 0);
    while number < CALLS || changing.load(Ordering::Relaxed) {
        // At most two failures: both policies allow for that.
        let failures = number * seed % 3;
        assert_eq!(call(&Cell::new(failures)), Ok(()));
        failed += failures;
        number += 1;
    }
    failed
}

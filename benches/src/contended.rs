//! `--contended`: calls per second of threads that share a breaker or a budget. Ways take turns, and medians of the rounds are
//! shown, but a busy machine still shows in them.

use std::error::Error;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, LazyLock};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use reattempt::Budget;
use reattempt::overload::budget::FailureClass;
use tower::retry::budget::{Budget as _, TpsBudget};

use crate::cases::breakers;
use crate::matrix::Matrix;
use crate::median::median;

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(100);
/// Calls between two looks at the clock.
const CALLS: u16 = 256;

/// Makes so many calls.
type Work = fn(calls: u64);

/// What is shared, and who shares it: ours and the others by their columns.
const ROWS: &[(&str, [Option<Work>; 5])] = &[
    (
        "closed breaker, success",
        [
            Some(breakers::ours),
            None,
            None,
            Some(breakers::failsafe),
            Some(breakers::recloser),
        ],
    ),
    (
        "budget, success",
        [
            Some(|calls| each(calls, || DEPOSITS.account().succeeded())),
            Some(|calls| each(calls, || TOKENS.account().succeeded())),
            Some(|calls| each(calls, || TOWER.deposit())),
            None,
            None,
        ],
    ),
    (
        "budget, one retry in ten calls",
        [
            Some(|calls| retried(calls, &DEPOSITS)),
            Some(|calls| retried(calls, &TOKENS)),
            Some(|calls| {
                for call in 0..calls {
                    if call % 10 == 0 {
                        black_box(TOWER.withdraw());
                    }
                    TOWER.deposit();
                }
            }),
            None,
            None,
        ],
    ),
];

const COLUMNS: &[&str] = &[
    "ours",
    "ours, budget of tokens",
    "tower",
    "failsafe",
    "recloser",
];

static DEPOSITS: Budget = Budget::per_success(0.2);
static TOKENS: Budget = Budget::tokens(500);
static TOWER: LazyLock<TpsBudget> =
    LazyLock::new(|| TpsBudget::new(Duration::from_secs(10), 10, 0.2));

fn each(calls: u64, call: impl Fn()) {
    for _ in 0..calls {
        call();
    }
}

/// Every tenth call is retried once.
fn retried(calls: u64, budget: &Budget) {
    for number in 0..calls {
        let mut call = budget.account();
        if number % 10 == 0 && black_box(call.withdraw(FailureClass::Failed)) {
            call.spend();
        }
        call.succeeded();
    }
}

/// Prints the rows whose title contains `word`, in millions of calls per second of all threads together.
pub(crate) fn print(word: &str, markdown: bool) -> Result<(), Box<dyn Error>> {
    let mut matrix = Matrix::new("million calls per second", COLUMNS);
    for (title, ways) in ROWS.iter().filter(|(title, _)| title.contains(word)) {
        for threads in [1, 2, 8] {
            let mut rounds = ways.map(|_| Vec::new());
            for _ in 0..ROUNDS {
                for (way, rates) in ways.iter().zip(&mut rounds) {
                    if let Some(work) = way {
                        rates.push(rate(threads, black_box(*work))?);
                    }
                }
            }
            let medians = rounds.map(|rates| (!rates.is_empty()).then(|| median(rates)));
            matrix.row(format!("{title}, {threads} threads"), medians.to_vec());
        }
    }
    matrix.print(markdown);
    Ok(())
}

fn rate(threads: usize, work: Work) -> Result<f64, Box<dyn Error>> {
    let (start, stop) = (Barrier::new(threads + 1), AtomicBool::new(false));
    let thread = || {
        start.wait();
        let (began, mut looks) = (Instant::now(), 0_u32);
        while !stop.load(Ordering::Relaxed) {
            work(CALLS.into());
            looks += 1;
        }
        f64::from(looks) * f64::from(CALLS) / began.elapsed().as_secs_f64() / 1e6
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(thread)).collect();
        start.wait();
        thread::sleep(ROUND);
        stop.store(true, Ordering::Relaxed);
        let rates = workers.into_iter().map(ScopedJoinHandle::join);
        let rates: Result<Vec<f64>, _> = rates.collect();
        Ok(rates.map_err(|_| "a thread panicked")?.iter().sum())
    })
}

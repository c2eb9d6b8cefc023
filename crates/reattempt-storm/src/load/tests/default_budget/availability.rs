//! What a budget costs where nothing is overloaded: calls of a service that fails now and then.

use retry_runtime::Verdict;
use retry_runtime::driver::AttemptResult;

use super::*;
use crate::client::Request;
use crate::clock::Virtual;
use crate::engine::Agenda;

/// When calls begin.
#[derive(Debug, Clone, Copy)]
enum Calls {
    /// So many, this far apart, whatever becomes of those before them.
    Apart(u32, Duration),
    /// So many, one after the other.
    InTurn(u32),
}

/// Which attempts fail.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// This share, at random.
    Random(f64),
    /// All, from the tenth second on for so long.
    Blip(Duration),
    /// All, for so long at the beginning of every two seconds.
    Blips(Duration),
    /// Every second one, beginning with the first.
    EverySecond,
}

/// The least that the default budget has to reach.
#[derive(Debug, Clone, Copy)]
enum Bound {
    /// This, in percent.
    Percent(f64),
    /// No more than so many points below what comes out without a budget.
    Below(f64),
    /// Whatever comes out.
    Open,
}

#[derive(Debug)]
struct Load {
    name: &'static str,
    calls: Calls,
    processes: usize,
    max: u32,
    fault: Fault,
    bound: Bound,
}

const SHORT: Duration = Duration::from_millis(200);

/// How long an attempt takes.
const ANSWER: Duration = Duration::from_millis(10);

/// A minute of a thousand calls a second.
const BUSY: Calls = Calls::Apart(60_000, Duration::from_millis(1));
const AT_ONCE: Calls = Calls::Apart(500, Duration::ZERO);
const PROGRAM: Calls = Calls::InTurn(30);
const BATCH: Calls = Calls::InTurn(60_000);
const SELDOM: Calls = Calls::Apart(100_000, secs(60));

impl Load {
    /// Of ten processes that make at most five attempts.
    const fn new(name: &'static str, calls: Calls, fault: Fault, bound: Bound) -> Self {
        let (processes, max) = (10, 5);
        Self {
            name,
            calls,
            processes,
            max,
            fault,
            bound,
        }
    }

    const fn max(mut self, max: u32) -> Self {
        self.max = max;
        self
    }

    const fn of(mut self, processes: usize) -> Self {
        self.processes = processes;
        self
    }

    /// The percentage of the calls that succeed.
    fn play(&self, rule: Rule, seed: u64) -> f64 {
        let clients = rule.clients(self.max, self.processes);
        let clock = Virtual::new(seed);
        let mut attempts = 0_u64;
        let mut answer = |clock: &Virtual| {
            let now = clock.elapsed();
            attempts += 1;
            let fails = match self.fault {
                Fault::Random(share) => clock.happens(share),
                Fault::Blip(length) => now >= secs(10) && now < secs(10) + length,
                Fault::Blips(length) => now.as_nanos() % secs(2).as_nanos() < length.as_nanos(),
                Fault::EverySecond => !attempts.is_multiple_of(2),
            };
            if fails {
                Err(Verdict::Transient)
            } else {
                Ok(())
            }
        };
        let (succeeded, calls) = match self.calls {
            Calls::Apart(calls, gap) => (apart(&clients, &clock, calls, gap, answer), calls),
            Calls::InTurn(calls) => {
                let mut answer = || {
                    let answer = answer(&clock);
                    clock.sleep(ANSWER);
                    answer
                };
                let mut call = || clients[0].run(&clock, &mut answer).1;
                ((0..calls).map(|_| u32::from(call())).sum(), calls)
            }
        };
        100.0 * f64::from(succeeded) / f64::from(calls)
    }

    /// Nothing where the default budget does what it has to.
    fn fault(&self, free: f64, default: f64) -> Option<String> {
        let least = match self.bound {
            Bound::Percent(least) => least,
            Bound::Below(points) => free - points,
            Bound::Open => return None,
        };
        (default < least).then(|| format!("{}: {default}, and {free} without", self.name))
    }
}

/// What happens next to a call.
enum Event<'c> {
    Begins,
    Attempt(Request<'c>),
    Answer(Request<'c>, Result<(), Verdict>),
}

/// Returns how many calls succeed of those that begin this far apart.
fn apart(
    clients: &[Client],
    clock: &Virtual,
    calls: u32,
    gap: Duration,
    mut answer: impl FnMut(&Virtual) -> Result<(), Verdict>,
) -> u32 {
    let mut agenda = Agenda::new();
    for call in 0..calls {
        agenda.plan(clock, gap * call, Event::Begins);
    }
    let mut turn = clients.iter().cycle();
    let mut succeeded = 0;
    while let Some(event) = agenda.next(clock) {
        let mut request = match event {
            Event::Begins => turn.next().expect("there are clients").call(clock),
            Event::Attempt(request) => request,
            Event::Answer(request, Ok(())) => {
                request.succeeded(clock);
                succeeded += 1;
                continue;
            }
            Event::Answer(mut request, Err(verdict)) => {
                let delay = request.failed(AttemptResult::Failed(verdict), clock);
                if let Some(delay) = delay {
                    agenda.plan(clock, delay, Event::Attempt(request));
                }
                continue;
            }
        };
        assert!(request.attempt(clock).is_some(), "no breaker refuses it");
        agenda.plan(clock, ANSWER, Event::Answer(request, answer(clock)));
    }
    succeeded
}

#[rustfmt::skip]
fn loads() -> [Load; 15] {
    use Bound::{Below, Open, Percent};
    use Fault::{Blip, Blips, EverySecond, Random};
    let load = Load::new;
    [
        load("random 10 %, max 3", BUSY, Random(0.1), Percent(99.8)).max(3),
        load("random 30 %", BUSY, Random(0.3), Percent(99.3)),
        load("random 50 %", BUSY, Random(0.5), Open),
        load("random 30 %, 100 processes", BUSY, Random(0.3), Percent(99.3)).of(100),
        load("all fail for 0.2 s", BUSY, Blip(SHORT), Below(0.1)),
        load("all fail for 1 s", BUSY, Blip(secs(1)), Below(0.1)),
        load("all fail for 5 s", BUSY, Blip(secs(5)), Open),
        load("all fail for 5 s, max 10", BUSY, Blip(secs(5)), Open).max(10),
        load("0.2 s of every 2 s", BUSY, Blips(SHORT), Below(0.1)),
        load("500 calls at once, for 0.2 s", AT_ONCE, Blips(SHORT), Below(0.5)).of(1),
        load("every second attempt, 30 in turn", PROGRAM, EverySecond, Percent(100.0)).of(1),
        load("random 10 %, max 3, in turn", BATCH, Random(0.1), Percent(99.8)).of(1).max(3),
        load("random 30 %, in turn", BATCH, Random(0.3), Percent(99.0)).of(1),
        load("random 50 %, in turn", BATCH, Random(0.5), Open).of(1),
        load("random 30 %, one call a minute", SELDOM, Random(0.3), Percent(99.5)).of(1),
    ]
}

/// The calls that succeed, and what the default budget should not have cost.
pub(super) fn table(seed: u64) -> (String, Vec<String>) {
    let rules = [
        Rule::NoBudget,
        Rule::NoRetry,
        Rule::Tenth,
        Rule::Aws,
        Rule::Default,
    ];
    let row = |name, cells: [String; 5]| {
        let cells = cells.map(|it| format!("{it:>14}")).concat();
        format!("{name:<32}{cells}")
    };
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    rows.push(row("", rules.map(|it| it.name().to_owned())));
    for load in loads() {
        let percents = rules.map(|rule| load.play(rule, seed));
        rows.push(row(load.name, percents.map(|it| format!("{it:.2}"))));
        faults.extend(load.fault(percents[0], percents[4]));
    }
    (rows.join("\n"), faults)
}

#[test]
fn the_default_budget_costs_hardly_a_call() {
    let seed = fresh_seed();
    for load in loads() {
        if let Bound::Open = load.bound {
            continue;
        }
        let [free, default] = [Rule::NoBudget, Rule::Default].map(|it| load.play(it, seed));
        let fault = load.fault(free, default);
        assert!(fault.is_none(), "seed {seed}, {fault:?}");
    }
}

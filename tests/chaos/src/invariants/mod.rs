//! What has to hold, whatever happens: each a checker of its own, which names what it saw. None of them asks the
//! library; what they compare is what the service, the bodies and the callers saw, and what observers saw.

mod attempts;
mod breakers;
mod budgets;
mod deadlines;
mod effects;
mod give_ups;
mod hedges;
mod leaks;
mod summary;
mod throttles;

use std::time::Duration;

use crate::log::{At, Id, What};
use crate::plan::Plan;
use crate::run::Counts;
use crate::tales::Run;

/// Something that must not be.
pub(crate) struct Violation {
    at: At,
    call: Id,
    what: String,
}

impl Violation {
    pub(crate) fn new(at: At, call: Id, what: String) -> Self {
        Self { at, call, what }
    }
}

type Checker = fn(&Run<'_>) -> Vec<Violation>;

const CHECKERS: &[(&str, Checker)] = &[
    ("effects: none lost", effects::none_lost),
    ("effects: none doubled", effects::none_doubled),
    ("effects: none of what was refused", effects::none_refused),
    ("effects: the sum of all accounts", effects::balance),
    ("deadlines: no attempt begins after one", deadlines::begins),
    ("deadlines: attempts are cut off", deadlines::cut_off),
    ("deadlines: calls end", deadlines::ends),
    ("deadlines: the server refuses", deadlines::refuses),
    ("attempts: as many as allowed", attempts::numbers),
    ("attempts: delays within the cap", attempts::delays),
    ("attempts: delays are waited for", attempts::waits),
    ("attempts: none while retries are off", attempts::switch),
    ("budgets: retries are paid for", budgets::paid),
    ("breakers: no call while open", breakers::open),
    ("breakers: no more probes than allowed", breakers::probes),
    ("breakers: refused only with a reason", breakers::refusals),
    ("throttles: the rate", throttles::rate),
    (
        "throttles: turned away only with a reason",
        throttles::turned_away,
    ),
    ("hedges: as many copies as allowed", hedges::copies),
    ("hedges: losers are dropped", hedges::losers),
    ("give-ups: one for each failure", give_ups::one),
    ("give-ups: what callers got", give_ups::agree),
    ("give-ups: reasons", give_ups::reasons),
    ("calm: everything works again", leaks::recovered),
    ("leaks: tasks, sockets, memory", leaks::leaks),
];

/// Prints what happened, and what should not have; answers whether all is well.
pub(crate) fn report(plan: Plan, counts: &Counts) -> bool {
    let run = Run::read(plan, counts);
    summary::print(&run);
    let mut violated = 0;
    for (name, check) in CHECKERS {
        let violations = check(&run);
        if violations.is_empty() {
            continue;
        }
        violated += 1;
        println!("VIOLATED {name}: {} times", violations.len());
        for violation in violations.iter().take(3) {
            println!(
                "  at {:.4}s: {}",
                violation.at.as_secs_f64(),
                violation.what
            );
            evidence(&run, violation);
        }
    }
    let (seed, all) = (plan.seed, CHECKERS.len());
    println!("seed {seed}: {} of {all} invariants hold", all - violated);
    violated == 0
}

/// What happened to the call, to those around it and below it, and to all around that moment.
fn evidence(run: &Run<'_>, violation: &Violation) {
    const AROUND: Duration = Duration::from_millis(400);
    const LINES: usize = 60;
    let (from, to) = (violation.at.saturating_sub(AROUND), violation.at + AROUND);
    if let Some(tale) = run.tales.get(&violation.call) {
        println!("    {:?}", tale.spec);
    }
    let is_near = |at: At| from <= at && at <= to;
    let shown = run.records.iter().filter(|record| match record.what {
        What::Rate(_) | What::Stall(_) | What::Waited { .. } => false,
        _ if record.call == 0 => is_near(record.at),
        _ => record.call >> 16 == violation.call >> 16,
    });
    for record in shown.take(LINES) {
        println!("    {record}");
    }
}

//! Every storm that comes back without retries comes back with the default budget.

use std::fmt;

use super::*;
use crate::summary::Summary;

/// A fault of a server.
#[derive(Debug, Clone)]
struct Storm {
    calls: f64,
    trigger: Trigger,
    timeout: Duration,
    stale: Stale,
}

/// What came of it.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    /// Seconds from the end of the fault to the last second in which more than one of ten calls fails, if that is not
    /// the end.
    back: Option<f64>,
    /// The share of all calls that succeed.
    succeeded: f64,
    /// Attempts in the worst ten seconds, for each call that arrives in the mean.
    load: f64,
}

impl Storm {
    const fn outage(calls: f64) -> Self {
        Self {
            calls,
            trigger: Trigger::outage(20..25),
            timeout: secs(1),
            stale: Stale::Served,
        }
    }

    fn play(&self, clients: &[Client], seed: u64) -> Outcome {
        let scene = Scene {
            calls: self.calls,
            arrivals: Arrivals::Poisson,
            capacity: 120.0,
            stale: self.stale,
            timeout: self.timeout,
            trigger: self.trigger.clone(),
            end: secs(500),
            seed,
        };
        let record = run(&scene, clients);
        let is_bad = |it: &Second| it.failed * 10 > it.calls;
        let bad = record.seconds.iter().rposition(is_bad);
        let end = bad.map_or(0, |last| last + 1);
        let back = number(end as u64) - scene.trigger.time.end.as_secs_f64();
        let summary = Summary::of(&scene, &record);
        Outcome {
            back: (end + 10 < record.seconds.len()).then_some(back.max(0.0)),
            succeeded: summary.succeeded,
            load: summary.peak_load / self.calls,
        }
    }
}

/// Faults of 5 s at a load that is all right without one, and clients that wait for 1, 3 and 30 s.
fn storms() -> Vec<Storm> {
    let mut storms = Vec::new();
    for utilisation in [0.43, 0.55, 0.67, 0.78, 0.9] {
        for kind in [Kind::Outage, Kind::Errors, Kind::Slowdown(0.2)] {
            for timeout in [1, 3, 30] {
                for stale in [Stale::Served, Stale::Dropped] {
                    let mut storm = Storm::outage(utilisation * 120.0);
                    storm.trigger.kind = kind;
                    storm.timeout = secs(timeout);
                    storm.stale = stale;
                    storms.push(storm);
                }
            }
        }
    }
    storms
}

/// Who is in them: processes, and attempts at most.
const FLEETS: [(usize, u32); 9] = [
    (1, 3),
    (1, 5),
    (1, 10),
    (10, 3),
    (10, 5),
    (10, 10),
    (100, 3),
    (100, 5),
    (100, 10),
];

/// What a rule does to storms that come back without retries.
#[derive(Debug, Default)]
struct Tally {
    storms: usize,
    never: usize,
    late: usize,
    /// How many times as long each takes, and at least a second.
    ratios: Vec<f64>,
    /// Calls that are lost, in points.
    lost: f64,
    load: f64,
}

impl Tally {
    fn count(&mut self, alone: Outcome, with: Outcome) {
        let Some(least) = alone.back else { return };
        self.storms += 1;
        self.lost += 100.0 * (alone.succeeded - with.succeeded);
        self.load = self.load.max(with.load);
        let back = with.back.unwrap_or(f64::INFINITY);
        self.ratios.push(back.max(1.0) / least.max(1.0));
        if back.is_infinite() {
            self.never += 1;
        } else if back > 2.0 * least + 5.0 {
            self.late += 1;
        }
    }

    /// None stays away that comes back without retries, and of those that come back no more than this share is late.
    fn is_right(&self, late: f64) -> bool {
        let [storms, count] = [self.storms, self.late].map(|it| number(it as u64));
        self.storms > 20 && self.never == 0 && count <= late * storms
    }

    /// No less than 95 of a hundred.
    fn ratio(&self) -> f64 {
        let mut ratios = self.ratios.clone();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() * 95 / 100]
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            storms,
            never,
            late,
            load,
            ..
        } = self;
        let lost = self.lost / number(*storms as u64);
        let ratio = match self.ratio() {
            f64::INFINITY => "never".to_owned(),
            ratio => format!("{ratio:.1}"),
        };
        write!(
            f,
            "{storms:>8}{never:>7}{late:>12}{ratio:>8}{lost:>8.1}{load:>8.1}"
        )
    }
}

const HEADING: &str = "                          storms  never  later than   ratio  points   worst
                                   back    2x + 5 s     p95    lost    load";

/// What each rule does, and whether the default does what it has to.
pub(super) fn table(seed: u64) -> (String, bool) {
    let storms = storms();
    let play = |rule: Rule, (processes, max)| {
        let play = |storm: &Storm| storm.play(&rule.clients(max, processes), seed);
        storms.iter().map(play).collect::<Vec<Outcome>>()
    };
    let alone = play(Rule::NoRetry, (1, 1));
    let mut rows = vec![HEADING.to_owned()];
    let mut is_right = false;
    for rule in Rule::ALL.into_iter().filter(|it| *it != Rule::NoRetry) {
        let fleets = FLEETS.map(|fleet| (fleet.0, play(rule, fleet)));
        let tally = |is_in: &dyn Fn(usize) -> bool| {
            let mut tally = Tally::default();
            for (_, outcomes) in fleets.iter().filter(|it| is_in(it.0)) {
                for (alone, with) in alone.iter().zip(outcomes) {
                    tally.count(*alone, *with);
                }
            }
            tally
        };
        let all = tally(&|_| true);
        rows.push(format!("{:<24}{all}", rule.name()));
        if rule == Rule::Default {
            is_right = all.is_right(0.06);
            for processes in [1, 10, 100] {
                let name = format!("  processes: {processes}");
                rows.push(format!("{name:<24}{}", tally(&|it| it == processes)));
            }
        }
    }
    (rows.join("\n"), is_right)
}

/// A sample of them.
#[test]
fn storms_that_end_without_retries_end_with_them() {
    let seed = fresh_seed();
    let mut tally = Tally::default();
    let storms = storms();
    let all = FLEETS
        .iter()
        .flat_map(|fleet| storms.iter().map(move |storm| (fleet, storm)));
    let first = usize::try_from(seed % 29).expect("it is small");
    for ((processes, max), storm) in all.skip(first).step_by(29) {
        let alone = storm.play(&Rule::NoRetry.clients(1, 1), seed);
        let with = storm.play(&Rule::Default.clients(*max, *processes), seed);
        println!(
            "seed {seed}, {processes} processes, max {max}, {storm:?}: {with:?}, alone {alone:?}"
        );
        tally.count(alone, with);
    }
    assert!(tally.is_right(0.25), "seed {seed}: {tally}");
}

/// The picture of the README: 52 calls a second, and an outage of 5 s.
#[test]
fn the_default_policy_comes_back() {
    let storm = Storm::outage(52.0);
    let play = |rule: Rule| storm.play(&rule.clients(3, 10), 1);
    let never = play(Rule::NoBudget);
    assert!(never.back.is_none() && never.succeeded < 0.3, "{never:?}");
    let (alone, with) = (play(Rule::NoRetry), play(Rule::Default));
    let mut tally = Tally::default();
    tally.count(alone, with);
    assert_eq!((tally.never, tally.late), (0, 0), "{with:?}, {alone:?}");
    assert!(tally.lost < 1.0, "{with:?}, {alone:?}");
}

/// The last column of that table.
#[test]
fn a_short_fault_is_not_felt() {
    let mut storm = Storm::outage(52.0);
    storm.trigger.kind = Kind::Errors;
    storm.trigger.time = secs(20)..secs(20) + Duration::from_millis(300);
    let failed = |rule: Rule| {
        let outcome = storm.play(&rule.clients(5, 10), 1);
        (1.0 - outcome.succeeded) * 52.0 * 500.0
    };
    assert!(failed(Rule::NoRetry) > 10.0);
    for rule in [Rule::NoBudget, Rule::Default] {
        assert!(failed(rule) < 5.0);
    }
}

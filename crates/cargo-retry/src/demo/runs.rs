//! The three runs: the same outage, the same calls, another policy.

use std::time::Duration;

use reattempt_storm::draw::Colour;
use reattempt_storm::load;
use reattempt_storm::record::{Record, Second};
use reattempt_storm::scene::{Arrivals, Scene, Trigger};
use reattempt_storm::server::Stale;
use reattempt_storm::summary::Summary;

use crate::policy::from_text;
use crate::storm::contender::Contender;

/// How long a run is.
pub(super) const SECONDS: u32 = 75;

/// Processes that call the server, each with its own budget.
pub(super) const CLIENTS: usize = 10;

/// What is compared: a name, the keys of the policy, a colour.
pub(super) const POLICIES: [(&str, &str, Colour); 3] = [
    (
        "3 retries at once",
        r#"max = 4, backoff = "none", budget = "none""#,
        Colour::Vermilion,
    ),
    (
        "1 retry after a backoff",
        r#"max = 2, base = "1s", budget = "none""#,
        Colour::Orange,
    ),
    ("the default budget", "max = 5", Colour::Green),
];

/// What came of a policy.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) name: &'static str,
    pub(super) keys: &'static str,
    /// The rule by which the compiler refuses it.
    pub(super) refused_by: Option<String>,
    pub(super) colour: Colour,
    pub(super) record: Record,
    pub(super) summary: Summary,
}

/// A server that is not half busy: an outage of 5 s is enough for all that follows.
pub(super) fn scene(seed: u64) -> Scene {
    Scene {
        calls: 52.0,
        arrivals: Arrivals::Poisson,
        capacity: 120.0,
        stale: Stale::Served,
        timeout: Duration::from_secs(1),
        trigger: Trigger::outage(10..15),
        end: Duration::from_secs(SECONDS.into()),
        seed,
    }
}

pub(super) fn all(seed: u64) -> Vec<Run> {
    let played = |(name, keys, colour)| play(seed, name, keys, colour);
    POLICIES.into_iter().map(played).collect()
}

pub(super) fn play(seed: u64, name: &'static str, keys: &'static str, colour: Colour) -> Run {
    let scene = scene(seed);
    let given = from_text(keys);
    let contender = Contender::given(name, &given);
    let clients: Vec<_> = (0..CLIENTS).map(|_| contender.client()).collect();
    let record = load::run(&scene, &clients);
    Run {
        name,
        keys,
        refused_by: given.broken.first().map(|it| it.rule.clone()),
        colour,
        summary: Summary::of(&scene, &record),
        record,
    }
}

impl Run {
    /// Until this second, how much of the calls of each `width` seconds succeeds: 1.0 is all of them.
    pub(super) fn answered(&self, width: u32) -> Vec<f64> {
        let share = |it: &Second| f64::from(it.succeeded) / f64::from(it.calls.max(1));
        let means = self.record.means(width, share);
        means.into_iter().map(|(_, mean)| mean.min(1.0)).collect()
    }

    /// How it ended.
    pub(super) fn verdict(&self) -> String {
        match self.summary.recovered {
            None => "no recovery".to_owned(),
            Some(time) if time < Duration::from_secs(1) => "back at once".to_owned(),
            Some(time) => format!("back after {} s", time.as_secs()),
        }
    }
}

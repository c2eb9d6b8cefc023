//! The runs: the policy, none, and three immediate retries side by side, on the same seed. Where
//! the policy comes to a worse end than none, it is played again with what would fix it (a budget,
//! or no floor of its own, and a breaker), so that every sentence below the table is about a run
//! that was made. All have the policy's time-out.
//!
//! Each process has a budget of its own, as in production, so its floor is there once for each of
//! them: the report says so where that is what holds the server down.

use std::ops::ControlFlow;

use reattempt_storm::client::Client;
use reattempt_storm::load::{Course, run_watched};
use reattempt_storm::record::Record;
use reattempt_storm::scene::Scene;
use reattempt_storm::server::Stale;
use reattempt_storm::summary::Summary;
use retry_runtime::duration::Human;

use super::contender::Contender;
use super::progress::Progress;

/// The most attempts of a run.
const ATTEMPTS: u64 = 10_000_000;

/// What came of a contender.
#[derive(Debug, Clone)]
pub(super) struct Played {
    pub(super) contender: Contender,
    pub(super) record: Record,
    pub(super) summary: Summary,
}

/// What would fix a policy, and what comes of it then.
#[derive(Debug, Clone)]
pub(super) struct Fix {
    pub(super) what: &'static str,
    pub(super) how: String,
    pub(super) summary: Summary,
}

/// Who calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Callers {
    /// Services one above the other.
    pub(super) services: u32,
    /// Processes of each of them.
    pub(super) clients: u32,
}

impl Callers {
    pub(super) const fn is_chain(self) -> bool {
        self.services > 1
    }
}

/// All runs of a command.
#[derive(Debug, Clone)]
pub(super) struct Play {
    pub(super) scene: Scene,
    pub(super) callers: Callers,
    /// Whether nobody asked for any policy.
    pub(super) is_default: bool,
    pub(super) never: Played,
    /// What many do: 3 immediate retries, or in a chain the policy in each service by itself.
    pub(super) rival: Played,
    pub(super) asked: Played,
    /// What was tried because the policy did worse than no retry.
    pub(super) fixes: Vec<Fix>,
}

impl Play {
    /// From left to right.
    pub(super) fn all(&self) -> [&Played; 3] {
        [&self.never, &self.rival, &self.asked]
    }
}

pub(super) fn play(scene: Scene, callers: Callers, asked: Contender) -> Result<Play, String> {
    play_within(ATTEMPTS, scene, callers, asked)
}

/// The same with so many attempts at most.
pub(super) fn play_within(
    most: u64,
    scene: Scene,
    callers: Callers,
    asked: Contender,
) -> Result<Play, String> {
    let mut stage = Stage {
        most,
        scene,
        callers,
        progress: Progress::begin(),
        done: 0.0,
    };
    let never = stage.play(Contender::no_retry())?;
    let (rival, asked) = if callers.is_chain() {
        asked.in_a_chain()
    } else {
        (Contender::immediate(), asked)
    };
    let rival = stage.play(rival)?;
    let asked = stage.play(asked)?;
    let fixes = if is_worse(&asked.summary, &never.summary) {
        stage.fixes(&asked.contender)?
    } else {
        Vec::new()
    };
    Ok(Play {
        scene: stage.scene,
        callers,
        is_default: false,
        never,
        rival,
        asked,
        fixes,
    })
}

/// Whether the server is not well again, or much later, because of retries.
fn is_worse(asked: &Summary, never: &Summary) -> bool {
    match (asked.recovered, never.recovered) {
        (None, never) => never.is_some(),
        (Some(asked), Some(never)) => asked > never.saturating_mul(2).saturating_add(LATE),
        (Some(_), None) => false,
    }
}

/// What is later than this is not by chance.
const LATE: std::time::Duration = std::time::Duration::from_secs(10);

/// The runs where there is something to fix.
const RUNS: f64 = 5.0;

struct Stage {
    most: u64,
    scene: Scene,
    callers: Callers,
    progress: Progress,
    /// Runs that are over.
    done: f64,
}

impl Stage {
    fn play(&mut self, contender: Contender) -> Result<Played, String> {
        let service = |_| -> Vec<Client> {
            let clients = 0..self.callers.clients;
            clients.map(|_| contender.client()).collect()
        };
        let services: Vec<_> = (0..self.callers.services).map(service).collect();
        let chain: Vec<_> = services.iter().map(|it| contender.service(it)).collect();
        let mut scene = self.scene.clone();
        if contender.keeps_protocol {
            scene.stale = Stale::Dropped;
        }
        let length = self.scene.end.as_secs_f64();
        let (name, done, most) = (contender.name, self.done, self.most);
        let mut too_many = None;
        let progress = &mut self.progress;
        let record = run_watched(&scene, &chain, |course| {
            let part = course.elapsed.as_secs_f64() / length;
            progress.report(name, (done + part) / RUNS);
            if course.attempts > most {
                too_many = Some(course);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        if let Some(course) = too_many {
            return Err(self.too_many(name, course));
        }
        self.done += 1.0;
        Ok(Played {
            summary: Summary::of(&self.scene, &record),
            contender,
            record,
        })
    }

    fn too_many(&self, name: &str, course: Course) -> String {
        let (at, end) = (Human(course.elapsed), Human(self.scene.end));
        let most = self.most;
        format!(
            "with `{name}` the run came to more than {most} attempts after {at} of {end}: play a part of it, with `--load`, `--capacity` and `--clients` divided by the same number, or lower `--for` or `max`"
        )
    }

    fn fixes(&mut self, asked: &Contender) -> Result<Vec<Fix>, String> {
        let mut fixes = Vec::new();
        let mut fix = |what, how, contender| {
            let summary = self.play(contender)?.summary;
            fixes.push(Fix { what, how, summary });
            Ok::<_, String>(())
        };
        if !asked.is_budgeted() {
            let improved = Contender {
                name: "with a budget",
                is_refunded: true,
                ..asked.clone()
            };
            let how = format!("budget = Budget::refunding({})", asked.tokens());
            fix("a budget that calls get back", how, improved)?;
        }
        if let Some(allowance) = asked.budget.filter(|it| it.floor > 0.0) {
            let allowance = allowance.without_floor();
            let improved = Contender {
                name: "without a floor",
                budget: Some(allowance),
                ..asked.clone()
            };
            fix("a floor of 0", format!("budget = {allowance}"), improved)?;
        }
        if !asked.breaker {
            let improved = Contender {
                name: "with a breaker",
                breaker: true,
                ..asked.clone()
            };
            fix(
                "a breaker of the last 20 calls",
                "breaker = &BREAKER".to_owned(),
                improved,
            )?;
        }
        Ok(fixes)
    }
}

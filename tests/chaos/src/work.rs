//! What the server does for a request, once it has come so far.

use tokio::time::sleep;

use crate::log::{self, Id, What};
use crate::ops::downstream;
use crate::random::Random;
use crate::server::{Answer, Asked, Done, State, lock, status};

impl State {
    pub(crate) async fn work(&self, asked: &Asked, count: u64) -> Answer {
        let mut random = Random::of(asked.id, &[11, u64::from(asked.attempt)]);
        match asked.path.as_str() {
            "put" | "late" => Self::effect(&mut lock(&self.done), asked),
            "order" => self.order(asked),
            "keyed" => self.keyed(asked),
            "fence" => self.fence(asked),
            "job" => {
                let asks = Random::of(asked.id, &[]).range(0, 5);
                status(
                    200,
                    if u64::from(asked.attempt) > asks {
                        "done"
                    } else {
                        "not yet"
                    },
                )
            }
            "search" => {
                // Some answers take long, by chance.
                let slow = random.chance(25);
                sleep(if slow {
                    random.millis(80, 250)
                } else {
                    random.millis(1, 15)
                })
                .await;
                status(200, "found")
            }
            "guard" => {
                sleep(random.millis(1, 60)).await;
                let is_sick = self.plan.is_sick(asked.key, log::now());
                status(if is_sick { 503 } else { 200 }, "guarded")
            }
            "relay" => match downstream(asked.id | u64::from(asked.attempt) << 8 | count).await {
                Ok(()) => status(200, "relayed"),
                Err(_) => status(502, "not relayed"),
            },
            "limited" if self.plan.is_sick(100, log::now()) => status(503, "limited"),
            "quota" => self.quota(),
            _ => status(200, "well"),
        }
    }

    fn effect(done: &mut Done, asked: &Asked) -> Answer {
        *done.effects.entry(asked.id).or_default() += 1;
        let attempt = asked.attempt;
        log::note(asked.id, What::Effect { attempt });
        status(200, "done")
    }

    fn order(&self, asked: &Asked) -> Answer {
        let mut done = lock(&self.done);
        let fence = done.fences.get(&asked.id);
        if fence.is_some_and(|fence| asked.attempt <= *fence) {
            return status(409, "fenced");
        }
        Self::effect(&mut done, asked)
    }

    fn keyed(&self, asked: &Asked) -> Answer {
        let key = asked.idempotency.clone().unwrap_or_default();
        let mut done = lock(&self.done);
        if done.keys.insert(key) {
            return Self::effect(&mut done, asked);
        }
        status(200, "done before")
    }

    /// Whether an order was executed; none of the attempts so far will be.
    fn fence(&self, asked: &Asked) -> Answer {
        let mut done = lock(&self.done);
        let fence = done.fences.entry(asked.id).or_default();
        *fence = asked.attempt.max(*fence);
        let is_done = done.effects.contains_key(&asked.id);
        status(200, if is_done { "done" } else { "not done" })
    }

    /// So many requests in each fifth of a second.
    fn quota(&self) -> Answer {
        const MOST: u64 = 6;
        let slice = log::now().as_millis() as u64 / 200;
        let mut done = lock(&self.done);
        let count = done.asked.entry(Id::MAX - slice).or_default();
        *count += 1;
        let is_too_much = *count > MOST;
        status(if is_too_much { 429 } else { 200 }, "quota")
    }
}

//! A supervisor: looks for tasks whose worker or whose time is gone, and has them go on. It knows nothing of what they do.

use std::time::Duration;

use reattempt::{Jitter, Policy};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::events::Event;
use crate::store::Sweep;
use crate::tasks::Tasks;

/// Between two looks: half as long or half as long again.
const PAUSES: Policy = Policy::new().jitter(Jitter::Ratio(0.5));

/// How long a task that failed waits.
pub(crate) const DELAYS: Policy = Policy::new()
    .unlimited()
    .base(Duration::from_secs(1))
    .cap(Duration::from_secs(300))
    .jitter(Jitter::Equal);

/// Looks for tasks without an owner.
///
/// Any number may look at the same store; there is no leader, and no task is given back twice. A scheduler brings one along,
/// unless it is [`unsupervised`](crate::Scheduler::unsupervised).
#[derive(Debug, Clone)]
#[must_use = "a supervisor does nothing before `start`"]
pub struct Supervisor {
    tasks: Tasks,
    every: Duration,
    limit: u32,
    delays: Policy,
}

impl Supervisor {
    /// A supervisor of these tasks.
    pub fn new(tasks: &Tasks) -> Self {
        Self {
            tasks: tasks.clone(),
            every: Duration::from_secs(1),
            limit: 256,
            delays: DELAYS,
        }
    }

    /// How often it looks, on average: each time after between half and one and a half of this.
    ///
    /// # Default
    ///
    /// 1 s.
    pub fn every(mut self, interval: Duration) -> Self {
        self.every = interval.max(Duration::from_millis(1));
        self
    }

    /// How many tasks it gives back at a time.
    ///
    /// # Default
    ///
    /// 256.
    pub fn limit(mut self, tasks: u32) -> Self {
        self.limit = tasks.max(1);
        self
    }

    /// How long a task waits after its failures: the delays of a policy.
    ///
    /// # Default
    ///
    /// Exponential from 1 s to 5 min, the upper half of it at random.
    pub fn delays(mut self, delays: Policy) -> Self {
        self.delays = delays;
        self
    }

    /// Starts.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn start(self) -> Watching {
        let (stop, stopped) = watch::channel(false);
        let work = tokio::spawn(self.watch(stopped));
        Watching { stop, work }
    }

    /// Looks once, and says how many tasks were given back.
    ///
    /// # Errors
    ///
    /// A store in trouble.
    pub async fn sweep(&self) -> Result<usize, crate::store::StoreError> {
        let shared = self.tasks.shared();
        let sweep = Sweep {
            limit: self.limit,
            delays: self.delays,
        };
        let swept = shared.store().sweep(sweep).await?;
        let count = swept.len();
        for swept in swept {
            shared.tell(&Event::Swept(swept));
        }
        if count > 0 {
            shared.writer().look();
        }
        Ok(count)
    }

    async fn watch(self, mut stop: watch::Receiver<bool>) {
        let full = usize::try_from(self.limit).unwrap_or(usize::MAX);
        loop {
            let more = match self.sweep().await {
                Ok(count) => count >= full,
                Err(error) => {
                    self.tasks.shared().tell(&Event::Trouble(error.to_string()));
                    false
                }
            };
            let pause = PAUSES.base(self.every).cap(self.every.saturating_mul(2));
            let pause = pause.sample_delay(0, None, rand::random);
            tokio::select! {
                Ok(_) = stop.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(pause), if !more => {}
                () = std::future::ready(()), if more => {}
            }
        }
    }
}

/// A supervisor at work. Dropped, it works on until its runtime ends.
#[derive(Debug)]
pub struct Watching {
    stop: watch::Sender<bool>,
    work: JoinHandle<()>,
}

impl Watching {
    /// Ends it.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.work.await;
    }
}

//! Reports the steps that run, and notices a runtime that is blocked.
//!
//! A task of the runtime does so as long as the runtime lives. A thread of its own looks after that
//! task: if it does not run, all threads of the runtime may be blocked by steps. Heartbeats are tasks
//! of the runtime, so a blocked one loses its lease.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::events::Event;
use crate::running::RunningSteps;
use crate::store::Write;

/// The longest pause between two reports.
const PAUSE: Duration = Duration::from_millis(250);

/// Reports the steps of one worker until it is dropped.
#[derive(Debug)]
pub(super) struct Watch {
    client: Client,
    steps: RunningSteps,
    lease: Duration,
    /// When the task of the runtime ran last.
    ticked: Mutex<Instant>,
    is_blocked: AtomicBool,
}

impl Watch {
    /// Starts the thread.
    pub(super) fn start(client: &Client, steps: &RunningSteps, lease: Duration) -> Arc<Self> {
        let watch = Arc::new(Self {
            client: client.clone(),
            steps: steps.clone(),
            lease,
            ticked: Mutex::new(Instant::now()),
            is_blocked: AtomicBool::new(false),
        });
        let (weak, pause) = (Arc::downgrade(&watch), watch.pause());
        // Without the thread, only a blocked runtime goes unnoticed here; its lease runs out.
        let _ = std::thread::Builder::new()
            .name("retry-steps".to_owned())
            .spawn(move || look_after(&weak, pause));
        watch
    }

    /// Returns the pause between two reports: several in the third of a lease.
    fn pause(&self) -> Duration {
        PAUSE.min(self.lease.checked_div(9).unwrap_or(PAUSE))
    }

    /// Reports for ever.
    pub(super) async fn tick(self: Arc<Self>) {
        loop {
            *self.ticked.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            self.report();
            self.report_late();
            tokio::time::sleep(self.pause()).await;
        }
    }

    /// Reports steps that have ended and whose records wait, past the writer: the records may wait for
    /// it.
    fn report_late(&self) {
        let late = self.steps.take_late();
        if late.is_empty() {
            return;
        }
        let (client, steps) = (self.client.clone(), self.steps.clone());
        tokio::spawn(async move {
            let ended = Write::Running {
                started: Vec::new(),
                ended: late.clone(),
            };
            let reported = client.shared().store().write([ended].into()).await;
            // The writer has trouble, too, and emits it.
            if reported.is_err_and(|error| error.is_passing()) {
                steps.put_back(&late);
            }
        });
    }

    fn report(&self) {
        let writer = self.client.shared().writer();
        // The writer repeats it; no caller waits for the result.
        self.steps.report(|write| drop(writer.send(write)));
    }

    /// Reports in the place of the runtime if that is late. Emits one event if it is blocked.
    fn look(&self) {
        let ticked = *self.ticked.lock().unwrap_or_else(PoisonError::into_inner);
        let silence = ticked.elapsed();
        if silence > self.pause().saturating_mul(2) {
            self.report();
        }
        // As long as a heartbeat may be late. Heartbeats from this thread would keep the lease of a
        // runtime that runs nothing.
        let is_blocked = silence > self.lease.checked_div(3).unwrap_or_default();
        if is_blocked && !self.is_blocked.load(Ordering::Relaxed) {
            let steps = self.steps.polled();
            self.client.shared().emit(&Event::Blocked {
                worker: self.steps.worker().clone(),
                steps,
            });
        }
        self.is_blocked.store(is_blocked, Ordering::Relaxed);
    }
}

/// Looks until the watch is dropped.
fn look_after(watch: &Weak<Watch>, pause: Duration) {
    loop {
        std::thread::sleep(pause);
        match watch.upgrade() {
            Some(watch) => watch.look(),
            None => return,
        }
    }
}

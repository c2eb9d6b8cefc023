//! A worker process: runs tasks until it is killed, or told that nothing is left.

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use reattempt::Policy;
use reattempt_supervisor::{Event, Scheduler, Supervisor, Tasks};

use crate::ledger::Client;
use crate::stores::{self, Gate};
use crate::work;

/// Short, so that tasks of dead workers go on soon.
pub(crate) const LEASE: Duration = Duration::from_millis(300);

/// `KIND NAME LEDGER WRITES before|after|schedules|supervises`, with 0 writes for no end; the last two have one half of the work.
pub(crate) fn main(words: &[String]) {
    let [kind, name, ledger, writes, side] = words else {
        panic!("a worker is told store, name, ledger, writes and side");
    };
    let writes: i64 = writes.parse().unwrap();
    let gate = (writes > 0).then(|| Gate {
        left: AtomicI64::new(writes),
        is_after: side == "after",
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = stores::open(kind, name).await;
        let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(|event| {
            if let Event::Lost { run, .. } = event {
                println!("lost {run}");
            }
        });
        let tasks = Tasks::observed(stores::Any { gate, ..store }, [observer]);
        let delays = Policy::new()
            .unlimited()
            .base(Duration::from_millis(5))
            .cap(Duration::from_millis(50));
        // Many on few cores may not be heard of for longer.
        let is_crowd = side == "schedules" || side == "supervises";
        let lease = if is_crowd { 10 * LEASE } else { LEASE };
        let every = if is_crowd {
            LEASE
        } else {
            Duration::from_millis(50)
        };
        let supervisor = Supervisor::new(&tasks).every(every).delays(delays);
        let supervisor = (side != "schedules").then(|| supervisor.start());
        let scheduler = Scheduler::new(&tasks)
            .register(work::order)
            .with(Client(ledger.parse().unwrap()))
            .lease(lease)
            .poll(Duration::from_millis(20))
            .delays(delays)
            .unsupervised()
            .at_once(16);
        let running = (side != "supervises").then(|| scheduler.start().unwrap());
        println!("ready");
        std::future::pending::<()>().await;
        drop((running, supervisor));
    });
}

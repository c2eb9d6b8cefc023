//! A worker process: runs tasks until it is killed, or until it hears that nothing is left.

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use reattempt::Policy;
use reattempt_supervisor::store::Expiry;
use reattempt_supervisor::{Client, Event, Scheduler, Supervisor};

use crate::ledger::LedgerClient;
use crate::stores::{self, Gate};
use crate::work;

/// A short lease, so that tasks of dead workers continue soon.
pub(crate) const LEASE: Duration = Duration::from_millis(300);

/// `KIND NAME LEDGER WRITES before|after|chaos|schedules|supervises|"gather before"|"gather after"`, with 0
/// writes for no end. A worker that `schedules` or `supervises` has one half of the work. Where a gather is
/// looked at, only the writes of its records count.
pub(crate) fn main(words: &[String]) {
    let [kind, name, ledger, writes, side] = words else {
        panic!("a worker needs the arguments store, name, ledger, writes and side");
    };
    let writes: i64 = writes.parse().unwrap();
    let gate = (writes > 0).then(|| Gate {
        left: AtomicI64::new(writes),
        is_after: side.ends_with("after"),
        of_gathers: side.starts_with("gather"),
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = stores::open(kind, name).await;
        let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(|event| match event {
            Event::Lost { task, .. } => println!("lost {task}"),
            Event::Failed { task, error, .. } => println!("failed {task}: {error}"),
            Event::Reclaimed(reclaimed) if reclaimed.expiry == Expiry::Step => {
                println!("failed {}: {}", reclaimed.task, reclaimed.expiry.message());
            }
            _ => {}
        });
        let client = Client::with_observers(stores::Any { gate, ..store }, [observer]);
        let delays = Policy::new()
            .unlimited()
            .base(Duration::from_millis(5))
            .cap(Duration::from_millis(50));
        // Many processes on few cores may be silent for longer.
        let is_crowd = side == "schedules" || side == "supervises";
        let lease = match &**side {
            "chaos" => 5 * LEASE,
            _ if is_crowd || side.starts_with("gather") => 10 * LEASE,
            _ => LEASE,
        };
        let every = if is_crowd {
            LEASE
        } else {
            Duration::from_millis(50)
        };
        let supervisor = Supervisor::new(&client).every(every).delays(delays);
        let supervisor = (side != "schedules").then(|| supervisor.start());
        let scheduler = Scheduler::new(&client)
            .register(work::order)
            .register(work::fresh)
            .register(work::trip)
            .register(work::late)
            .register(work::slow)
            .register(work::album)
            .register(work::photo)
            .register(work::turns)
            .with(LedgerClient(ledger.parse().unwrap()))
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

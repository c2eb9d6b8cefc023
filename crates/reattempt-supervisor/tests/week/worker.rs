//! A process that looks at schedules until it is killed.

use std::time::Duration;

use reattempt_supervisor::{Retention, Supervisor};

use crate::clock::open;
use crate::definitions::Definition;

/// How old the tasks are that the process deletes.
const AGE: Duration = Duration::from_secs(3_600);

pub(crate) async fn work(arguments: &[String]) {
    let [kind, name, schedules, revision] = arguments else {
        panic!("not the arguments of a worker: {arguments:?}");
    };
    let client = open(kind, name).await;
    for number in 0..schedules.parse().unwrap() {
        let schedule = Definition::of(number).schedule(revision.parse().unwrap());
        client.schedule(schedule).await.unwrap();
    }
    // No process submits a time again, so no line of its key is needed.
    let retention = Retention {
        lag: Duration::ZERO,
        forget_keys: Duration::ZERO,
        ..AGE.into()
    };
    let supervisor = Supervisor::new(&client);
    loop {
        // Others may hold the lock of the store; the next look goes on.
        let _ = supervisor.sweep().await;
        let _ = client.prune(retention, 500).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

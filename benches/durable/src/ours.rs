//! `reattempt-supervisor` with its default settings.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reattempt_supervisor::store::{Store, StoreError};
use reattempt_supervisor::{
    Client, Postgres, Scheduler, Sqlite, Step, StepError, WorkflowContext, step, workflow,
};

use crate::flood::flood;
use crate::load::{self, Load};

/// When the process began to measure, and how long tasks took from before they were submitted until their
/// workflow ran.
struct StartTimes(Instant, Mutex<Vec<Duration>>);

#[step]
async fn started(
    _step: &Step,
    #[with] starts: &Arc<StartTimes>,
    submitted: Option<u64>,
) -> Result<String, String> {
    if let Some(submitted) = submitted {
        let submitted = Duration::from_micros(submitted);
        let taken = starts.0.elapsed().saturating_sub(submitted);
        starts.1.lock().expect("nobody panics").push(taken);
    }
    Ok(load::step().await)
}

#[step]
async fn one(_step: &Step) -> Result<String, String> {
    Ok(load::step().await)
}

#[workflow]
async fn ten(context: &WorkflowContext, submitted: Option<u64>) -> Result<u32, StepError> {
    started(context, submitted).await?;
    let mut steps = 1;
    while steps < 10 {
        one(context).await?;
        steps += 1;
    }
    Ok(steps)
}

/// Prints the workflows a second, and the median and the 99th percentile of submit to start in seconds.
pub async fn measure(client: Client, load: Load) {
    let starts = Arc::new(StartTimes(Instant::now(), Mutex::default()));
    let scheduler = Scheduler::new(&client)
        .register(ten)
        .with(Arc::clone(&starts))
        .start()
        .expect("a scheduler");
    let clock = starts.0;
    let rate = flood(load.in_flight, load.time, move |counts| {
        let client = client.clone();
        async move {
            let now = u64::try_from(clock.elapsed().as_micros()).expect("not so long");
            let submitted = counts.then_some(now);
            let task = client.submit(ten(submitted)).await.expect("a submission");
            assert_eq!(task.wait().await.expect("an answer"), 10);
        }
    })
    .await;
    scheduler.stop(Duration::from_secs(1)).await;
    let mut starts = starts.1.lock().expect("nobody panics");
    starts.sort();
    let at = |part: usize| starts[(starts.len() - 1) * part / 100].as_secs_f64();
    println!("{rate} {} {}", at(50), at(99));
}

/// The tables, without anything in them.
pub async fn migrate(place: &str) {
    drop(open(place).await);
}

pub async fn open(place: &str) -> Client {
    match place.strip_prefix("sqlite://") {
        Some(path) => over(Sqlite::open(Path::new(path)).await),
        None => over(Postgres::connect(place).await),
    }
}

/// What was acknowledged can be lost with the power, as with durare.
pub async fn open_normal(place: &str) -> Client {
    let path = place.strip_prefix("sqlite://").expect("a file");
    let store = Sqlite::open(Path::new(path)).await.expect("a store");
    over(store.synchronous_normal().await)
}

fn over<S: Store>(store: Result<S, StoreError>) -> Client {
    Client::new(store.expect("a store"))
}

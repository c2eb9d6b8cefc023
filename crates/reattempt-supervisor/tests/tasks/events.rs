//! The events of steps and queues.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt_supervisor::store::QueueStatus;
use reattempt_supervisor::{
    Client, Event, Memory, Scheduler, Step, StepEnding, StepError, WorkflowContext, step, workflow,
};

#[step(complete_by = "1h")]
async fn nap(_step: &Step, seconds: u64) -> Result<(), String> {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    match seconds {
        2 => Err("no more".to_owned()),
        _ => Ok(()),
    }
}

#[workflow]
async fn naps(context: &WorkflowContext) -> Result<(), StepError> {
    nap(context, 3).await?;
    let _ = nap(context, 2).await;
    Ok(())
}

#[workflow(max_failures = 1, step_complete_by = "1m")]
async fn long(context: &WorkflowContext) -> Result<(), StepError> {
    forever(context).await
}

#[step]
async fn forever(_step: &Step) -> Result<(), String> {
    std::future::pending().await
}

/// Returns a client, and the steps of its tasks as they begin and end.
fn observed() -> (Client, Arc<Mutex<Vec<String>>>) {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let lines = Arc::clone(&seen);
    let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(move |event| {
        let line = match event {
            Event::StepStarted {
                workflow,
                seq,
                step,
                ..
            } => format!("{workflow} {seq} {step}"),
            Event::StepEnded {
                seq,
                step,
                ending,
                duration,
                ..
            } => format!("{seq} {step} {} {}", ending.as_str(), duration.as_secs()),
            _ => return,
        };
        lines.lock().unwrap().push(line);
    });
    (Client::with_observers(Memory::new(), [observer]), seen)
}

#[tokio::test(start_paused = true)]
async fn steps_are_reported_when_they_begin_and_end() {
    let (client, seen) = observed();
    let scheduler = Scheduler::new(&client).register(naps).start().unwrap();
    let task = client.submit(naps()).await.unwrap();
    task.wait().await.unwrap();
    scheduler.stop(Duration::ZERO).await;
    let seen = seen.lock().unwrap().clone();
    let wanted = ["naps 0 nap", "0 nap done 3", "naps 1 nap", "1 nap failed 2"];
    assert_eq!(seen, wanted);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_is_cut_off_is_reported() {
    let (client, seen) = observed();
    let scheduler = Scheduler::new(&client).register(long).start().unwrap();
    client.submit(long()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(90)).await;
    scheduler.stop(Duration::ZERO).await;
    let seen = seen.lock().unwrap().clone();
    let wanted = ["long 0 forever", "0 forever again 60", "long 0 forever"];
    assert_eq!(seen[..3], wanted);
    assert!(seen[3].starts_with("0 forever unknown "), "{seen:?}");
    assert_eq!(StepEnding::Unknown.as_str(), "unknown");
}

#[tokio::test(start_paused = true)]
async fn supervisors_report_queues_and_those_that_are_empty_again() {
    let (send, mut statuses) = tokio::sync::mpsc::unbounded_channel();
    let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(move |event| {
        if let Event::Queue(status) = event {
            send.send(status.clone()).unwrap();
        }
    });
    let client = Client::with_observers(Memory::new(), [observer]);
    let task = client.submit(naps().queue("nobody")).await.unwrap();
    let scheduler = Scheduler::new(&client).register(naps).start().unwrap();
    let mut next = async || {
        let status = tokio::time::timeout(Duration::from_secs(23), statuses.recv()).await;
        status.unwrap().unwrap()
    };
    let QueueStatus {
        queue,
        pending,
        oldest,
        ..
    } = next().await;
    assert_eq!((&*queue, pending), ("nobody", 1));
    assert!(oldest > Duration::from_secs(7), "{oldest:?}");
    client.cancel(task.id()).await.unwrap();
    let QueueStatus {
        queue,
        pending,
        oldest,
        ..
    } = next().await;
    assert_eq!((&*queue, pending, oldest), ("nobody", 0, Duration::ZERO));
    scheduler.stop(Duration::ZERO).await;
}

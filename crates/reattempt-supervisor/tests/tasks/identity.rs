//! Keys of steps and children, as services see them.
#![cfg(feature = "sqlite")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt_supervisor::{
    Client, Filter, Memory, Retention, Scheduler, SchedulerHandle, Sqlite, State, Step, StepError,
    TaskId, WorkflowContext, step, workflow,
};
use serde::{Deserialize, Serialize};

/// The keys that a service has seen, and what for.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(String, String)>>>);

impl Seen {
    fn add(&self, step: &Step, what: &dyn std::fmt::Display) {
        let entry = (what.to_string(), step.key().to_owned());
        self.0.lock().unwrap().push(entry);
    }

    fn take(&self) -> Vec<(String, String)> {
        let mut all = std::mem::take(&mut *self.0.lock().unwrap());
        all.sort();
        all.dedup();
        all
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Item {
    number: u32,
}

#[step(key = item.number, undo = refund)]
async fn charge(step: &Step, #[with] seen: &Seen, item: &Item) -> Result<(), String> {
    seen.add(step, &item.number);
    Ok(())
}

#[step]
async fn refund(step: &Step, #[with] seen: &Seen, item: &Item, (): &()) -> Result<(), String> {
    seen.add(step, &format_args!("-{}", item.number));
    Ok(())
}

#[step(key = format!("{a}{b}"), args = "ignore")]
async fn pair(step: &Step, #[with] seen: &Seen, (a, b): (u32, u32)) -> Result<(), String> {
    seen.add(step, &(a * b));
    Ok(())
}

/// Its parameter has the name that an expansion might use.
#[step(key = key)]
async fn put(step: &Step, #[with] seen: &Seen, key: String) -> Result<(), String> {
    seen.add(step, &key);
    Ok(())
}

#[step]
async fn note(step: &Step, #[with] seen: &Seen, what: &str) -> Result<(), String> {
    seen.add(step, &what);
    Ok(())
}

#[step]
async fn fail(_: &Step) -> Result<(), String> {
    Err("no".to_owned())
}

/// Charges these items; notes come between them.
#[workflow]
async fn order(context: &WorkflowContext, items: Vec<u32>, fails: bool) -> Result<(), StepError> {
    for number in items {
        charge(context, &Item { number }).await?;
        note(context, "charged").await?;
    }
    pair(context, (3, 4)).await?;
    put(context, "a".to_owned()).await?;
    if fails {
        fail(context).await?;
    }
    Ok(())
}

#[workflow]
async fn leaf(context: &WorkflowContext) -> Result<(), StepError> {
    note(context, "leaf").await
}

#[workflow]
async fn parent(
    context: &WorkflowContext,
) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    let random = context.random();
    let child = context.start(leaf()).await;
    context.result(&child).await?;
    Ok(random)
}

fn start(client: &Client, seen: &Seen) -> SchedulerHandle {
    let scheduler = Scheduler::new(client)
        .register(order)
        .register(leaf)
        .register(parent)
        .with(seen.clone());
    scheduler.poll(Duration::from_millis(20)).start().unwrap()
}

/// Keys are free at once, and their lines go when something is pruned again.
const FORGETFUL: Retention = Retention {
    tasks: Duration::ZERO,
    keys: Duration::ZERO,
    lag: Duration::ZERO,
    forget_keys: Duration::ZERO,
    ends: Duration::ZERO,
};

#[tokio::test(start_paused = true)]
async fn a_key_belongs_to_its_item_and_not_to_its_place() {
    let (client, seen) = (Client::new(Memory::new()), Seen::default());
    let _running = start(&client, &seen);
    let ends = async |items: &[u32], fails| {
        let task = client.submit(order(items.to_vec(), fails).key("k")).await;
        task.unwrap().follow(|_| {}).await.unwrap().state
    };
    assert_eq!(ends(&[1, 2], true).await, State::Compensated);
    let first = seen.take();
    let key_of = |all: &[(String, String)], what: &str| {
        let mut own = all.iter().filter(|(it, _)| it == what);
        own.next().unwrap().1.clone()
    };
    assert_eq!(first.len(), 8, "{first:?}");
    for what in ["1", "2"] {
        let undo = key_of(&first, &format!("-{what}"));
        assert_eq!(undo, format!("{}-undo", key_of(&first, what)));
    }
    assert!(
        first
            .iter()
            .all(|(_, key)| key.trim_end_matches("-undo").len() == 32)
    );
    // A store that has lost everything, and gets the same with another list. In another store keys are others.
    client.prune(FORGETFUL, 9).await.unwrap();
    client.prune(FORGETFUL, 9).await.unwrap();
    assert_eq!(ends(&[9, 1, 2], false).await, State::Processed);
    let again = seen.take();
    for what in ["1", "2", "12"] {
        assert_eq!(key_of(&again, what), key_of(&first, what), "{what}");
    }
    let keys: std::collections::BTreeSet<_> = again.iter().map(|(_, key)| key).collect();
    assert_eq!(keys.len(), again.len());
    // A second order under the key, which is free.
    let keeps = Retention {
        forget_keys: Duration::from_secs(9),
        ..FORGETFUL
    };
    client.prune(keeps, 9).await.unwrap();
    assert_eq!(ends(&[1, 2], false).await, State::Processed);
    for (what, key) in seen.take() {
        assert!(!keys.contains(&key), "{what}");
    }
    let (other, _other) = (Client::new(Memory::new()), start(&client, &seen));
    let _running = start(&other, &seen);
    let task = other
        .submit(order(vec![1, 2], false).key("k"))
        .await
        .unwrap();
    task.wait().await.unwrap();
    for (what, key) in seen.take() {
        assert!(!keys.contains(&key), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn two_calls_with_one_key_park_the_task() {
    let (client, seen) = (Client::new(Memory::new()), Seen::default());
    let _running = start(&client, &seen);
    let task = client.submit(order(vec![7, 7], false)).await.unwrap();
    let parked = task.follow(|_| {}).await.unwrap();
    let error = parked.error.unwrap();
    assert_eq!(parked.state, State::Parked, "{error}");
    assert!(
        error.contains("two calls of step `charge` have the key `7`"),
        "{error}"
    );
    assert_eq!(seen.take().len(), 2);
    // What was done can be undone.
    client.undo(task.id()).await.unwrap();
    let undone = task.follow(|_| {}).await.unwrap();
    assert_eq!(undone.state, State::Compensated, "{:?}", undone.error);
    assert_eq!(seen.take().len(), 1);
}

#[tokio::test]
async fn keys_of_the_store_are_refused() {
    let client = Client::new(Memory::new());
    for key in ["~", "~child-0", "~0123456789abcdef"] {
        let refused = client.submit(leaf().key(key)).await.unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("use another key"), "{refused}");
    }
}

/// A file in a folder of its own.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("retry-identity-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("tasks.db")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_whose_key_is_taken_parks_its_parent() {
    let place = Place::new("taken");
    let client = Client::new(Sqlite::open(place.file()).await.unwrap());
    let seen = Seen::default();
    let running = start(&client, &seen);
    let task = client.submit(parent().key("p")).await.unwrap();
    let random = task.wait().await.unwrap();
    let first = seen.take();
    let children = Filter {
        workflow: Some("leaf".to_owned()),
        limit: 9,
        ..Filter::default()
    };
    let child = client.list(children).await.unwrap().remove(0);
    assert!(child.key.starts_with("~child-"), "{}", child.key);
    for _ in 0..3 {
        client.prune(FORGETFUL, 9).await.unwrap();
    }
    // Submitted again, it has the same random numbers and the same child.
    let task = client.submit(parent().key("p")).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), random);
    assert_eq!(seen.take(), first);
    for _ in 0..3 {
        client.prune(FORGETFUL, 9).await.unwrap();
    }
    running.stop(Duration::ZERO).await;
    // Another task has its key: the library does not let a caller say this.
    let other = client.submit(leaf().key("taken")).await.unwrap();
    let own = rusqlite::Connection::open(place.file()).unwrap();
    own.busy_timeout(Duration::from_secs(60)).unwrap();
    let take = "UPDATE retry_run SET idem_key = ?1, state = 7 WHERE id = ?2";
    own.execute(take, (&child.key, other.id().0)).unwrap();
    let _running = start(&client, &seen);
    let task = client.submit(parent().key("p")).await.unwrap();
    let parked = task.follow(|_| {}).await.unwrap();
    let error = parked.error.unwrap();
    assert_eq!(parked.state, State::Parked, "{error}");
    let TaskId(id) = other.id();
    let wanted = format!("the key of the child belongs to task {id}");
    assert!(error.contains(&wanted), "{error}");
}

#[tokio::test]
async fn a_store_in_memory_cannot_become_another_one() {
    let refused = Client::new(Memory::new()).new_store().await.unwrap_err();
    assert!(
        refused.to_string().contains("cannot become another one"),
        "{refused}"
    );
}

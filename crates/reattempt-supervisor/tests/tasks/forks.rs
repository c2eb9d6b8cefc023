//! Forks of tasks: what runs anew, under which keys, and what is undone.

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt_supervisor::replay::{Replay, export};
use reattempt_supervisor::store::Filter;
use reattempt_supervisor::{
    Client, Memory, OperatorNote, RecordKind, Retention, Scheduler, SchedulerHandle, State, Step,
    StepError, TaskHandle, TaskId, WorkflowContext, step, workflow,
};

type AnyError = Box<dyn Error + Send + Sync>;

/// What the steps did, with their keys, and the names of what fails.
#[derive(Clone, Default)]
struct World {
    log: Arc<Mutex<Vec<(String, String)>>>,
    failing: Arc<Mutex<Vec<String>>>,
}

impl World {
    fn fail(&self, what: &[&str]) {
        *self.failing.lock().unwrap() = what.iter().map(|&what| what.to_owned()).collect();
    }

    /// Returns what the steps did since the last look.
    fn log(&self) -> Vec<String> {
        self.entries().into_iter().map(|(what, _)| what).collect()
    }

    fn entries(&self) -> Vec<(String, String)> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    fn act(&self, step: &Step, what: &str) -> Result<(), String> {
        let entry = (what.to_owned(), step.key().to_owned());
        self.log.lock().unwrap().push(entry);
        let fails = self.failing.lock().unwrap().iter().any(|one| one == what);
        if fails {
            Err(format!("cannot {what}"))
        } else {
            Ok(())
        }
    }
}

#[step(undo = unbook)]
async fn book(step: &Step, #[with] world: &World, what: &str) -> Result<u32, String> {
    world.act(step, &format!("book {what}")).map(|()| 7)
}

#[step]
async fn unbook(step: &Step, #[with] world: &World, what: &str, _: &u32) -> Result<(), String> {
    world.act(step, &format!("unbook {what}"))
}

#[step]
async fn note(step: &Step, #[with] world: &World, what: &str) -> Result<String, String> {
    world.act(step, what).map(|()| what.to_owned())
}

#[step]
async fn wait(step: &Step, #[with] world: &World, what: &str, seconds: u64) -> Result<(), String> {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    world.act(step, what)
}

/// What its first step gets depends on the time and on chance.
#[workflow(on_failure = "keep", complete_by = "1h")]
async fn trip(context: &WorkflowContext, _name: String) -> Result<u64, StepError> {
    let number = context.random();
    note(context, &format!("{number} {}", context.now().as_micros())).await?;
    book(context, "flight").await?;
    book(context, "room").await?;
    note(context, "send").await?;
    Ok(number)
}

/// Undoes what it has done.
#[workflow]
async fn careful(context: &WorkflowContext) -> Result<(), StepError> {
    note(context, "look").await?;
    book(context, "flight").await?;
    book(context, "room").await.map(drop)
}

#[workflow]
async fn draws(context: &WorkflowContext) -> Result<Vec<u64>, StepError> {
    let mut numbers = Vec::new();
    for _ in 0..4 {
        let number = context.random();
        note(context, &number.to_string()).await?;
        numbers.push(number);
    }
    Ok(numbers)
}

/// The calls 0 and 1 are `slow` and `last`, and 2 and 3 are the quick ones.
#[workflow(on_failure = "keep")]
async fn branches(context: &WorkflowContext) -> Result<(), StepError> {
    let quick = async {
        wait(context, "quick", 1).await?;
        wait(context, "quick too", 1).await
    };
    let slow = wait(context, "slow", 5);
    let last = wait(context, "last", 9);
    let (slow, quick, last) = tokio::join!(slow, quick, last);
    slow.and(quick).and(last)
}

#[workflow(on_failure = "keep")]
async fn asking(context: &WorkflowContext) -> Result<[Option<u32>; 2], AnyError> {
    let first = context.signal("number", None).await?;
    let second = context.signal("number", None).await?;
    note(context, "add").await?;
    Ok([first, second])
}

#[workflow]
async fn part(context: &WorkflowContext, waits: bool) -> Result<String, AnyError> {
    if waits {
        context.signal::<()>("go", None).await?;
    }
    Ok(note(context, "part").await?)
}

#[workflow(on_failure = "keep")]
async fn whole(context: &WorkflowContext, waits: bool) -> Result<String, AnyError> {
    let child = context.start(part(waits)).await;
    note(context, "mine").await?;
    let result = context.result(&child).await?;
    note(context, "late").await?;
    Ok(result)
}

#[workflow(on_failure = "keep")]
async fn rounds(context: &WorkflowContext, number: u32) -> Result<(), StepError> {
    note(context, "begin").await?;
    if number == 0 {
        note(context, "between").await?;
        context.continue_as_new(rounds(1)).await;
    }
    book(context, "table").await?;
    note(context, "end").await.map(drop)
}

struct Place {
    world: World,
    client: Client,
    scheduler: SchedulerHandle,
}

impl Place {
    fn new() -> Self {
        let (world, client) = (World::default(), Client::new(Memory::new()));
        let scheduler = Scheduler::new(&client)
            .register(trip)
            .register(careful)
            .register(draws)
            .register(branches)
            .register(asking)
            .register(part)
            .register(whole)
            .register(rounds)
            .with(world.clone());
        Self {
            world,
            client,
            scheduler: scheduler.start().unwrap(),
        }
    }

    /// Runs a task to its end.
    async fn end<T>(&self, task: &TaskHandle<T>) -> State {
        task.follow(|_| {}).await.unwrap().state
    }

    /// Returns the message with which a fork is refused.
    async fn refusal(&self, task: TaskId, step: i32, key: &str) -> String {
        let fork = self.client.fork::<()>(task, step, key).await;
        fork.unwrap_err().to_string()
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_runs_a_step_anew_with_what_follows_and_nothing_before() {
    let place = Place::new();
    place.world.fail(&["book room"]);
    let task = place
        .client
        .submit(trip("Ada".to_owned()).key("trip").headers("{\"a\":1}"));
    let task = task.await.unwrap();
    assert_eq!(place.end(&task).await, State::Error);
    let first = place.world.entries();
    assert_eq!(first.len(), 3);
    tokio::time::sleep(Duration::from_secs(100)).await;

    place.world.fail(&[]);
    let fork = place
        .client
        .fork::<u64>(task.id(), 3, "trip, with a room")
        .await
        .unwrap();
    assert!(fork.submitted().unwrap().is_new);
    let number = fork.wait().await.unwrap();
    assert!(first[0].0.starts_with(&number.to_string()));
    let again = place.world.entries();
    let names: Vec<_> = again.iter().map(|(what, _)| what.as_str()).collect();
    assert_eq!(names, ["book room", "send"]);
    assert_eq!(first[2].0, "book room");
    // A service does not take it for a repetition.
    assert_ne!(first[2].1, again[0].1);

    let (old, new) = (
        task.progress().await.unwrap(),
        fork.progress().await.unwrap(),
    );
    assert_eq!(old.task.state, State::Error);
    assert_eq!(
        (&*new.task.input, &new.task.headers),
        ("[\"Ada\"]", &old.task.headers)
    );
    let limit = new.task.complete_by.unwrap().since(new.task.created_at);
    assert_eq!(limit, Duration::from_secs(3_600));
    assert!(new.task.created_at > old.task.updated_at);
    assert_eq!(new.history.len(), 4);
    place.scheduler.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_fork_undoes_only_what_it_has_done_itself() {
    let place = Place::new();
    place.world.fail(&["book room"]);
    let task = place.client.submit(trip(String::new())).await.unwrap();
    assert_eq!(place.end(&task).await, State::Error);
    place.world.fail(&["send"]);
    let fork = place
        .client
        .fork::<u64>(task.id(), 3, "again")
        .await
        .unwrap();
    assert_eq!(place.end(&fork).await, State::Error);
    place.world.log();

    place.client.undo(fork.id()).await.unwrap();
    assert_eq!(place.end(&fork).await, State::Compensated);
    assert_eq!(place.world.log(), ["unbook room"]);
    place.client.undo(task.id()).await.unwrap();
    assert_eq!(place.end(&task).await, State::Compensated);
    assert_eq!(place.world.log(), ["unbook flight"]);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_was_undone_is_no_part_of_a_fork() {
    let place = Place::new();
    place.world.fail(&["book room"]);
    let task = place.client.submit(careful()).await.unwrap();
    assert_eq!(place.end(&task).await, State::Compensated);
    place.world.fail(&[]);
    assert_eq!(
        place.refusal(task.id(), 2, "again").await,
        format!(
            "task {} has undone step 1 `book`, and the fork would go on as if that were still done: fork it from step 1, or from an earlier one",
            task.id()
        )
    );
    place.world.log();
    let fork = place
        .client
        .fork::<()>(task.id(), 1, "again")
        .await
        .unwrap();
    fork.wait().await.unwrap();
    assert_eq!(place.world.log(), ["book flight", "book room"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_branch_had_done_before_stays_done() {
    let place = Place::new();
    place.world.fail(&["slow"]);
    let task = place.client.submit(branches()).await.unwrap();
    assert_eq!(place.end(&task).await, State::Error);
    assert_eq!(place.world.log(), ["quick", "quick too", "slow", "last"]);
    place.world.fail(&[]);
    for (step, wanted) in [
        // The quick ones were called after it, and had ended before.
        (0, &["slow", "last"][..]),
        (1, &["slow", "last"]),
        // It had not ended when the second quick one did, although it was called before.
        (3, &["quick too", "slow", "last"]),
        (2, &["quick", "quick too", "slow", "last"]),
    ] {
        let key = format!("from {step}");
        let fork = place.client.fork::<()>(task.id(), step, key).await.unwrap();
        if step == 1 {
            // The failure of `slow` came before.
            assert_eq!(place.end(&fork).await, State::Error);
            assert_eq!(place.world.log(), ["last"]);
            continue;
        }
        fork.wait().await.unwrap();
        assert_eq!(place.world.log(), wanted, "from {step}");
    }
}

#[tokio::test(start_paused = true)]
async fn random_numbers_before_the_step_are_those_of_the_original() {
    let place = Place::new();
    let task = place.client.submit(draws()).await.unwrap();
    let first = task.wait().await.unwrap();
    let fork = place
        .client
        .fork::<Vec<u64>>(task.id(), 3, "fork")
        .await
        .unwrap();
    let second = fork.wait().await.unwrap();
    assert_eq!(first[..2], second[..2]);
    assert!(first[2] != second[2] && first[3] != second[3]);
    let fork = place
        .client
        .fork::<Vec<u64>>(fork.id(), 5, "of it")
        .await
        .unwrap();
    let third = fork.wait().await.unwrap();
    assert_eq!(second[..3], third[..3]);
    assert!(![first[3], second[3]].contains(&third[3]));
    // One from an earlier step has its own from there on.
    let fork = place
        .client
        .fork::<Vec<u64>>(fork.id(), 1, "early")
        .await
        .unwrap();
    let fourth = fork.wait().await.unwrap();
    assert_eq!(first[0], fourth[0]);
    assert!(![first[1], third[1]].contains(&fourth[1]));
}

#[tokio::test(start_paused = true)]
async fn a_fork_gets_the_signals_that_are_sent_to_it() {
    let place = Place::new();
    place.world.fail(&["add"]);
    let task = place.client.submit(asking()).await.unwrap();
    for number in [1, 2] {
        place
            .client
            .signal(task.id(), "number", &number)
            .await
            .unwrap();
    }
    assert_eq!(place.end(&task).await, State::Error);
    place.world.fail(&[]);
    let fork = place
        .client
        .fork::<[Option<u32>; 2]>(task.id(), 2, "add")
        .await
        .unwrap();
    assert_eq!(fork.wait().await.unwrap(), [Some(1), Some(2)]);
    let fork = place
        .client
        .fork::<[Option<u32>; 2]>(task.id(), 1, "ask")
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(fork.progress().await.unwrap().task.state, State::Waiting);
    place.client.signal(fork.id(), "number", &3).await.unwrap();
    assert_eq!(fork.wait().await.unwrap(), [Some(1), Some(3)]);
}

#[tokio::test(start_paused = true)]
async fn a_fork_waits_for_children_of_its_original_that_have_ended_and_leaves_them_alone() {
    for waits in [false, true] {
        let place = Place::new();
        place.world.fail(&["mine"]);
        let task = place.client.submit(whole(waits)).await.unwrap();
        assert_eq!(place.end(&task).await, State::Error);
        let started = &task.progress().await.unwrap().history[0];
        let child = started.result.as_ref().unwrap().parse().unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
        place.world.fail(&[]);
        place.world.log();
        let fork = place
            .client
            .fork::<String>(task.id(), 1, "fork")
            .await
            .unwrap();
        if waits {
            let parked = fork.follow(|_| {}).await.unwrap();
            assert_eq!(
                parked.error.unwrap(),
                format!(
                    "child {child} goes on, and was started by task {}, of which this one is a fork: resubmit this one when it has ended",
                    task.id()
                )
            );
            place.client.signal(child, "go", &()).await.unwrap();
            let child = place.client.task::<String>(child);
            assert_eq!(child.wait().await.unwrap(), "part");
            place.client.resubmit(fork.id()).await.unwrap();
        }
        assert_eq!(
            place.client.task::<String>(fork.id()).wait().await.unwrap(),
            "part"
        );
        let log = place.world.log();
        assert_eq!(
            log.iter().filter(|what| *what == "mine").count(),
            1,
            "{log:?}"
        );

        place.world.fail(&["late"]);
        let fork = place
            .client
            .fork::<String>(task.id(), 1, "late")
            .await
            .unwrap();
        assert_eq!(place.end(&fork).await, State::Error);
        place.client.undo(fork.id()).await.unwrap();
        assert_eq!(place.end(&fork).await, State::Error);
        let child = place.client.task::<String>(child).progress().await.unwrap();
        assert_eq!(child.task.state, State::Processed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_of_a_generation_begins_with_its_arguments() {
    let place = Place::new();
    place.world.fail(&["end"]);
    let task = place.client.submit(rounds(0)).await.unwrap();
    assert_eq!(place.end(&task).await, State::Error);
    place.world.fail(&[]);
    let first = place.world.entries();
    let fork = place.client.fork::<()>(task.id(), 2, "fork").await.unwrap();
    fork.wait().await.unwrap();
    let again = place.world.entries();
    assert_eq!(again.len(), 1);
    assert_eq!(first.last().unwrap().0, again[0].0);
    assert_ne!(first.last().unwrap().1, again[0].1);
    assert_eq!(fork.progress().await.unwrap().task.generation, 0);
}

#[tokio::test(start_paused = true)]
async fn the_next_generation_of_a_fork_has_no_copies() {
    let place = Place::new();
    place.world.fail(&["between"]);
    let task = place.client.submit(rounds(0)).await.unwrap();
    assert_eq!(place.end(&task).await, State::Error);
    place.world.fail(&["end"]);
    let fork = place.client.fork::<()>(task.id(), 1, "fork").await.unwrap();
    assert_eq!(place.end(&fork).await, State::Error);
    assert_eq!(fork.progress().await.unwrap().task.generation, 1);
    place.client.undo(fork.id()).await.unwrap();
    assert_eq!(place.end(&fork).await, State::Compensated);
    assert_eq!(place.world.log().last().unwrap(), "unbook table");
}

#[tokio::test(start_paused = true)]
async fn only_a_task_that_has_ended_is_forked_and_under_a_key_of_its_own() {
    let place = Place::new();
    let task = place.client.submit(asking().key("it")).await.unwrap();
    let id = task.id();
    place.client.signal(id, "number", &1).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let refused = |state: &str, hint: &str| {
        format!("task {id} is {state}, which does not allow this: {hint}")
    };
    let goes_on = refused("waiting", "it has not ended");
    assert_eq!(place.refusal(id, 0, "fork").await, goes_on);
    place.client.park(id, "later").await.unwrap();
    let parked = refused("parked", "resubmit it first, or give it up");
    assert_eq!(place.refusal(id, 0, "fork").await, parked);
    place
        .client
        .operator("Ada", "enough")
        .give_up(id)
        .await
        .unwrap();

    assert_eq!(
        place.refusal(TaskId(99), 0, "fork").await,
        "there is no task 99"
    );
    let unknown = format!("task {id} has no step 7; `show` lists its steps");
    assert_eq!(place.refusal(id, 7, "fork").await, unknown);
    assert_eq!(
        place.refusal(id, 0, "").await,
        "a fork needs a key of its own"
    );
    let reserved = "keys that begin with `~` are those of the store; use another key for `~fork`";
    assert_eq!(place.refusal(id, 0, "~fork").await, reserved);

    // The call that waits has no outcome.
    let fork = place.client.fork::<()>(id, 1, "fork").await.unwrap();
    let taken = format!(
        "task {} has the key `fork` and is not this fork; use another key",
        fork.id()
    );
    assert_eq!(place.refusal(id, 0, "fork").await, taken);
    let again = place.client.fork::<()>(id, 1, "fork").await.unwrap();
    assert_eq!(
        (again.id(), again.submitted().unwrap().is_new),
        (fork.id(), false)
    );
    assert_eq!(place.client.list(Filter::default()).await.unwrap().len(), 2);
    // A second call is the same one, whatever has become of the original.
    place
        .client
        .prune(
            Retention {
                keys: Duration::from_secs(9),
                ..Retention::from(Duration::ZERO)
            },
            9,
        )
        .await
        .unwrap();
    let again = place.client.fork::<()>(id, 1, "fork").await.unwrap();
    assert_eq!(again.id(), fork.id());
    let pruned = refused("pruned", "it has ended, and only its key is left");
    assert_eq!(place.refusal(id, 1, "another").await, pruned);
    place.client.signal(fork.id(), "number", &2).await.unwrap();
    fork.wait().await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_step_that_was_given_up_without_a_record_is_one_to_fork_from() {
    let place = Place::new();
    place.world.fail(&["look"]);
    let task = place.client.submit(careful()).await.unwrap();
    place.end(&task).await;
    place.world.fail(&[]);
    let fork = place.client.fork::<()>(task.id(), 0, "fork").await.unwrap();
    fork.wait().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_fork_names_its_original_and_who_has_forked_it() {
    let place = Place::new();
    place.world.fail(&["book room"]);
    let task = place.client.submit(trip(String::new())).await.unwrap();
    assert_eq!(place.end(&task).await, State::Error);
    let ada = place.client.operator("Ada", "there are rooms again");
    let fork = ada.fork::<u64>(task.id(), 3, "again").await.unwrap();
    place.end(&fork).await;
    let progress = fork.progress().await.unwrap();
    let [
        OperatorNote {
            seq: None,
            verdict,
            by,
            why,
            ..
        },
    ] = &progress.notes[..]
    else {
        panic!("{:?}", progress.notes);
    };
    assert_eq!([verdict, by, why], ["fork", "Ada", "there are rooms again"]);
    assert!(task.progress().await.unwrap().notes.is_empty());
    let origin = progress.task.facts().find(|(name, _)| *name == "fork of");
    assert_eq!(
        origin.unwrap().1,
        format!("task {}, from step 3", task.id())
    );
    // A worker of another release finds the same.
    let history = export(&place.client, fork.id()).await.unwrap();
    let line = serde_json::to_string(&history).unwrap();
    let report = Replay::new().register(trip).run(line.as_bytes()).unwrap();
    report.assert_unchanged();
    let copies = progress.history.iter().filter(|record| record.fence.0 == 0);
    assert!(
        copies
            .clone()
            .all(|copy| copy.kind == RecordKind::Done && copy.undo.is_none())
    );
    assert_eq!(copies.count(), 2);
}

//! Runs tasks on an engine that keeps their record in a list, with a crash between any two of its
//! operations.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::Verdict;
use reattempt_supervisor::engine::{Command, EngineError, EngineTask, Entry, Execution, Resources};
use reattempt_supervisor::{
    State, Step, StepError, TaskId, Time, Workflow, WorkflowContext, WorkflowFn, step, workflow,
};

fn sorted<T: Ord, L: AsMut<[T]>>(mut list: L) -> L {
    list.as_mut().sort();
    list
}

/// The effects of steps, by their keys.
#[derive(Clone, Default)]
struct World(Arc<Mutex<BTreeMap<String, Vec<String>>>>);

impl World {
    fn act(&self, step: &Step, what: &str) {
        let mut effects = self.0.lock().unwrap();
        let times = effects.entry(step.key().to_owned()).or_default();
        times.push(what.to_owned());
    }

    /// Returns each effect once, in the order of their texts.
    fn effects(&self) -> Vec<String> {
        let effects = self.0.lock().unwrap();
        let once = |times: &Vec<String>| {
            assert!(times.iter().all(|what| *what == times[0]), "{times:?}");
            times[0].clone()
        };
        sorted(effects.values().map(once).collect::<Vec<_>>())
    }
}

#[step(undo = take_back)]
async fn put(step: &Step, #[with] world: &World, what: &str, after: u64) -> Result<String, String> {
    tokio::time::sleep(Duration::from_secs(after)).await;
    world.act(step, what);
    if what.starts_with("bad") {
        return Err(format!("no {what} here"));
    }
    Ok(what.to_uppercase())
}

#[step]
async fn take_back(
    step: &Step,
    #[with] world: &World,
    what: &str,
    _after: u64,
    put: &String,
) -> Result<(), String> {
    world.act(step, &format!("no {what}: {put}"));
    Ok(())
}

#[step(retry(idempotent = false, on = |_: &String| Verdict::Permanent))]
async fn charge(step: &Step, #[with] world: &World) -> Result<(), String> {
    world.act(step, "charge");
    Ok(())
}

#[step(retry(max = 2, base = "1ms", on(_)))]
async fn flaky(_step: &Step) -> Result<(), String> {
    Err("busy".to_owned())
}

#[workflow]
async fn one_by_one(context: &WorkflowContext, first: String) -> Result<String, StepError> {
    let a = put(context, &first, 0).await?;
    context.sleep(Duration::from_secs(3_600)).await;
    let b = put(context, "b", 0).await?;
    Ok(format!("{a}{b} {}", context.random()))
}

#[workflow]
async fn side_by_side(context: &WorkflowContext) -> Result<String, StepError> {
    let mut heard = String::new();
    let slow = async { put(context, "slow", 30).await };
    let then = async {
        let quick = put(context, "quick", 10).await?;
        put(context, &format!("after {quick}"), 10).await
    };
    let wait = context.sleep(Duration::from_secs(15));
    let (mut slow, mut then, mut wait) = (Box::pin(slow), Box::pin(then), Box::pin(wait));
    let (mut is_slow, mut is_then, mut is_due) = (false, false, false);
    while !(is_slow && is_then && is_due) {
        tokio::select! {
            // Blocks call their steps when they are polled.
            biased;
            said = &mut slow, if !is_slow => { is_slow = true; heard += &said?; }
            said = &mut then, if !is_then => { is_then = true; heard += &said?; }
            () = &mut wait, if !is_due => { is_due = true; heard += "-"; }
        }
    }
    Ok(heard)
}

#[workflow]
async fn raced(context: &WorkflowContext) -> Result<String, StepError> {
    let mut won = Vec::new();
    for (left, right) in [(5, 20), (20, 5)] {
        tokio::select! {
            said = put(context, "left", left) => won.push(said?),
            said = put(context, "right", right) => won.push(said?),
        }
        tokio::select! {
            said = put(context, "late", left) => won.push(said?),
            () = context.sleep(Duration::from_secs(10)) => won.push("due".to_owned()),
        }
    }
    Ok(won.join(" "))
}

#[workflow]
async fn receives_signals(context: &WorkflowContext) -> Result<String, String> {
    let hear = |limit| context.signal::<String>("go", Some(Duration::from_secs(limit)));
    let first = hear(10).await.map_err(|error| error.to_string())?;
    let second = hear(20).await.map_err(|error| error.to_string())?;
    let third = hear(30).await.map_err(|error| error.to_string())?;
    Ok(format!("{first:?} {second:?} {third:?}"))
}

#[workflow]
async fn failing(context: &WorkflowContext) -> Result<(), StepError> {
    let (a, b) = tokio::join!(put(context, "a", 20), put(context, "b", 10));
    a?;
    b?;
    put(context, "bad one", 0).await.map(drop)
}

#[workflow(max_failures = 2)]
async fn hopeless(context: &WorkflowContext) -> Result<(), StepError> {
    put(context, "a", 0).await?;
    flaky(context).await
}

#[workflow(complete_by = "1h")]
async fn endless(context: &WorkflowContext) -> Result<(), StepError> {
    put(context, "a", 0).await?;
    context.sleep(Duration::from_secs(86_400)).await;
    Ok(())
}

#[workflow]
async fn charged(context: &WorkflowContext) -> Result<(), StepError> {
    charge(context).await
}

#[workflow]
async fn slow_beside_bad(context: &WorkflowContext) -> Result<(), StepError> {
    let (bad, slow, slower, ()) = tokio::join!(
        flaky(context),
        put(context, "slow", 10),
        put(context, "slower", 20),
        async {
            // It calls the next step when it has been polled again.
            tokio::task::yield_now().await;
            let _ = charge(context).await;
        }
    );
    slow?;
    slower?;
    bad
}

#[workflow]
async fn astray(_context: &WorkflowContext) -> Result<(), StepError> {
    std::future::pending().await
}

/// An entry in the journal of the engine.
#[derive(Debug, Clone, PartialEq)]
enum Logged {
    Run(String, Result<String, String>),
    Due(Option<Time>),
    Signal(String),
    Cancelled,
}

#[derive(Debug, PartialEq)]
enum End {
    Done(String),
    Undone(State, String),
    Parked(String),
    Refused(String),
}

#[derive(Debug)]
struct Crash;

/// One engine, one task.
struct Engine {
    world: World,
    began: Time,
    clock: tokio::time::Instant,
    journal: Vec<Logged>,
    signals: Vec<(u64, &'static str)>,
    /// The engine cancels the task instead of this command.
    cancelled: Option<usize>,
    /// The engine executes this command, cancels the task, and ignores the result.
    interrupted: Option<usize>,
    failures: usize,
    /// The engine crashes after this many operations: executing a command is one, writing its entry
    /// another.
    crash: Option<usize>,
}

impl Engine {
    fn new() -> Self {
        Self {
            world: World::default(),
            began: Time::from_micros(1_000_000),
            clock: tokio::time::Instant::now(),
            journal: Vec::new(),
            signals: Vec::new(),
            cancelled: None,
            interrupted: None,
            failures: 0,
            crash: None,
        }
    }

    fn alive(&mut self) -> Result<(), Crash> {
        match &mut self.crash {
            Some(0) => {
                self.crash = None;
                Err(Crash)
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Returns the entry of a command, if the journal has it.
    fn log_entry(&self, nth: usize) -> Option<Logged> {
        self.journal.get(nth).cloned()
    }

    fn begin<W: Workflow, A>(
        _: impl WorkflowFn<W, A>,
        task: EngineTask,
        resources: &Resources,
    ) -> Execution {
        Execution::new::<W>(task, resources)
    }

    async fn live<W: Workflow, A>(
        &mut self,
        workflow: impl WorkflowFn<W, A>,
        input: &str,
    ) -> Result<End, Crash> {
        let mut resources = Resources::new();
        resources.insert(self.world.clone());
        let task = EngineTask {
            id: TaskId(7),
            salt: 11,
            key: "key".to_owned(),
            input: input.to_owned(),
            headers: None,
            started_at: self.began,
            now: self.began.after(self.clock.elapsed()),
            complete_by: None,
        };
        let mut execution = Self::begin(workflow, task, &resources);
        let mut nth = 0;
        loop {
            let command = execution.next().await;
            if self.cancelled == Some(nth) && self.log_entry(nth).is_none() {
                self.journal.push(Logged::Cancelled);
            }
            if self.log_entry(nth) == Some(Logged::Cancelled) {
                execution.cancel();
                nth += 1;
                continue;
            }
            match command {
                Command::Run(name) => match self.log_entry(nth) {
                    Some(Logged::Run(was, result)) => {
                        assert_eq!(was, name);
                        match result {
                            Ok(entry) => execution.apply(serde_json::from_str(&entry).unwrap()),
                            Err(error) => execution.fail(error),
                        }
                    }
                    Some(other) => panic!("{name} is {other:?}"),
                    None => match execution.run().await {
                        Ok(_) if self.interrupted == Some(nth) => {
                            self.alive()?;
                            self.journal.push(Logged::Cancelled);
                            execution.cancel();
                        }
                        Ok(entry) => {
                            self.alive()?;
                            self.write(name, &entry);
                            self.alive()?;
                            execution.apply(entry);
                        }
                        Err(EngineError::Failed(error)) => {
                            self.failures += 1;
                            if self.failures <= 2 {
                                return Err(Crash);
                            }
                            self.journal.push(Logged::Run(name, Err(error.clone())));
                            execution.fail(error);
                        }
                        Err(EngineError::Parked(message)) if execution.has_turned_back() => {
                            self.journal.push(Logged::Run(name, Err(message.clone())));
                            execution.fail(message);
                        }
                        Err(EngineError::Parked(message)) => return Ok(End::Parked(message)),
                    },
                },
                Command::Wait { until, signals } => {
                    let logged = self.wait(nth, until, &signals)?;
                    match logged {
                        Logged::Due(was) => {
                            assert_eq!(was, until);
                            execution.apply_due_timer();
                        }
                        Logged::Signal(payload) => {
                            execution.apply_signal(&signals[0].0, payload, self.began);
                        }
                        other => panic!("a wait is {other:?}"),
                    }
                }
                Command::Complete(output) => return Ok(End::Done(output)),
                Command::Undo => break,
                Command::Fail(_) => return Err(Crash),
                Command::Park(message) => return Ok(End::Parked(message)),
                Command::Refuse(message) => return Ok(End::Refused(message)),
            }
            nth += 1;
        }
        self.undo_all(execution, &resources, nth).await
    }

    async fn undo_all(
        &mut self,
        execution: Execution,
        resources: &Resources,
        mut nth: usize,
    ) -> Result<End, Crash> {
        let mut undo = match execution.compensations(resources).await {
            Ok(undo) => undo,
            Err(EngineError::Parked(message)) => return Ok(End::Parked(message)),
            Err(EngineError::Failed(_)) => return Err(Crash),
        };
        while let Some(name) = undo.next() {
            match self.log_entry(nth) {
                Some(Logged::Run(was, entry)) => {
                    assert_eq!(was, name);
                    undo.apply(&serde_json::from_str(&entry.unwrap()).unwrap());
                }
                Some(other) => panic!("{name} is {other:?}"),
                None => {
                    let Ok(entry) = undo.run().await else {
                        return Err(Crash);
                    };
                    self.alive()?;
                    self.write(name, &entry);
                    self.alive()?;
                    undo.apply(&entry);
                }
            }
            nth += 1;
        }
        Ok(End::Undone(undo.state(), undo.error().to_owned()))
    }

    fn wait(
        &mut self,
        nth: usize,
        until: Option<Time>,
        signals: &[(String, usize)],
    ) -> Result<Logged, Crash> {
        if let Some(logged) = self.log_entry(nth) {
            return Ok(logged);
        }
        self.alive()?;
        let next = self.signal(until, signals);
        let logged = next.map_or(Logged::Due(until), Logged::Signal);
        self.journal.push(logged.clone());
        Ok(logged)
    }

    fn write(&mut self, name: String, entry: &Entry) {
        let entry = serde_json::to_string(entry).unwrap();
        self.journal.push(Logged::Run(name, Ok(entry)));
    }

    /// Waits for the next signal, or for the timer if that is due first.
    fn signal(&self, until: Option<Time>, signals: &[(String, usize)]) -> Option<String> {
        let (_, heard) = signals.first()?;
        let (after, payload) = self.signals.get(*heard)?;
        let at = self.began.after(Duration::from_secs(*after));
        (until.is_none_or(|until| at < until)).then(|| payload.to_string())
    }

    fn names(&self) -> Vec<&str> {
        let names = self.journal.iter().map(|logged| match logged {
            Logged::Run(name, _) => name.as_str(),
            Logged::Due(_) => "due",
            Logged::Signal(_) => "signal",
            Logged::Cancelled => "cancelled",
        });
        names.collect()
    }

    /// Runs the task to its end, however often the engine crashes.
    async fn ends<W: Workflow, A>(
        &mut self,
        workflow: impl WorkflowFn<W, A> + Copy,
        input: &str,
    ) -> End {
        for _ in 0..10 {
            if let Ok(end) = self.live(workflow, input).await {
                return end;
            }
        }
        panic!("it crashes again and again");
    }
}

/// Runs a task with a crash at every place; all runs must have the same end.
async fn everywhere<W: Workflow, A>(
    workflow: impl WorkflowFn<W, A> + Copy,
    input: &str,
    engine: impl Fn() -> Engine,
) -> (End, Vec<String>) {
    let mut ends = run_with_crashes(workflow, input, engine).await.into_iter();
    let (whole, end) = ends.next().unwrap();
    let effects = whole.world.effects();
    for (nth, (engine, other)) in ends.enumerate() {
        assert_eq!(other, end, "crash {nth}");
        assert_eq!(engine.world.effects(), effects, "crash {nth}");
        assert_eq!(engine.names(), whole.names(), "crash {nth}");
    }
    (end, effects)
}

/// Runs a task without a crash, and with a crash at every place.
async fn run_with_crashes<W: Workflow, A>(
    workflow: impl WorkflowFn<W, A> + Copy,
    input: &str,
    engine: impl Fn() -> Engine,
) -> Vec<(Engine, End)> {
    let mut whole = engine();
    let end = whole.ends(workflow, input).await;
    let mut ends = vec![(whole, end)];
    for crash in 0.. {
        let mut engine = Engine {
            crash: Some(crash),
            ..engine()
        };
        let end = engine.ends(workflow, input).await;
        if engine.crash.is_some() {
            break;
        }
        ends.push((engine, end));
    }
    ends
}

fn done_with(output: &str) -> End {
    End::Done(serde_json::to_string(output).unwrap())
}

#[tokio::test(start_paused = true)]
async fn steps_and_timers() {
    let (end, effects) = everywhere(one_by_one, "[\"a\"]", Engine::new).await;
    let End::Done(output) = end else {
        panic!("{end:?}")
    };
    assert!(output.starts_with("\"AB "), "{output}");
    assert_eq!(effects, ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn parallel_steps_are_replayed_in_one_order() {
    let ends = run_with_crashes(side_by_side, "[]", Engine::new).await;
    assert!(ends.len() > 6);
    assert_eq!(ends[0].1, done_with("-AFTER QUICKSLOW"));
    // A step that starts again after a crash takes its time again, and others may overtake it: the
    // record has the order.
    for (engine, end) in ends {
        let End::Done(heard) = end else {
            panic!("{end:?}")
        };
        assert_eq!(heard.len(), "\"-AFTER QUICKSLOW\"".len());
        assert_eq!(engine.world.effects(), ["after QUICK", "quick", "slow"]);
    }
}

#[tokio::test(start_paused = true)]
async fn races_have_one_winner() {
    let (end, _) = everywhere(raced, "[]", Engine::new).await;
    assert_eq!(end, done_with("LEFT LATE RIGHT due"));
}

#[tokio::test(start_paused = true)]
async fn signals_come_once_and_in_order() {
    let engine = || Engine {
        signals: vec![(5, "\"one\""), (8, "\"two\"")],
        ..Engine::new()
    };
    let (end, _) = everywhere(receives_signals, "[]", engine).await;
    assert_eq!(end, done_with("Some(\"one\") Some(\"two\") None"));
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_undone_the_last_first() {
    let (end, effects) = everywhere(failing, "[]", Engine::new).await;
    let why = "step `put` failed: no bad one here";
    assert_eq!(end, End::Undone(State::Compensated, why.to_owned()));
    assert_eq!(effects, ["a", "b", "bad one", "no a: A", "no b: B"]);
    let mut engine = Engine::new();
    engine.ends(failing, "[]").await;
    let undone: Vec<_> = engine.journal.iter().skip(3).collect();
    // `b` was done first.
    assert!(
        matches!(&undone[..], [Logged::Run(first, Ok(a)), Logged::Run(_, Ok(b))]
            if first == "undo put" && a.contains("\"seq\":0") && b.contains("\"seq\":1")),
        "{undone:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_too_often_is_undone() {
    let mut engine = Engine::new();
    let end = engine.ends(hopeless, "[]").await;
    let End::Undone(State::Compensated, said) = end else {
        panic!("{end:?}")
    };
    assert!(
        said.starts_with("step `flaky` gave up after 2 attempts"),
        "{said}"
    );
    assert_eq!(engine.failures, 3);
    assert_eq!(engine.world.effects(), ["a", "no a: A"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_takes_too_long_is_undone() {
    let (end, effects) = everywhere(endless, "[]", Engine::new).await;
    let End::Undone(State::Compensated, why) = end else {
        panic!("{end:?}")
    };
    assert!(why.starts_with("it was not done by "), "{why}");
    assert_eq!(effects, ["a", "no a: A"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_is_undone() {
    for at in 0..3 {
        let engine = || Engine {
            cancelled: Some(at),
            ..Engine::new()
        };
        let (end, effects) = everywhere(one_by_one, "[\"a\"]", engine).await;
        assert_eq!(
            end,
            End::Undone(State::Cancelled, "it was cancelled".to_owned())
        );
        // A step of the command may have started, so it runs to its end.
        let all = ["a", "no a: A", "b", "no b: B"];
        let done = if at < 2 { 2 } else { 4 };
        assert_eq!(effects, sorted(all[..done].to_vec()), "{at}");
    }
    // Steps that had started beside it run to their end, and are undone.
    let engine = || Engine {
        cancelled: Some(1),
        ..Engine::new()
    };
    for (engine, end) in run_with_crashes(side_by_side, "[]", engine).await {
        assert_eq!(
            end,
            End::Undone(State::Cancelled, "it was cancelled".to_owned())
        );
        // Each step is undone; the next one only if a command had named it.
        let effects = engine.world.effects();
        let both = ["slow", "no slow: SLOW", "quick", "no quick: QUICK"];
        assert!(both.iter().all(|one| effects.iter().any(|it| it == one)));
        assert!(matches!(effects.len(), 4 | 6), "{effects:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_that_must_not_run_twice_is_parked_after_a_crash() {
    let mut engine = Engine::new();
    assert_eq!(
        engine.ends(charged, "[]").await,
        End::Done("null".to_owned())
    );
    assert_eq!(engine.world.effects(), ["charge"]);
    // The step has begun, and how it ended is unknown.
    let mut engine = Engine {
        crash: Some(2),
        ..Engine::new()
    };
    let End::Parked(why) = engine.ends(charged, "[]").await else {
        panic!("it ran twice")
    };
    assert!(why.contains("may have run"), "{why}");
    assert_eq!(engine.world.0.lock().unwrap().values().flatten().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn code_that_does_not_fit_is_parked() {
    let mut engine = Engine {
        crash: Some(1),
        ..Engine::new()
    };
    engine.live(one_by_one, "[\"a\"]").await.unwrap_err();
    let entry = match &engine.journal[0] {
        Logged::Run(_, Ok(entry)) => entry.replace("put", "push"),
        other => panic!("{other:?}"),
    };
    engine.journal[0] = Logged::Run("put".to_owned(), Ok(entry));
    let End::Parked(why) = engine.ends(one_by_one, "[\"a\"]").await else {
        panic!("it went on")
    };
    assert!(
        why.contains("was `push` when it was recorded and is `put` now"),
        "{why}"
    );
    let End::Parked(why) = Engine::new().ends(astray, "[]").await else {
        panic!("it went on")
    };
    assert!(
        why.contains("waits for something other than its steps"),
        "{why}"
    );
    let End::Refused(why) = Engine::new().ends(one_by_one, "[1]").await else {
        panic!("it went on")
    };
    assert!(
        why.contains("the stored arguments do not fit workflow `one_by_one`"),
        "{why}"
    );
}

#[tokio::test(start_paused = true)]
async fn steps_that_are_done_at_a_cancellation_are_undone() {
    for at in 0..3 {
        let engine = || Engine {
            interrupted: Some(at),
            ..Engine::new()
        };
        let (end, effects) = everywhere(one_by_one, "[\"a\"]", engine).await;
        if at == 1 {
            // There it waits, and no step runs.
            assert!(matches!(end, End::Done(_)), "{end:?}");
            continue;
        }
        let cancelled = "it was cancelled".to_owned();
        assert_eq!(end, End::Undone(State::Cancelled, cancelled));
        let all = ["a", "no a: A", "b", "no b: B"];
        let done = if at < 2 { 2 } else { 4 };
        assert_eq!(effects, sorted(all[..done].to_vec()), "{at}");
    }
    // The step that must not run twice ran once.
    let engine = || Engine {
        interrupted: Some(1),
        ..Engine::new()
    };
    for (engine, end) in run_with_crashes(charged, "[]", engine).await {
        assert!(
            matches!(end, End::Undone(State::Cancelled, _) | End::Parked(_)),
            "{end:?}"
        );
        let world = engine.world.0.lock().unwrap();
        assert!(world.values().flatten().count() <= 1, "{world:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_parked_task_can_be_cancelled() {
    let mut engine = Engine {
        crash: Some(2),
        cancelled: Some(1),
        ..Engine::new()
    };
    engine.live(charged, "[]").await.unwrap_err();
    let end = engine.ends(charged, "[]").await;
    assert_eq!(
        end,
        End::Undone(State::Cancelled, "it was cancelled".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn steps_beside_a_failure_run_to_their_end() {
    let mut engine = Engine::new();
    let end = engine.ends(slow_beside_bad, "[]").await;
    assert!(matches!(end, End::Undone(State::Compensated, _)), "{end:?}");
    // It did not run again, although the failing step had three attempts.
    let world = engine.world.0.lock().unwrap().clone();
    let times = sorted(
        world
            .values()
            .map(|times| times.join(" "))
            .collect::<Vec<_>>(),
    );
    assert_eq!(
        times,
        [
            "charge",
            "no slow: SLOW",
            "no slower: SLOWER",
            "slow",
            "slower"
        ]
    );
    assert_eq!(engine.failures, 3);
}

#[tokio::test(start_paused = true)]
async fn a_compensation_is_run_once_however_often_it_is_asked_for() {
    let mut resources = Resources::new();
    let world = World::default();
    resources.insert(world.clone());
    let task = EngineTask {
        id: TaskId(7),
        salt: 11,
        key: "key".to_owned(),
        input: "[]".to_owned(),
        headers: None,
        started_at: Time::default(),
        now: Time::default(),
        complete_by: None,
    };
    let mut execution = Engine::begin(failing, task, &resources);
    while let Command::Run(_) = execution.next().await {
        let entry = execution.run().await.unwrap();
        execution.apply(entry);
    }
    let mut undo = execution.compensations(&resources).await.unwrap();
    while let Some(name) = undo.next() {
        let first = undo.run().await.unwrap();
        assert_eq!(undo.next(), Some(name));
        assert_eq!(undo.run().await.unwrap(), first);
        undo.apply(&first);
    }
    let world = world.0.lock().unwrap();
    assert!(world.values().all(|times| times.len() == 1), "{world:?}");
    assert_eq!(world.len(), 5);
}

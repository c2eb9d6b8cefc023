//! Histories that are replayed with changed code.

use std::time::Duration;

use reattempt_supervisor::replay::{Divergence, History, Replay, export};
use reattempt_supervisor::{
    Client, Memory, Scheduler, State, Step, StepError, TaskId, WorkflowContext, step, workflow,
};

/// A workflow that stands for one change of the code.
macro_rules! change {
    ($module:ident, |$context:ident, $what:ident, $cents:ident| $body:block) => {
        pub(crate) mod $module {
            use super::*;

            #[workflow(name = "order")]
            pub(crate) async fn order(
                $context: &WorkflowContext,
                $what: String,
                $cents: u32,
            ) -> Result<u64, StepError> $body
        }
    };
}

/// The workflow of today, with the steps of the module that calls this.
macro_rules! rest {
    ($context:ident, $what:ident, $cents:ident) => {{
        let place = reserve($context, &$what).await?;
        let (receipt, _) = tokio::join!(pay($context, $cents, &place), reserve($context, &$what));
        let receipt = receipt?;
        $context.sleep(Duration::from_millis(1)).await;
        tokio::task::yield_now().await;
        let word: Option<u32> = $context
            .signal("go", Some(Duration::from_millis(1)))
            .await?;
        if word.is_none() && receipt.cents > 0 {
            ship($context, &$what).await?;
        }
        thank(
            $context,
            $context.random() ^ $context.now().as_micros().unsigned_abs(),
        )
        .await
    }};
}

/// The receipt of a payment.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
struct Receipt {
    cents: u32,
    card: String,
}

#[step]
async fn reserve(_: &Step, what: &str) -> Result<String, String> {
    Ok(format!("{what} at the back"))
}

#[step(undo = refund)]
async fn pay(_: &Step, cents: u32, card: &str) -> Result<Receipt, String> {
    if cents == 0 {
        return Err("no money".to_owned());
    }
    Ok(Receipt {
        cents,
        card: card.to_owned(),
    })
}

#[step]
async fn refund(_: &Step, _cents: u32, _card: &str, _receipt: &Receipt) -> Result<(), String> {
    Ok(())
}

#[step]
async fn ship(_: &Step, what: &str) -> Result<(), String> {
    if what == "nothing" {
        return Err("there is nothing to ship".to_owned());
    }
    Ok(())
}

#[step]
async fn thank(_: &Step, number: u64) -> Result<u64, String> {
    Ok(number)
}

change!(today, |context, what, cents| {
    rest!(context, what, cents)
});

/// `pay` with other compensations.
mod other_undo {
    use super::*;

    #[step(undo = reimburse)]
    async fn pay(_: &Step, cents: u32, card: &str) -> Result<Receipt, String> {
        Ok(receipt(cents, card))
    }

    #[step]
    async fn reimburse(_: &Step, _cents: u32, _card: &str, _: &Receipt) -> Result<(), String> {
        Ok(())
    }

    change!(changed, |context, what, cents| {
        rest!(context, what, cents)
    });
}

mod no_undo {
    use super::*;

    #[step]
    async fn pay(_: &Step, cents: u32, card: &str) -> Result<Receipt, String> {
        Ok(receipt(cents, card))
    }

    change!(changed, |context, what, cents| {
        rest!(context, what, cents)
    });
}

/// Results of another type.
mod other_result {
    use super::*;

    #[step(undo = refund)]
    async fn pay(_: &Step, _cents: u32, _card: &str) -> Result<(u32, u32), String> {
        Ok((1, 2))
    }

    #[step]
    async fn refund(_: &Step, _cents: u32, _card: &str, _: &(u32, u32)) -> Result<(), String> {
        Ok(())
    }

    change!(changed, |context, what, cents| {
        let place = reserve(context, &what).await?;
        let (receipt, _) = tokio::join!(pay(context, cents, &place), reserve(context, &what));
        receipt?;
        thank(context, 1).await
    });
}

fn receipt(cents: u32, card: &str) -> Receipt {
    Receipt {
        cents,
        card: card.to_owned(),
    }
}

change!(swapped, |context, what, cents| {
    let (receipt, place) = tokio::join!(pay(context, cents, &what), reserve(context, &what));
    thank(context, u64::from(receipt?.cents) + place?.len() as u64).await
});
change!(inserted, |context, what, cents| {
    thank(context, 1).await?;
    rest!(context, what, cents)
});
change!(inserted_last, |context, what, cents| {
    let last = rest!(context, what, cents)?;
    thank(context, 2).await?;
    Ok(last)
});
change!(removed, |context, what, cents| {
    let receipt = pay(context, cents, &what).await?;
    thank(context, u64::from(receipt.cents)).await
});
change!(removed_last, |context, what, cents| {
    let place = reserve(context, &what).await?;
    let (receipt, _) = tokio::join!(pay(context, cents, &place), reserve(context, &what));
    let receipt = receipt?;
    context.sleep(Duration::from_millis(1)).await;
    let word: Option<u32> = context.signal("go", Some(Duration::from_millis(1))).await?;
    if word.is_none() && receipt.cents > 0 {
        ship(context, &what).await?;
    }
    Ok(context.random() ^ context.now().as_micros().unsigned_abs())
});
change!(other_arguments, |context, what, cents| {
    let cents = cents + 1;
    rest!(context, what, cents)
});
change!(early_return, |context, what, _cents| {
    let place = reserve(context, &what).await?;
    Ok(place.len() as u64)
});
change!(other_signal, |context, what, cents| {
    let place = reserve(context, &what).await?;
    let (receipt, _) = tokio::join!(pay(context, cents, &place), reserve(context, &what));
    receipt?;
    context.sleep(Duration::from_millis(1)).await;
    let _: Option<u32> = context
        .signal("start", Some(Duration::from_millis(1)))
        .await?;
    thank(context, 1).await
});
change!(no_sleep, |context, what, cents| {
    let place = reserve(context, &what).await?;
    let (receipt, _) = tokio::join!(pay(context, cents, &place), reserve(context, &what));
    receipt?;
    let _: Option<u32> = context.signal("go", Some(Duration::from_millis(1))).await?;
    thank(context, 1).await
});
change!(from_outside, |context, what, cents| {
    let what = format!("{what} {}", std::process::id());
    rest!(context, what, cents)
});
change!(other_output, |context, what, cents| {
    let last: Result<u64, StepError> = rest!(context, what, cents);
    Ok(last? ^ 1)
});

/// Runs tasks of today's code and exports them.
async fn histories() -> Vec<History> {
    let client = Client::new(Memory::new());
    let running = Scheduler::new(&client)
        .register(today::order)
        .start()
        .unwrap();
    let mut tasks = Vec::new();
    for (what, cents, state) in [
        ("book", 7, State::Processed),
        ("nothing", 7, State::Compensated),
        ("book", 0, State::Error),
    ] {
        let task = client
            .submit(today::order(what.to_owned(), cents))
            .await
            .unwrap();
        assert_eq!(task.follow(|_| {}).await.unwrap().state, state);
        tasks.push(export(&client, task.id()).await.unwrap());
    }
    running.stop(Duration::from_secs(1)).await;
    tasks
}

fn lines(histories: &[History]) -> String {
    let lines = histories
        .iter()
        .map(|history| format!("{}\n", serde_json::to_string(history).unwrap()));
    lines.collect()
}

#[tokio::test(start_paused = true)]
async fn each_change_is_found_and_named() {
    let histories = histories().await;
    let lines = lines(&histories);
    let report = Replay::new()
        .register(today::order)
        .run(lines.as_bytes())
        .unwrap();
    assert_eq!(report.tasks(), 3);
    report.assert_unchanged();
    for (change, replay, message) in [
        (
            "swapped",
            Replay::new().register(swapped::order),
            "step 0 was `reserve`",
        ),
        (
            "inserted",
            Replay::new().register(inserted::order),
            "step 0 was `reserve` when",
        ),
        (
            "inserted last",
            Replay::new().register(inserted_last::order),
            "calls step 8 `thank`",
        ),
        (
            "removed",
            Replay::new().register(removed::order),
            "step 0 was `reserve`",
        ),
        (
            "removed last",
            Replay::new().register(removed_last::order),
            "did not call step 7 `thank`",
        ),
        (
            "arguments",
            Replay::new().register(other_arguments::order),
            "step 1 `pay` was recorded with other",
        ),
        (
            "early return",
            Replay::new().register(early_return::order),
            "did not call step 1 `pay`",
        ),
        (
            "signal",
            Replay::new().register(other_signal::order),
            "step 4 was `signal go`",
        ),
        (
            "no sleep",
            Replay::new().register(no_sleep::order),
            "step 3 was `sleep`",
        ),
        (
            "outside",
            Replay::new().register(from_outside::order),
            "step 0 `reserve` was recorded with other",
        ),
        (
            "output",
            Replay::new().register(other_output::order),
            "another result",
        ),
        (
            "undo",
            Replay::new().register(other_undo::changed::order),
            "undone by `refund`, as its record says, and the code has `reimburse`",
        ),
        (
            "no undo",
            Replay::new().register(no_undo::changed::order),
            "and the code has none now",
        ),
        (
            "result",
            Replay::new().register(other_result::changed::order),
            "result of step 1 `pay` cannot be read",
        ),
        (
            "unknown",
            Replay::new(),
            "has no workflow `order` of version 1",
        ),
    ] {
        let report = replay.run(lines.as_bytes()).unwrap();
        let all = report.to_string();
        let first = report.diverged().first().map(|found| found.message.clone());
        assert!(
            first.unwrap_or_default().contains(message),
            "{change}: {all}"
        );
        assert_eq!(report.diverged()[0].task, TaskId(1), "{change}");
    }
}

#[tokio::test(start_paused = true)]
async fn redacted_histories_replay_too() {
    let mut histories = histories().await;
    for history in &mut histories {
        history
            .redact(&["card".to_owned(), "0".to_owned()])
            .unwrap();
    }
    let lines = lines(&histories);
    assert!(
        !lines.contains("book\",7") && lines.contains("\"card\":\"redacted\""),
        "{lines}"
    );
    let report = Replay::new()
        .register(today::order)
        .run(lines.as_bytes())
        .unwrap();
    report.assert_unchanged();
    let report = Replay::new()
        .register(early_return::order)
        .run(lines.as_bytes())
        .unwrap();
    assert_eq!(report.diverged().len(), 3);
}

#[test]
fn the_command_reads_a_file() {
    let command = |arguments: &[&str]| {
        let arguments = arguments.iter().map(|text| (*text).to_owned());
        Replay::new()
            .command(arguments)
            .map(|code| code == std::process::ExitCode::SUCCESS)
    };
    let file = std::env::temp_dir().join(format!("retry-histories-{}.jsonl", std::process::id()));
    std::fs::write(&file, "\n").unwrap();
    let path = file.display().to_string();
    assert_eq!(command(&["serve"]), None);
    assert_eq!(command(&["replay"]), Some(false));
    assert_eq!(command(&["replay", "--from", &path]), Some(true));
    std::fs::write(&file, "{}\n").unwrap();
    assert_eq!(command(&["replay", "--from", &path]), Some(false));
    std::fs::remove_file(&file).unwrap();
    let error = Replay::new().run(&b"\n{}"[..]).unwrap_err();
    assert!(
        error.to_string().starts_with("line 2 is not a history"),
        "{error}"
    );
}

#[workflow]
async fn large(_context: &WorkflowContext, number: u128, _name: String) -> Result<u128, StepError> {
    Ok(number)
}

/// As 64-bit floats they are the same.
#[test]
fn large_numbers_stay_what_they_are() {
    let history = |result: u128| -> History {
        let line = format!(
            r#"{{"task":1,"workflow":"large","version":1,"key":"k","state":"processed",
            "input":[{},"Ada"],"output":{result},"headers":null,"created_at":0,"identity":"00000000000000000000000000000007","random":1,"records":[]}}"#,
            u128::MAX
        );
        serde_json::from_str(&line).unwrap()
    };
    let replay = Replay::new().register(large);
    assert_eq!(replay.replay(&history(u128::MAX)), None);
    assert!(replay.replay(&history(u128::MAX - 1)).is_some());
    let mut redacted = history(u128::MAX);
    redacted.redact(&["1".to_owned()]).unwrap();
    assert_eq!(replay.replay(&redacted), None);
    redacted.redact(&["0".to_owned()]).unwrap();
    let text = serde_json::to_string(&redacted).unwrap();
    assert!(text.contains(r#""input":[0,"redacted"]"#), "{text}");
}

#[test]
fn what_is_hidden_is_hidden_in_names_of_fields_too() {
    let line = r#"{"task":1,"workflow":"w","version":1,"key":"k","state":"processed",
        "input":["ada@b.org",{"to":{"ada@b.org":1,"not ada@b.org":2}}],"output":null,"headers":null,
        "created_at":0,"identity":"77777777777777777777777777777777","random":1,"records":[]}"#;
    let mut history: History = serde_json::from_str(line).unwrap();
    history.redact(&["0".to_owned()]).unwrap();
    let text = serde_json::to_string(&history).unwrap();
    assert!(!text.contains("ada@") && !text.contains("77777"), "{text}");
    assert!(
        text.contains(r#"{"to":{"redacted 0":1,"redacted 1":2}}"#),
        "{text}"
    );
}

mod family {
    use super::*;

    #[workflow]
    pub(crate) async fn part(context: &WorkflowContext, number: u64) -> Result<u64, StepError> {
        thank(context, number).await
    }

    /// A parent whose children the given calls start and gather.
    macro_rules! parent {
        ($module:ident, |$context:ident, $fails:ident| $body:block) => {
            pub(crate) mod $module {
                use super::*;

                #[workflow(name = "parent")]
                pub(crate) async fn parent(
                    $context: &WorkflowContext,
                    $fails: bool,
                ) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> $body
            }
        };
    }

    macro_rules! gathered {
        ($context:ident, $fails:ident, $first:expr) => {{
            let first = $context.start($first).await;
            let second = $context.start(part(2)).await;
            let sum: Result<Vec<u64>, _> = $context
                .gather(&[first, second])
                .await
                .into_iter()
                .collect();
            if $fails {
                ship($context, "nothing").await?;
            }
            Ok(sum?.into_iter().sum())
        }};
    }

    parent!(today, |context, fails| {
        gathered!(context, fails, part(1))
    });
    parent!(now_detached, |context, fails| {
        gathered!(context, fails, part(1).detached())
    });
    parent!(other_child, |context, fails| {
        gathered!(context, fails, part(7))
    });
    parent!(one_by_one, |context, fails| {
        let first = context.start(part(1)).await;
        let first = context.result(&first).await?;
        let second = context.start(part(2)).await;
        if fails {
            ship(context, "nothing").await?;
        }
        Ok(first + context.result(&second).await?)
    });
}

#[tokio::test(start_paused = true)]
async fn parents_are_replayed_forward_and_backward() {
    use family::{now_detached, one_by_one, other_child, part, today};
    let client = Client::new(Memory::new());
    let scheduler = Scheduler::new(&client)
        .register(today::parent)
        .register(part);
    let _running = scheduler.start().unwrap();
    let mut tasks = Vec::new();
    for (fails, state) in [(false, State::Processed), (true, State::Compensated)] {
        let task = client.submit(today::parent(fails)).await.unwrap();
        assert_eq!(task.follow(|_| {}).await.unwrap().state, state);
        tasks.push(export(&client, task.id()).await.unwrap());
    }
    let lines = lines(&tasks);
    for replay in [
        Replay::new().register(today::parent),
        // The record says that the child turns back.
        Replay::new().register(now_detached::parent),
    ] {
        let report = replay.run(lines.as_bytes()).unwrap();
        assert_eq!(report.tasks(), 2);
        report.assert_unchanged();
    }
    for (replay, message) in [
        (
            Replay::new().register(other_child::parent),
            "step 0 `start part` was recorded with other arguments",
        ),
        (
            Replay::new().register(one_by_one::parent),
            "step 1 was `start part` when it was recorded and is `gather` now",
        ),
    ] {
        let report = replay.run(lines.as_bytes()).unwrap();
        assert_eq!(report.diverged().len(), 2);
        let is_named = |task: &Divergence| task.message.contains(message);
        assert!(report.diverged().iter().all(is_named), "{report}");
    }
}

//! Searches of operators.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, SHORT, change, change_to, check_equal, lease, new, sentences,
};
use super::reads::list_ids;
use reattempt_supervisor::store::{Change, Filter, Write};
use reattempt_supervisor::{NewTask, State, Time};

sentences! {
    "tasks are found by key, header, error and time" => searches,
    "tasks that have ended are found by the time of their end" => ends,
}

async fn searches(bench: &Bench) -> CheckResult {
    let with = |key: &str, workflow: &str, headers: Option<&str>| NewTask {
        workflow: workflow.to_owned(),
        headers: headers.map(str::to_owned),
        ..new(key)
    };
    let odd = r#"{"a.b\"'%":"x'\"%_","n":7,"b":true,"z":null}"#;
    let (one, other) = (
        with("k'1", "w", Some(odd)),
        with("k'1", "v", Some(r#"{"n":"7"}"#)),
    );
    let (one, other) = (bench.submit(one).await?, bench.submit(other).await?);
    let strange = r#"{"u\u0000":"\\u0000 \u0000\\\u0000","p":"9"}"#;
    let third = bench.submit(with("k2", "w", Some(strange))).await?;
    let held = bench.claim("a", 1).await?.pop().ok_or("nothing is ready")?;
    check_equal("the task that fails", held.task.id, one)?;
    let error = Some("50% of 'them' failed: Z\u{e4}hler".to_owned());
    let failed = Change {
        error,
        ..change_to(State::Error)
    };
    bench.write_held(change(lease(&held), failed)).await?;
    let submitted = bench.task(third).await?.created_at;
    let header = |name: &str, value: &str| Filter {
        header: Some((name.to_owned(), value.to_owned())),
        ..Filter::default()
    };
    let key = |key: &str, workflow: Option<&str>| Filter {
        key: Some(key.to_owned()),
        workflow: workflow.map(str::to_owned),
        ..Filter::default()
    };
    let time = |since, until| Filter {
        since,
        until,
        ..Filter::default()
    };
    let (start, late) = (Some(Time::default()), Some(submitted.after(SHORT)));
    let error = |text: &str| Filter {
        error: Some(text.to_owned()),
        ..Filter::default()
    };
    for (what, filter, wanted) in [
        ("a key", key("k'1", None), vec![other, one]),
        ("a key and a workflow", key("k'1", Some("v")), vec![other]),
        ("a part of a key", key("k", None), vec![]),
        ("an odd header", header("a.b\"'%", "x'\"%_"), vec![one]),
        (
            "a header that is a number",
            header("n", "7"),
            vec![other, one],
        ),
        ("a header that is a boolean", header("b", "true"), vec![one]),
        ("a header that is null", header("z", "null"), vec![one]),
        (
            "a header beside a strange one",
            header("p", "9"),
            vec![third],
        ),
        (
            "a strange header",
            header("u\0", "\\u0000 \0\\\0"),
            vec![third],
        ),
        ("another value", header("n", "8"), vec![]),
        ("another header", header("a", "7"), vec![]),
        (
            "a part of an error",
            error("of 'them' failed: Z\u{e4}"),
            vec![one],
        ),
        ("no part of an error", error("5% of"), vec![]),
        ("any error", error(""), vec![one]),
        ("later tasks", time(late, None), vec![]),
        (
            "tasks since a time",
            time(start, None),
            vec![third, other, one],
        ),
        ("tasks before a time", time(None, start), vec![]),
        (
            "no time at all",
            time(Some(submitted), Some(submitted)),
            vec![],
        ),
    ] {
        check_equal(what, list_ids(bench, filter).await?, wanted)?;
    }
    Ok(())
}

async fn ends(bench: &Bench) -> CheckResult {
    let mut ended = Vec::new();
    let states = State::ALL.into_iter().filter(|state| state.is_end());
    for state in states {
        let held = bench.claim_new("a").await?;
        bench.give_state(&held, state).await?;
        let at = bench.task(held.task.id).await?.updated_at;
        ended.insert(0, (held.task.id, at));
        bench.wait_until_past(at).await?;
    }
    let prune = Write::Prune(Duration::from_secs(600).into(), 9);
    bench.write_one(prune).await?;
    bench.submit(new("goes on")).await?;
    let all = ended.clone();
    for (id, at) in ended {
        let filter = |ended_since, ended_until| Filter {
            ended_since,
            ended_until,
            ..Filter::default()
        };
        let of = |is_wanted: &dyn Fn(Time) -> bool| {
            let wanted = all.iter().filter(|(_, at)| is_wanted(*at));
            wanted.map(|(id, _)| *id).collect::<Vec<_>>()
        };
        let since = list_ids(bench, filter(Some(at), None)).await?;
        check_equal("since a time", since, of(&|end| end >= at))?;
        let until = list_ids(bench, filter(None, Some(at))).await?;
        check_equal("before a time", until, of(&|end| end < at))?;
        let between = filter(Some(at), Some(at.after(Duration::from_micros(1))));
        let state = bench.task(id).await?.state;
        for one in [
            between.clone(),
            Filter {
                state: Some(state),
                ..between.clone()
            },
            Filter {
                key: Some(bench.task(id).await?.key),
                ..between.clone()
            },
        ] {
            check_equal("between times", list_ids(bench, one).await?, vec![id])?;
        }
        let pending = Filter {
            state: Some(State::Pending),
            ..filter(Some(Time::default()), None)
        };
        check_equal("no end", list_ids(bench, pending).await?, Vec::new())?;
        let before = Filter {
            before: Some(id),
            limit: 1,
            ..filter(Some(Time::default()), None)
        };
        let next = all.iter().map(|(id, _)| *id).find(|other| *other < id);
        let next: Vec<_> = next.into_iter().collect();
        check_equal("the next one", list_ids(bench, before).await?, next)?;
    }
    Ok(())
}

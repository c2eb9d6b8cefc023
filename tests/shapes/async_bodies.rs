//! What stands in the body of an async function.

use std::rc::Rc;
use std::sync::Mutex;

use reattempt::retry;

use crate::{Fault, Script, sendable};

// A tail expression.
#[retry(max = 3, on(_))]
async fn tail_expression(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// No `.await` at all.
#[retry(max = 3, on(_))]
async fn never_awaits(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// `?`.
#[retry(max = 3, on(_))]
async fn question_mark(script: &Script) -> Result<u32, Fault> {
    let number = script.step_async().await?;
    Ok(number)
}

// `return Err` and `return Ok`.
#[retry(max = 3, on(_))]
async fn returns(script: &Script) -> Result<u32, Fault> {
    match script.step_async().await {
        Ok(number) => return Ok(number),
        Err(fault) => return Err(fault),
    }
}

// `?` inside a macro call.
#[retry(max = 3, on(_))]
async fn question_mark_in_vec(script: &Script) -> Result<u32, Fault> {
    let numbers = vec![0, script.step_async().await?];
    Ok(numbers[1])
}

// `anyhow::bail!`.
#[retry(max = 3, on(_))]
async fn anyhow_bail(script: &Script) -> anyhow::Result<u32> {
    match script.step_async().await {
        Ok(number) => Ok(number),
        Err(fault) => anyhow::bail!(fault),
    }
}

// `?` converts the error.
#[retry(max = 3, on(_))]
async fn question_mark_converts(
    script: &Script,
) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    let number = script.step_async().await?;
    let one: u32 = "1".parse()?;
    if number < 3 {
        Err("too early")?;
    }
    Ok(number * one)
}

// `async` blocks inside, with `?` and `return` of their own.
#[retry(max = 3, on(_))]
async fn nested_blocks(script: &Script) -> Result<u32, Fault> {
    let caught: Result<u32, Fault> = async {
        let number = script.step_async().await?;
        return Ok(number);
    }
    .await;
    let moved = async move { caught };
    let number = moved.await?;
    Ok(number)
}

// An async closure inside.
#[retry(max = 3, on(_))]
async fn nested_closure(script: &Script) -> Result<u32, Fault> {
    let step = async |n: u32| -> Result<u32, Fault> { Ok(script.step_async().await? + n) };
    step(0).await
}

// Loops, labels, `break` with a value.
#[retry(max = 3, on(_))]
async fn labelled_break(script: &Script) -> Result<u32, Fault> {
    let outcome = 'outer: loop {
        for n in 0.. {
            if n == 3 {
                break 'outer script.step_async().await;
            }
        }
    };
    outcome
}

// `let else`.
#[retry(max = 3, on(_))]
async fn let_else(script: &Script) -> Result<u32, Fault> {
    let Ok(number) = script.step_async().await else {
        return Err(Fault(script.attempts()));
    };
    Ok(number)
}

// A lock that is let go before the await.
#[retry(max = 3, on(_))]
async fn lock(script: &Script, seen: &Mutex<Vec<u32>>) -> Result<u32, Fault> {
    {
        let mut seen = seen.lock().map_err(|_| Fault(0))?;
        seen.push(script.attempts());
    }
    script.step_async().await
}

// Two futures at once.
#[retry(max = 3, on(_))]
async fn joined(script: &Script) -> Result<u32, Fault> {
    let other = async { Ok::<_, Fault>(0) };
    let (number, zero) = tokio::try_join!(script.step_async(), other)?;
    Ok(number + zero)
}

// `tokio::select!`.
#[retry(max = 3, on(_))]
async fn selected(script: &Script) -> Result<u32, Fault> {
    tokio::select! {
        outcome = script.step_async() => outcome,
        () = std::future::pending() => Err(Fault(0)),
    }
}

// The delays are waited for, and nothing else.
#[retry(max = 3, backoff = "fixed", base = "1s", jitter = "none", on(_))]
async fn waits(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// An inner attribute, items, unreachable ends.
#[retry(max = 3, on(_))]
async fn items_in_body(script: &Script) -> Result<u32, Fault> {
    #![allow(unused_variables, reason = "it is the shape")]
    const ONE: u32 = 1;
    async fn nested(script: &Script) -> Result<u32, Fault> {
        script.step_async().await
    }
    let unused = ONE;
    if script.attempts() < 100 {
        return nested(script).await;
    }
    todo!("never reached")
}

// Recursion through `Box::pin`.
#[retry(max = 3, on(_))]
async fn recursion(script: &Script, depth: u32) -> Result<u32, Fault> {
    if depth == 0 {
        return Ok(0);
    }
    let number = script.step_async().await?;
    Ok(number + Box::pin(recursion(script, depth - 1)).await?)
}

// A retried call in a retried call.
#[retry(max = 3, on(_))]
async fn nested_retries(script: &Script, below: &Script) -> Result<u32, Fault> {
    tail_expression(below).await?;
    script.step_async().await
}

// A retried call in a task.
async fn spawned(script: &Script) -> Result<u32, Fault> {
    let script = script.clone();
    let task = tokio::spawn(async move { tail_expression(&script).await });
    task.await.map_err(|_| Fault(0))?
}

// A value that can't be sent, made after the last await: the future still can.
#[retry(max = 3, on(_))]
async fn rc_answer(script: &Script) -> Result<Rc<u32>, Fault> {
    let number = script.step_async().await?;
    Ok(Rc::new(number))
}

/// An error that can't be shared.
#[derive(Debug)]
struct Unshared(std::cell::Cell<Fault>);

// An error that is not `Sync`: the future can be sent.
#[retry(max = 3, on(_))]
async fn unshared_error(script: &Script) -> Result<u32, Unshared> {
    let step = script.step_async().await;
    step.map_err(|fault| Unshared(fault.into()))
}

// `()` as the value.
#[retry(max = 3, on(_))]
async fn unit(script: &Script) -> Result<(), Fault> {
    script.step_async().await?;
    Ok(())
}

async_shapes! {
    anyhow_bail, labelled_break, let_else, spawned,
    tail_expression => async |script| sendable(tail_expression(script)).await,
    never_awaits => async |script| sendable(never_awaits(script)).await,
    question_mark => async |script| sendable(question_mark(script)).await,
    returns => async |script| sendable(returns(script)).await,
    question_mark_in_vec => async |script| sendable(question_mark_in_vec(script)).await,
    question_mark_converts => async |script| sendable(question_mark_converts(script)).await,
    nested_blocks => async |script| sendable(nested_blocks(script)).await,
    nested_closure => async |script| sendable(nested_closure(script)).await,
    lock => async |script| sendable(lock(script, &Mutex::default())).await,
    joined => async |script| sendable(joined(script)).await,
    selected => async |script| sendable(selected(script)).await,
    waits => async |script| {
        let start = tokio::time::Instant::now();
        let outcome = sendable(waits(script)).await;
        assert_eq!(start.elapsed().as_secs(), 2);
        outcome
    },
    items_in_body => async |script| sendable(items_in_body(script)).await,
    recursion => async |script| sendable(recursion(script, 1)).await,
    nested_retries => async |script| {
        let below = Script::failing(2);
        let outcome = sendable(nested_retries(script, &below)).await;
        assert_eq!(below.attempts(), 5);
        outcome
    },
    rc_answer => async |script| sendable(rc_answer(script)).await,
    unshared_error => async |script| sendable(unshared_error(script)).await.map_err(|error| error.0.get()),
    unit => async |script| sendable(unit(script)).await.map(|()| 3),
}

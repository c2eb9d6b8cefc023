//! What stands in the body of a sync function.

use reattempt::retry;

use crate::{Fault, Script};

// A tail expression and nothing else.
#[retry(max = 3, backoff = "none", on(_))]
fn tail_expression(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// `?` leaves the attempt, not the function.
#[retry(max = 3, backoff = "none", on(_))]
fn question_mark(script: &Script) -> Result<u32, Fault> {
    let number = script.step()?;
    Ok(number)
}

// `return Err`.
#[retry(max = 3, backoff = "none", on(_))]
fn return_err(script: &Script) -> Result<u32, Fault> {
    if let Err(fault) = script.step() {
        return Err(fault);
    }
    Ok(script.attempts())
}

// `return Ok` before the end.
#[retry(max = 3, backoff = "none", on(_))]
fn early_return_ok(script: &Script) -> Result<u32, Fault> {
    let outcome = script.step();
    if outcome.is_ok() {
        return outcome;
    }
    Err(Fault(script.attempts()))
}

// The body is one `return`.
#[retry(max = 3, backoff = "none", on(_))]
fn only_return(script: &Script) -> Result<u32, Fault> {
    return script.step();
}

// `?` inside a macro call.
#[retry(max = 3, backoff = "none", on(_))]
fn question_mark_in_vec(script: &Script) -> Result<u32, Fault> {
    let numbers = vec![0, script.step()?];
    Ok(numbers[1])
}

// `?` in the arguments of `format!`.
#[retry(max = 3, backoff = "none", on(_))]
fn question_mark_in_format(script: &Script) -> Result<String, Fault> {
    Ok(format!("{}", script.step()?))
}

macro_rules! bail {
    ($fault:expr) => {
        return Err($fault)
    };
}

// A `return` that a macro hides.
#[retry(max = 3, backoff = "none", on(_))]
fn own_bail(script: &Script) -> Result<u32, Fault> {
    match script.step() {
        Ok(number) => Ok(number),
        Err(fault) => bail!(fault),
    }
}

// `anyhow::bail!`.
#[retry(max = 3, backoff = "none", on(_))]
fn anyhow_bail(script: &Script) -> anyhow::Result<u32> {
    match script.step() {
        Ok(number) => Ok(number),
        Err(fault) => anyhow::bail!(fault),
    }
}

// `anyhow::ensure!` and a context.
#[retry(max = 3, backoff = "none", on(_))]
fn anyhow_ensure(script: &Script) -> anyhow::Result<u32> {
    let outcome = script.step();
    anyhow::ensure!(outcome.is_ok(), Fault(script.attempts()));
    Ok(outcome?)
}

// `?` and `return` of a closure stay in it.
#[retry(max = 3, backoff = "none", on(_))]
fn nested_closure(script: &Script) -> Result<u32, Fault> {
    let twice = |n: u32| -> Result<u32, Fault> {
        if n == 0 {
            return Ok(0);
        }
        let number = script.step()?;
        Ok(number)
    };
    twice(0)?;
    twice(1)
}

// `break` with a label and a value.
#[retry(max = 3, backoff = "none", on(_))]
fn labelled_break(script: &Script) -> Result<u32, Fault> {
    let outcome = 'outer: loop {
        for n in 0.. {
            if n == 3 {
                break 'outer script.step();
            }
        }
    };
    outcome
}

// `break` of a labelled block.
#[retry(max = 3, backoff = "none", on(_))]
fn labelled_block(script: &Script) -> Result<u32, Fault> {
    'done: {
        if script.attempts() > 100 {
            break 'done Ok(0);
        }
        script.step()
    }
}

// `continue`, `break` and `return` of loops inside.
#[retry(max = 3, backoff = "none", on(_))]
fn loops_inside(script: &Script) -> Result<u32, Fault> {
    let mut odd = 0;
    for n in 0..10 {
        if n % 2 == 0 {
            continue;
        }
        odd += 1;
    }
    while odd > 0 {
        odd -= 1;
        if odd == 2 {
            return script.step();
        }
    }
    unreachable!("five odd numbers")
}

// `match` whose arms are values, returns and `?`.
#[retry(max = 3, backoff = "none", on(_))]
fn match_arms(script: &Script) -> Result<u32, Fault> {
    match script.attempts() {
        0 => script.step(),
        1 => Ok(script.step()?),
        n if n > 1 => return script.step(),
        _ => Err(Fault(0)),
    }
}

// `let else`.
#[retry(max = 3, backoff = "none", on(_))]
fn let_else(script: &Script) -> Result<u32, Fault> {
    let Ok(number) = script.step() else {
        return Err(Fault(script.attempts()));
    };
    Ok(number)
}

// `if let` chains.
#[retry(max = 3, backoff = "none", on(_))]
fn let_chain(script: &Script) -> Result<u32, Fault> {
    if let Ok(number) = script.step()
        && number > 2
    {
        Ok(number)
    } else {
        Err(Fault(script.attempts()))
    }
}

#[derive(Debug)]
struct Wrapped(Fault);

impl From<Fault> for Wrapped {
    fn from(fault: Fault) -> Self {
        Self(fault)
    }
}

// `?` converts the error.
#[retry(max = 3, backoff = "none", on(_))]
fn question_mark_converts(script: &Script) -> Result<u32, Wrapped> {
    let number = script.step()?;
    let one: u32 = "1".parse().map_err(|_| Fault(0))?;
    Ok(number * one)
}

// `Err(...)?` as the tail.
#[retry(max = 3, backoff = "none", on(_))]
fn err_question_mark(script: &Script) -> Result<u32, Wrapped> {
    match script.step() {
        Ok(number) => Ok(number),
        Err(fault) => Err(fault)?,
    }
}

// `?` inside an iterator that collects into a `Result`.
#[retry(max = 3, backoff = "none", on(_))]
fn collected(script: &Script) -> Result<u32, Fault> {
    let numbers = [()].iter().map(|()| script.step());
    Ok(numbers.collect::<Result<Vec<_>, _>>()?.into_iter().sum())
}

// `()` as the value.
#[retry(max = 3, backoff = "none", on(_))]
fn unit(script: &Script) -> Result<(), Fault> {
    script.step()?;
    Ok(())
}

// Nothing comes after `return`: the closing brace is never reached.
#[retry(max = 3, backoff = "none", on(_))]
fn ends_in_return(script: &Script) -> Result<u32, Fault> {
    loop {
        return script.step();
    }
}

// A tail that diverges.
#[retry(max = 3, backoff = "none", on(_))]
fn diverging_tail(script: &Script) -> Result<u32, Fault> {
    let outcome = script.step();
    if script.attempts() < 100 {
        return outcome;
    }
    todo!("never reached")
}

shapes! {
    tail_expression, question_mark, return_err, early_return_ok, only_return, question_mark_in_vec,
    question_mark_in_format, own_bail, anyhow_bail, anyhow_ensure, nested_closure, labelled_break, labelled_block,
    loops_inside, match_arms, let_else, let_chain, collected, ends_in_return, diverging_tail,
    question_mark_converts => |script| question_mark_converts(script).map_err(|error| error.0),
    err_question_mark => |script| err_question_mark(script).map_err(|error| error.0),
    unit => |script| unit(script).map(|()| 3),
}

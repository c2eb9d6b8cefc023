//! `retry_block!` in all its forms.

use reattempt::{RetryError, retry, retry_block};

use crate::{Fault, Script};

// A block.
fn block(script: &Script) -> Result<u32, Fault> {
    retry_block!(max = 3, backoff = "none", on(_), { script.step() })
}

// A block with statements, whose error type the closure around it tells.
fn block_statements(script: &Script) -> Result<u32, Fault> {
    let answer: Result<u32, Fault> = retry_block!(max = 3, backoff = "none", on(_), {
        let number = script.step()?;
        Ok(number)
    });
    answer
}

// A block with statements, whose error type the function tells.
fn block_with_type(script: &Script) -> Result<u32, Fault> {
    retry_block!(max = 3, backoff = "none", on(_), {
        let number = script.step()?;
        Ok(number)
    })
}

// A closure that says its type.
fn closure(script: &Script) -> Result<u32, Fault> {
    retry_block!(
        max = 3,
        backoff = "none",
        on(_),
        || -> Result<u32, Fault> {
            let number = script.step()?;
            return Ok(number);
        }
    )
}

// A closure that does not.
fn closure_untyped(script: &Script) -> Result<u32, Fault> {
    retry_block!(max = 3, backoff = "none", on(_), || script.step())
}

// `RetryError` in a closure's type.
fn closure_failed(script: &Script) -> Result<u32, RetryError<Fault>> {
    retry_block!(
        max = 3,
        backoff = "none",
        on(_),
        || -> Result<u32, RetryError<Fault>> { Ok(script.step()?) }
    )
}

// A block that changes what is around it.
fn block_mutates(script: &Script) -> Result<u32, Fault> {
    let mut calls = 0;
    let answer = retry_block!(max = 3, backoff = "none", on(_), {
        calls += 1;
        script.step()
    });
    assert_eq!(calls, 3);
    answer
}

// `return` leaves the attempt, not the function.
fn block_return(script: &Script) -> Result<u32, Fault> {
    let answer = retry_block!(max = 3, backoff = "none", on(_), {
        if script.attempts() > 100 {
            return Err(Fault(0));
        }
        script.step()
    });
    assert_eq!(script.attempts(), 3);
    answer
}

// Loops of its own.
fn block_loops(script: &Script) -> Result<u32, Fault> {
    retry_block!(max = 3, backoff = "none", on(_), {
        for n in 0.. {
            if n == 0 {
                continue;
            }
            break;
        }
        script.step()
    })
}

// In a loop.
fn block_in_loop(script: &Script) -> Result<u32, Fault> {
    for _ in 0..1 {
        let answer = retry_block!(max = 3, backoff = "none", on(_), { script.step() });
        if answer.is_ok() {
            return answer;
        }
    }
    Err(Fault(script.attempts()))
}

// In the middle of an expression.
fn block_question_mark(script: &Script) -> Result<u32, Fault> {
    let number = 0 + retry_block!(max = 3, backoff = "none", on(_), { script.step() })?;
    Ok(number)
}

// `Option`.
fn block_option(script: &Script) -> Option<u32> {
    retry_block!(max = 3, backoff = "none", on(_), {
        Some(script.step().ok()?)
    })
}

// The attempt is seen.
fn block_context(script: &Script) -> Result<u32, Fault> {
    retry_block!(max = 3, backoff = "none", on(_), context = ctx, {
        assert_eq!(ctx.number(), script.attempts() + 1);
        script.step()
    })
}

// `clone` inside, then moved.
fn block_moves_clone(script: &Script) -> Result<u32, Fault> {
    let text = "text".to_owned();
    retry_block!(max = 3, backoff = "none", on(_), {
        let text = text.clone();
        drop(text);
        script.step()
    })
}

// In a retried function.
#[retry(max = 3, backoff = "none", on(_))]
fn block_in_retried(script: &Script) -> Result<u32, Fault> {
    let mut calls = 0;
    retry_block!(max = 2, backoff = "none", nested = "multiply", on(_), {
        calls += 1;
        if calls == 2 { Ok(()) } else { Err(Fault(0)) }
    })?;
    script.step()
}

// In another block.
fn block_in_block(script: &Script) -> Result<u32, Fault> {
    retry_block!(max = 3, backoff = "none", on(_), {
        let zero: Option<u32> = retry_block!(max = 2, backoff = "none", on(_), { Some(0) });
        script.step().map(|number| number + zero.unwrap_or(1))
    })
}

// Keys and names of the block's surroundings.
fn block_surroundings(script: &Script) -> Result<u32, Fault> {
    let (mut hooks, outcome, call) = (0, 0, 3);
    let answer = retry_block!(
        max = 3,
        backoff = "none",
        on = |fault: &Fault| fault.0 <= call,
        on_retry = |_| hooks += 1,
        { script.step().map(|number| number + outcome) }
    );
    assert_eq!(hooks, 2);
    answer
}

shapes! {
    block, block_with_type, block_statements, closure, closure_untyped, block_mutates, block_return, block_loops, block_in_loop,
    block_question_mark, block_option, block_context, block_moves_clone, block_in_retried, block_in_block,
    block_surroundings,
    closure_failed => |script| crate::last(closure_failed(script)),
}

//! Names that could be mistaken for ours, and ours that could be mistaken for theirs.

use reattempt::retry;

use crate::{Fault, Script};

// Parameters named like what the expansion binds.
#[retry(max = 3, backoff = "none", on(_), deadline = "1m", context = ctx, on_retry = |_| ())]
fn named_like_internals(
    call: &Script,
    (outcome, cause, retry): (u32, u32, u32),
    (pending, back, error): (u32, u32, u32),
    (end, until, started): (u32, u32, u32),
    (policy, operation, attempt): (u32, u32, u32),
    (body, value, answer, hook, timer, state): (u32, u32, u32, u32, u32, u32),
) -> Result<u32, Fault> {
    let sum = outcome + cause + retry + pending + back + error + end + until + started;
    let sum = sum + policy + operation + attempt + body + value + answer + hook + timer + state;
    assert_eq!((sum, ctx.number()), (0, call.attempts() + 1));
    call.step()
}

// The same, async.
#[retry(max = 3, on(_), context = ctx, on_retry = |_| (), before_retry = |_| ())]
async fn async_named_like_internals(
    pending: &Script,
    (outcome, cause, retry): (u32, u32, u32),
    (call, back, error): (u32, u32, u32),
    (end, until, started): (u32, u32, u32),
    (policy, operation, attempt): (u32, u32, u32),
) -> Result<u32, Fault> {
    let sum = outcome + cause + retry + call + back + error + end + until + started;
    assert_eq!(sum + policy + operation + attempt, 0);
    assert_eq!(ctx.number(), pending.attempts() + 1);
    pending.step_async().await
}

// A policy known only at run time, and a parameter named `operation`.
#[retry(policy = policy, on(_), context = attempt)]
fn policy_as_parameter(
    policy: reattempt::Policy,
    operation: &Script,
    until: u32,
) -> Result<u32, Fault> {
    assert_eq!(attempt.number(), operation.attempts() + until);
    operation.step()
}

// Raw identifiers as the names of the function and of its parameters.
#[retry(max = 3, backoff = "none", on(_), clone(r#type), context = r#loop)]
fn r#match(r#fn: &Script, r#type: String) -> Result<u32, Fault> {
    drop(r#type);
    assert!(r#loop.number() > 0);
    r#fn.step()
}

// Names that begin with underscores.
#[retry(max = 3, backoff = "none", on(_))]
fn _underscored(_: u32, __ret: u32, _script: &Script) -> Result<u32, Fault> {
    assert_eq!(__ret, 0);
    _script.step()
}

// Locals that shadow parameters.
#[retry(max = 3, backoff = "none", on(_))]
fn shadowing(script: &Script, number: u32) -> Result<u32, Fault> {
    let number = number + script.step()?;
    let script = number;
    Ok(script)
}

/// A prelude that lies.
mod shadowed {
    #![allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "only the names matter"
    )]

    pub(super) enum Lie {
        Ok,
        Err,
        Some,
        None,
    }
    use Lie::*;

    type Result = Lie;
    type Option = Lie;
    struct Box;
    struct Default;
    trait Future {}
    trait Clone {}
    trait From {}
    trait Into {}
    trait FnOnce {}
    mod core {}
    mod std {}
    mod reattempt {}
    mod alloc {}

    macro_rules! matches {
        ($($any:tt)*) => {
            compile_error!("not ours")
        };
    }
    macro_rules! concat {
        ($($any:tt)*) => {
            compile_error!("not ours")
        };
    }

    // `Ok`, `Err`, `Some`, `None`, `Result`, `core` and more mean something else.
    #[::reattempt::retry(max = 3, backoff = "none", on(crate::Fault(_)), deadline = "1m", context = ctx)]
    pub(super) fn sync(script: &crate::Script) -> ::core::result::Result<u32, crate::Fault> {
        assert!(ctx.number() > 0);
        script.step()
    }

    // The same, async.
    #[::reattempt::retry(max = 3, on = |_| true, except = |_| false, fallback = |e| ::core::result::Result::Err(e))]
    pub(super) async fn asynchronous(
        script: &crate::Script,
    ) -> ::core::result::Result<u32, crate::Fault> {
        script.step_async().await
    }
}

/// No prelude at all.
mod bare {
    #![no_implicit_prelude]

    // Nothing is in scope.
    #[::reattempt::retry(max = 3, backoff = "none", on(_), on_retry = |_| ())]
    pub(super) fn without_prelude(
        script: &crate::Script,
    ) -> ::core::result::Result<u32, crate::Fault> {
        script.step()
    }
}
use bare::without_prelude;

// The macro under another name.
mod renamed {
    use crate::{Fault, Script};
    use reattempt as again;
    use reattempt::retry as once_more;

    #[once_more(max = 3, backoff = "none", on(_), crate = again)]
    pub(super) fn renamed(script: &Script) -> Result<u32, Fault> {
        script.step()
    }
}
use renamed::renamed;

const NONE: (u32, u32, u32) = (0, 0, 0);

shapes! {
    without_prelude, renamed,
    named_like_internals => |script| named_like_internals(script, NONE, NONE, NONE, NONE, (0, 0, 0, 0, 0, 0)),
    policy_as_parameter => |script| {
        policy_as_parameter(reattempt::Policy::new().max(3).backoff(reattempt::Backoff::None), script, 1)
    },
    r#match => |script| r#match(script, String::new()),
    _underscored => |script| _underscored(1, 0, script),
    shadowing => |script| shadowing(script, 0),
    shadowed_names => |script| shadowed::sync(script),
}

async_shapes! {
    async_named_like_internals => async |script| async_named_like_internals(script, NONE, NONE, NONE, NONE).await,
    async_shadowed_names => async |script| shadowed::asynchronous(script).await,
}

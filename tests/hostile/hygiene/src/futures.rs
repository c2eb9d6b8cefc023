//! Async functions and functions that return futures.

use ::core::primitive::{bool as Bool, u32 as Number};
use ::reattempt::retry as again;

use crate::functions::Fault;
use crate::traps::*;

type Answer<T> = ::core::result::Result<T, Fault>;
type Count = ::core::cell::Cell<Number>;

#[again(
    max = 4,
    backoff = "linear",
    base = "1ms",
    first = "2ms",
    cap = "3ms",
    jitter = 0.2,
    fast_first = true,
    deadline = "30s",
    timeout = "20s",
    nested = "collapse",
    max_retry_after = "1s",
    on = |e| *e == Fault::Busy && error,
    except = |e: &Fault| *e == Fault::Wrong && !error,
    until = |value| *value > operation,
    fallback = async |e| ::core::result::Result::Err(e),
    before_retry = async |retry| {
        ::tokio::task::yield_now().await;
        before.set(before.get() + retry.attempt());
    },
    on_retry = |retry| seen.set(seen.get() + retry.attempt()),
    context = attempt,
    clone(text),
    name = "hygiene.async",
)]
pub async fn every_key(
    pending: &Count,
    seen: &Count,
    before: &Count,
    outcome: Number,
    back: Number,
    until: Number,
    started: Number,
    operation: Number,
    error: Bool,
    text: ::std::string::String,
) -> Answer<Number> {
    let number = attempt.number();
    let end = ::std::string::String::into_bytes(text);
    ::tokio::task::yield_now().await;
    pending.set(pending.get() + 1);
    if number < 3 {
        return ::core::result::Result::Err(Fault::Busy);
    }
    ::core::result::Result::Ok(outcome + back + until + started + end.len() as Number * 10)
}

#[again(max = 2, base = "1ms")]
pub async fn classified(value: &Count) -> Answer<()> {
    value.set(value.get() + 1);
    ::core::result::Result::Err(Fault::Busy)
}

#[again(max = 2, base = "1ms", before_retry = |_| pending.set(7), fallback = |_| (), on(_))]
pub async fn sync_hooks(pending: &Count) -> Answer<()> {
    ::core::result::Result::Err(Fault::Wrong)
}

#[again(max = 2, base = "1ms", deadline = "10s", cut_off = false, on(_))]
pub async fn uncut(lost: &Count) -> ::core::result::Result<(), Number> {
    lost.set(lost.get() + 1);
    ::core::result::Result::Err(lost.get())
}

#[again(max = 2, base = "1ms", timeout = "1s", on(_), fallback = |_| cut)]
pub async fn answered(cut: Number, value: &Count) -> ::core::result::Result<Number, Number> {
    value.set(value.get() + 1);
    ::core::result::Result::Err(value.get())
}

#[again(max = 2, base = "1ms", timeout = "1s", on(_), map_err = end)]
pub async fn mapped(form: Number) -> ::core::result::Result<Number, Number> {
    ::core::result::Result::Err(Fault::Wrong)?;
    ::core::result::Result::Ok(form)
}

fn end(end: ::reattempt::RetryError<Fault>) -> Number {
    end.attempts()
}

#[again(max = 2, base = "1ms", until = |value| *value == outcome)]
pub async fn polled(outcome: Number, value: &Count) -> Number {
    value.set(value.get() + 1);
    value.get()
}

#[again(max = 2, base = "1ms", on(_))]
pub fn returned(back: &Count) -> impl ::core::future::Future<Output = Answer<Number>> {
    async move {
        back.set(back.get() + 1);
        ::core::result::Result::Err(Fault::Busy)
    }
}

#[again(max = 2, base = "1ms", on(_))]
pub fn boxed(
    back: &Count,
) -> ::core::pin::Pin<::std::boxed::Box<dyn ::core::future::Future<Output = Answer<Number>> + '_>> {
    ::std::boxed::Box::pin(async move {
        back.set(back.get() + 1);
        ::core::result::Result::Err(Fault::Busy)
    })
}

#[again(max = 2, base = "1ms", deadline = "10s", on(_))]
pub async fn failed(end: Number) -> ::core::result::Result<Number, ::reattempt::RetryError<Fault>> {
    if end == 0 {
        return ::core::result::Result::Err(Fault::Busy);
    }
    ::core::result::Result::Ok(end)
}

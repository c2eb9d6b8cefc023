//! `retry_block!` in all its forms, between variables named like generated ones.

use ::core::primitive::u32 as Number;
use ::core::result::Result as Answer;
use ::reattempt::retry_block as again;

use crate::functions::Fault;
use crate::traps::*;

pub fn sync(outcome: Number) -> Answer<Number, Fault> {
    let (mut call, cause, end, attempt) = (0, 1, 2, 3);
    let seen = ::core::cell::Cell::new(0);
    let answer = again!(
        max = 3,
        backoff = "none",
        on = |error| *error == Fault::Busy,
        on_retry = |retry| seen.set(seen.get() + retry.attempt() + cause),
        context = started,
        {
            call += 1;
            if started.number() < 3 {
                return Answer::Err(Fault::Busy);
            }
            Answer::Ok(call + cause + end + attempt + outcome)
        }
    );
    answer.map(|value: Number| value + seen.get())
}

pub fn closure(end: Number) -> Answer<Number, Fault> {
    again!(max = 2, backoff = "none", || -> Answer<Number, Fault> {
        Answer::Err(Fault::Wrong)?;
        Answer::Ok(end)
    })
}

pub async fn asynchronous(pending: Number) -> Answer<Number, Fault> {
    let (back, until, mut call) = (1, 2, 0);
    let answer = again!(
        max = 3,
        base = "1ms",
        deadline = "10s",
        on(_),
        async || -> Answer<Number, Fault> {
            ::tokio::task::yield_now().await;
            call += 1;
            if call < 3 {
                Answer::Err(Fault::Busy)?;
            }
            Answer::Ok(call + back + until + pending)
        }
    )
    .await;
    let block = again!(max = 2, base = "1ms", on(_), async {
        if back == 2 {
            return Answer::Err(Fault::Busy);
        }
        answer
    });
    block.await
}

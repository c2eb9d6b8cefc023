//! What people ask a retry and an attempt, and what it is called here. Nobody can call it.

use reattempt_policy::__misnamed;

use super::{Attempt, Retry};

__misnamed! {
    [fn(); impl<E: ?Sized> Retry<'_, E>]
    CalledAttempt "a retry has `attempt` for this, the number of the attempt that failed" "write `.attempt()`" [attempt_number
        attempts count index n number retries retry_number];
    CalledDelay "a retry has `delay` for this" "write `.delay()`" [backoff duration next_delay sleep wait];
    CalledError "a retry has `error` for this, which is `None` after a time-out" "write `.error()`" [err exception failure
        last_error outcome];
    OfAttempt "the body knows the time of the call" "write `context = attempt`, and in the body `attempt.elapsed()`" [elapsed
        remaining total_time];
}

__misnamed! {
    [fn(); impl Attempt<'_>]
    CalledNumber "an attempt has `number` for this, from 1" "write `.number()`" [attempt attempt_number count index n retries
        retry retry_number];
    OfRetry "the attempt has not ended; a hook gets a retry, which knows this" "write `on_retry = |retry| ...`" [cause delay
        err error];
}

//! Methods that people write and that a layer does not have: those of a policy and of a runner. Nobody can call them.

use super::RetryLayer;

reattempt_policy::__misnamed! {
    [fn(V); impl<J, C, O, T> RetryLayer<J, C, O, T>]
    OfPolicy "this is a key of the policy, and a layer does not change its policy"
        "write it in the policy, `Policy::new()...`, in front of the layer" [backoff base cap deadline factor fast_first first
        idempotent jitter max max_attempts max_retries max_retry_after nested priority retries throttled_base timeout];
    OnOfPolicy "a layer looks at the whole answer, an error or a value" "write `.on_answer(|answer: &Result<_, E>| ...)`" [on
        on_error retry_if when];
}

reattempt_policy::__misnamed! {
    [fn(); impl<J, C, O, T, L> RetryLayer<J, C, O, T, L>]
    CalledBuilt "a layer is its own builder" "drop `.build()`" [build];
}

//! All that an expansion may name, the same in every combination of features. Nothing here is part of the public
//! interface: it may change in any release, together with the macros.

mod constants;
mod cut;
mod cut_off;
mod describe;
mod earlier;
mod editor;
mod form;
mod has_limit;
mod hook;
mod judge;
mod map_err;
mod outcome;
mod until;
mod value;

#[cfg(feature = "std")]
pub use crate::hedge::{Ended, Hedged, hedged};
#[cfg(feature = "std")]
pub use constants::{BudgetOf, HedgeOf, paying, refuse_hedge, refuse_shared_budget, refuse_window};
pub use constants::{PolicyOf, WrongPolicy, backoff, backoff_by, blame, broken, policy, refuse};
pub use cut::{
    LostAnswer, Unasked, cause_of, cut, cut_foreign, cut_own, cut_parameter, fail_cut,
    fail_limited, fail_limited_retry_error, finished, refuse_blocking, timed_out, unasked,
};
pub use cut_off::{refuse_restarts, refuse_timeout};
pub use describe::*;
pub use earlier::{OfError, OfOutcome, remember, with_reason};
pub use editor::{Keys, keys};
pub use form::{FormOf, NoRefusal, PlainForm, Refusal, WithReason, fail_as, refused, split_as};
pub use has_limit::{HasLimit, LimitByPolicy};
pub use hook::{
    Reply, SettleFuture, SettleValue, before, before_value, hooked, nothing, observe,
    observe_value, unseen,
};
#[cfg(feature = "std")]
pub use judge::ended;
pub use judge::{
    After, ClassifyHolder, Delay, Inherit, Proof, after, classify, classify_holder, exclude, given,
    inherit, judge, judge_by_proof, unless,
};
pub use map_err::{MapperParameter, form_of_mapper, form_of_parameter, map_err};
pub use outcome::{
    Answer, Fails, FallbackFunction, FallbackOf, FallbackValue, IsNoResult, IsResult, ambiguous,
    ask, fail, fail_retry_error, failure, fall_back, found, never, refuse_alias, retry_after,
    split, split_limited, split_retry_error,
};
pub use reattempt_core::chained::verdict as chain;
pub use reattempt_core::codes::{
    ByClassify as CodeByClassify, ByText as CodeByText, Coded, Field, NoCode,
};
pub use reattempt_core::history::{History, with_history};
pub use reattempt_core::name::{CodeName, Name};
pub use reattempt_core::tail::{End, EndOf, EndsAttempt, EndsFallback};
pub use reattempt_policy::__misnamed;
pub use retry_runtime::driver::*;
#[cfg(not(feature = "std"))]
pub use retry_runtime::timer::NoTimer;
pub use retry_runtime::timer::{ASYNC_TIMER, AsyncDefault, BLOCKING_TIMER, BlockingDefault};
#[cfg(feature = "std")]
pub use std::boxed::Box;
pub use until::{Polled, Unfinished, Whole, WholeEnd, until};
pub use value::{
    CopyOf, HasCopies, Kept, Lacked, MayLeave, Moved, MovedUnique, MovedValue, ReborrowedValue,
    Unique, UniqueValue, ValueOf, WrongValue, attempts, ignore, never_mut, taken_apart, type_of,
    waits_with,
};

//! All that an expansion may name. Nothing here is part of the public interface:
//! it may change in any release, together with the macros.

#[cfg(feature = "std")]
mod asynchronous;
#[cfg(not(feature = "std"))]
mod bare;
#[cfg(feature = "tracing")]
mod blocked;
mod blocking;
mod constants;
mod cut;
mod either;
mod hook;
mod judge;
#[cfg(feature = "std")]
mod limit;
mod limits;
#[cfg(feature = "config")]
mod named;
mod outcome;
mod progress;
#[cfg(feature = "tracing")]
mod spans;
#[cfg(feature = "config")]
mod stop;
mod strategy;
mod timers;
#[cfg(feature = "observe")]
mod told;
#[cfg(not(feature = "tracing"))]
mod unspanned;
mod until;
#[cfg(not(feature = "observe"))]
mod untold;

#[cfg(feature = "config")]
pub use crate::config::{Live, Site};
#[cfg(feature = "std")]
pub use crate::hedge::{Ended, Hedged, hedged};
#[cfg(feature = "config")]
pub use asynchronous::pause_keeping;
#[cfg(feature = "std")]
pub use asynchronous::{Again, Pause, again, entered_in_line, pause, pause_after};
#[cfg(not(feature = "std"))]
pub use bare::{again, endured, entered_in_line, limited, limited_hook, pause, pause_after};
pub use blocking::{Inside, attempt, attempt_until, entered, hooked, made, sleep, wait};
#[cfg(feature = "std")]
pub use constants::{BudgetOf, HedgeOf, refuse_hedge, refuse_window};
pub use constants::{backoff, backoff_by, blame, checked, inherited};
pub use cut::{
    Cut, IsCut, IsNotCut, Lost, TimedOut, Unasked, cause_of, cut, fail_cut, fail_limited, finished,
    in_time, refuse_blocking, refuse_uncut, refuse_untold, split_limited, split_limited_told,
    tell_limited, timed_out, unasked,
};
pub use either::{Either, MayCut, NeverCuts};
pub use hook::{Reply, SettleFuture, SettleValue, before, observe};
#[cfg(feature = "std")]
pub use judge::ended;
pub use judge::{
    After, Delay, Inherit, Proof, after, classify, exclude, inherit, judge, judge_by_proof, unless,
    verdict,
};
#[cfg(feature = "tower")]
pub(crate) use limit::inside;
#[cfg(feature = "std")]
pub use limit::{Endured, Limited, endured, limited, limited_hook};
#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
pub(crate) use limits::policy_limits;
#[cfg(feature = "std")]
pub use limits::{Breaking, Lend, OfPolicy, Purse, Throttling, breaking, lent, paying, throttled};
pub use limits::{
    ByPolicy, Gate, Guards, IsBudgeted, Limits, Pay, Question, answered, begun, enter, guards,
    pays, released,
};
#[cfg(feature = "tower")]
pub(crate) use limits::{Debits, Split};
#[cfg(feature = "config")]
pub use named::{
    answered_named, attempt_named, failed_named, paying_named, until_named, wait_named,
};
pub use outcome::{
    Answer, IsNoResult, IsResult, ambiguous, ask, fail, failure, fall_back, found, never,
    refuse_alias, retry_after, split, split_told, tell,
};
pub(crate) use progress::remaining;
use progress::{Admitted, admit};
pub use progress::{Count, Progress, cut_off, failed, is_first, is_over, over, succeeded};
#[cfg(feature = "tracing")]
pub use spans::{Spanned, in_span, spanned};
#[cfg(feature = "std")]
pub use std::boxed::Box;
#[cfg(feature = "config")]
pub use stop::{Drops, Keep, Keeps, Kept, Stopped, stopped};
pub use strategy::{decided, decided_by};
#[cfg(not(any(feature = "tokio", feature = "smol")))]
pub use timers::NoTimer;
pub use timers::{ASYNC_TIMER, BLOCKING_TIMER, Started, Until};
#[cfg(all(
    feature = "observe",
    any(
        feature = "tower",
        feature = "reqwest-middleware04",
        feature = "reqwest-middleware05"
    )
))]
pub(crate) use told::note_answer;
#[cfg(feature = "observe")]
pub(crate) use told::words;
#[cfg(feature = "observe")]
pub use told::{
    AgainTold, Began, Beginnings, Here, HereSince, InRetry, InsideTold, NoWords, Words,
    WordsByDebug, WordsByDisplay, again_told, note, pause_told, recovered,
};
#[cfg(not(feature = "tracing"))]
pub use unspanned::{Spanned, in_span, spanned};
pub use until::{Polled, Unfinished, Whole, WholeEnd, until};

#[cfg(all(
    not(feature = "observe"),
    any(
        feature = "tower",
        feature = "reqwest-middleware04",
        feature = "reqwest-middleware05"
    )
))]
pub(crate) use untold::note_answer;
#[cfg(not(feature = "observe"))]
pub(crate) use untold::words;
#[cfg(not(feature = "observe"))]
pub use untold::{Began, note, recovered};

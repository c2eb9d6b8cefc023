//! Inherited deadlines: an outer function sets a deadline, and everything that it calls reads the
//! remaining time and obeys it.
//!
//! A deadline applies to the code inside [`within`] or [`within_blocking`], on the same thread or
//! in the same future. It nests, and only ever shrinks. Retried calls inside begin no delay that
//! would run past it, and cancel attempts that have a `timeout` or a `deadline`. A call with a
//! `deadline` key sets one for its attempts, too.
//!
//! **It cancels nothing else.** Code that does not look at it, such as a client that is awaited, runs
//! past it: pass [`remaining`] to it as a time-out.
//!
//! Spawned tasks and threads do not inherit a deadline: read it with [`current`], and set it inside
//! with [`scope`] or [`scope_blocking`].
//!
//! ```
//! use reattempt::deadline;
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! deadline::within(Duration::from_secs(2), async {
//!     let left = deadline::remaining().unwrap_or(Duration::MAX);
//!     assert!(left <= Duration::from_secs(2));
//!
//!     let deadline = deadline::current();
//!     let spawned = tokio::spawn(deadline::scope(deadline, async {
//!         deadline::remaining().is_some()
//!     }));
//!     assert!(spawned.await.unwrap());
//! })
//! .await;
//! assert_eq!(deadline::remaining(), None);
//! # }
//! ```
//!
//! # Executors that run other work while they wait
//!
//! The thread keeps what a call inherits while an attempt runs. An executor that runs other work on
//! that thread before the attempt ends shares the deadline and the retry with it. The work then
//! sees a deadline that is not its own, and its calls may make a single attempt:
//!
//! * rayon: a thread that waits in `join`, `scope` or a parallel iterator steals other jobs;
//! * `Shared` futures, data loaders and single-flight caches: the first of several owners polls for
//!   all of them;
//! * the tasks of a `LocalSet`, and of a runtime whose `block_on` runs inside an attempt.
//!
//! Wrap a future that several callers share, or that belongs to another call, in [`isolate`], and
//! begin a job that a waiting thread may take up with [`isolate_blocking`].
//!
//! # Other services
//!
//! With the feature `http`, the module `protocol` writes the deadline into the headers of a request, and reads it there. The
//! module `tower` has layers that do both.
//!
//! # Clock
//!
//! The clock is tokio's if the feature `tokio` is on, its paused clock included, and else the
//! operating system's monotonic clock.

pub use retry_runtime::deadline::{
    Deadline, Isolated, Scope, attempt, current, isolate, isolate_blocking, remaining, scope,
    scope_blocking, within, within_blocking,
};

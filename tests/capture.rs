//! Lines and spans of `tracing`, in a process where other tests run that have no subscriber.

use std::sync::LazyLock;

use tracing::dispatcher::{DefaultGuard, Dispatch, set_default};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Makes `subscriber` that of this thread, until the guard is dropped.
pub(crate) fn capture(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    // While a process has one subscriber, `tracing` asks that of the thread that comes to a call
    // site first. A thread without one switches the call site off for all. Of two it asks both.
    static DEAF: LazyLock<[Dispatch; 2]> =
        LazyLock::new(|| [Dispatch::new(Deaf), Dispatch::new(Deaf)]);
    LazyLock::force(&DEAF);
    set_default(&Dispatch::new(subscriber))
}

struct Deaf;

impl Subscriber for Deaf {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    /// Without it, a thread may come to a call site before there are two.
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::OFF)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

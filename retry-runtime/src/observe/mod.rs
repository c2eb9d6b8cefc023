//! Watching: what happens to calls that do not succeed at once, as typed events.
//!
//! [`add`] an [`Observer`] of the whole process, or one for a [`scope`]; set the id of a request once, by
//! [`request`], and every event below carries it.

mod call;
mod event;
mod observer;
mod scope;

pub use call::Times;
pub(crate) use call::{breaker_changed, gives_up, is_watched, note, recovered, retries};
pub(crate) use event::Told;
pub use event::{Event, Facts};
pub use observer::{Added, Observer, add};
pub use scope::{
    Scope, Scoped, current, request, request_blocking, request_id, scope, scope_blocking,
};

/// What became of a configuration.
#[cfg(feature = "config")]
pub(crate) fn tell_of_configuration(event: &Event<'_>) {
    if observer::is_anybody_there() {
        observer::tell(event);
    }
}

/// Whether a feature of this crate is told, whoever else is.
fn has_sinks() -> bool {
    false
}

/// Tells what features of this crate tell.
fn tell_sinks(_: &Event<'_>) {}

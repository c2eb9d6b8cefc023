//! What a way to retry is, and the lists of its cases, which are alike in all of them.

use crate::cases::Run;

/// Ours without jitter, beside those that have none.
pub(super) const PLAIN_NAME: &str = "ours, no jitter";

/// A library, or none: its cases by their kind, and the bytes of its futures.
pub(super) struct Way {
    pub(super) name: &'static str,
    /// What makes it cheaper than the others, if it has less.
    pub(super) lacks: Option<&'static str>,
    pub(super) runs: &'static [&'static [(&'static str, Run)]],
    pub(super) sizes: &'static [(&'static str, Size)],
}

impl Way {
    /// Whether its delays are measured inside the loop, which is taken off again; those of the
    /// others are drawn by themselves.
    pub(super) fn is_loop(&self) -> bool {
        ["hand", "ours", PLAIN_NAME].contains(&self.name)
    }

    /// The name, and what it lacks.
    pub(super) fn described(&self) -> String {
        match self.lacks {
            Some(lacks) => format!("{} ({lacks})", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// Bytes of a future.
pub(super) type Size = fn() -> usize;

/// The sync functions of a library that takes closures: `$exponential` with the usual
/// delays, `$immediate` without any.
macro_rules! sync_functions {
    ($exponential:path, $immediate:path) => {
        fn small(script: &Script) -> Result<u64, Fault> {
            $exponential(|| script.small(), is_transient)
        }

        fn large(script: &Script) -> io::Result<[u64; 8]> {
            $exponential(|| script.large(), is_busy)
        }

        fn none(script: &Script) -> Result<u64, Fault> {
            $immediate(|| script.small(), is_transient)
        }

        fn huge(script: &Script) -> Result<u64, Huge> {
            $immediate(|| script.huge(), is_huge)
        }

        fn none_large(script: &Script) -> io::Result<[u64; 8]> {
            $immediate(|| script.large(), is_busy)
        }
    };
}

/// The async functions of a library that takes closures and gives a future.
macro_rules! async_functions {
    ($exponential:path) => {
        fn ready(script: &Script) -> impl Future<Output = Result<u64, Fault>> {
            $exponential(move || bodies::ready(script), is_transient)
        }

        fn pending(script: &Script) -> impl Future<Output = Result<u64, Fault>> {
            $exponential(move || bodies::pending(script), is_transient)
        }

        fn many(script: &Script) -> impl Future<Output = io::Result<[u64; 8]>> {
            $exponential(move || bodies::many(script), is_busy)
        }

        fn kept(script: &Script) -> impl Future<Output = Result<u64, Fault>> {
            $exponential(move || bodies::kept(script), is_transient)
        }

        fn async_huge(script: &Script) -> impl Future<Output = Result<u64, Huge>> {
            $exponential(move || bodies::huge(script), is_huge)
        }
    };
}

/// The cases of `small`, `large`, `none`, `none_large` and `huge`, as they are in scope.
macro_rules! sync_runs {
    () => {
        &[
            ("small", |k, n| repeat(k, n, small)),
            ("large", |k, n| repeat(k, n, large)),
            ("none", |k, n| repeat(k, n, none)),
            ("none-large", |k, n| repeat(k, n, none_large)),
            ("huge", |k, n| repeat(k, n, huge)),
            ("none-huge", |k, n| repeat(k, n, huge)),
        ]
    };
}

/// The cases of `ready`, `pending`, `many`, `kept` and `async_huge`, as they are in scope.
macro_rules! async_runs {
    () => {
        &[
            ("ready", polled!(ready)),
            ("pending", polled!(pending)),
            ("many", polled!(many)),
            ("kept", polled!(kept)),
            ("async-huge", polled!(async_huge)),
            ("wait", polled_in_tokio!(ready)),
        ]
    };
}

/// What `pending`, `kept` and `async_huge` keep of their own and of the library's.
macro_rules! sizes {
    ($($more:expr),*) => {
        &[
            $($more,)*
            ("pending", || size_of_val(&pending(&Script::default()))),
            ("kept", || size_of_val(&kept(&Script::default()))),
            ("async-huge", || {
                size_of_val(&async_huge(&Script::default()))
            }),
        ]
    };
}

/// Takes so many delays of an iterator, made anew for each call.
pub(super) fn drawn<D: Iterator>(count: u32, calls: u64, delays: impl Fn() -> D) {
    for _ in 0..calls {
        let mut delays = std::hint::black_box(delays());
        for _ in 0..count {
            std::hint::black_box(delays.next());
        }
    }
}

pub(super) use {async_functions, async_runs, sizes, sync_functions, sync_runs};

//! A wait on tokio's timer, which goes on elsewhere where the runtime has none, has none any more, or does not look at it.

use std::collections::HashSet;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use pin_project_lite::pin_project;
use tokio::runtime::{Handle, Id};

use super::{Elsewhere, Timer, Tokio, late};

type Sleep = <Tokio as Timer>::Sleep;

/// Whether the thread was ever asked to look after one.
static IN_USE: AtomicBool = AtomicBool::new(false);

/// Returns whether this thread is in a runtime of tokio.
#[inline]
pub(super) fn is_running() -> bool {
    Handle::try_current().is_ok()
}

#[inline]
pub(super) fn sleep(duration: Duration) -> Kind {
    match Handle::try_current() {
        Ok(runtime) if !has_no_timer(&runtime) => on(&runtime, duration),
        _ => elsewhere(duration),
    }
}

/// tokio tells that a runtime has no timer by a panic, which its hook prints; once for each runtime.
#[inline]
fn on(runtime: &Handle, duration: Duration) -> Kind {
    let sleep = catch_unwind(|| Tokio.sleep(duration));
    sleep.map_or_else(
        |_| first_without(runtime, duration),
        |sleep| Kind::Tokio { sleep },
    )
}

static ARE_WITHOUT: AtomicBool = AtomicBool::new(false);
static WITHOUT: Mutex<Option<HashSet<Id>>> = Mutex::new(None);

#[inline]
fn has_no_timer(runtime: &Handle) -> bool {
    ARE_WITHOUT.load(Ordering::Relaxed) && is_without(runtime)
}

#[cold]
fn is_without(runtime: &Handle) -> bool {
    let without = WITHOUT.lock().unwrap_or_else(PoisonError::into_inner);
    without
        .as_ref()
        .is_some_and(|without| without.contains(&runtime.id()))
}

#[cold]
fn first_without(runtime: &Handle, duration: Duration) -> Kind {
    let mut without = WITHOUT.lock().unwrap_or_else(PoisonError::into_inner);
    without.get_or_insert_default().insert(runtime.id());
    ARE_WITHOUT.store(true, Ordering::Relaxed);
    drop(without);
    elsewhere(duration)
}

#[cold]
fn elsewhere(duration: Duration) -> Kind {
    let sleep = Box::pin(Elsewhere.sleep(duration));
    Kind::Elsewhere { sleep }
}

pin_project! {
    /// As large as the wait of tokio: what is rare is boxed.
    #[derive(Debug)]
    #[project = Projected]
    pub(super) enum Kind {
        Tokio {
            #[pin]
            sleep: Sleep,
        },
        Elsewhere {
            sleep: Pin<Box<<Elsewhere as Timer>::Sleep>>,
        },
    }

    impl PinnedDrop for Kind {
        fn drop(this: Pin<&mut Self>) {
            if !IN_USE.load(Ordering::Relaxed) {
                return;
            }
            if let Projected::Tokio { sleep } = this.project() {
                late::remove(place(&sleep));
            }
        }
    }
}

impl Future for Kind {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let left = match self.as_mut().project() {
            Projected::Elsewhere { sleep } => return sleep.as_mut().poll(cx),
            Projected::Tokio { mut sleep } => {
                // It panics in a runtime that was shut down.
                match catch_unwind(AssertUnwindSafe(|| sleep.as_mut().poll(cx))) {
                    Ok(Poll::Pending) => return end_late(&sleep, cx),
                    Ok(ended) => return ended,
                    Err(_) => left_of(&sleep),
                }
            }
        };
        self.set(elsewhere(left));
        self.poll(cx)
    }
}

#[cold]
fn left_of(sleep: &Sleep) -> Duration {
    let until = sleep.deadline().into_std();
    until.saturating_duration_since(Instant::now())
}

/// Ends a wait that is late, and has the thread wake its task should it be late.
///
/// A runtime with one thread looks at its timer only while that thread waits in its `block_on`. Waiting in the
/// `block_on` of another library stops it, and neither the task nor the runtime knows.
#[inline(never)]
fn end_late(sleep: &Pin<&mut Sleep>, cx: &Context<'_>) -> Poll<()> {
    if Handle::try_current().is_ok_and(|runtime| runtime.metrics().num_workers() > 1) {
        return Poll::Pending;
    }
    IN_USE.store(true, Ordering::Relaxed);
    let ends = sleep.deadline();
    let is_late = late::add(place(sleep), ends.into_std(), cx.waker());
    // Only its runtime sets a paused clock forward.
    if is_late && ends <= tokio::time::Instant::now() {
        warn_of_late();
        return Poll::Ready(());
    }
    Poll::Pending
}

/// What is pinned keeps its address, and no other has it.
fn place(sleep: &Pin<&mut Sleep>) -> usize {
    std::ptr::from_ref::<Sleep>(sleep).addr()
}

#[cold]
fn warn_of_late() {
    #[cfg(feature = "tracing")]
    {
        static WARNED: AtomicBool = AtomicBool::new(false);
        if !WARNED.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                target: "reattempt",
                "a delay ended late, by another thread: the runtime of tokio with one thread that it waits in does not run; \
                 something blocks that thread, such as a `block_on` of another library"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::runtime::{Builder, Runtime};

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    /// Polls a wait that is not over. Returns whether the thread looks after it.
    fn is_looked_after(runtime: &Runtime, duration: Duration) -> bool {
        runtime.block_on(async {
            let mut sleep = Box::pin(sleep(duration));
            let mut context = Context::from_waker(Waker::noop());
            assert!(sleep.as_mut().poll(&mut context).is_pending());
            let Projected::Tokio { sleep: of_tokio } = sleep.as_mut().project() else {
                panic!("it is in a runtime");
            };
            let place = place(&of_tokio);
            let is_looked_after = late::has(place);
            // By the runtime's clock its time has not come, whatever wakes it.
            let begun = Instant::now();
            while duration < HOUR && begun.elapsed() <= duration {
                std::thread::yield_now();
            }
            late::wake(place);
            assert!(sleep.as_mut().poll(&mut context).is_pending());
            drop(sleep);
            assert!(!late::has(place));
            is_looked_after
        })
    }

    /// It panics where a runtime has no timer, once: the next wait goes on elsewhere at once.
    #[test]
    fn a_runtime_without_a_timer_is_known_after_its_first_wait() {
        use std::panic::{set_hook, take_hook};
        use std::sync::Arc;
        use std::sync::atomic::AtomicU32;

        let panics = Arc::new(AtomicU32::new(0));
        let (count, here, before) = (
            Arc::clone(&panics),
            std::thread::current().id(),
            take_hook(),
        );
        set_hook(Box::new(move |panic| {
            if std::thread::current().id() == here {
                count.fetch_add(1, Ordering::Relaxed);
            } else {
                before(panic);
            }
        }));
        let [without, with] = [false, true].map(|has_timer| {
            let mut builder = Builder::new_current_thread();
            let builder = if has_timer {
                builder.enable_time()
            } else {
                &mut builder
            };
            builder.build().expect("a runtime")
        });
        for (runtime, is_elsewhere) in [(&without, true), (&with, false), (&without, true)] {
            let _entered = runtime.enter();
            assert_eq!(matches!(sleep(HOUR), Kind::Elsewhere { .. }), is_elsewhere);
            assert_eq!(has_no_timer(runtime.handle()), is_elsewhere);
        }
        assert_eq!(panics.load(Ordering::Relaxed), 1);
        assert!(matches!(sleep(HOUR), Kind::Elsewhere { .. }));
    }

    #[test]
    fn the_thread_looks_where_one_thread_is_all_there_is() {
        for (workers, is_expected) in [(1, true), (2, false)] {
            let several = Builder::new_multi_thread()
                .worker_threads(workers)
                .enable_time()
                .build();
            assert_eq!(
                is_looked_after(&several.expect("a runtime"), HOUR),
                is_expected,
                "{workers}"
            );
        }
        let alone = Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        assert!(is_looked_after(&alone, HOUR));
        alone.block_on(async { tokio::time::pause() });
        assert!(is_looked_after(&alone, Duration::from_millis(1)));
    }
}

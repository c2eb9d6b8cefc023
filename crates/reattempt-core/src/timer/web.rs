//! The waits of async functions in a browser or node: by `setTimeout`.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use js_sys::{Function, Reflect, global};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};

use crate::platform::Instant;

use super::{Clock, Timer, Timestamp};

/// The most milliseconds that `setTimeout` takes; it ends at once what is longer.
const LONGEST: u32 = i32::MAX.cast_unsigned();

/// The shortest time but one nanosecond that `setTimeout` tells apart.
const SLACK: Duration = Duration::from_nanos(999_999);

/// Sleeps by `setTimeout`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Web;

impl Clock for Web {
    fn now(&self) -> Timestamp {
        Instant::now().into()
    }

    #[inline]
    fn shared(&self) -> Timestamp {
        crate::process::now()
    }

    #[inline]
    fn carries_deadlines(&self) -> bool {
        !crate::process::is_virtual()
    }

    #[inline]
    fn slack(&self) -> Duration {
        SLACK
    }
}

impl Timer for Web {
    type Sleep = WebSleep;

    fn sleep(&self, duration: Duration) -> WebSleep {
        WebSleep {
            // What is later than the clock can say never ends.
            until: Instant::now().checked_add(duration),
            timeout: None,
        }
    }
}

/// The wait of [`Web`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(super) struct WebSleep {
    until: Option<Instant>,
    timeout: Option<Timeout>,
}

impl Future for WebSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(until) = self.until else {
            return Poll::Pending;
        };
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Poll::Ready(());
        }
        let runs = self.timeout.as_ref();
        if !runs.is_some_and(|timeout| timeout.wakes(cx.waker())) {
            // The first, or a further one: each has its longest time, and may end a little early.
            self.timeout = Timeout::start(left, cx.waker());
        }
        if self.timeout.is_none() {
            // JavaScript has no timer here, as in a worklet: to look at the clock is all there is.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// The number of a timer of JavaScript that was started; to drop it ends that, but in another thread, where it runs out. It
/// is `Send`, as libraries want of what they box and spawn.
#[derive(Debug)]
struct Timeout(u64);

/// What JavaScript gives out for it. That is not `Send`, and stays in the thread.
struct Started {
    number: u64,
    /// What it wakes; `None` when it has ended.
    waker: Option<Waker>,
    /// A number in a browser, an object in node.
    id: JsValue,
    /// JavaScript calls it for as long as the timer runs.
    _callback: Closure<dyn FnMut()>,
}

thread_local! {
    // In the order of their numbers. A map would add 8 kB to a module.
    static TIMEOUTS: RefCell<Vec<Started>> = const { RefCell::new(Vec::new()) };
}

/// Changes the timers of this thread.
fn timeouts<R>(change: impl FnOnce(&mut Vec<Started>) -> R) -> Option<R> {
    let changed =
        TIMEOUTS.try_with(|all| all.try_borrow_mut().ok().map(|mut all| change(&mut all)));
    changed.ok().flatten()
}

/// Puts another waker in the place of that of a timer which runs in this thread, and returns the one before.
fn replace_waker(number: u64, waker: Option<Waker>) -> Option<Waker> {
    let replaced = timeouts(|all| {
        let at = all.binary_search_by_key(&number, |it| it.number).ok()?;
        let started = all.get_mut(at)?;
        started
            .waker
            .is_some()
            .then(|| std::mem::replace(&mut started.waker, waker))
    });
    replaced.flatten().flatten()
}

impl Timeout {
    /// Starts a timer; `None` where JavaScript has none.
    fn start(left: Duration, waker: &Waker) -> Option<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);

        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let callback = Closure::once(move || {
            if let Some(waker) = replace_waker(number, None) {
                waker.wake();
            }
        });
        let millis = left.saturating_add(SLACK).as_millis();
        let millis = u32::try_from(millis).map_or(LONGEST, |millis| millis.min(LONGEST));
        let id = function("setTimeout")?
            .call2(&JsValue::NULL, callback.as_ref(), &millis.into())
            .ok()?;
        let started = Started {
            number,
            waker: Some(waker.clone()),
            id,
            _callback: callback,
        };
        timeouts(|all| all.push(started))?;
        Some(Self(number))
    }

    /// Has it wake this task. Returns `false` if it has ended.
    fn wakes(&self, waker: &Waker) -> bool {
        replace_waker(self.0, Some(waker.clone())).is_some()
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        // What wakers drop is dropped outside of the table.
        let _ended = timeouts(|all| {
            let at = all.partition_point(|it| it.number < self.0);
            all.extract_if(at.., |it| it.number == self.0).next()
        });
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // One that has ended is not cleared by this, and nothing else is.
        if let Some(clear) = function("clearTimeout") {
            let _undefined = clear.call1(&JsValue::NULL, &self.id);
        }
    }
}

/// A function of the window, the worker or node.
fn function(name: &str) -> Option<Function> {
    let function = Reflect::get(&global(), &name.into()).ok()?;
    function.dyn_into().ok()
}

//! The waits of async functions in a browser or node: by `setTimeout`.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
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

/// A timer of JavaScript that runs; to drop it ends it.
struct Timeout {
    /// Whom it wakes; `None` when it has ended.
    waker: Rc<Cell<Option<Waker>>>,
    /// A number in a browser, an object in node.
    id: JsValue,
    /// JavaScript calls it for as long as the timer runs.
    _callback: Closure<dyn FnMut()>,
}

impl Timeout {
    /// Starts a timer; `None` where JavaScript has none.
    fn start(left: Duration, waker: &Waker) -> Option<Self> {
        let waker = Rc::new(Cell::new(Some(waker.clone())));
        let woken = Rc::clone(&waker);
        let callback = Closure::once(move || {
            if let Some(waker) = woken.take() {
                waker.wake();
            }
        });
        let millis = left.saturating_add(SLACK).as_millis();
        let millis = u32::try_from(millis).map_or(LONGEST, |millis| millis.min(LONGEST));
        let id = function("setTimeout")?
            .call2(&JsValue::NULL, callback.as_ref(), &millis.into())
            .ok()?;
        Some(Self {
            waker,
            id,
            _callback: callback,
        })
    }

    /// Has it wake this task. Returns `false` if it has ended.
    fn wakes(&self, waker: &Waker) -> bool {
        let Some(before) = self.waker.take() else {
            return false;
        };
        let is_same = before.will_wake(waker);
        self.waker
            .set(Some(if is_same { before } else { waker.clone() }));
        true
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        if self.waker.take().is_some()
            && let Some(clear) = function("clearTimeout")
        {
            let _undefined = clear.call1(&JsValue::NULL, &self.id);
        }
    }
}

impl fmt::Debug for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout").finish_non_exhaustive()
    }
}

/// A function of the window, the worker or node.
fn function(name: &str) -> Option<Function> {
    let function = Reflect::get(&global(), &name.into()).ok()?;
    function.dyn_into().ok()
}

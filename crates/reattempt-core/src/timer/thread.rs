//! The waits of async functions that run outside of tokio in a build without smol: one thread wakes them all.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::platform::process_id;

use super::{Clock, Timer, Timestamp};

/// Sleeps on a thread that starts with the first wait.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TimerThread;

impl Clock for TimerThread {
    fn now(&self) -> Timestamp {
        Instant::now().into()
    }

    #[inline]
    fn shared(&self) -> Timestamp {
        crate::process::now()
    }

    // Asked where there is no tokio: the clock of the process is this one, unless a test has another.
    #[inline]
    fn carries_deadlines(&self) -> bool {
        !crate::process::is_virtual()
    }
}

impl Timer for TimerThread {
    type Sleep = ThreadSleep;

    fn sleep(&self, duration: Duration) -> ThreadSleep {
        ThreadSleep {
            // What is later than the clock can say never ends.
            until: Instant::now().checked_add(duration),
            number: None,
        }
    }
}

/// The wait of [`TimerThread`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(super) struct ThreadSleep {
    until: Option<Instant>,
    /// Tells it from others that end at the same time, once it is among the [`Sleepers`].
    number: Option<u64>,
}

impl Future for ThreadSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(until) = self.until else {
            return Poll::Pending;
        };
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Poll::Ready(());
        }
        let waker = cx.waker().clone();
        let mut sleepers = sleepers();
        if !sleepers.have_a_thread() {
            drop(sleepers);
            // The system has no thread left: late is better than never.
            thread::sleep(left);
            return Poll::Ready(());
        }
        let number = *self.number.get_or_insert_with(|| sleepers.next_number());
        let before = sleepers.wakers.insert((until, number), waker);
        drop(sleepers);
        drop(before);
        CHANGED.notify_one();
        Poll::Pending
    }
}

impl Drop for ThreadSleep {
    fn drop(&mut self) {
        if let (Some(until), Some(number)) = (self.until, self.number) {
            let waker = sleepers().wakers.remove(&(until, number));
            // Not under the lock: it is the executor's code.
            drop(waker);
        }
    }
}

static SLEEPERS: Mutex<Sleepers> = Mutex::new(Sleepers {
    wakers: BTreeMap::new(),
    number: 0,
    process: None,
});
static CHANGED: Condvar = Condvar::new();

fn sleepers() -> MutexGuard<'static, Sleepers> {
    SLEEPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Sleepers {
    wakers: BTreeMap<(Instant, u64), Waker>,
    number: u64,
    /// The process in which the thread runs: a fork has none.
    process: Option<u32>,
}

impl Sleepers {
    const fn next_number(&mut self) -> u64 {
        self.number = self.number.wrapping_add(1);
        self.number
    }

    fn have_a_thread(&mut self) -> bool {
        let process = process_id();
        if self.process != Some(process) {
            let builder = thread::Builder::new().name("reattempt-timer".into());
            self.process = builder.spawn(wake_all).ok().map(|_| process);
        }
        self.process.is_some()
    }

    /// Removes one whose time has come.
    fn pop_due(&mut self, now: Instant) -> Option<Waker> {
        let first = self.wakers.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

fn wake_all() {
    let mut guard = sleepers();
    loop {
        if let Some(waker) = guard.pop_due(Instant::now()) {
            drop(guard);
            // Another executor's panic is not the end of all waits.
            let _panicked = catch_unwind(AssertUnwindSafe(|| waker.wake()));
            guard = sleepers();
            continue;
        }
        let next = guard.wakers.first_key_value().map(|(&(until, _), _)| until);
        guard = match next {
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                let waited = CHANGED.wait_timeout(guard, left);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => CHANGED.wait(guard).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    use super::*;
    use crate::process::tests::in_virtual_time;

    /// Counts how often it was woken, and wakes a thread.
    struct Woken(AtomicU32, thread::Thread);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
            self.1.unpark();
        }
    }

    fn woken() -> Arc<Woken> {
        Arc::new(Woken(AtomicU32::new(0), thread::current()))
    }

    fn begun(waker: &Arc<Woken>, duration: Duration) -> Pin<Box<ThreadSleep>> {
        let mut sleep = Box::pin(TimerThread.sleep(duration));
        let waker = Waker::from(Arc::clone(waker));
        let mut context = Context::from_waker(&waker);
        assert!(sleep.as_mut().poll(&mut context).is_pending());
        sleep
    }

    fn times(woken: &Woken) -> u32 {
        woken.0.load(Ordering::SeqCst)
    }

    #[test]
    fn it_wakes_in_the_order_of_time() {
        let (long, short, none) = (woken(), woken(), woken());
        let mut hour = begun(&long, Duration::from_secs(3600));
        let mut sleep = begun(&short, Duration::from_millis(2));
        drop(begun(&none, Duration::from_millis(1)));
        while times(&short) == 0 {
            thread::park();
        }
        let mut context = Context::from_waker(Waker::noop());
        assert!(sleep.as_mut().poll(&mut context).is_ready());
        assert!(hour.as_mut().poll(&mut context).is_pending());
        assert_eq!((times(&long), times(&short), times(&none)), (0, 1, 0));
    }

    #[test]
    fn what_panics_does_not_end_the_others() {
        struct Panics(thread::Thread);
        impl Wake for Panics {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
                panic!("a waker");
            }
        }
        let waker = Waker::from(Arc::new(Panics(thread::current())));
        let mut first = Box::pin(TimerThread.sleep(Duration::from_millis(1)));
        let mut context = Context::from_waker(&waker);
        assert!(first.as_mut().poll(&mut context).is_pending());
        let second = woken();
        let _sleep = begun(&second, Duration::from_millis(2));
        while times(&second) == 0 {
            thread::park();
        }
    }

    /// The copy of a process has its memory, but not its threads.
    #[test]
    fn a_forked_process_starts_a_thread_of_its_own() {
        let woken = woken();
        let _kept = begun(&woken, Duration::from_secs(3600));
        sleepers().process = Some(process_id().wrapping_add(1));
        let _sleep = begun(&woken, Duration::from_millis(1));
        assert_eq!(sleepers().process, Some(process_id()));
    }

    /// In virtual time no thread sleeps here.
    #[test]
    fn deadlines_of_virtual_time_are_converted() {
        assert!(TimerThread.carries_deadlines());
        in_virtual_time(0, || assert!(!TimerThread.carries_deadlines()));
    }

    #[test]
    fn one_is_woken_at_its_time() {
        let until = Instant::now();
        let mut sleepers = Sleepers {
            wakers: BTreeMap::from([((until, 1), Waker::noop().clone())]),
            number: 1,
            process: None,
        };
        let before = until.checked_sub(Duration::from_nanos(1));
        assert!(sleepers.pop_due(before.unwrap_or(until)).is_none());
        assert!(sleepers.pop_due(until).is_some());
        assert!(sleepers.pop_due(until).is_none());
    }

    #[test]
    fn of_two_that_end_at_once_both_are_woken() {
        let [one, other] = [(); 2].map(|()| sleepers().next_number());
        assert_ne!(one, other);
    }

    #[test]
    fn what_never_ends() {
        let woken = woken();
        drop(begun(&woken, Duration::MAX));
        assert_eq!(times(&woken), 0);
    }
}

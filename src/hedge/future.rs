//! The copies of one attempt: when another starts, which answer counts, and that nothing of them is left then.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::{Hedge, Latencies, When};
use retry_runtime::driver::WatchCopies;
use retry_runtime::timer::{Timer, Timestamp};

/// What a copy came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It succeeded: that is the answer of the attempt, and its time is measured.
    Well,
    /// It failed for good, and so would the others: that is the answer of the attempt.
    Finally,
    /// It failed, but another copy may succeed.
    Retryably,
}

pin_project! {
    /// One attempt, and its copies; made by [`hedged`].
    // Until it has to wait, nothing but the first copy: no timer, no allocation, no clock unless it measures.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Hedged<'l, W, T: Timer, F: Future, M, D, P> {
        #[pin]
        first: Option<F>,
        make: M,
        decide: D,
        pay: P,
        timer: T,
        delay: Delay<'l>,
        waiting: Option<Pin<Box<Waiting<T::Sleep, F, F::Output>>>>,
        begun: bool,
        // Copies that may still be started.
        left: u8,
        // Copies that were started.
        started: u8,
        watch: W,
    }
}

// Sixteen bytes.
#[derive(Debug)]
enum Delay<'l> {
    Fixed(u64),
    Measured(f64, &'l Latencies),
}

pin_project! {
    #[derive(Debug)]
    #[project = Projected]
    struct Waiting<S, F, R> {
        // Until the next copy starts; none, when there will be no other.
        #[pin]
        sleep: Option<S>,
        delay: Duration,
        start: Timestamp,
        // With their numbers, from 1.
        others: Vec<(u8, Pin<Box<F>>)>,
        // The last failure of a copy that is gone.
        last: Option<R>,
    }
}

/// An attempt by copies that `make` starts; `decide` says what one came to. `pay` is asked before each copy beyond
/// the first; once it says no, there is no other in this attempt. `watch` learns of copies.
pub fn hedged<W, T, F, M, D, P>(
    watch: W,
    hedge: Hedge,
    latencies: Option<&Latencies>,
    timer: T,
    make: M,
    decide: D,
    pay: P,
) -> Hedged<'_, W, T, F, M, D, P>
where
    W: WatchCopies,
    T: Timer,
    F: Future,
    M: FnMut() -> F,
    D: FnMut(&F::Output) -> Ended,
    P: FnMut() -> bool,
{
    let (delay, left) = match (hedge.when, latencies) {
        (When::After(delay), _) => (Delay::fixed(delay), hedge.max),
        (When::Quantile(quantile), Some(latencies)) => {
            (Delay::Measured(quantile, latencies), hedge.max)
        }
        // Nothing tells how long it takes.
        (When::Quantile(_), None) => (Delay::Fixed(0), 0),
    };
    Hedged {
        first: None,
        make,
        decide,
        pay,
        timer,
        delay,
        waiting: None,
        begun: false,
        left,
        started: 0,
        watch,
    }
}

impl Delay<'_> {
    fn fixed(delay: Duration) -> Self {
        Self::Fixed(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX))
    }

    fn is_measured(&self) -> bool {
        matches!(self, Self::Measured(..))
    }

    /// The time now, if it is measured how long the attempt takes.
    fn start(&self, timer: &impl Timer) -> Timestamp {
        match self {
            Self::Fixed(_) => Timestamp::ENDLESS,
            Self::Measured(..) => timer.now(),
        }
    }

    /// `None` while too little is measured.
    fn length(&self) -> Option<Duration> {
        match self {
            Self::Fixed(nanos) => Some(Duration::from_nanos(*nanos)),
            Self::Measured(quantile, latencies) => latencies.quantile(*quantile),
        }
    }

    /// From the start of the attempt, also where a later copy won: so long at least the first one takes. By the
    /// time of the copy that won, what is slow would hardly be seen: the quantile would fall from call to call,
    /// until after 0.95 not 5 but 10 of 100 calls are hedged.
    fn record(&self, start: Timestamp, timer: &impl Timer) {
        if let Self::Measured(_, latencies) = self {
            latencies.record(timer.now().since(start));
        }
    }
}

type Boxed<S, F> = Pin<Box<Waiting<S, F, <F as Future>::Output>>>;

/// What is dropped when the attempt ends, by an answer or by a panic: nothing runs on until the future itself is
/// dropped.
struct Copies<'a, S, F: Future> {
    first: Pin<&'a mut Option<F>>,
    waiting: &'a mut Option<Boxed<S, F>>,
    go_on: bool,
}

impl<S, F: Future> Drop for Copies<'_, S, F> {
    fn drop(&mut self) {
        if !self.go_on {
            self.first.set(None);
            *self.waiting = None;
        }
    }
}

impl<S: Future<Output = ()>, F: Future> Copies<'_, S, F> {
    fn waiting(&mut self) -> Option<Projected<'_, S, F, F::Output>> {
        self.waiting
            .as_mut()
            .map(|waiting| waiting.as_mut().project())
    }

    /// The first copy has to wait, from here on for another one.
    fn wait<T: Timer<Sleep = S>>(&mut self, delay: Option<Duration>, start: Timestamp, timer: &T) {
        *self.waiting = Some(Box::pin(Waiting {
            sleep: delay.map(|delay| timer.sleep(delay)),
            delay: delay.unwrap_or_default(),
            start,
            others: Vec::new(),
            last: None,
        }));
    }

    fn is_over(&self) -> bool {
        self.first.is_none() && self.waiting.is_none()
    }

    /// Whether it is time for another copy.
    fn is_due(&mut self, cx: &mut Context<'_>) -> bool {
        self.waiting()
            .and_then(|waiting| waiting.sleep.as_pin_mut())
            .is_some_and(|sleep| sleep.poll(cx).is_ready())
    }

    /// There will be no other copy after this one, or another after the same time again.
    fn rearm<T: Timer<Sleep = S>>(&mut self, more: bool, timer: &T) {
        if let Some(mut waiting) = self.waiting() {
            let sleep = more.then(|| timer.sleep(*waiting.delay));
            waiting.sleep.set(sleep);
        }
    }

    /// Polls the first copy alone.
    fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.first.as_mut().as_pin_mut() {
            Some(first) => first.poll(cx),
            None => Poll::Pending,
        }
    }

    /// Starts another copy, beside those that run.
    fn start(
        &mut self,
        copy: F,
        number: u8,
        cx: &mut Context<'_>,
        decide: &mut impl FnMut(&F::Output) -> Ended,
    ) -> Poll<(F::Output, Ended, u8)> {
        let Some(waiting) = self.waiting() else {
            return Poll::Pending;
        };
        let mut copy = Box::pin(copy);
        let Poll::Ready(answer) = copy.as_mut().poll(cx) else {
            waiting.others.push((number, copy));
            return Poll::Pending;
        };
        match decide(&answer) {
            Ended::Retryably => {
                *waiting.last = Some(answer);
                Poll::Pending
            }
            ended => Poll::Ready((answer, ended, number)),
        }
    }

    /// Polls every copy that runs; `Ready` with what ends the attempt, and the number of the copy that it is of: 0 for the first.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        decide: &mut impl FnMut(&F::Output) -> Ended,
    ) -> Poll<(F::Output, Ended, u8)> {
        let first = self.poll_first(cx);
        let Some(waiting) = self.waiting else {
            return first.map(|answer| (answer, Ended::Finally, 0));
        };
        let waiting = waiting.as_mut().project();
        if let Poll::Ready(answer) = first {
            match decide(&answer) {
                Ended::Retryably => {
                    self.first.set(None);
                    *waiting.last = Some(answer);
                }
                ended => return Poll::Ready((answer, ended, 0)),
            }
        }
        let mut end = None;
        waiting.others.retain_mut(|(number, copy)| {
            if end.is_some() {
                return true;
            }
            let Poll::Ready(answer) = copy.as_mut().poll(cx) else {
                return true;
            };
            match decide(&answer) {
                Ended::Retryably => *waiting.last = Some(answer),
                ended => end = Some((answer, ended, *number)),
            }
            false
        });
        if end.is_none() && self.first.is_none() && waiting.others.is_empty() {
            end = waiting.last.take().map(|last| (last, Ended::Retryably, 0));
        }
        end.map_or(Poll::Pending, Poll::Ready)
    }
}

impl<W, T, F, M, D, P> Future for Hedged<'_, W, T, F, M, D, P>
where
    W: WatchCopies,
    T: Timer,
    F: Future,
    M: FnMut() -> F,
    D: FnMut(&F::Output) -> Ended,
    P: FnMut() -> bool,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut copies = Copies {
            first: this.first,
            waiting: this.waiting,
            go_on: false,
        };
        let mut polled = if *this.begun {
            assert!(
                !copies.is_over(),
                "a hedged attempt was polled after its end"
            );
            copies.poll(cx, this.decide)
        } else {
            *this.begun = true;
            let start = this.delay.start(this.timer);
            copies.first.set(Some((this.make)()));
            match copies.poll_first(cx) {
                Poll::Ready(answer) => {
                    if this.delay.is_measured() && (this.decide)(&answer) == Ended::Well {
                        this.delay.record(start, this.timer);
                    }
                    return Poll::Ready(answer);
                }
                Poll::Pending if *this.left > 0 => {
                    copies.wait(this.delay.length(), start, this.timer);
                }
                Poll::Pending => {}
            }
            Poll::Pending
        };
        while polled.is_pending() && copies.is_due(cx) {
            if !may_hedge() || !(this.pay)() {
                copies.rearm(false, this.timer);
                break;
            }
            *this.left = this.left.saturating_sub(1);
            *this.started = this.started.saturating_add(1);
            this.watch.started((*this.started).into());
            polled = copies.start((this.make)(), *this.started, cx, this.decide);
            if polled.is_pending() {
                copies.rearm(*this.left > 0, this.timer);
            }
        }
        let Poll::Ready((answer, ended, number)) = polled else {
            copies.go_on = true;
            return Poll::Pending;
        };
        if *this.started > 0 && ended != Ended::Retryably {
            this.watch.won(number.into(), ended == Ended::Well);
        }
        // A first copy that failed says nothing about the time a success takes.
        if ended == Ended::Well
            && copies.first.is_some()
            && let Some(waiting) = copies.waiting()
        {
            this.delay.record(*waiting.start, this.timer);
        }
        Poll::Ready(answer)
    }
}

/// Whether the kill switch allows copies.
#[cfg(feature = "config")]
fn may_hedge() -> bool {
    retry_runtime::slots::are_retries_on()
}

#[cfg(not(feature = "config"))]
const fn may_hedge() -> bool {
    true
}

//! The programmatic form: a hedge around a closure, where no attribute can stand.

use core::future::Future;

use reattempt_core::Classify;
use retry_runtime::timer::{DefaultTimer, IntoTimer};
use retry_runtime::{ByClassify, Classifier, On};

use super::{Ended, Hedge, Latencies, When, hedged};

impl Hedge {
    /// Runs `operation`, and copies of it beside it while it takes long; the first answer that is good, or an
    /// error for which a copy would be no help, is the answer. There are no retries.
    ///
    /// Its error says by [`Classify`] what a copy may help against; [`on`](Self::on) says it where the error
    /// can't. Copies run in the task that polls them, each at its turn. Only an idempotent operation may be
    /// hedged, because it may be executed as often as it is started: the copies that lose are dropped wherever
    /// they are.
    ///
    /// Nothing pays for these copies: see [`HedgeRunner::pay`].
    ///
    /// # Errors
    ///
    /// The first error that is not worth another attempt; when all copies failed otherwise, the last error. A copy
    /// that fails before the delay is over ends it, too: for that there are retries.
    ///
    /// # Panics
    ///
    /// When the delay is a [`quantile`](Self::quantile): nothing is measured here. There is
    /// [`HedgeRunner::latencies`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops all copies.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Hedge;
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut copies = 0;
    /// let answer = Hedge::after(Duration::from_millis(50)).run(|| {
    ///     copies += 1;
    ///     let copy = copies;
    ///     async move {
    ///         if copy == 1 {
    ///             std::future::pending::<()>().await; // its packet is lost
    ///         }
    ///         std::io::Result::Ok(copy)
    ///     }
    /// });
    /// assert_eq!(answer.await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "std")]
    #[track_caller]
    pub fn run<F, V, E>(self, operation: impl FnMut() -> F) -> impl Future<Output = F::Output>
    where
        F: Future<Output = Result<V, E>>,
        E: Classify,
    {
        self.runner().run(operation)
    }

    /// Says against which errors a copy may help: a function of the error that answers with a `bool` or a
    /// [`Verdict`](crate::Verdict). One that it would not retry is the answer at once.
    pub const fn on<J>(self, on: J) -> HedgeRunner<'static, On<J>, fn() -> bool, DefaultTimer> {
        HedgeRunner {
            hedge: self,
            latencies: None,
            classifier: On::new(on),
            pay: free,
            timer: DefaultTimer,
        }
    }

    /// Returns a runner, for what was measured, what pays, or a timer.
    pub const fn runner(self) -> HedgeRunner<'static, ByClassify, fn() -> bool, DefaultTimer> {
        HedgeRunner {
            hedge: self,
            latencies: None,
            classifier: ByClassify,
            pay: free,
            timer: DefaultTimer,
        }
    }
}

fn free() -> bool {
    true
}

/// A hedge with what surrounds it; made by [`Hedge::on`] and [`Hedge::runner`].
#[derive(Debug, Clone, Copy)]
#[must_use = "a runner does nothing until `run` is called"]
pub struct HedgeRunner<'l, J, P, T> {
    hedge: Hedge,
    latencies: Option<&'l Latencies>,
    classifier: J,
    pay: P,
    timer: T,
}

impl<'l, J, P, T> HedgeRunner<'l, J, P, T> {
    /// What a [`quantile`](Hedge::quantile) is taken of; each call under such a hedge is added.
    pub fn latencies(self, latencies: &Latencies) -> HedgeRunner<'_, J, P, T> {
        HedgeRunner {
            latencies: Some(latencies),
            ..self
        }
    }

    /// Asked before each copy beyond the first: `false`, and this call gets no more of them.
    ///
    /// A service that is slow as a whole gets up to twice its load, or more, by hedges that nothing bounds.
    pub fn pay<Q: FnMut() -> bool>(self, pay: Q) -> HedgeRunner<'l, J, Q, T> {
        HedgeRunner {
            hedge: self.hedge,
            latencies: self.latencies,
            classifier: self.classifier,
            pay,
            timer: self.timer,
        }
    }

    /// Waits with `timer` instead of the default of the features.
    pub fn timer<U>(self, timer: U) -> HedgeRunner<'l, J, P, U> {
        HedgeRunner {
            hedge: self.hedge,
            latencies: self.latencies,
            classifier: self.classifier,
            pay: self.pay,
            timer,
        }
    }

    /// As [`Hedge::run`].
    ///
    /// # Errors
    ///
    /// As of [`Hedge::run`].
    ///
    /// # Panics
    ///
    /// When the delay is a [`quantile`](Hedge::quantile), and there are no [`latencies`](Self::latencies).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops all copies.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Hedge, overload::Latencies};
    ///
    /// static SEARCH: Latencies = Latencies::new();
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> std::io::Result<()> {
    /// let search = Hedge::quantile(0.95).runner().latencies(&SEARCH);
    /// let answer = search.run(|| async { std::io::Result::Ok(7) }).await?;
    /// assert_eq!(answer, 7);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn run<F, V, E>(self, operation: impl FnMut() -> F) -> impl Future<Output = F::Output>
    where
        F: Future<Output = Result<V, E>>,
        J: Classifier<E>,
        P: FnMut() -> bool,
        T: IntoTimer,
    {
        assert!(
            self.latencies.is_some() || matches!(self.hedge.when, When::After(_)),
            "a hedge after a quantile needs what was measured; write `hedge.runner().latencies(&LATENCIES).run(...)` with a `static LATENCIES: Latencies`",
        );
        let mut classifier = self.classifier;
        let decide = move |answer: &Result<V, E>| match answer {
            Ok(_) => Ended::Well,
            Err(error) if classifier.classify(error).is_retryable() => Ended::Retryably,
            Err(_) => Ended::Finally,
        };
        let timer = self.timer.for_async();
        hedged(
            (),
            self.hedge,
            self.latencies,
            timer,
            operation,
            decide,
            self.pay,
        )
    }
}

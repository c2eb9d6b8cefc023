//! What surrounds a policy that is run: classifier, hook and strategy, the timer, and the limits besides.

use super::{ByStrategy, Classifier, Decide, HookOf, RetryHook, Shown};
use crate::attempt::Retry;
#[cfg(feature = "std")]
use crate::breaker::Breaker;
#[cfg(feature = "std")]
use crate::budget::Budget;
#[cfg(feature = "std")]
use crate::bulkhead::Bulkhead;
#[cfg(feature = "std")]
use crate::engine::{BreakerGate, BudgetGate, BulkheadGate, ThrottleGate};
use crate::engine::{Gate, Gates};
use crate::operation::Site;
use crate::policy::Policy;
#[cfg(feature = "std")]
use crate::throttle::Throttle;
use crate::timer::{Clock, DefaultTimer};

/// A policy with hooks, limits and a timer; made by [`Policy::on`] and [`Policy::runner`].
///
/// `C` collects what the methods set. Its type has no name: write `impl Setup<E>` for it, where `E` is the error. Where a
/// future that uses the runner has to be `Send`, write `impl SendSetup<E>`.
///
/// With a breaker, a bulkhead or a throttle, a call may be refused before its first attempt, when it has no
/// error of its own. Such a runner has `try_run` and `try_run_async`, whose error can represent
/// that.
///
/// # Examples
///
/// A type keeps its policy, and makes a runner for each call:
///
/// ```
/// use reattempt::Policy;
/// use reattempt::runner::{Runner, SendSetup};
/// use std::io::{Error, ErrorKind};
///
/// struct Storage {
///     policy: Policy,
/// }
///
/// impl Storage {
///     fn runner(&self) -> Runner<'_, impl SendSetup<Error>> {
///         let is_busy = |error: &Error| error.kind() == ErrorKind::ResourceBusy;
///         self.policy.on(is_busy).name("storage")
///     }
///
///     fn load(&self) -> Result<Vec<u8>, Error> {
///         self.runner().run(|| std::fs::read("/proc/self/status"))
///     }
///
///     async fn load_async(&self) -> Result<Vec<u8>, Error> {
///         self.runner().run_async(async || self.load()).await
///     }
/// }
/// # let storage = Storage { policy: Policy::new() };
/// # storage.load()?;
/// # fn sent<T: Send>(_: T) {}
/// # sent(storage.load_async());
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use = "a runner does nothing until `run` or `run_async` is called"]
pub struct Runner<'p, C> {
    pub(super) plan: Plan<'p>,
    pub(super) parts: C,
}

/// What a [`Runner`] was given, for calls whose error is `E`: the timer `T`, and `L`, which is [`WithLimits`] with a
/// breaker, a bulkhead or a throttle. It is sealed.
// `L` has no lifetime: whether a spawned future is `Send` is asked with all of them forgotten.
pub trait Setup<E, T = DefaultTimer, L = ()>: sealed::Sealed {
    #[doc(hidden)]
    type Limits: MayGate + Send;
    #[doc(hidden)]
    type Classifier: Classifier<E>;
    #[doc(hidden)]
    type Hook: RetryHook<E>;
    #[doc(hidden)]
    type Strategy: Decide<E>;

    #[doc(hidden)]
    fn parts(self) -> Parts<Self::Classifier, Self::Hook, T, Self::Limits, Self::Strategy>;
}

/// A [`Setup`] that can be sent to another thread. A function that returns a runner for futures that have to be `Send` says
/// `impl SendSetup<E>`: of an `impl Setup<E>` the compiler does not know what is inside.
///
/// The error type has no lifetime, or the compiler says that `Send` is not general enough.
pub trait SendSetup<E, T = DefaultTimer, L = ()>:
    Setup<E, T, L, Classifier: Send, Hook: Send, Strategy: Decide<E, State: Send> + Send> + Send
{
}

impl<C, E, T, L> SendSetup<E, T, L> for C where
    C: Setup<E, T, L, Classifier: Send, Hook: Send, Strategy: Decide<E, State: Send> + Send> + Send
{
}

mod sealed {
    pub trait Sealed {}
}

impl<J, H, T, L, S> sealed::Sealed for Parts<J, H, T, L, S> {}

/// What the methods of a [`Runner`] set.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Parts<J, H, T, L, S> {
    pub(super) classifier: J,
    pub(super) hook: H,
    pub(super) timer: T,
    pub(super) limits: L,
    pub(super) strategy: S,
}

impl<E, J, H, T, L, S> Setup<E, T, L::Kind> for Parts<J, H, T, L, S>
where
    J: Classifier<E>,
    H: RetryHook<E>,
    L: MayGate + Send,
    S: Decide<E>,
{
    type Limits = L;
    type Classifier = J;
    type Hook = H;
    type Strategy = S;

    #[inline(always)]
    fn parts(self) -> Self {
        self
    }
}

/// What a call is made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'p> {
    pub(super) policy: &'p Policy,
    pub(super) site: Site,
    pub(super) detail: Option<&'p str>,
    pub(super) keeps_history: bool,
    #[cfg(feature = "std")]
    budget: Option<&'p Budget>,
}

impl Plan<'_> {
    #[cfg_attr(
        not(feature = "std"),
        expect(clippy::unused_self, reason = "there are no budgets")
    )]
    pub(super) fn gates(&self, gates: &impl MayGate, timer: &impl Clock) -> impl Gate {
        let (breaker, bulkhead, throttle) = gates.gates();
        #[cfg(feature = "std")]
        let budget =
            (self.budget.or(self.policy.budget)).map(|budget| BudgetGate::new(budget, timer));
        #[cfg(not(feature = "std"))]
        let (budget, _) = ((), timer);
        Gates::new(breaker, bulkhead, throttle, budget)
    }
}

impl<'p, J> Runner<'p, Parts<J, (), DefaultTimer, (), ()>> {
    #[track_caller]
    pub(super) const fn new(policy: &'p Policy, classifier: J) -> Self {
        Self {
            plan: Plan {
                policy,
                // Without a name the operation is the line that makes the runner.
                site: Site::of_caller(),
                detail: None,
                keeps_history: false,
                #[cfg(feature = "std")]
                budget: None,
            },
            parts: Parts {
                classifier,
                hook: (),
                timer: DefaultTimer,
                limits: (),
                strategy: (),
            },
        }
    }
}

impl<'p, C> Runner<'p, C> {
    /// Names the operation in telemetry.
    pub const fn name(mut self, name: &'static str) -> Self {
        self.plan.site = Site::of_name(name);
        self
    }

    /// Says in events what this call is about, such as an address.
    pub const fn detail(mut self, detail: &'p str) -> Self {
        self.plan.detail = Some(detail);
        self
    }
}

#[cfg(feature = "std")]
impl<'p, C> Runner<'p, C> {
    /// Keeps the errors of all attempts and the total time for the [`RetryError`](crate::RetryError) of `try_run` and
    /// `try_run_async`. Each call reads the clock once more, at its start, and a failure that is retried allocates.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Policy;
    ///
    /// let policy = Policy::new().max(2).base(std::time::Duration::from_nanos(1));
    /// let mut attempt = 0;
    /// let answer = policy.on(|_: &u8| true).history().try_run(|| {
    ///     attempt += 1;
    ///     Err::<(), u8>(attempt)
    /// });
    /// let error = answer.unwrap_err();
    /// assert!(error.errors().eq(&[1, 2]) && error.total_time().is_some());
    /// ```
    pub const fn history(mut self) -> Self {
        self.plan.keeps_history = true;
        self
    }

    /// Pays for retries from `budget`, not from that of the policy.
    pub const fn budget(mut self, budget: &'p Budget) -> Self {
        self.plan.budget = Some(budget);
        self
    }
}

impl<'p, J, H, T, L, S> Runner<'p, Parts<J, H, T, L, S>> {
    /// Calls `hook` before the delay of each retry: `|retry| eprintln!("{retry}")`.
    #[expect(clippy::type_complexity, reason = "each part has a type of its own")]
    pub fn on_retry<F, E>(self, hook: F) -> Runner<'p, Parts<J, HookOf<F, E>, T, L, S>>
    where
        F: FnMut(&Retry<'_, E>),
    {
        self.map(|parts| Parts {
            classifier: parts.classifier,
            hook: HookOf::new(hook),
            timer: parts.timer,
            limits: parts.limits,
            strategy: parts.strategy,
        })
    }

    /// Shows errors in telemetry by their `Display`, in the alternate form `{:#}`,
    /// by which `anyhow` and `eyre` show all causes: for errors of [`Policy::on`], whose type alone
    /// is known otherwise. An error with [`Classify`](crate::Classify) has
    /// [`message`](crate::Classify::message) for that.
    pub fn shown(self) -> Runner<'p, Parts<Shown<J>, H, T, L, S>> {
        self.map(|parts| Parts {
            classifier: Shown(parts.classifier),
            hook: parts.hook,
            timer: parts.timer,
            limits: parts.limits,
            strategy: parts.strategy,
        })
    }

    /// Waits with `timer` instead of the default of the features.
    pub fn timer<U>(self, timer: U) -> Runner<'p, Parts<J, H, U, L, S>> {
        self.map(|parts| Parts {
            classifier: parts.classifier,
            hook: parts.hook,
            timer,
            limits: parts.limits,
            strategy: parts.strategy,
        })
    }

    /// Asks `strategy` about each failure that may be retried: it decides whether there is another
    /// attempt, and after which delay.
    ///
    /// The call then ignores the delays of the policy, and reads its `max` only if it is set. Pass
    /// a closure through [`strategy::from_fn`](crate::strategy::from_fn), and write the type of its
    /// parameter.
    pub fn strategy<D>(self, strategy: D) -> Runner<'p, Parts<J, H, T, L, ByStrategy<D>>> {
        self.map(|parts| Parts {
            classifier: parts.classifier,
            hook: parts.hook,
            timer: parts.timer,
            limits: parts.limits,
            strategy: ByStrategy(strategy),
        })
    }

    /// Makes no attempt while `breaker` is open, and reports the results of attempts to it.
    ///
    /// A breaker whose window of time is below twice the policy's `timeout` ([`Breaker::violation_under`]) may never open:
    /// after the first failure the event [`InvalidPolicy`](crate::observe::Event::InvalidPolicy) says so.
    #[cfg(feature = "std")]
    pub fn breaker(self, breaker: &'p Breaker) -> Runner<'p, Parts<J, H, T, Limits<'p>, S>>
    where
        L: Into<Limits<'p>>,
    {
        self.limited(|limits| limits.breaker = Some(breaker))
    }

    /// Makes no attempt while `bulkhead` is full. An attempt holds a slot, also while it waits for
    /// the throttle; a delay between attempts holds none.
    #[cfg(feature = "std")]
    pub fn bulkhead(self, bulkhead: &'p Bulkhead) -> Runner<'p, Parts<J, H, T, Limits<'p>, S>>
    where
        L: Into<Limits<'p>>,
    {
        self.limited(|limits| limits.bulkhead = Some(bulkhead))
    }

    /// Makes no attempt that `throttle` refuses, and reports the results of attempts to it.
    #[cfg(feature = "std")]
    pub fn throttle(self, throttle: &'p Throttle) -> Runner<'p, Parts<J, H, T, Limits<'p>, S>>
    where
        L: Into<Limits<'p>>,
    {
        self.limited(|limits| limits.throttle = Some(throttle))
    }

    #[cfg(feature = "std")]
    fn limited(self, set: impl FnOnce(&mut Limits<'p>)) -> Runner<'p, Parts<J, H, T, Limits<'p>, S>>
    where
        L: Into<Limits<'p>>,
    {
        self.map(|parts| {
            let mut limits = parts.limits.into();
            set(&mut limits);
            Parts {
                classifier: parts.classifier,
                hook: parts.hook,
                timer: parts.timer,
                limits,
                strategy: parts.strategy,
            }
        })
    }

    fn map<C>(self, change: impl FnOnce(Parts<J, H, T, L, S>) -> C) -> Runner<'p, C> {
        Runner {
            plan: self.plan,
            parts: change(self.parts),
        }
    }
}

/// Stands in [`Setup`] for a breaker, a bulkhead, a throttle or several of them.
#[derive(Debug, Clone, Copy)]
pub enum WithLimits {}

/// What stands in [`Setup`] without them.
#[diagnostic::on_unimplemented(
    message = "a breaker, a bulkhead or a throttle can refuse the first attempt, and then `run` has no error to return",
    label = "write `try_run`",
    note = "the `reattempt::RetryError` of `try_run` can represent a call without an attempt",
    note = "rule S5: https://reattempt.github.io/reattempt/errors.html#s5"
)]
pub trait NoLimits: sealed::Sealed {}

impl sealed::Sealed for () {}
impl NoLimits for () {}

/// The breaker, the bulkhead and the throttle of a [`Runner`].
#[cfg(feature = "std")]
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits<'p> {
    breaker: Option<&'p Breaker>,
    bulkhead: Option<&'p Bulkhead>,
    throttle: Option<&'p Throttle>,
}

#[cfg(feature = "std")]
impl From<()> for Limits<'_> {
    fn from((): ()) -> Self {
        Self::default()
    }
}

/// What is asked before each attempt: nothing, or what `Limits` hold.
#[doc(hidden)]
pub trait MayGate {
    /// Whether any may be.
    const ASKS: bool;

    /// `()` or [`WithLimits`].
    type Kind;
    type Breaker: Gate + Send;
    type Bulkhead: Gate + Send;
    type Throttle: Gate + Send;

    fn gates(&self) -> (Self::Breaker, Self::Bulkhead, Self::Throttle);
}

impl MayGate for () {
    const ASKS: bool = false;

    type Kind = ();
    type Breaker = ();
    type Bulkhead = ();
    type Throttle = ();

    fn gates(&self) -> ((), (), ()) {
        ((), (), ())
    }
}

#[cfg(feature = "std")]
impl<'p> MayGate for Limits<'p> {
    const ASKS: bool = true;

    type Kind = WithLimits;
    type Breaker = Option<BreakerGate<'p>>;
    type Bulkhead = Option<BulkheadGate<'p>>;
    type Throttle = Option<ThrottleGate<'p>>;

    fn gates(&self) -> (Self::Breaker, Self::Bulkhead, Self::Throttle) {
        (
            self.breaker.map(BreakerGate::new),
            self.bulkhead.map(BulkheadGate::new),
            self.throttle.map(ThrottleGate::new),
        )
    }
}

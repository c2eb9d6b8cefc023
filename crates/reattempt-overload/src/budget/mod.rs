//! Retry budgets: one count of tokens limits the retries of all calls that share it. It takes no lock
//! and does not allocate.
//
// `account` has what one call does with it; `credit`, `samples`, `reserve` and `count` have the words
// that threads share.

mod account;
mod credit;
mod deposits;
mod refund;
mod reserve;
mod samples;
mod settings;
mod share;
#[cfg(test)]
mod tests;
mod token_count;

pub use account::{Account, FailureClass};
use deposits::Deposits;
pub use refund::use_default_budgets;
#[doc(hidden)]
pub use refund::{Payment, RefundBudget};
use settings::obey;
use token_count::TokenCount;

use core::fmt;

use crate::priority::closed;
use crate::sync::{AtomicU32, Ordering};
use reattempt_policy::rules::{RuleId, Violation, budget as rules};

use reattempt_core::Clock;
use reattempt_core::process::ProcessClock;

/// How many retries all calls of a service may make together.
///
/// Calls of one service share one, as a `static`. However many attempts a policy allows, a service that
/// fails as a whole gets hardly more calls than without retries. A retry is paid for when it is decided on,
/// before the delay, and paid back if the call is dropped during it.
///
/// | made by | a call brings | a retry costs |
/// |---|---|---|
/// | [`per_success`](Self::per_success) | `ratio` tokens when it succeeds | one |
/// | [`per_request`](Self::per_request) | `ratio` tokens when it begins | one |
/// | [`tokens`](Self::tokens) | what its last retry cost, or one if it needed none, when it succeeds | by the class of the failure |
/// | [`grpc`](Self::grpc) | `token_ratio` tokens when it succeeds | nothing; each failure costs one |
/// | [`refunding`](Self::refunding) | all that its retries cost, and 0.3, when it succeeds | one; if all were there, none is refused in the first second of a fault |
///
/// `RetryLayer::budget(&SHOP)` of the feature `tower` and `RetryMiddleware::budget(&SHOP)` of
/// `reqwest-middleware` take one; for other loops there is [`account`](Self::account).
///
/// # Examples
///
/// ```
/// use reattempt::{Budget, overload::budget::FailureClass};
///
/// static SHOP: Budget = Budget::per_success(0.1).initial(1);
///
/// let mut call = SHOP.account();
/// assert!(call.withdraw(FailureClass::Failed)); // the initial one
/// call.spend(); // the retry starts
/// assert!(!call.withdraw(FailureClass::Failed));
/// ```
pub struct Budget {
    kind: Kind,
    /// Those that share it; 0 is 1, too.
    processes: AtomicU32,
}

#[derive(Debug)]
enum Kind {
    PerSuccess(Deposits),
    PerRequest(Deposits),
    Tokens(Tokens),
    Grpc(Grpc),
    Refunding(Refunding),
}

#[derive(Debug)]
struct Refunding {
    budget: RefundBudget,
    capacity: u32,
}

#[derive(Debug)]
struct Tokens {
    count: TokenCount,
    cost: u32,
    timeout_cost: u32,
    throttled_cost: Option<u32>,
}

impl Tokens {
    /// Returns what a retry after such a failure costs.
    #[inline]
    const fn cost_of(&self, class: FailureClass) -> u32 {
        match (class, self.throttled_cost) {
            (FailureClass::Throttled, Some(cost)) => cost,
            (FailureClass::TimedOut, _) => self.timeout_cost,
            _ => self.cost,
        }
    }
}

/// In thousandths of a token.
#[derive(Debug)]
struct Grpc {
    count: TokenCount,
    gain: u32,
}

impl Grpc {
    /// Returns whether so many tokens allow a retry. Those up to a half allow none, and half of the others is closed to a
    /// call of a low priority.
    #[inline(never)]
    fn is_open(&self, left: u32) -> bool {
        let half = self.count.capacity() / 2;
        left > half.saturating_add(closed(half))
    }
}

const THOUSANDTHS: u32 = 1000;

impl Budget {
    /// Returns each successful call allows `ratio` retries of any call, for `ttl`.
    ///
    /// When everything fails nothing is deposited, and the retries end with the reserve: `initial` ones at
    /// once, `floor` ones a second.
    ///
    /// # Units and ranges
    ///
    /// Above 0.0 up to 1.0. Counted in thousand millionths of a token: 0.3 is 3000 retries for 10,000 successes.
    ///
    /// # Panics
    ///
    /// Outside this range; in a `static` that is an error of the compiler.
    #[must_use = "a budget does nothing unless its calls have accounts"]
    #[track_caller]
    pub const fn per_success(ratio: f64) -> Self {
        obey(rules::ratio(ratio).as_ref());
        Self::of(Kind::PerSuccess(Deposits::new(ratio)))
    }

    /// Returns each call allows `ratio` retries of any call when it begins, for `ttl`.
    ///
    /// Retries are never more than this share of the calls and the reserve, but go on in an outage.
    ///
    /// # Units and ranges
    ///
    /// As of [`per_success`](Self::per_success).
    ///
    /// # Panics
    ///
    /// Outside this range; in a `static` that is an error of the compiler.
    #[must_use = "a budget does nothing unless its calls have accounts"]
    #[track_caller]
    pub const fn per_request(ratio: f64) -> Self {
        obey(rules::ratio(ratio).as_ref());
        Self::of(Kind::PerRequest(Deposits::new(ratio)))
    }

    /// As the SDKs of AWS count: full at the start; a retry costs [`cost`](Self::cost), and a success brings
    /// back the cost of its call's last retry, or one token if there was none.
    ///
    /// # Units and ranges
    ///
    /// `capacity` is 1 or more; the SDKs use 500. The budget refuses a retry that costs more than
    /// its balance, and takes nothing. With a capacity below the cost of a retry there is never a
    /// retry.
    ///
    /// # Panics
    ///
    /// For a capacity of 0; in a `static` that is an error of the compiler.
    ///
    /// # Source
    ///
    /// The [standard retry mode](https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html) of
    /// the AWS SDKs.
    #[must_use = "a budget does nothing unless its calls have accounts"]
    #[track_caller]
    pub const fn tokens(capacity: u32) -> Self {
        if capacity == 0 {
            RuleId::R11.refuse("`tokens` of 0 would never allow a retry; the SDKs of AWS have 500");
        }
        Self::of(Kind::Tokens(Tokens {
            count: TokenCount::new(capacity),
            cost: 5,
            timeout_cost: 10,
            throttled_cost: None,
        }))
    }

    /// As gRPC counts: full at the start, a failure costs a token, a success brings `token_ratio` of
    /// one, and retries are allowed while more than half of `max_tokens` are left.
    ///
    /// Failures that are retried count, and those for which the service forbade it; others say
    /// nothing about its health.
    ///
    /// # Units and ranges
    ///
    /// `max_tokens` from 1 to 1000. `token_ratio` from 0.001, finite; three decimals count, the others
    /// are cut off. What exceeds `max_tokens` is lost.
    ///
    /// # Panics
    ///
    /// Outside these ranges; in a `static` that is an error of the compiler.
    ///
    /// # Source
    ///
    /// gRPC's [retry throttling](https://github.com/grpc/proposal/blob/master/A6-client-retries.md).
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Budget, Verdict, overload::budget::FailureClass};
    ///
    /// static SHOP: Budget = Budget::grpc(4, 0.5);
    ///
    /// let mut call = SHOP.account();
    /// call.failed(Verdict::Transient);
    /// assert!(call.withdraw(FailureClass::Failed)); // 3 of 4 tokens are left
    /// call.spend();
    /// call.failed(Verdict::Transient);
    /// assert!(!call.withdraw(FailureClass::Failed)); // 2 are no more than half
    /// SHOP.account().succeeded();
    /// assert_eq!(SHOP.balance(), 2.5);
    /// ```
    #[must_use = "a budget does nothing unless its calls have accounts"]
    #[track_caller]
    pub const fn grpc(max_tokens: u32, token_ratio: f64) -> Self {
        if max_tokens == 0 || max_tokens > 1000 {
            RuleId::R11.refuse("`max_tokens` is from 1 to 1000; gRPC's own examples have 10");
        }
        if !(token_ratio.is_finite() && token_ratio >= 0.001) {
            RuleId::R11.refuse(
                "`token_ratio` is a finite number from 0.001; 0.1 allows one retry for ten successes",
            );
        }
        Self::of(Kind::Grpc(Grpc {
            count: TokenCount::new(max_tokens.saturating_mul(THOUSANDTHS)),
            gain: thousandths(token_ratio),
        }))
    }

    /// As the budget that an operation has by default, for several operations of one service: full at the start, a retry
    /// costs a token, and a call that succeeds brings back all that it paid, and 0.3.
    ///
    /// Wasted retries are at most three for ten successes, and the capacity. From a failure that finds all tokens there,
    /// no retry is refused for one second: a short fault is retried in full. The first failure of a call brings 0.01
    /// tokens, and so does each second.
    ///
    /// # Units and ranges
    ///
    /// `capacity` is 1 or more. A call of `max` attempts is never refused alone from `max - 1` on; the default budget
    /// has 4 or that.
    ///
    /// # Panics
    ///
    /// For a capacity of 0; in a `static` that is an error of the compiler.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Budget, overload::budget::FailureClass};
    ///
    /// static SHOP: Budget = Budget::refunding(4);
    ///
    /// let mut call = SHOP.account();
    /// assert!(call.withdraw(FailureClass::Failed));
    /// call.spend();
    /// assert_eq!(SHOP.balance(), 3.0);
    /// call.succeeded(); // the retry helped: it cost nothing
    /// assert_eq!(SHOP.balance(), 4.0);
    /// ```
    #[must_use = "a budget does nothing unless its calls have accounts"]
    #[track_caller]
    pub const fn refunding(capacity: u32) -> Self {
        if capacity == 0 {
            RuleId::R11.refuse(
                "`refunding` of 0 would never allow a retry; an operation has 4 by default",
            );
        }
        Self::of(Kind::Refunding(Refunding {
            budget: RefundBudget::new(),
            capacity,
        }))
    }

    const fn of(kind: Kind) -> Self {
        let processes = AtomicU32::new(0);
        Self { kind, processes }
    }

    /// Divides what is there without deposits among so many processes: the tokens at the start, the reserve and its floor.
    /// All of them together then make as many retries in an outage as one budget allows.
    ///
    /// [`Edge::divide`] does it with the number of callers that a callee counts. Deposits of successes and requests are not
    /// divided: they follow the traffic of each process. Where the part of this process does not pay for a whole retry, a
    /// draw decides about it, and its price is spent either way. So some retries are made in healthy times, too, however
    /// many processes there are. A budget of [`refunding`](Self::refunding) has no free first second then. One of
    /// [`grpc`](Self::grpc) stays whole, because its price is paid by failures.
    ///
    /// [`Edge::divide`]: https://docs.rs/reattempt/latest/reattempt/protocol/struct.Edge.html#method.divide
    ///
    /// # Units and ranges
    ///
    /// 0 and 1 divide nothing. No number makes a budget larger than it is.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Budget;
    ///
    /// static SHOP: Budget = Budget::tokens(500);
    ///
    /// SHOP.divide_among(20);
    /// assert_eq!(SHOP.balance(), 25.0);
    /// ```
    // Relaxed: a withdrawal that comes meanwhile may know the number before.
    pub fn divide_among(&self, processes: u32) {
        self.processes.store(processes, Ordering::Relaxed);
    }

    #[inline(always)]
    fn is_shared(&self) -> bool {
        self.processes.load(Ordering::Relaxed) > 1
    }

    /// How many processes share it, to count with.
    fn processes(&self) -> f64 {
        f64::from(self.processes.load(Ordering::Relaxed).max(1))
    }

    /// Returns the violation of R11 by a budget that never pays for a retry: it has fewer tokens than one costs.
    ///
    /// `#[retry]` asks this of constants.
    pub const fn violation(&self) -> Option<Violation> {
        match self.capacity_and_cost() {
            Some((capacity, cost)) => rules::tokens(capacity, cost),
            None => None,
        }
    }

    /// Returns how many tokens there are, and how many a retry takes; `None` for other budgets than those of tokens.
    const fn capacity_and_cost(&self) -> Option<(u32, u32)> {
        match &self.kind {
            Kind::Tokens(tokens) => Some((tokens.count.capacity(), tokens.cost)),
            _ => None,
        }
    }

    /// Returns the tokens that are left now; of a budget of deposits with those of the reserve.
    pub fn balance(&self) -> f64 {
        self.balance_with_clock(&ProcessClock)
    }

    /// Returns the same by the clock that the accounts have.
    pub fn balance_with_clock(&self, clock: &impl Clock) -> f64 {
        let processes = self.processes();
        // What is missing is missing in the part of this process.
        let of_share = |all: u32, left: f64| {
            let others = f64::from(all) - f64::from(all) / processes;
            (left - others).max(0.0)
        };
        match &self.kind {
            Kind::PerSuccess(deposits) | Kind::PerRequest(deposits) => {
                deposits.balance(clock, processes)
            }
            Kind::Tokens(tokens) => {
                of_share(tokens.count.capacity(), tokens.count.balance().into())
            }
            Kind::Grpc(grpc) => f64::from(grpc.count.balance()) / f64::from(THOUSANDTHS),
            Kind::Refunding(Refunding { budget, capacity }) => {
                of_share(*capacity, budget.balance(*capacity))
            }
        }
    }

    /// As new: without deposits, whole, with the reserve or the tokens that it had at the start. For tests that share a
    /// `static`, and for people.
    ///
    /// What calls under way have paid is forgotten; what they give back is not more than there was at the start,
    /// but for the deposits of a retry that was decided on before and then did not start.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Budget;
    ///
    /// static SHOP: Budget = Budget::per_success(0.1).initial(1);
    ///
    /// assert!(SHOP.try_withdraw_hedge());
    /// assert!(!SHOP.try_withdraw_hedge());
    /// SHOP.reset();
    /// assert!(SHOP.try_withdraw_hedge());
    /// ```
    pub fn reset(&self) {
        self.divide_among(1);
        match &self.kind {
            Kind::PerSuccess(deposits) | Kind::PerRequest(deposits) => deposits.reset(),
            Kind::Tokens(Tokens { count, .. }) | Kind::Grpc(Grpc { count, .. }) => {
                count.put(count.capacity());
            }
            Kind::Refunding(refunding) => refunding.budget.reset(),
        }
    }

    /// Another budget with the settings of this one, as new: that of another process, in a simulation.
    #[doc(hidden)]
    #[must_use = "a budget does nothing unless its calls have accounts"]
    pub const fn another(&self) -> Self {
        let kind = match &self.kind {
            Kind::PerSuccess(deposits) => Kind::PerSuccess(deposits.another()),
            Kind::PerRequest(deposits) => Kind::PerRequest(deposits.another()),
            Kind::Tokens(tokens) => Kind::Tokens(Tokens {
                count: TokenCount::new(tokens.count.capacity()),
                cost: tokens.cost,
                timeout_cost: tokens.timeout_cost,
                throttled_cost: tokens.throttled_cost,
            }),
            Kind::Grpc(grpc) => Kind::Grpc(Grpc {
                count: TokenCount::new(grpc.count.capacity()),
                gain: grpc.gain,
            }),
            Kind::Refunding(refunding) => Kind::Refunding(Refunding {
                budget: RefundBudget::new(),
                capacity: refunding.capacity,
            }),
        };
        Self::of(kind)
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::PerSuccess(_) => "per_success",
            Kind::PerRequest(_) => "per_request",
            Kind::Tokens(_) => "tokens",
            Kind::Grpc(_) => "grpc",
            Kind::Refunding(_) => "refunding",
        };
        f.debug_struct("Budget")
            .field("kind", &kind)
            .field("balance", &self.balance())
            .finish_non_exhaustive()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cut off on purpose; a positive number that is too large becomes the largest"
)]
const fn thousandths(ratio: f64) -> u32 {
    // A hair more: 1.001 times 1000 is a hair below 1001.
    (ratio * 1000.0 + 1e-6) as u32
}

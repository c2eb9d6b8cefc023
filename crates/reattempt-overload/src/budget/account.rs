//! What one call does with a budget. Futures keep the parts, because they pay for what they keep:
//! `Paid` while an attempt runs, a `Reservation` during a delay.
#![warn(clippy::arithmetic_side_effects)]

use super::deposits::Source;
use super::refund::{self, Payment};
use super::share::Share;
use super::{Budget, Kind, Refunding, THOUSANDTHS};
use crate::priority::closed;
use crate::sync::Ordering;
use reattempt_core::process::ProcessClock;
use reattempt_core::{Clock, Verdict, around};

/// What a failure costs depends on what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureClass {
    /// Any that is none of the others.
    Failed,
    /// An attempt that took too long: it may have kept the service busy.
    TimedOut,
    /// The service said that it is overloaded.
    Throttled,
}

impl FailureClass {
    /// Returns the class of an attempt that failed with this verdict.
    pub const fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Throttled(_) => Self::Throttled,
            _ => Self::Failed,
        }
    }
}

/// What the last retry of a call cost, or all of them where all come back: what its success brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Paid(u32);

impl Paid {
    pub(crate) const NOTHING: Self = Self(0);
}

/// The price of a retry that has not started: given back when it is dropped.
#[derive(Debug)]
#[must_use = "what is reserved is given back when this is dropped"]
pub(crate) struct Reservation<'b> {
    budget: &'b Budget,
    held: Held,
}

/// In one number, and the reference beside it says whether there is one: a loop would copy the parts of an `enum`.
/// 0 is nothing, 1 and 2 are where a token of deposits came from, and the upper half counts other tokens, or the processes that
/// share the reserve; 0 is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held(u64);

impl Held {
    const NOTHING: Self = Self(0);
    const CREDIT: Self = Self(1);
    const RESERVE: Self = Self(2);

    const fn deposit(source: Source) -> Self {
        match source {
            Source::Credit => Self::CREDIT,
            Source::Reserve => Self::RESERVE,
        }
    }

    const fn of_share(processes: u32) -> Self {
        Self(Self::RESERVE.0 | Self::tokens(processes).0)
    }

    const fn tokens(cost: u32) -> Self {
        Self((cost as u64) << 32)
    }

    const fn cost(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl Reservation<'_> {
    /// The retry starts, of a call that has paid `before`.
    #[inline]
    pub(crate) fn spend(mut self, before: Paid) -> Paid {
        let cost = core::mem::replace(&mut self.held, Held::NOTHING).cost();
        match self.budget.kind {
            Kind::Refunding(_) => Paid(before.0.saturating_add(cost)),
            _ => Paid(cost),
        }
    }
}

impl Drop for Reservation<'_> {
    #[inline]
    fn drop(&mut self) {
        // The compiler sees that what is spent is nothing any more.
        if self.held != Held::NOTHING {
            self.budget.give_back(self.held);
        }
    }
}

impl Budget {
    // By value: what a loop holds need not lie in memory for it.
    #[inline(never)]
    fn give_back(&self, held: Held) {
        match &self.kind {
            Kind::PerSuccess(deposits) | Kind::PerRequest(deposits) => match held {
                Held::CREDIT => deposits.give_back(Source::Credit, 1),
                held => deposits.give_back(Source::Reserve, held.cost().max(1)),
            },
            Kind::Tokens(tokens) => tokens.count.put(held.cost()),
            Kind::Refunding(refunding) => refunding.budget.put(held.cost()),
            Kind::Grpc(_) => {}
        }
    }
}

impl Budget {
    /// A call begins.
    ///
    /// # Cancel safety
    ///
    /// What is reserved for a retry that did not start is given back when the account is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Budget, Verdict, overload::budget::FailureClass};
    ///
    /// static STORE: Budget = Budget::tokens(500);
    ///
    /// let mut call = STORE.account();
    /// call.failed(Verdict::Transient);
    /// assert!(call.withdraw(FailureClass::Failed)); // then the delay
    /// call.spend(); // the second attempt
    /// assert_eq!(STORE.balance(), 495.0);
    /// call.succeeded();
    /// assert_eq!(STORE.balance(), 500.0);
    /// ```
    #[inline]
    pub fn account(&self) -> Account<'_> {
        self.account_with_clock(&ProcessClock)
    }

    /// Returns the same by another clock, which all that share the budget must have.
    #[inline]
    pub fn account_with_clock(&self, clock: &impl Clock) -> Account<'_> {
        self.begin(clock);
        Account {
            budget: self,
            paid: Paid::NOTHING,
            noted: None,
            reserved: None,
        }
    }

    /// A call begins.
    #[inline(always)]
    pub(crate) fn begin(&self, clock: &impl Clock) {
        if let Kind::PerRequest(deposits) = &self.kind {
            deposits.requested(clock);
        }
    }

    /// An attempt failed: whether that leaves enough for a retry, where failures cost and retries do not.
    pub(crate) fn note(&self, verdict: Verdict) -> bool {
        match &self.kind {
            Kind::Grpc(grpc) if verdict != Verdict::Permanent => {
                grpc.is_open(grpc.count.lose(THOUSANDTHS))
            }
            _ => true,
        }
    }

    /// The price of a retry, if there is enough for it, of a call that has `paid` so far.
    #[inline]
    pub(crate) fn reserve(
        &self,
        class: FailureClass,
        paid: Paid,
        clock: &impl Clock,
    ) -> Option<Reservation<'_>> {
        if around::is_low() && self.is_closed_to_low(class, clock) {
            return None;
        }
        if self.is_shared() {
            return self.reserve_share(class, paid, clock);
        }
        let held = match &self.kind {
            Kind::PerSuccess(deposits) | Kind::PerRequest(deposits) => {
                Held::deposit(deposits.withdraw(clock.shared().as_nanos())?)
            }
            Kind::Tokens(tokens) => {
                let cost = tokens.cost_of(class);
                if !tokens.count.take(cost) {
                    return None;
                }
                Held::tokens(cost)
            }
            // The failure was the price.
            Kind::Grpc(_) => Held::NOTHING,
            Kind::Refunding(Refunding { budget, capacity }) => {
                let open = capacity.saturating_sub(closed(*capacity));
                match budget.pay(open, paid == Paid::NOTHING, clock.shared()) {
                    Payment::Paid => Held::tokens(refund::PRICE),
                    Payment::Free => Held::NOTHING,
                    Payment::Refused => return None,
                }
            }
        };
        Some(Reservation { budget: self, held })
    }

    /// The same of the part that this process has.
    #[cold]
    #[inline(never)]
    fn reserve_share(
        &self,
        class: FailureClass,
        paid: Paid,
        clock: &impl Clock,
    ) -> Option<Reservation<'_>> {
        let share = Share::of(self.processes.load(Ordering::Relaxed), clock.random());
        let held = match &self.kind {
            Kind::PerSuccess(deposits) | Kind::PerRequest(deposits) => {
                match deposits.withdraw_share(clock.shared().as_nanos(), share)? {
                    Source::Credit => Held::CREDIT,
                    Source::Reserve => Held::of_share(share.processes()),
                }
            }
            Kind::Tokens(tokens) => {
                let (cost, closed) = (tokens.cost_of(class), closed(tokens.count.capacity()));
                let is_made = tokens.count.take_share(cost, closed, share);
                is_made.then(|| Held::tokens(cost))?
            }
            Kind::Grpc(_) => Held::NOTHING,
            Kind::Refunding(Refunding { budget, capacity }) => {
                let open = capacity.saturating_sub(closed(*capacity));
                let is_first = paid == Paid::NOTHING;
                let is_made = budget.pay_share(open, is_first, clock.shared(), share);
                is_made.then(|| Held::tokens(refund::PRICE))?
            }
        };
        Some(Reservation { budget: self, held })
    }

    /// Returns whether a retry of a low priority would take from the half that is closed to it. Budgets whose failures are
    /// the price, or whose first second is free, see to it themselves.
    // In front of the withdrawal, and out of line, so that other calls pay for one look. Low calls of several threads may
    // take one token each too many; no other call is refused for it.
    #[cold]
    #[inline(never)]
    fn is_closed_to_low(&self, class: FailureClass, clock: &impl Clock) -> bool {
        match &self.kind {
            Kind::PerSuccess(deposits) | Kind::PerRequest(deposits) => {
                deposits.is_half_spent(clock, self.processes())
            }
            Kind::Tokens(_) if self.is_shared() => false,
            Kind::Tokens(tokens) => {
                let (left, all) = (tokens.count.balance(), tokens.count.capacity());
                left < all.div_ceil(2).saturating_add(tokens.cost_of(class))
            }
            Kind::Grpc(_) | Kind::Refunding(_) => false,
        }
    }

    /// Returns whether a copy of an attempt is paid for, which starts at once. It costs what a
    /// retry costs after a failure of the class [`FailureClass::Failed`]; if there is not enough,
    /// nothing is taken.
    ///
    /// A budget of [`grpc`](Self::grpc) has no price for what has not failed: the answer is whether more than half of its tokens are left.
    ///
    /// # Examples
    ///
    /// ```
    /// # use core::time::Duration;
    /// use reattempt::{Budget, Hedge};
    ///
    /// static SHOP: Budget = Budget::per_success(0.1).initial(2);
    ///
    /// let search = Hedge::after(Duration::from_millis(50)).runner().pay(|| SHOP.try_withdraw_hedge());
    /// # drop(search);
    /// ```
    #[must_use = "what is paid for should be made"]
    pub fn try_withdraw_hedge(&self) -> bool {
        self.try_withdraw_hedge_with_clock(&ProcessClock)
    }

    /// Returns the same by the clock that the accounts have.
    #[must_use = "what is paid for should be made"]
    pub fn try_withdraw_hedge_with_clock(&self, clock: &impl Clock) -> bool {
        self.is_well()
            && self
                .reserve(FailureClass::Failed, Paid::NOTHING, clock)
                .map(|reservation| reservation.spend(Paid::NOTHING))
                .is_some()
    }

    /// Whether there is enough where no failure has been the price.
    #[inline]
    fn is_well(&self) -> bool {
        match &self.kind {
            Kind::Grpc(grpc) => grpc.is_open(grpc.count.balance()),
            _ => true,
        }
    }

    /// A call succeeded. Answers whether there is more to do about it, which is for [`settle`](Self::settle) and
    /// rare.
    #[inline(always)]
    pub(crate) fn succeeded(&self) -> bool {
        match &self.kind {
            Kind::PerSuccess(deposits) => deposits.deposit(),
            Kind::Tokens(tokens) => !tokens.count.is_full(),
            _ => self.is_unsettled(),
        }
    }

    // Not in line: two tests for the usual kinds instead of a table of four.
    #[inline(never)]
    fn is_unsettled(&self) -> bool {
        match &self.kind {
            Kind::PerSuccess(_) | Kind::PerRequest(_) | Kind::Tokens(_) => false,
            Kind::Grpc(grpc) => !grpc.count.is_full(),
            Kind::Refunding(refunding) => !refunding.budget.is_full(),
        }
    }

    /// The rest of a success.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&self, paid: Paid, clock: &impl Clock) {
        match &self.kind {
            Kind::PerSuccess(deposits) | Kind::PerRequest(deposits) => deposits.look(clock),
            Kind::Tokens(tokens) => tokens.count.put(paid.0.max(1)),
            Kind::Grpc(grpc) => grpc.count.put(grpc.gain),
            Kind::Refunding(refunding) => refunding.budget.put(paid.0.saturating_add(refund::GAIN)),
        }
    }
}

/// The account of one call with a [`Budget`]; [`Budget::account`] makes it when the call begins.
///
/// A loop reports every failed attempt to it, withdraws before the delay, and reports the start of
/// the retry, and at the end a success.
#[derive(Debug)]
#[must_use = "an account does nothing until its methods are called"]
pub struct Account<'b> {
    budget: &'b Budget,
    paid: Paid,
    // By the last failure; none has come yet, or none that counts.
    noted: Option<bool>,
    reserved: Option<Reservation<'b>>,
}

impl Account<'_> {
    /// Counts a failed attempt.
    #[inline]
    pub fn failed(&mut self, verdict: Verdict) {
        if verdict != Verdict::Permanent {
            self.noted = Some(self.budget.note(verdict));
        }
    }

    /// Reserves the price of a retry after a failure of this class; `false` if there is not enough, and then nothing is taken.
    #[must_use = "a retry that is not paid for should not be made"]
    #[inline(always)]
    pub fn withdraw(&mut self, class: FailureClass) -> bool {
        self.withdraw_with_clock(class, &ProcessClock)
    }

    /// Returns the same by the clock that the account was made with.
    #[must_use = "a retry that is not paid for should not be made"]
    #[inline(always)]
    pub fn withdraw_with_clock(&mut self, class: FailureClass, clock: &impl Clock) -> bool {
        // What was reserved for a retry that never started goes back first.
        self.reserved = None;
        if self.noted.unwrap_or_else(|| self.budget.is_well()) {
            self.reserved = self.budget.reserve(class, self.paid, clock);
        }
        self.reserved.is_some()
    }

    /// The retry starts: what is reserved is spent.
    #[inline]
    pub fn spend(&mut self) {
        if let Some(reservation) = self.reserved.take() {
            self.paid = reservation.spend(self.paid);
        }
    }

    /// Counts a call that was answered, at its end.
    #[inline]
    pub fn succeeded(self) {
        self.succeeded_with_clock(&ProcessClock);
    }

    /// The same by the clock that the account was made with.
    #[inline]
    pub fn succeeded_with_clock(mut self, clock: &impl Clock) {
        self.settle(clock);
    }

    /// Asks whether a copy of the attempt is paid for.
    #[doc(hidden)]
    pub fn try_withdraw_hedge_with_clock(&self, clock: &impl Clock) -> bool {
        self.budget.try_withdraw_hedge_with_clock(clock)
    }

    /// Counts a call that was answered.
    #[inline(always)]
    #[doc(hidden)]
    pub fn settle(&mut self, clock: &impl Clock) {
        if self.budget.succeeded() {
            self.budget.settle(self.paid, clock);
        }
    }
}

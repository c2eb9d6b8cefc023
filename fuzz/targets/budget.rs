//! A budget under any operations of many calls: never more is spent than was there, by whatever clock.
#![no_main]

use core::time::Duration;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use reattempt_fuzz::{HandClock, Jump};
use retry_runtime::budget::{Account, FailureClass};
use retry_runtime::{Budget, Verdict};

#[derive(Debug, Arbitrary)]
struct Input {
    kind: Kind,
    start: u64,
    operations: Vec<Operation>,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Kind {
    Success(Deposits),
    Request(Deposits),
    Tokens {
        capacity: u16,
        cost: u8,
        timeout_cost: u8,
        throttled_cost: Option<u8>,
    },
    Grpc {
        tokens: u16,
        ratio: u16,
    },
}

#[derive(Debug, Clone, Copy, Arbitrary)]
struct Deposits {
    /// In thousandths.
    ratio: u16,
    /// In milliseconds.
    ttl: Option<u16>,
    /// In tenths a second.
    floor: Option<u16>,
    initial: Option<u32>,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Operation {
    Begin,
    Failed(u8, Outcome),
    Withdraw(u8, Payment),
    Spend(u8),
    Succeed(u8),
    Drop(u8),
    /// So many calls that succeed at once.
    Crowd(u8),
    Copy,
    Reset,
    Clock(Jump),
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Outcome {
    Transient,
    Throttled,
    Refused,
    Permanent,
    Forbidden,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Payment {
    Failed,
    TimedOut,
    Throttled,
}

fuzz_target!(|input: Input| {
    let budget = input.kind.budget();
    let mut run = Run {
        budget: &budget,
        kind: input.kind,
        clock: HandClock::new(input.start, input.start),
        calls: Vec::new(),
        count: Count::of(input.kind),
    };
    for operation in input.operations.into_iter().take(400) {
        run.perform(operation);
        run.check();
    }
    while !run.calls.is_empty() {
        run.perform(Operation::Drop(0));
        run.check();
    }
});

impl Kind {
    fn budget(self) -> Budget {
        match self {
            Self::Success(deposits) => deposits.set(Budget::per_success(deposits.ratio())),
            Self::Request(deposits) => deposits.set(Budget::per_request(deposits.ratio())),
            Self::Tokens {
                capacity,
                throttled_cost,
                ..
            } => {
                let budget = Budget::tokens(u32::from(capacity.max(1)))
                    .cost(self.price(Payment::Failed))
                    .timeout_cost(self.price(Payment::TimedOut));
                match throttled_cost {
                    Some(_) => budget.throttled_cost(self.price(Payment::Throttled)),
                    None => budget,
                }
            }
            Self::Grpc { .. } => {
                let (most, gain) = self.thousandths();
                Budget::grpc(most / 1000, f64::from(gain) / 1000.0)
            }
        }
    }

    /// What a retry costs, of a budget of tokens.
    fn price(self, payment: Payment) -> u32 {
        let Self::Tokens {
            capacity,
            cost,
            timeout_cost,
            throttled_cost,
        } = self
        else {
            return 0;
        };
        let cost = match payment {
            Payment::Failed => cost,
            Payment::TimedOut => timeout_cost,
            Payment::Throttled => throttled_cost.unwrap_or(cost),
        };
        u32::from(cost).clamp(1, u32::from(capacity.max(1)))
    }

    /// The capacity and the gain of a budget as gRPC counts.
    fn thousandths(self) -> (u32, u32) {
        match self {
            Self::Grpc { tokens, ratio } => (
                (u32::from(tokens) % 1000 + 1) * 1000,
                u32::from(ratio.max(1)),
            ),
            _ => (0, 0),
        }
    }
}

impl Deposits {
    fn ratio(self) -> f64 {
        f64::from(self.ratio % 1000 + 1) / 1000.0
    }

    fn initial(self) -> u32 {
        self.initial.unwrap_or(10)
    }

    fn floor(self) -> f64 {
        self.floor.map_or(1.0, |tenths| f64::from(tenths) / 10.0)
    }

    fn set(self, mut budget: Budget) -> Budget {
        if let Some(millis) = self.ttl {
            let millis = u64::from(millis).clamp(1000, 60_000);
            budget = budget.ttl(Duration::from_millis(millis));
        }
        if self.floor.is_some() {
            budget = budget.floor(self.floor());
        }
        if let Some(initial) = self.initial {
            budget = budget.initial(initial);
        }
        budget
    }
}

impl Outcome {
    const fn verdict(self) -> Verdict {
        match self {
            Self::Transient => Verdict::Transient,
            Self::Throttled => Verdict::Throttled(None),
            Self::Refused => Verdict::Refused,
            Self::Permanent => Verdict::Permanent,
            Self::Forbidden => Verdict::RetryForbidden,
        }
    }
}

impl Payment {
    const fn class(self) -> FailureClass {
        match self {
            Self::Failed => FailureClass::Failed,
            Self::TimedOut => FailureClass::TimedOut,
            Self::Throttled => FailureClass::Throttled,
        }
    }
}

/// What a simple account would say.
struct Count {
    /// Of purses: what is left, exactly.
    left: i64,
    most: i64,
    /// Of deposits: the most that there can have been, in tokens.
    income: f64,
    deposits: f64,
    spent: f64,
    /// While the clock has not moved, a withdrawal is no matter of time.
    moved: bool,
}

impl Count {
    fn of(kind: Kind) -> Self {
        let (most, income) = match kind {
            Kind::Success(deposits) | Kind::Request(deposits) => (0, f64::from(deposits.initial())),
            Kind::Tokens { capacity, .. } => (i64::from(capacity.max(1)), 0.0),
            Kind::Grpc { .. } => (i64::from(kind.thousandths().0), 0.0),
        };
        Self {
            left: most,
            most,
            income,
            deposits: 0.0,
            spent: 0.0,
            moved: false,
        }
    }
}

struct Run<'b> {
    budget: &'b Budget,
    kind: Kind,
    clock: HandClock,
    calls: Vec<Call<'b>>,
    count: Count,
}

struct Call<'b> {
    account: Account<'b>,
    /// The price of a retry that has not started.
    reserved: Option<u32>,
    /// The price of the last that did.
    paid: u32,
    /// Whether the last failure left enough.
    noted: Option<bool>,
}

impl<'b> Run<'b> {
    fn perform(&mut self, operation: Operation) {
        match operation {
            Operation::Begin => self.begin(),
            Operation::Failed(at, outcome) => self.failed(at, outcome),
            Operation::Withdraw(at, payment) => self.withdraw(at, payment),
            Operation::Spend(at) => {
                if let Some(call) = self.call(at) {
                    call.account.spend();
                    if let Some(price) = call.reserved.take() {
                        call.paid = price;
                    }
                }
            }
            Operation::Succeed(at) => {
                if let Some(call) = self.take(at) {
                    self.succeeded(call);
                }
            }
            Operation::Drop(at) => {
                if let Some(call) = self.take(at) {
                    self.give_back(call.reserved);
                }
            }
            Operation::Crowd(calls) => {
                for _ in 0..calls {
                    self.begin();
                    if let Some(call) = self.calls.pop() {
                        self.succeeded(call);
                    }
                }
            }
            Operation::Copy => self.copy(),
            Operation::Reset => self.reset(),
            Operation::Clock(jump) => self.jump(jump),
        }
    }

    fn begin(&mut self) {
        let account = self.budget.account_with_clock(&self.clock);
        if let Kind::Request(deposits) = self.kind {
            self.count.deposits += deposits.ratio();
        }
        self.calls.push(Call {
            account,
            reserved: None,
            paid: 0,
            noted: None,
        });
    }

    fn failed(&mut self, at: u8, outcome: Outcome) {
        let is_grpc = matches!(self.kind, Kind::Grpc { .. });
        let Some(index) = self.index(at) else {
            return;
        };
        let verdict = outcome.verdict();
        let call = &mut self.calls[index];
        call.account.failed(verdict);
        if verdict == Verdict::Permanent {
            return;
        }
        if is_grpc {
            self.count.left = (self.count.left - 1000).max(0);
        }
        call.noted = Some(!is_grpc || self.count.left > self.count.most / 2);
    }

    fn withdraw(&mut self, at: u8, payment: Payment) {
        let Some(index) = self.index(at) else {
            return;
        };
        let before = self.calls[index].reserved.take();
        self.give_back(before);
        let is_well = match self.kind {
            Kind::Grpc { .. } => self.count.left > self.count.most / 2,
            _ => true,
        };
        let call = &mut self.calls[index];
        let is_well = call.noted.unwrap_or(is_well);
        let is_paid = call
            .account
            .withdraw_with_clock(payment.class(), &self.clock);
        let price = self.kind.price(payment);
        match self.kind {
            Kind::Tokens { .. } => {
                assert_eq!(is_paid, self.count.left >= i64::from(price));
                if is_paid {
                    self.count.left -= i64::from(price);
                }
            }
            Kind::Grpc { .. } => assert_eq!(is_paid, is_well),
            Kind::Success(_) | Kind::Request(_) => {
                self.still(is_paid);
                if is_paid {
                    self.count.spent += 1.0;
                }
            }
        }
        if is_paid {
            self.calls[index].reserved = Some(price);
        }
    }

    /// While the clock stands, there is a token exactly where the account has one.
    fn still(&self, is_paid: bool) {
        let Count {
            deposits,
            income,
            spent,
            moved,
            ..
        } = self.count;
        if moved {
            return;
        }
        // Deposits and reserve hold parts of tokens apart.
        let whole = income + (deposits + 1e-6).floor() - spent;
        if is_paid {
            assert!(whole >= 1.0, "overdrawn: {whole}");
        } else {
            assert!(whole < 1.0, "refused with {whole} left");
        }
    }

    fn succeeded(&mut self, call: Call<'_>) {
        call.account.succeeded_with_clock(&self.clock);
        // What was reserved and never spent goes back when the account goes.
        self.give_back(call.reserved);
        match self.kind {
            Kind::Success(deposits) => self.count.deposits += deposits.ratio(),
            Kind::Request(_) => {}
            Kind::Tokens { .. } => {
                let left = self.count.left + i64::from(call.paid.max(1));
                self.count.left = left.min(self.count.most);
            }
            Kind::Grpc { .. } => {
                let left = self.count.left + i64::from(self.kind.thousandths().1);
                self.count.left = left.min(self.count.most);
            }
        }
    }

    fn give_back(&mut self, reserved: Option<u32>) {
        let Some(price) = reserved else {
            return;
        };
        match self.kind {
            Kind::Success(_) | Kind::Request(_) => self.count.spent -= 1.0,
            Kind::Tokens { .. } => {
                self.count.left = (self.count.left + i64::from(price)).min(self.count.most);
            }
            Kind::Grpc { .. } => {}
        }
    }

    fn copy(&mut self) {
        let is_paid = self.budget.try_withdraw_hedge_with_clock(&self.clock);
        match self.kind {
            Kind::Tokens { .. } => {
                let price = i64::from(self.kind.price(Payment::Failed));
                assert_eq!(is_paid, self.count.left >= price);
                if is_paid {
                    self.count.left -= price;
                }
            }
            Kind::Grpc { .. } => assert_eq!(is_paid, self.count.left > self.count.most / 2),
            Kind::Success(_) | Kind::Request(_) => {
                self.still(is_paid);
                if is_paid {
                    self.count.spent += 1.0;
                }
            }
        }
    }

    fn reset(&mut self) {
        self.budget.reset();
        let held = self.calls.iter().filter(|call| call.reserved.is_some());
        // Of those that are under way the price may come back on top.
        let held = held.count() as f64;
        let moved = self.count.moved || held > 0.0;
        self.count = Count::of(self.kind);
        self.count.moved = moved;
        self.count.income += held;
        self.count.spent += held;
    }

    fn jump(&mut self, jump: Jump) {
        let before = self.clock.nanos();
        self.clock.jump(jump);
        let after = self.clock.nanos();
        if after == before {
            return;
        }
        self.count.moved = true;
        if let Kind::Success(deposits) | Kind::Request(deposits) = self.kind {
            let seconds = Duration::from_nanos(after.saturating_sub(before)).as_secs_f64();
            self.count.income += seconds * deposits.floor();
            if after < before {
                // By a clock that went back the reserve starts over, as it may.
                self.count.income += f64::from(deposits.initial().max(1));
            }
        }
    }

    fn check(&self) {
        let balance = self.budget.balance_with_clock(&self.clock);
        assert!(balance.is_finite() && balance >= 0.0, "{balance}");
        let Count {
            left,
            income,
            deposits,
            spent,
            ..
        } = self.count;
        match self.kind {
            Kind::Tokens { .. } => assert_eq!(balance, left as f64),
            Kind::Grpc { .. } => {
                assert!((balance * 1000.0 - left as f64).abs() < 1e-3, "{balance}")
            }
            Kind::Success(_) | Kind::Request(_) => {
                let most = income + deposits + 1e-6 + income * 1e-9;
                assert!(spent <= most, "overdrawn: {spent} of {most}");
                assert!(
                    balance <= (most - spent).max(0.0) + 1e-3,
                    "{balance} of {most} - {spent}"
                );
            }
        }
    }

    fn index(&self, at: u8) -> Option<usize> {
        usize::from(at).checked_rem(self.calls.len())
    }

    fn call(&mut self, at: u8) -> Option<&mut Call<'b>> {
        let index = self.index(at)?;
        self.calls.get_mut(index)
    }

    fn take(&mut self, at: u8) -> Option<Call<'b>> {
        let index = self.index(at)?;
        Some(self.calls.swap_remove(index))
    }
}

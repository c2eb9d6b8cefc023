//! What calls share: budgets, breakers and throttles.

use std::time::Duration;

use reattempt::{Breaker, Budget, Keyed, Throttle};

use crate::log::{self, What};

/// Which budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SharedBudget {
    /// A tenth of what succeeds, and hardly anything else.
    Tight,
    /// What succeeds, and a little each second.
    Success,
    /// A share of what begins.
    Request,
    /// As the SDKs of AWS count.
    Tokens,
    /// That of hedges.
    Copies,
}

static TIGHT: Budget = Budget::per_success(0.1)
    .initial(5)
    .floor(0.0)
    .ttl(Duration::from_secs(5));
static SUCCESS: Budget = Budget::per_success(0.3).initial(20).floor(2.0);
static REQUEST: Budget = Budget::per_request(0.2).initial(5).floor(0.0);
static TOKENS: Budget = Budget::tokens(200);
static COPIES: Budget = Budget::per_success(0.2).initial(10).floor(1.0);

impl SharedBudget {
    pub(crate) const ALL: [Self; 5] = [
        Self::Tight,
        Self::Success,
        Self::Request,
        Self::Tokens,
        Self::Copies,
    ];

    pub(crate) const fn budget(self) -> &'static Budget {
        match self {
            Self::Tight => &TIGHT,
            Self::Success => &SUCCESS,
            Self::Request => &REQUEST,
            Self::Tokens => &TOKENS,
            Self::Copies => &COPIES,
        }
    }

    /// The same in numbers, for who counts without it.
    pub(crate) const fn rule(self) -> Rule {
        match self {
            Self::Tight => Rule::new(1.0, 5.0, 0.0, 0.1, 0.0, 5),
            Self::Success => Rule::new(1.0, 20.0, 2.0, 0.3, 0.0, 10),
            Self::Request => Rule::new(1.0, 5.0, 0.0, 0.0, 0.2, 10),
            // What is given back never gets too old, and after a retry is at most what a time-out costs.
            Self::Tokens => Rule {
                recovered: 10.0,
                ..Rule::new(5.0, 200.0, 0.0, 1.0, 0.0, 86_400)
            },
            Self::Copies => Rule::new(1.0, 10.0, 1.0, 0.2, 0.0, 10),
        }
    }
}

/// What a budget promises.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// What a retry costs at least.
    pub(crate) cost: f64,
    pub(crate) initial: f64,
    /// A second.
    pub(crate) floor: f64,
    /// For each success.
    pub(crate) success: f64,
    /// For one that took a retry.
    pub(crate) recovered: f64,
    /// For each call.
    pub(crate) request: f64,
    pub(crate) ttl: Duration,
}

impl Rule {
    const fn new(
        cost: f64,
        initial: f64,
        floor: f64,
        success: f64,
        request: f64,
        ttl: u64,
    ) -> Self {
        Self {
            cost,
            initial,
            floor,
            success,
            recovered: success,
            request,
            ttl: Duration::from_secs(ttl),
        }
    }
}

pub(crate) const KEYS: u16 = 6;
pub(crate) const COOLDOWN: Duration = Duration::from_millis(400);
pub(crate) const COOLDOWN_CAP: Duration = Duration::from_millis(800);

pub(crate) static BREAKERS: Keyed<u16, Breaker> = Keyed::new(|key: &u16| {
    let key = *key;
    let breaker = if key.is_multiple_of(2) {
        Breaker::count_window(6)
    } else {
        Breaker::time_window(Duration::from_secs(2)).min_calls(6)
    };
    breaker
        .probes(probes(key))
        .cooldown(COOLDOWN)
        .cooldown_cap(COOLDOWN_CAP)
        .observed(move |change| {
            let (to, cooldown) = (change.to(), change.cooldown());
            log::note(0, What::Breaker { key, to, cooldown });
        })
});

pub(crate) const fn probes(key: u16) -> u32 {
    match key % 3 {
        0 => 1,
        1 => 2,
        _ => 3,
    }
}

pub(crate) const ADAPTIVE_WINDOW: Duration = Duration::from_secs(4);
pub(crate) const ADAPTIVE_MINIMUM: u32 = 10;
/// Its default.
pub(crate) const ADAPTIVE_FACTOR: f64 = 2.0;

pub(crate) static ADAPTIVE: Throttle = Throttle::adaptive()
    .window(ADAPTIVE_WINDOW)
    .min_requests(ADAPTIVE_MINIMUM);
pub(crate) static CUBIC: Throttle = Throttle::cubic();

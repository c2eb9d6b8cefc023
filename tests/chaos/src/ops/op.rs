//! Which operations there are, and what holds for each of them.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// A request that changes nothing.
    Fetch,
    /// One whose effect may happen twice.
    Put,
    /// One that the server knows again by its key.
    Keyed,
    /// Not idempotent, and the server is asked what became of it.
    Order,
    /// The same below a deadline, with nobody to ask.
    OrderOnce,
    /// What `verify` asks.
    Fence,
    /// With hedges.
    Search,
    Poll,
    Hooked,
    /// An async `retry_block!`.
    Block,
    Layer,
    Runner,
    RunnerGuarded,
    Named,
    Guarded,
    GuardedFallback,
    /// With every key that goes with the others.
    Everything,
    /// By a strategy.
    Decided,
    /// A breaker without a retry.
    GuardedAlone,
    Adaptive,
    Cubic,
    Outer,
    Inner,
    /// A server that retries below the deadline of its client.
    Relay,
    RelayInner,
    /// The deadline in its header is over.
    Late,
    Pay,
    PayVerified,
    Transfer,
    Read,
    Write,
    ReadBlock,
    ReadRunner,
    ReadGuarded,
}

impl Op {
    pub(crate) const ASYNC: &[Self] = &[
        Self::Fetch,
        Self::Put,
        Self::Keyed,
        Self::Order,
        Self::Order,
        Self::OrderOnce,
        Self::Search,
        Self::Search,
        Self::Poll,
        Self::Hooked,
        Self::Block,
        Self::Layer,
        Self::Runner,
        Self::RunnerGuarded,
        Self::Named,
        Self::Guarded,
        Self::Guarded,
        Self::Guarded,
        Self::GuardedFallback,
        Self::Everything,
        Self::Everything,
        Self::Decided,
        Self::GuardedAlone,
        Self::Adaptive,
        Self::Cubic,
        Self::Outer,
        Self::Relay,
        Self::Late,
        Self::Pay,
        Self::PayVerified,
        Self::PayVerified,
        Self::Transfer,
    ];

    pub(crate) const BLOCKING: &[Self] = &[
        Self::Read,
        Self::Write,
        Self::ReadBlock,
        Self::ReadRunner,
        Self::ReadGuarded,
    ];

    pub(crate) fn is_blocking(self) -> bool {
        Self::BLOCKING.contains(&self)
    }

    /// Whether its attempts can be cut off.
    pub(crate) fn is_cut_off(self) -> bool {
        !self.is_blocking() && !matches!(self, Self::Layer | Self::GuardedAlone)
    }

    /// Whether the attribute gives its calls a limit of their own, whatever the policy says.
    pub(crate) fn has_limit(self) -> bool {
        matches!(
            self,
            Self::Order | Self::PayVerified | Self::Fence | Self::Named | Self::Decided
        )
    }

    /// Whether the policy may have a time-out. Where `verify` is to be asked about it, it is a key.
    pub(crate) fn can_be_timed(self) -> bool {
        self.is_cut_off() && !matches!(self, Self::Order | Self::PayVerified)
    }

    /// What is polled pays for nothing; a file says whether there is a budget, and tests have their own.
    pub(crate) fn may_pay(self) -> bool {
        !matches!(
            self,
            Self::Poll | Self::Named | Self::GuardedAlone | Self::Decided
        )
    }

    pub(crate) fn is_guarded(self) -> bool {
        matches!(
            self,
            Self::Guarded
                | Self::GuardedFallback
                | Self::Everything
                | Self::GuardedAlone
                | Self::RunnerGuarded
                | Self::ReadGuarded
        )
    }

    pub(crate) fn is_hedged(self) -> bool {
        matches!(self, Self::Search | Self::Everything)
    }

    /// Whether a throttle may turn it away.
    pub(crate) fn is_adaptive(self) -> bool {
        matches!(self, Self::Adaptive | Self::Everything)
    }

    /// How many of a hundred calls are dropped.
    pub(crate) fn cancelled(self) -> u64 {
        match self {
            _ if self.is_blocking() => 0,
            Self::Guarded | Self::GuardedAlone | Self::RunnerGuarded | Self::Everything => 35,
            _ => 12,
        }
    }

    /// How often its effect may happen for one call; `None` where it has none.
    pub(crate) fn effects(self) -> Option<Effects> {
        match self {
            Self::Put | Self::Hooked | Self::Write | Self::Layer => Some(Effects::AtLeastOnce),
            Self::Keyed
            | Self::Order
            | Self::OrderOnce
            | Self::Pay
            | Self::PayVerified
            | Self::Transfer => Some(Effects::Once),
            Self::Late => Some(Effects::Never),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effects {
    AtLeastOnce,
    Once,
    Never,
}

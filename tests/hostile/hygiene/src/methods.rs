//! Methods, associated constants, a trait, an implementation of it.

use ::core::primitive::u32 as Number;
use ::core::result::Result as Answer;
use ::reattempt::retry as again;

use crate::functions::Fault;
use crate::traps::*;

pub struct Service {
    pub calls: Number,
}

impl Service {
    const POLICY: ::reattempt::Policy = ::reattempt::Policy::new().max(2);
    const TRIES: Number = 2;

    // Inherent names that an expansion might call by accident.
    pub fn failed(&self) {}
    pub fn attempt(&self) {}

    #[again(max = 3, backoff = "none", on(_))]
    pub fn exclusive(&mut self) -> Answer<Number, Fault> {
        self.calls += 1;
        if self.calls < 3 {
            return Answer::Err(Fault::Busy);
        }
        Answer::Ok(self.calls)
    }

    #[again(policy = Self::POLICY, base = "1ms", on(_))]
    pub fn associated(&self) -> Answer<Number, Fault> {
        Answer::Ok(self.calls)
    }

    #[again(max = Self::TRIES, base = "1ms", on = Self::is_busy)]
    pub async fn asynchronous(&mut self) -> Answer<Number, Fault> {
        self.calls += 1;
        Answer::Err(Fault::Busy)
    }

    #[again(max = 2, backoff = "none", on(Fault::Busy | Fault::Over))]
    pub fn shared(self: ::std::sync::Arc<Self>) -> Answer<Number, Fault> {
        Answer::Ok(self.calls)
    }

    fn is_busy(fault: &Fault) -> ::core::primitive::bool {
        ::core::matches!(fault, Fault::Busy)
    }
}

pub trait Ask {
    #[again(max = 2, backoff = "none", on(_))]
    fn ask(&self) -> Answer<Number, Fault> {
        self.once()
    }

    fn once(&self) -> Answer<Number, Fault>;
}

impl Ask for Service {
    #[again(max = 2, backoff = "none", on(_))]
    fn once(&self) -> Answer<Number, Fault> {
        Answer::Ok(self.calls)
    }
}

#[derive(::core::fmt::Debug, ::reattempt::Classify)]
pub enum Known {
    #[retry(throttled, after = wait)]
    Busy { wait: ::core::time::Duration },
    #[retry(throttled, after = 0)]
    Later(::core::option::Option<::core::time::Duration>),
    #[retry(inherit)]
    Other(Fault),
    #[retry(transient)]
    Lost,
}

pub struct Whole {
    pub calls: Number,
}

#[again(max = 3, backoff = "none", idempotent = false)]
impl Whole {
    #[again(max = 2, backoff = "none", idempotent = false, verify = |error| {
        ::core::matches!(error, Known::Lost).then_some(answer + verdict + found)
    })]
    pub fn verified(
        &mut self,
        answer: Number,
        verdict: Number,
        found: Number,
    ) -> ::core::result::Result<Number, Known> {
        self.calls += 1;
        Answer::Err(Known::Lost)
    }

    pub async fn inherited(
        &mut self,
        error: Number,
        cause: Number,
    ) -> ::core::result::Result<Number, Known> {
        self.calls += 1;
        if self.calls < 3 {
            Answer::Err(Known::Busy {
                wait: ::core::time::Duration::ZERO,
            })?;
        }
        Answer::Ok(error + cause)
    }
}

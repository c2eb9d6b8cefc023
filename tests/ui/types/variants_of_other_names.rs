use reattempt::{Backoff, Classify, GiveUpReason, Jitter, Policy, RetryError, Verdict};

const EXPONENTIAL: Policy = Policy::new().backoff(Backoff::Exponential);
const CONSTANT: Policy = Policy::new().backoff(Backoff::Constant);
const NO_DELAY: Policy = Policy::new().backoff(Backoff::NoDelay);

const RANDOM: Policy = Policy::new().jitter(Jitter::Random);
const HALF: Policy = Policy::new().jitter(Jitter::Half);
const DECORRELATED: Policy = Policy::new().jitter(Jitter::Decorrelated);

struct Fault(u16);

impl Classify for Fault {
    fn classify(&self) -> Verdict {
        match self.0 {
            403 => Verdict::Forbidden,
            429 => Verdict::RateLimited,
            500.. => Verdict::Retryable,
            _ => Verdict::Fatal,
        }
    }
}

fn is_final(error: &RetryError<Fault>) -> bool {
    matches!(error.reason(), GiveUpReason::MaxRetries | GiveUpReason::Timeout)
}

fn main() {}

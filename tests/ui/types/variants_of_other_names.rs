use reattempt::{Backoff, Classify, Policy, Verdict};

const EXPONENTIAL: Policy = Policy::new().backoff(Backoff::Exponential);
const CONSTANT: Policy = Policy::new().backoff(Backoff::Constant);
const NO_DELAY: Policy = Policy::new().backoff(Backoff::NoDelay);

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

fn main() {}

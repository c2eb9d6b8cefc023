//! What the messages about verdicts name does compile.

use reattempt::{Classify, Policy, Verdict, retry};

#[derive(Debug, Classify)]
enum Fault {
    #[retry(with = || reattempt::Verdict::Throttled(Some(std::time::Duration::from_secs(5))))]
    Busy,
    #[retry(with = || reattempt::Verdict::TransientAfter(std::time::Duration::from_secs(5)))]
    Reset { _code: u16 },
    #[retry(with = |secs: &u64| reattempt::Verdict::Throttled(Some(std::time::Duration::from_secs(*secs))))]
    Limit(u64),
    #[retry(with = is_busy)]
    Text(String),
}

/// A field is borrowed as a parameter is.
fn is_busy(text: &str) -> bool {
    text == "busy"
}

const POLICY: Policy = Policy::new().max(4).checked();

struct Shop;

#[retry(policy = POLICY)]
impl Shop {
    fn ask(&self) -> Result<u32, Fault> {
        Ok(1)
    }

    #[retry(policy = POLICY, clone(order))]
    fn send(&self, order: String) -> Result<usize, Fault> {
        Ok(order.into_bytes().len())
    }
}

fn main() {
    let second = |count| Some(std::time::Duration::from_secs(count));
    assert_eq!(Fault::Busy.classify(), Verdict::Throttled(second(5)));
    assert_eq!(Fault::Limit(9).classify(), Verdict::Throttled(second(9)));
    assert_eq!(Fault::Text("busy".into()).classify(), Verdict::Transient);
    assert!(Fault::Reset { _code: 1 }.classify().is_retryable());
    assert!(Shop.ask().is_ok());
    assert_eq!(Shop.send("tea".to_owned()).ok(), Some(3));
}

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
    #[retry(with = |code: &u16, _| *code >= 500)]
    Status { code: u16, _text: String },
    #[retry(with = |_, error: &std::io::Error| reattempt::Classify::classify(error))]
    Read(String, std::io::Error),
    #[retry(with = |value| (500..).contains(value))]
    Answer(u16),
    #[retry(transient, after = wait)]
    Later { wait: std::time::Duration },
    #[retry(chain(std::io::Error))]
    Boxed(Box<dyn std::error::Error + Send + Sync>),
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
    let status = |code| Fault::Status {
        code,
        _text: String::new(),
    };
    assert_eq!(status(404).classify(), Verdict::Permanent);
    let lost = || std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    assert!(Fault::Read(String::new(), lost()).classify().is_retryable());
    assert!(Fault::Boxed(lost().into()).classify().is_retryable());
    let wait = std::time::Duration::from_secs(1);
    assert_eq!(
        Fault::Later { wait }.classify(),
        Verdict::TransientAfter(wait)
    );
    assert!(Shop.ask().is_ok());
    assert_eq!(Shop.send("tea".to_owned()).ok(), Some(3));
}

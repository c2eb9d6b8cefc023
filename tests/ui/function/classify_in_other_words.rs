use std::io;
use std::time::Duration;

use reattempt::http::RequestError;
use reattempt::{Classify, Verdict};

fn judge(_: &u16) -> Verdict {
    Verdict::Transient
}

#[derive(Classify)]
#[retry(throttled)]
enum AboveTheType {
    A,
    B,
}

#[derive(Classify)]
#[retry(with = judge)]
enum FunctionAboveTheType {
    A(u16),
}

#[derive(Classify)]
#[retry = "permanent"]
enum TextAboveTheType {
    A,
}

#[derive(Classify)]
#[retry(default = "permanent")]
enum DefaultInQuotes {
    A,
}

#[derive(Classify)]
#[retry(default = Verdict::Permanent)]
enum DefaultIsAPath {
    A,
}

#[derive(Classify)]
#[retry(default = fatal)]
enum DefaultInOtherWords {
    A,
}

#[derive(Classify)]
enum Functions {
    #[retry(with = judge(code))]
    Called { code: u16 },
    #[retry(with = judge(&self.code))]
    CalledOnOneField { code: u16, _text: String },
    #[retry(with = "judge")]
    InQuotes(u16),
    #[retry(with(judge))]
    InParentheses(u16),
    #[retry(with = code >= 500)]
    Condition { code: u16 },
    #[retry(when = code >= 500)]
    When { code: u16 },
    #[retry(transient if code >= 500)]
    If { code: u16, _text: String },
    #[retry(code >= 500)]
    Alone(u16),
    #[retry(transient if 500..)]
    Range(u16),
}

#[derive(Classify)]
#[retry(code >= 500)]
struct OfTheType {
    code: u16,
}

#[derive(Classify)]
enum Delays {
    #[retry(throttled(wait))]
    Value { wait: Duration },
    #[retry(Verdict::Throttled(Some(wait)))]
    Path { wait: Duration },
    #[retry(transient_after = wait)]
    Word { wait: Duration },
    #[retry(retry_after = 0)]
    RetryAfter(Duration),
    #[retry(throttled, delay = wait)]
    Beside { wait: Duration },
    #[retry(throttled("5s"))]
    Text,
}

#[derive(Classify)]
enum Words {
    #[retry(no_retry)]
    NoRetry,
    #[retry(non-retryable)]
    Hyphen,
    #[retry(transparent)]
    Transparent(io::Error),
    #[retry("transient")]
    InQuotes,
    #[retry(false)]
    No,
    #[retry(!transient)]
    Not,
    #[retry(max = 3)]
    Key,
    #[retry(default = transient)]
    Default,
    #[retry(chain![io::Error])]
    Chain(io::Error),
}

#[derive(Classify)]
enum Several {
    #[retry(from)]
    From(RequestError<io::Error, u8>, String),
    #[retry(inherit)]
    Inherit(String, io::Error),
    #[retry(from)]
    FromNothing,
}

#[derive(Classify)]
enum OtherAttributes {
    #[retryable]
    Busy,
    #[fatal]
    Gone,
    #[non_retryable]
    Closed,
}

fn main() {}

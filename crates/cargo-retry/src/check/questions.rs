//! What a policy may do, and is seldom meant to: the words, and when a policy alone raises one. A
//! question is not a rule: the policy is allowed, and there may be a reason for it, which a comment
//! gives. What is not known raises no question.

use retry_runtime::Policy;
use retry_runtime::duration::Human;
use serde::Serialize;

/// A question that only a person can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Question {
    /// A call occupies its caller for as long as it likes.
    NoLimit,
    /// An attempt does, and its client has no time-out of its own.
    NoTimeout,
    /// Fixed delays bring all clients back in step.
    NoJitter,
    /// What all calls retry together has no bound.
    NoBudget,
    /// A budget that could be that of a service belongs to one operation.
    LoneBudget,
    /// The file says something of an operation that does not ask it.
    NoEffect,
}

const ALL: [Question; 6] = [
    Question::NoLimit,
    Question::NoTimeout,
    Question::NoJitter,
    Question::NoBudget,
    Question::LoneBudget,
    Question::NoEffect,
];

impl Question {
    /// As comments and `--deny` write it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::NoLimit => "no_limit",
            Self::NoTimeout => "no_timeout",
            Self::NoJitter => "no_jitter",
            Self::NoBudget => "no_budget",
            Self::LoneBudget => "lone_budget",
            Self::NoEffect => "no_effect",
        }
    }
}

impl Question {
    /// Why it is asked, and what to write.
    pub(crate) const fn why(self) -> &'static str {
        match self {
            Self::NoLimit => {
                "a call may occupy its caller for as long as it likes; write `deadline = \"30s\"`, or as long as the caller waits"
            }
            Self::NoTimeout => {
                "an attempt that hangs is never given up; set a time-out in the client, or write `timeout = \"5s\"` on an async function"
            }
            Self::NoJitter => {
                "clients that fail together come back together; leave `jitter` out, or write `jitter = 0.2`"
            }
            Self::NoBudget => {
                "what all calls retry multiplies the load of a service that fails; leave `budget = \"none\"` out, and give `Policy::run` one: `.budget(&BUDGET)`"
            }
            Self::LoneBudget => {
                "a budget bounds those that share it; name it at the other operations of its service, or leave `budget` out: an operation has one of its own"
            }
            Self::NoEffect => {
                "a file changes only code that asks for a policy by name; write `policy = \"default\"` here, or take the table out of the file"
            }
        }
    }
}

/// What `--deny` takes.
pub(super) fn words() -> Vec<&'static str> {
    let words = ALL.into_iter().map(Question::word);
    words.chain(["all"]).collect()
}

/// A question about a place.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(super) file: String,
    pub(super) line: Option<usize>,
    pub(super) column: Option<usize>,
    /// The operation, or the policy of a file.
    pub(super) of: String,
    pub(super) question: Question,
    /// What is so.
    pub(super) message: String,
    pub(super) why: &'static str,
}

/// Retries whose delays are compared.
const COMPARED: u32 = 8;

/// Whether all clients of a policy wait for the same time before each retry.
pub(super) fn no_jitter(policy: &Policy) -> Option<String> {
    let retries = policy
        .attempts()
        .map_or(COMPARED, |max| max.saturating_sub(1));
    let delays = (0..retries.min(COMPARED)).map(|retry| policy.delay_bounds(retry));
    // Before a fast first retry there is none.
    let mut delays = delays.filter(|(_, longest)| !longest.is_zero());
    let first = delays.next()?;
    if first.0 != first.1 || delays.any(|it| it != first) {
        return None;
    }
    Some(format!("each client waits exactly {}", Human(first.0)))
}

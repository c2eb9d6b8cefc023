//! What the attempts of a call do under an inherited deadline of 20 ms, and what has to follow.

use std::cell::Cell;
use std::time::Duration;

use reattempt::{Backoff, Classify, GiveUpReason, Jitter, Policy, RetryError, Verdict, testing};

use crate::clock::{ms, pass};
use crate::service::{Answer, Fault};

type Story = Result<(), RetryError<Fault>>;

/// The policies of `FILE`.
pub(super) const PLAIN: Policy = Policy::new()
    .max(5)
    .backoff(Backoff::Fixed)
    .base(ms(8))
    .jitter(Jitter::None);
pub(super) const DEADLINE: Policy = PLAIN.deadline(ms(1000));
pub(super) const TIMEOUT: Policy = PLAIN.timeout(ms(500));

pub(super) const FILE: &str = r#"
[policies.plain]
max = 5
backoff = "fixed"
base = "8ms"
jitter = "none"

[policies.deadline]
max = 5
backoff = "fixed"
base = "8ms"
jitter = "none"
deadline = "1s"

[policies.timeout]
max = 5
backoff = "fixed"
base = "8ms"
jitter = "none"
timeout = "500ms"
"#;

/// What the attempts of a call do: how long each takes, and how it ends. The last one stands for
/// all later ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) attempts: &'static [(u64, Answer)],
    /// How much later than asked delays end.
    pub(super) late: u64,
    pub(super) endures: Expected,
    pub(super) is_cut_off: Expected,
}

/// After how many milliseconds a call ends, how many attempts it has begun, and its end.
pub(super) type Expected = (u64, u32, End);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Value,
    Fault,
    Deadline(u32),
}

pub(super) use End::{Deadline, Value};

pub(super) const FAILS: Answer = Err(Fault::Down);

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "an attempt outlasts the deadline and succeeds",
        attempts: &[(30, Ok(()))],
        late: 0,
        endures: (30, 1, Value),
        is_cut_off: (20, 1, Deadline(1)),
    },
    Scenario {
        name: "an attempt outlasts the deadline and fails",
        attempts: &[(30, FAILS)],
        late: 0,
        endures: (30, 1, Deadline(1)),
        is_cut_off: (20, 1, Deadline(1)),
    },
    Scenario {
        name: "a retry outlasts the deadline",
        attempts: &[(1, FAILS), (30, Ok(()))],
        late: 0,
        endures: (39, 2, Value),
        is_cut_off: (20, 2, Deadline(2)),
    },
    Scenario {
        name: "a delay would end after the deadline",
        attempts: &[(1, FAILS)],
        late: 0,
        endures: (19, 3, Deadline(3)),
        is_cut_off: (19, 3, Deadline(3)),
    },
    Scenario {
        name: "a delay ends late, after the deadline",
        attempts: &[(1, FAILS)],
        late: 15,
        endures: (24, 1, Deadline(1)),
        is_cut_off: (24, 1, Deadline(1)),
    },
];

/// A call of one scenario.
pub(super) struct Script {
    pub(super) policy: Policy,
    pub(super) scenario: Scenario,
    pub(super) begun: Cell<u32>,
}

impl Script {
    pub(super) fn begin(&self) -> (Duration, Answer) {
        let attempts = self.scenario.attempts;
        let begun = self.begun.replace(self.begun.get() + 1);
        let (takes, answer) = attempts[attempts.len().min(begun as usize + 1) - 1];
        (ms(takes), answer)
    }

    pub(super) async fn attempt<E: From<Fault>>(&self) -> Result<(), E> {
        let (takes, answer) = self.begin();
        pass(takes).await;
        Ok(answer?)
    }

    pub(super) fn attempt_blocking<E: From<Fault>>(&self) -> Result<(), E> {
        let (takes, answer) = self.begin();
        testing::virtual_time().advance(takes);
        Ok(answer?)
    }
}

/// An error that cannot say that a limit has ended a call.
#[derive(Debug)]
pub(super) struct Mute;

impl Classify for Mute {
    fn classify(&self) -> Verdict {
        Verdict::Transient
    }
}

impl From<Fault> for Mute {
    fn from(_: Fault) -> Self {
        Self
    }
}

impl From<Result<(), Mute>> for End {
    fn from(answer: Result<(), Mute>) -> Self {
        answer.map_or(Self::Fault, |()| Value)
    }
}

impl From<Answer> for End {
    fn from(answer: Answer) -> Self {
        match answer {
            Ok(()) => Value,
            Err(Fault::Down) => Self::Fault,
            Err(Fault::GaveUp(end)) => {
                assert_eq!(end.reason(), GiveUpReason::Deadline);
                Deadline(end.attempts())
            }
        }
    }
}

impl From<Story> for End {
    fn from(answer: Story) -> Self {
        let answer = answer.map_err(|error| Fault::GaveUp(error.end()));
        answer.into()
    }
}

//! The fixes that X6, X7 and X19 name: of those that there are, the ones that no rule refuses in turn.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use super::{checks, total};
use crate::backoff::Backoff;
use crate::text::Text;
use crate::values::Values;

/// What to do, with what, and the policy that it makes.
type Fix = (Act, &'static str, Values);

#[derive(Clone, Copy)]
enum Act {
    Write,
    Drop,
    Add,
}

impl Act {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write ",
            Self::Drop => "drop ",
            Self::Add => "add ",
        }
    }
}

const SECOND: Duration = Duration::from_secs(1);

/// Appends the fixes of a policy that makes too many attempts, by number or for ever.
pub(super) const fn name(mut text: Text, policy: &Values) -> Text {
    let mut last = None;
    let mut rest: &[Option<Fix>] = &[
        slower(policy),
        fewer(policy),
        if_accepted(
            Act::Add,
            "`deadline = \"30s\"`",
            policy.deadline(Duration::from_secs(30)),
        ),
        if_bounded(Act::Add, "`budget = 0.1`", policy.budgeted()),
    ];
    while let [fix, tail @ ..] = rest {
        if let Some((act, with, _)) = fix {
            text = match last {
                None => text.push("; ").push(act.as_str()),
                Some(last) if last as u8 == *act as u8 => text.push(" or "),
                Some(_) => text.push(", or ").push(act.as_str()),
            };
            text = text.push(with);
            last = Some(*act);
        }
        rest = tail;
    }
    text
}

/// The first of these that makes the delays long enough.
const fn slower(policy: &Values) -> Option<Fix> {
    let hundredth = policy.base(Duration::from_millis(100));
    let longer = policy.base(SECOND);
    let fixes: &[Fix] = if policy.backoff.is_none() {
        &[(
            Act::Write,
            "`backoff = \"exp\"`",
            policy.backoff(Backoff::Exp),
        )]
    } else {
        &[
            (Act::Write, "`base = \"100ms\"`", hundredth),
            (Act::Write, "`base = \"1s\"`", longer),
            (Act::Write, "`cap = \"1s\"`", policy.cap(SECOND)),
            (
                Act::Write,
                "`base = \"1s\"` and `cap = \"20s\"`",
                longer.cap(Duration::from_secs(20)),
            ),
        ]
    };
    first(fixes)
}

/// A number of attempts that needs no other bound, or a count that does not start anew.
const fn fewer(policy: &Values) -> Option<Fix> {
    let few = checks::hammers(policy);
    let number = if few { "`max = 3`" } else { "`max = 20`" };
    let both = if few {
        "`reset_after` and write `max = 3`"
    } else {
        "`reset_after` and write `max = 20`"
    };
    let fewer = policy.max(if few { 3 } else { 20 });
    let once = Values {
        reset_after: None,
        ..*policy
    };
    let fixes: &[Fix] = &[
        (Act::Write, number, fewer),
        (Act::Drop, "`reset_after`", once),
        (
            Act::Drop,
            both,
            Values {
                reset_after: None,
                ..fewer
            },
        ),
    ];
    let mut rest = fixes;
    while let [(act, with, fixed), tail @ ..] = rest {
        if let Some(fix) = if_bounded(*act, with, *fixed) {
            return Some(fix);
        }
        rest = tail;
    }
    None
}

const fn first(mut fixes: &[Fix]) -> Option<Fix> {
    while let [(act, with, fixed), tail @ ..] = fixes {
        if let Some(fix) = if_accepted(*act, with, *fixed) {
            return Some(fix);
        }
        fixes = tail;
    }
    None
}

/// A fix that changes nothing but how many attempts there may be.
const fn if_bounded(act: Act, with: &'static str, fixed: Values) -> Option<Fix> {
    if is_bounded(&fixed) {
        Some((act, with, fixed))
    } else {
        None
    }
}

const fn if_accepted(act: Act, with: &'static str, fixed: Values) -> Option<Fix> {
    if is_accepted(&fixed) {
        Some((act, with, fixed))
    } else {
        None
    }
}

/// Whether the attempts are few enough, or slow enough.
const fn is_bounded(policy: &Values) -> bool {
    !checks::is_endless(policy) && !checks::is_too_many(policy) && !total::is_too_much(policy)
}

/// The same, and its times fit together.
pub(super) const fn is_accepted(policy: &Values) -> bool {
    is_bounded(policy)
        && checks::above_cap(policy).is_none()
        && checks::above_deadline(policy).is_none()
        && checks::timeout_above_deadline(policy).is_none()
        && checks::never_starts(policy).is_none()
        && checks::hardly_any_time(policy).is_none()
        && checks::reset_too_soon(policy).is_none()
}

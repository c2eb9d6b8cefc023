//! X6, X7 and X19: policies that make too many attempts. Their messages name fixes that no rule refuses in turn.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use super::Key::{self, Base, Cap, Max, ResetAfter};
use super::checks::{Broken, hammers, is_endless, is_too_many, say, twentieth};
use super::total::{IN_A_SECOND, IN_ALL, in_a_second, in_all};
use super::{fixes, total};
use crate::duration::Nanos;
use crate::text::Text;
use crate::values::Values;

/// X6: a call that may never end.
pub(super) const fn endless(policy: &Values) -> Broken {
    if !is_endless(policy) {
        return None;
    }
    // A count that starts anew bounds nothing.
    let (key, text) = match policy.attempts() {
        None => (Max, say("`max = \"unlimited\"` ")),
        Some(_) => (ResetAfter, say("`reset_after` ")),
    };
    let text = if hammers(policy) {
        let text = no_pause(&text.push("with "), policy);
        text.push(" would call for ever without a pause")
    } else {
        let text = text.push("needs longer delays or another bound, but the delay before retry 20");
        text.push(" is at most ").duration(twentieth(policy), "")
    };
    Some((key, fixes::name(text, policy)))
}

/// X7: a policy that would hammer a service.
pub(super) const fn too_many(policy: &Values) -> Broken {
    if !is_too_many(policy) {
        return None;
    }
    let text = say("`max` of ").number(policy.max as u64);
    let text = if hammers(policy) {
        let text = no_pause(&text.push(" with "), policy);
        text.push(" hammers the service: at most 3 attempts may follow each other with less than 1ms between them")
    } else {
        let text = text.push(" is above 20, which needs longer delays or another bound, but the delay before retry 20");
        text.push(" is at most ").duration(twentieth(policy), "")
    };
    Some((Max, fixes::name(text, policy)))
}

/// X19: what a call does in total, if everything fails at once.
pub(super) const fn too_much(policy: &Values) -> Broken {
    if !total::is_too_much(policy) || is_endless(policy) || is_too_many(policy) {
        return None; // or said already
    }
    let text = match policy.attempts() {
        Some(max) => say("`max` of ").number(max as u64),
        None => say("`max = \"unlimited\"`"),
    };
    let text = text.push(" makes up to ");
    let text = text.number(in_a_second(policy) as u64);
    let text = text.push(" attempts in a second after the first");
    let text = if policy.attempts().is_none() && policy.deadline.is_none() {
        text.push(", of which at most 100 need no budget of their own")
    } else {
        let text = text.push(", and ").number(in_all(policy) as u64);
        text.push(" in all, of which at most 100 and 10000 need no budget of their own")
    };
    let text = text.push("; lower `max` to ");
    let text = text.number(total::fewer(policy) as u64);
    let text = match slower(policy) {
        Some((key, delay)) => {
            let text = text.push(", write `").push(key.as_str()).push(" = \"");
            text.duration(delay, "").push("\"`,")
        }
        None => text,
    };
    Some((Max, text.push(" or add `budget = 0.1`")))
}

/// `backoff = "none"`, or `base = "1us"`.
const fn no_pause(text: &Text, policy: &Values) -> Text {
    if policy.backoff.is_none() {
        return text.push("`backoff = \"none\"`");
    }
    let (key, delay) = if policy.cap.0 < policy.base.0 {
        (Cap, policy.cap)
    } else {
        (Base, policy.base)
    };
    text.push("`")
        .push(key.as_str())
        .push(" = \"")
        .duration(delay.duration(), "")
        .push("\"`")
}

/// The shortest `base`, or else `cap`, in whole milliseconds, of those that are longer by as much as there are too many
/// attempts, if it is accepted.
const fn slower(policy: &Values) -> Option<(Key, Duration)> {
    let (second, all) = (in_a_second(policy), in_all(policy));
    // The first of them takes no time.
    let (least, most) = (
        excess(second.saturating_sub(1), all.saturating_sub(1)),
        excess(second, all),
    );
    let longer = [(Base, least), (Base, most), (Cap, least), (Cap, most)];
    let mut rest: &[(Key, f64)] = &longer;
    while let [(key, factor), tail @ ..] = rest {
        let slower = match key {
            Cap => policy.cap(whole_millis(policy.cap.0 * *factor)),
            _ => policy.base(whole_millis(policy.base.0 * *factor)),
        };
        if fixes::is_accepted(&slower) {
            let delay = match key {
                Cap => slower.cap,
                _ => slower.base,
            };
            return Some((*key, delay.duration()));
        }
        rest = tail;
    }
    None
}

/// How many times as many as may be.
const fn excess(second: u32, all: u32) -> f64 {
    let second = second as f64 / IN_A_SECOND as f64;
    let all = all as f64 / IN_ALL as f64;
    if second > all { second } else { all }
}

/// Rounded up.
const fn whole_millis(nanos: f64) -> Duration {
    let duration = Nanos(nanos).duration();
    let rest = duration.subsec_nanos() % 1_000_000;
    if rest == 0 {
        return duration;
    }
    duration.saturating_add(Duration::from_nanos(
        1_000_000_u64.saturating_sub(rest as u64),
    ))
}

//! One function a setting: what is wrong with it.

use core::time::Duration;

use reattempt_policy::Text;
use reattempt_policy::duration::{LONGEST, is_shorter};

const fn say(text: &str) -> Text {
    Text::new().push(text)
}

pub(super) const fn factor(factor: f64) -> Option<Text> {
    if factor.is_finite() && factor >= 1.0 {
        return None;
    }
    let text = say("`factor` (calls per accepted call) must be finite and at least 1, but is ")
        .float(factor);
    Some(text.push("; write `factor(2.0)`"))
}

pub(super) const fn ceiling(ceiling: f64) -> Option<Text> {
    if ceiling > 0.0 && ceiling <= 1.0 {
        return None;
    }
    let text =
        say("`ceiling` must be a share of the calls above 0.0 up to 1.0, but is ").float(ceiling);
    Some(text.push("; write `ceiling(0.8)`"))
}

pub(super) const fn min_requests(requests: u32) -> Option<Text> {
    if requests > 0 {
        return None;
    }
    Some(say(
        "`min_requests` must be at least 1, but is 0 (below that many requests the throttle refuses none); write `min_requests(10)`",
    ))
}

pub(super) const fn window(window: Duration) -> Option<Text> {
    if !is_shorter(window, Duration::from_secs(1)) && !is_shorter(LONGEST, window) {
        return None;
    }
    let text = say("`window` must be from 1s to 24h, but is ").duration(window, "");
    Some(text.push("; write `window(Duration::from_secs(120))`"))
}

pub(super) const fn rate(calls: u32, per: Duration) -> Option<Text> {
    if calls == 0 || calls > 100_000 {
        let text = say("`rate` must let 1 to 100,000 calls begin in a period, but its number is ")
            .number(calls as u64);
        return Some(text.push("; write `rate(50, Duration::from_secs(1))`"));
    }
    if !is_shorter(per, Duration::from_millis(1)) && !is_shorter(LONGEST, per) {
        return None;
    }
    let text = say("the period of `rate` must be from 1ms to 24h, but is ").duration(per, "");
    Some(text.push("; write `rate(50, Duration::from_secs(1))`"))
}

pub(super) const fn max_wait(wait: Duration, least: Duration) -> Option<Text> {
    if !is_shorter(wait, least) && !is_shorter(LONGEST, wait) {
        return None;
    }
    let text = say("`max_wait` must be from ").duration(least, "");
    let text = text.push(" to 24h, but is ").duration(wait, "");
    Some(text.push("; write `max_wait(Duration::from_secs(60))`"))
}

pub(super) const fn only_adaptive(setting: &str) -> Text {
    Text::new().key(setting).push(
        " is for `Throttle::adaptive()`, and the only setting of `Throttle::cubic()` and `Throttle::rate()` is `max_wait`; drop one of the two",
    )
}

pub(super) const fn not_adaptive(setting: &str) -> Text {
    Text::new().key(setting).push(
        " is for `Throttle::cubic()` and `Throttle::rate()`, and `Throttle::adaptive()` makes no call wait; drop one of the two",
    )
}

//! How the numbers are shown, and whether they keep a promise.

use std::error::Error;

/// What `ours` may cost.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    Nothing,
    AtMost(f64),
    OverBare(f64),
    OverHand(f64),
    TimesHand(f64),
}

pub(crate) type Number = Result<f64, Box<dyn Error>>;

/// The numbers of a row; no `bare` where there is nothing to compare with.
pub(crate) struct Numbers {
    pub(crate) bare: Option<f64>,
    pub(crate) hand: f64,
    pub(crate) ours: f64,
}

impl Bound {
    /// The limit, and how it comes about.
    fn limit(self, numbers: &Numbers) -> Option<(f64, String)> {
        match self {
            Self::Nothing => None,
            Self::AtMost(limit) => Some((limit, String::new())),
            Self::OverBare(more) => numbers
                .bare
                .map(|bare| (bare + more, format!(" (bare + {more})"))),
            Self::OverHand(0.0) => Some((numbers.hand, " (hand)".to_owned())),
            Self::OverHand(more) => Some((numbers.hand + more, format!(" (hand + {more})"))),
            Self::TimesHand(times) => Some((numbers.hand * times, format!(" (hand * {times})"))),
        }
    }
}

pub(crate) fn heading(title: &str) {
    println!(
        "\n{title:<46} {:>9} {:>9} {:>9}  promised",
        "bare", "hand", "ours"
    );
}

pub(crate) fn row(title: &str, numbers: &Numbers, bound: Bound) {
    let bare = numbers.bare.map_or_else(|| "-".to_owned(), short);
    let (hand, ours) = (short(numbers.hand), short(numbers.ours));
    let promise = bound
        .limit(numbers)
        .map_or_else(String::new, |(limit, origin)| {
            // Less than what is shown is no difference.
            let kept = numbers.ours < limit + 0.05;
            let word = if kept { "ok  " } else { "OVER" };
            format!("{word} <= {}{origin}", short(limit))
        });
    println!(
        "{}",
        format!("{title:<46} {bare:>9} {hand:>9} {ours:>9}  {promise}").trim_end()
    );
}

/// One decimal, where there is one.
fn short(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

//! How the numbers are shown, and whether they keep a promise.

use std::error::Error;

/// What `ours` may cost, or has to reach.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    Nothing,
    AtMost(f64),
    OverBare(f64),
    OverHand(f64),
    TimesHand(f64),
}

pub(crate) type Number = Result<f64, Box<dyn Error>>;

/// What `ours` is compared with.
pub(crate) type Columns = [&'static str; 2];

pub(crate) const BY_HAND: Columns = ["bare", "hand"];

/// The numbers of a row; no first one where there is nothing to compare with.
pub(crate) struct Numbers {
    pub(crate) bare: Option<f64>,
    pub(crate) hand: f64,
    pub(crate) ours: f64,
}

impl Bound {
    /// The limit, and how it comes about.
    pub(crate) fn limit(self, numbers: &Numbers, [bare, hand]: Columns) -> Option<(f64, String)> {
        match self {
            Self::Nothing => None,
            Self::AtMost(limit) => Some((limit, String::new())),
            Self::OverBare(more) => numbers
                .bare
                .map(|number| (number + more, format!(" ({bare} + {more})"))),
            Self::OverHand(0.0) => Some((numbers.hand, format!(" ({hand})"))),
            Self::OverHand(more) => Some((numbers.hand + more, format!(" ({hand} + {more})"))),
            Self::TimesHand(times) => Some((numbers.hand * times, format!(" ({hand} * {times})"))),
        }
    }
}

/// Whether a limit is kept. Less than what is shown is no difference.
fn judge(ours: f64, limit: f64) -> &'static str {
    if ours < limit + 0.05 {
        "ok   <="
    } else {
        "OVER <="
    }
}

pub(crate) fn heading(title: &str, [bare, hand]: Columns) {
    println!("\n{title:<46} {bare:>9} {hand:>9} {:>9}  promised", "ours");
}

pub(crate) fn row(title: &str, columns: Columns, numbers: &Numbers, bound: Bound) {
    let bare = numbers.bare.map_or_else(|| "-".to_owned(), short);
    let (hand, ours) = (short(numbers.hand), short(numbers.ours));
    let promise = bound
        .limit(numbers, columns)
        .map_or_else(String::new, |(limit, origin)| {
            let word = judge(numbers.ours, limit);
            format!("{word} {}{origin}", short(limit))
        });
    println!(
        "{}",
        format!("{title:<46} {bare:>9} {hand:>9} {ours:>9}  {promise}").trim_end()
    );
}

/// One decimal, where there is one.
pub(crate) fn short(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

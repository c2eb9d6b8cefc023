//! The figures that have to come out, and whether they did.

use std::fmt;

/// What is expected of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected {
    /// This, give or take a share of it.
    Near {
        /// The number.
        value: f64,
        /// The largest difference, as a share of it.
        share: f64,
    },
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// In this range, its ends included.
    Between(f64, f64),
    /// It never happens: no number.
    Never,
}

/// One figure: of the specification (Q) or of the documentation (T).
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its number, such as `Q1`.
    pub id: &'static str,
    /// Of what it is.
    pub case: String,
    /// What has to come out.
    pub expected: Expected,
    /// What came out; nothing where it never happened.
    pub came_out: Option<f64>,
}

impl Figure {
    /// A figure that came out as a number.
    pub const fn new(id: &'static str, case: String, expected: Expected, came_out: f64) -> Self {
        Self {
            id,
            case,
            expected,
            came_out: Some(came_out),
        }
    }

    /// Whether what came out is what is expected.
    pub fn is_met(&self) -> bool {
        let Some(number) = self.came_out else {
            return self.expected == Expected::Never;
        };
        // What is less than a float can tell apart is no difference.
        let slack = 1e-12;
        match self.expected {
            Expected::Near { value, share } => (number - value).abs() <= value.abs() * share,
            Expected::AtMost(limit) => number <= limit + slack,
            Expected::AtLeast(limit) => number >= limit - slack,
            Expected::Between(low, high) => number >= low - slack && number <= high + slack,
            Expected::Never => false,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Near { value, share: 0.0 } => write!(f, "{}", Short(value)),
            Self::Near { value, share } => {
                write!(f, "{} +/- {} %", Short(value), Short(share * 100.0))
            }
            Self::AtMost(limit) => write!(f, "<= {}", Short(limit)),
            Self::AtLeast(limit) => write!(f, ">= {}", Short(limit)),
            Self::Between(low, high) => write!(f, "{} to {}", Short(low), Short(high)),
            Self::Never => f.write_str("never"),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let came_out = self
            .came_out
            .map_or_else(|| "never".to_owned(), |number| Short(number).to_string());
        let word = if self.is_met() { "ok" } else { "NOT MET" };
        let expected = self.expected.to_string();
        let Self { id, case, .. } = self;
        write!(f, "{id:<3} {case:<62} {expected:<16} {came_out:>9}  {word}")
    }
}

/// The line over the figures.
pub fn heading() -> String {
    format!(
        "{:<3} {:<62} {:<16} {:>9}  ok",
        "", "figure", "expected", "came out"
    )
}

/// At most four decimals, none that say nothing.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.4}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(text)
    }
}

/// For the tests of the scenarios.
#[cfg(test)]
pub(crate) fn assert_met(figures: &[Figure]) {
    assert!(!figures.is_empty());
    for figure in figures {
        assert!(figure.is_met(), "{figure}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(expected: Expected, came_out: impl Into<Option<f64>>) -> bool {
        let figure = Figure {
            id: "Q",
            case: String::new(),
            expected,
            came_out: came_out.into(),
        };
        figure.is_met()
    }

    #[test]
    fn what_is_outside_is_not_met() {
        let near = Expected::Near {
            value: 100.0,
            share: 0.02,
        };
        assert!(met(near, 98.0) && met(near, 102.0));
        assert!(!met(near, 97.9) && !met(near, 102.1) && !met(near, f64::NAN));
        assert!(!met(near, None));
        assert!(met(Expected::AtMost(1.1), 1.1) && !met(Expected::AtMost(1.1), 1.1001));
        assert!(met(Expected::AtLeast(0.999), 0.999) && !met(Expected::AtLeast(0.999), 0.9989));
        assert!(met(Expected::Between(1.0, 2.0), 1.5));
        assert!(!met(Expected::Between(1.0, 2.0), 0.9) && !met(Expected::Between(1.0, 2.0), 2.1));
        assert!(met(Expected::Never, None) && !met(Expected::Never, 600.0));
    }

    #[test]
    fn numbers_are_short() {
        let text = |number| Short(number).to_string();
        assert_eq!(text(1.0), "1");
        assert_eq!(text(795.126_78), "795.1268");
        assert_eq!(text(1.1), "1.1");
        assert_eq!(text(100.0), "100");
    }
}

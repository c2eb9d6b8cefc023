//! A bar on the terminal of standard error, when it takes long enough to wonder.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// What is done by then needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A thousandth is a step.
const STEPS: u64 = 1000;

/// How far all runs together have come.
#[derive(Debug)]
pub(super) struct Progress {
    started: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn begin() -> Self {
        Self {
            started: Instant::now(),
            wanted: std::io::stderr().is_terminal(),
            bar: None,
        }
    }

    /// This part of the run `name` is done.
    pub(super) fn report(&mut self, name: &'static str, part: f64) {
        if !self.wanted || self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{msg:22} {wide_bar} {percent:>3} %");
            let bar = ProgressBar::new(STEPS);
            if let Ok(style) = style {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(name);
        bar.set_position(steps(part));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of a thousand"
)]
fn steps(part: f64) -> u64 {
    (part.clamp(0.0, 1.0) * STEPS as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stay_on_the_bar() {
        let parts = [-1.0, 0.0, 0.25, 1.0, 7.0, f64::NAN].map(steps);
        assert_eq!(parts, [0, 0, 250, 1000, 1000, 0]);
    }
}

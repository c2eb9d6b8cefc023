//! The size of an adaptive bulkhead: what the times of answers say about it.
//!
//! Each window moves it by a gradient, as in TCP Vegas. How far times may be off follows from their
//! spread in the window. The best time is measured with half of the slots, and with half of these
//! while that helps.
#![warn(clippy::arithmetic_side_effects)]

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;
use std::sync::{Mutex, PoisonError};

/// Answers that are looked at together, at least.
const WINDOW: u32 = 50;
/// How much longer than the best time answers may take before the size is too large.
const TOLERANCE: f64 = 1.3;
/// The share of the slots that it tries beyond those that the times allow; it tries one at least.
const HEADROOM: f64 = 0.1;
/// Windows after which the best time is measured again.
const PROBE_AFTER: u32 = 30;
/// The size to begin with.
const START: u32 = 20;

#[derive(Debug)]
pub(super) struct Adaptive {
    /// What the slots are compared with. Relaxed: it is a number by itself.
    limit: AtomicU32,
    /// Whether a call was refused in this window.
    has_refused: AtomicBool,
    least: u32,
    most: u32,
    size: Mutex<Size>,
}

/// How an attempt ended, as far as it says something about the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The service answered after this time.
    Answered(Duration),
    /// It throttled the call.
    Throttled,
    /// It had not answered after this time.
    TimedOut(Duration),
}

#[derive(Debug)]
struct Size {
    /// How many may run, with the fraction that is on its way to the next one.
    slots: f64,
    /// Seconds that an answer takes where nothing waits for another.
    best: Option<f64>,
    window: Window,
    /// Answers that are not counted: those of attempts that began under another size.
    skipped: u32,
    /// Windows since the best time was measured.
    age: u32,
    /// The size when it was.
    measured_at: f64,
    /// The slots with which it is measured now.
    probe: Option<u32>,
}

#[derive(Debug)]
struct Window {
    answers: u32,
    seconds: f64,
    /// The sum of the squares of the times.
    squares: f64,
    overloads: u32,
    /// The most attempts that ran together.
    peak: u32,
}

impl Window {
    const EMPTY: Self = Self {
        answers: 0,
        seconds: 0.0,
        squares: 0.0,
        overloads: 0,
        peak: 0,
    };

    /// Returns what an answer took; no service answers within a microsecond.
    fn mean(&self) -> f64 {
        (self.seconds / f64::from(self.answers.max(1))).max(1e-6)
    }

    /// Returns whether clearly more than a tenth of the attempts met too much load.
    fn is_overloaded(&self) -> bool {
        let ended = f64::from(self.answers.saturating_add(self.overloads));
        f64::from(self.overloads) * 10.0 > ended + 2.0 * ended.sqrt()
    }

    /// Returns by how much of itself the mean is off: its standard error.
    fn noise(&self) -> f64 {
        let (mean, answers) = (self.mean(), f64::from(self.answers.max(1)));
        let variance = (self.squares / answers - mean * mean).max(0.0);
        (variance / answers).sqrt() / mean
    }
}

impl Adaptive {
    pub(super) const fn new(least: u32, most: u32) -> Self {
        let start = if START < least { least } else { START };
        let start = if start < most { start } else { most };
        Self {
            limit: AtomicU32::new(start),
            has_refused: AtomicBool::new(false),
            least,
            most,
            size: Mutex::new(Size {
                slots: start as f64,
                best: None,
                window: Window::EMPTY,
                // The first answers are the short ones.
                skipped: start.saturating_mul(3),
                age: PROBE_AFTER,
                measured_at: start as f64,
                probe: None,
            }),
        }
    }

    pub(super) fn limit(&self) -> u32 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Notes that a call was refused.
    pub(super) fn refused(&self) {
        self.has_refused.store(true, Ordering::Relaxed);
    }

    /// Learns from an attempt that ended while so many ran, itself among them.
    pub(super) fn learn(&self, ended: Ended, running: u32) {
        // Nothing panics while it is held: a poisoned lock keeps nothing that is half done.
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        size.window.peak = size.window.peak.max(running);
        if size.counts(ended) {
            let has_refused = self.has_refused.swap(false, Ordering::Relaxed);
            size.close_window(f64::from(self.least), f64::from(self.most), has_refused);
            self.limit.store(size.limit(), Ordering::Relaxed);
        }
    }
}

impl Size {
    /// Counts an attempt that has ended. Returns whether the window is full.
    fn counts(&mut self, ended: Ended) -> bool {
        // An attempt that had hardly begun when its deadline ended it says nothing.
        let is_short =
            |time: Duration| (self.best).is_some_and(|best| time.as_secs_f64() < 2.0 * best);
        match ended {
            Ended::TimedOut(time) if is_short(time) => return false,
            _ if self.skipped > 0 => {
                self.skipped = self.skipped.saturating_sub(1);
                return false;
            }
            Ended::Throttled | Ended::TimedOut(_) => {
                self.window.overloads = self.window.overloads.saturating_add(1);
            }
            Ended::Answered(time) => {
                self.window.answers = self.window.answers.saturating_add(1);
                let seconds = time.as_secs_f64();
                self.window.seconds += seconds;
                self.window.squares += seconds * seconds;
            }
        }
        let ended = self.window.answers.saturating_add(self.window.overloads);
        ended >= WINDOW && f64::from(ended) >= self.slots
    }

    fn close_window(&mut self, least: f64, most: f64, has_refused: bool) {
        let window = core::mem::replace(&mut self.window, Window::EMPTY);
        if window.is_overloaded() {
            // As in congestion control: times say nothing where there are hardly any answers.
            self.slots = (self.slots * 0.7).max(least);
            return self.go_on_with(None);
        }
        let mean = window.mean();
        let best = self.best.unwrap_or(mean);
        if let Some(probe) = self.probe {
            return self.measured(probe, best, mean, least);
        }
        let best = if mean < best {
            best + (mean - best) * 0.1
        } else {
            best
        };
        self.best = Some(best);
        self.age = self.age.saturating_add(1);
        self.resize(best, &window);
        self.slots = self.slots.clamp(least, most);
        let is_other = self.slots <= self.measured_at * 0.7 || self.slots >= self.measured_at * 2.0;
        if self.age < PROBE_AFTER && !is_other {
            return;
        }
        if has_refused {
            self.go_on_with(Some((self.slots / 2.0).max(least)));
        } else {
            // There were slots for all: with fewer of them, a service that is well would lose calls.
            self.is_measured(f64::midpoint(best, mean));
        }
    }

    /// Goes on with so many slots, or with all; the answers of attempts that have begun before are not counted.
    fn go_on_with(&mut self, probe: Option<f64>) {
        self.skipped = whole(self.slots);
        self.probe = probe.map(whole);
    }

    /// Learns the best time from a window with fewer slots. Where that was much better, still fewer may be.
    fn measured(&mut self, probe: u32, best: f64, mean: f64, least: f64) {
        let (probe, is_better) = (f64::from(probe), mean < best * 0.8);
        // Else half of each, because the mean of so few is off by a tenth. A longer time is that of a service that has
        // become slower.
        self.is_measured(if is_better {
            mean
        } else {
            f64::midpoint(best, mean)
        });
        let is_halved = is_better && probe > least;
        self.go_on_with(is_halved.then(|| (probe / 2.0).max(least)));
    }

    /// Takes this for the best time.
    const fn is_measured(&mut self, best: f64) {
        self.best = Some(best);
        self.age = 0;
        self.measured_at = self.slots;
    }

    fn resize(&mut self, best: f64, window: &Window) {
        let (mean, tolerance) = (window.mean(), TOLERANCE + 2.0 * window.noise());
        let gradient = (best * tolerance / mean).clamp(0.5, 1.0);
        let mut next = self.slots * gradient + (self.slots * HEADROOM).max(1.0);
        if mean < best * 1.1 {
            next = next.max(self.slots * 1.5);
        }
        // Slots that nobody uses say nothing about more of them.
        if next > self.slots && f64::from(window.peak) < f64::from(whole(self.slots)) * 0.8 {
            return;
        }
        self.slots = f64::midpoint(self.slots, next);
    }

    fn limit(&self) -> u32 {
        self.probe.unwrap_or_else(|| whole(self.slots))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at least 1, and at most the largest limit"
)]
const fn whole(size: f64) -> u32 {
    size as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size() -> Size {
        let size = Adaptive::new(1, 1000).size;
        size.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// A window of answers that took so many milliseconds.
    fn window(times: &[u64]) -> Window {
        let mut size = size();
        (size.skipped, size.slots) = (0, 1000.0);
        for time in times {
            assert!(!size.counts(Ended::Answered(Duration::from_millis(*time))));
        }
        size.window.peak = 1000;
        size.window
    }

    #[test]
    fn the_noise_is_the_standard_error_of_the_mean() {
        // The mean is 50 ms and the standard deviation 10 ms: of 100 such answers the mean is off by 1 ms.
        let noise = window(&[40, 60].repeat(50)).noise();
        assert!((noise - 0.02).abs() < 1e-9, "{noise}");
        let noise = window(&[50; 100]).noise();
        assert!(noise < 1e-6, "{noise}");
    }

    /// More than a tenth, by two standard deviations.
    #[test]
    fn a_few_overloads_are_chance() {
        for (answers, overloads, is_overloaded) in [(88, 12, false), (87, 13, true)] {
            let window = Window {
                answers,
                overloads,
                ..Window::EMPTY
            };
            assert_eq!(window.is_overloaded(), is_overloaded, "{overloads} of 100");
        }
    }

    #[test]
    fn answers_in_the_best_time_make_it_half_as_large_again() {
        let mut size = size();
        size.slots = 100.0;
        size.resize(0.05, &window(&[50; 100]));
        // It goes half of the way.
        assert!((size.slots - 125.0).abs() < 0.01, "{size:?}");
    }

    /// 1.3 times as long as the best time is tolerated; twice the noise is added to that.
    #[test]
    fn answers_that_take_longer_shrink_it_by_as_much() {
        for (times, share) in [
            (vec![60; 100], 1.0),
            (vec![65; 100], 1.0),
            (vec![100; 100], 0.65),
            ([80, 120].repeat(50), 0.67),
            (vec![1000; 100], 0.5),
        ] {
            let mut size = size();
            size.slots = 100.0;
            size.resize(0.05, &window(&times));
            // A tenth more is tried, and it goes half of the way.
            let expected = f64::midpoint(100.0, 100.0 * share + 10.0);
            assert!((size.slots - expected).abs() < 0.01, "{times:?} {size:?}");
        }
    }

    #[test]
    fn where_fewer_slots_help_still_fewer_are_tried() {
        for (probe, mean, next, best) in [
            (40, 0.030, Some(20), 0.030),
            (12, 0.030, Some(8), 0.030),
            (8, 0.030, None, 0.030),
            (40, 0.045, None, 0.0475),
            (40, 0.070, None, 0.060),
        ] {
            let mut size = size();
            size.measured(probe, 0.050, mean, 8.0);
            assert_eq!(size.probe, next, "{probe} {mean}");
            let learned = size.best.expect("it is measured");
            assert!((learned - best).abs() < 1e-9, "{probe} {mean}: {learned}");
        }
    }

    /// The size before a window of 100 answers that took so many milliseconds each, and what it is afterwards.
    struct Step {
        slots: f64,
        best: Option<f64>,
        age: u32,
        measured_at: f64,
        probe: Option<u32>,
        millis: u64,
        has_refused: bool,
        after: (f64, f64, u32, Option<u32>, u32),
    }

    const CALM: Step = Step {
        slots: 100.0,
        best: Some(0.05),
        age: 0,
        measured_at: 100.0,
        probe: None,
        millis: 50,
        has_refused: true,
        after: (125.0, 0.05, 1, None, 0),
    };

    /// What is left is the number of slots, the best time, the windows since it was measured, the slots with which it is
    /// measured, and how many answers are not counted.
    #[test]
    #[rustfmt::skip]
    fn each_window_moves_it_by_a_step() {
        let steps = [
            CALM,
            // What is not known yet is the time of this window.
            Step { best: None, ..CALM },
            // A better time counts for a tenth.
            Step { best: Some(0.1), after: (125.0, 0.095, 1, None, 0), ..CALM },
            Step { millis: 200, after: (80.0, 0.05, 1, None, 0), ..CALM },
            // Within the bounds, which are 2 and 1000.
            Step { slots: 900.0, measured_at: 900.0, after: (1000.0, 0.05, 1, None, 0), ..CALM },
            Step { slots: 2.0, measured_at: 2.0, millis: 5000, after: (2.0, 0.05, 1, None, 0), ..CALM },
            // It is measured anew after thirty windows, with half of the slots, or as soon as the size is another one.
            Step { age: 28, after: (125.0, 0.05, 29, None, 0), ..CALM },
            Step { age: 29, after: (125.0, 0.05, 30, Some(62), 125), ..CALM },
            Step { measured_at: 62.5, after: (125.0, 0.05, 1, Some(62), 125), ..CALM },
            Step { measured_at: 62.6, ..CALM },
            Step { measured_at: 120.0, ..CALM },
            Step { slots: 87.5, millis: 200, after: (70.0, 0.05, 1, Some(35), 70), ..CALM },
            Step { slots: 87.5, measured_at: 99.9, millis: 200, after: (70.0, 0.05, 1, None, 0), ..CALM },
            Step { slots: 2.0, measured_at: 200.0, after: (2.5, 0.05, 1, Some(2), 2), ..CALM },
            // Where nobody was refused, by what is known.
            Step { age: 29, has_refused: false, millis: 60, after: (105.0, 0.055, 0, None, 0), ..CALM },
            // A probe that helps is halved, down to the fewest slots.
            Step { probe: Some(50), millis: 39, after: (100.0, 0.039, 0, Some(25), 100), ..CALM },
            Step { probe: Some(50), millis: 40, after: (100.0, 0.045, 0, None, 100), ..CALM },
            Step { probe: Some(2), millis: 39, after: (100.0, 0.039, 0, None, 100), ..CALM },
        ];
        for (number, step) in steps.into_iter().enumerate() {
            let mut size = Size {
                slots: step.slots,
                best: step.best,
                window: window(&[step.millis; 100]),
                skipped: 0,
                age: step.age,
                measured_at: step.measured_at,
                probe: step.probe,
            };
            size.close_window(2.0, 1000.0, step.has_refused);
            let (slots, best, age, probe, skipped) = step.after;
            let is_close = |a: f64, b: f64| (a - b).abs() < 1e-6;
            let is_learned = size.best.is_some_and(|it| is_close(it, best));
            assert!(is_learned && is_close(size.slots, slots), "{number}: {size:?}");
            assert_eq!((size.age, size.probe, size.skipped), (age, probe, skipped), "{number}: {size:?}");
            let measured_at = if age == 0 { size.slots } else { step.measured_at };
            assert!(is_close(size.measured_at, measured_at), "{number}: {size:?}");
            assert_eq!(size.window.answers, 0, "{number}");
        }
    }

    #[test]
    fn an_overload_takes_three_tenths_of_the_slots() {
        for (slots, after, skipped) in [(100.0, 70.0, 70), (2.5, 2.0, 2)] {
            let mut size = size();
            (size.slots, size.probe) = (slots, Some(1));
            size.window.overloads = 50;
            size.close_window(2.0, 1000.0, true);
            assert!((size.slots - after).abs() < 1e-9, "{size:?}");
            assert_eq!((size.probe, size.best, size.skipped), (None, None, skipped));
        }
    }

    /// A window has fifty attempts, and as many as there are slots. An attempt that was cut off before twice the best time says
    /// nothing, and neither do those that began under another size.
    #[test]
    fn a_window_is_full_with_as_many_as_there_are_slots() {
        const TENTH: Duration = Duration::from_millis(100);
        for (slots, full) in [(1.0, 50), (50.0, 50), (50.5, 51), (60.0, 60)] {
            for ended in [
                Ended::Answered(TENTH),
                Ended::Throttled,
                Ended::TimedOut(TENTH),
            ] {
                let mut size = size();
                (size.slots, size.skipped, size.best) = (slots, 3, Some(0.05));
                let short = Ended::TimedOut(Duration::from_nanos(99_999_999));
                assert!((0..100).all(|_| !size.counts(short)), "{slots}");
                let count = (1..200).find(|_| size.counts(ended));
                assert_eq!(count, Some(3 + full), "{slots} {ended:?}");
                assert_eq!(size.window.answers + size.window.overloads, full, "{slots}");
            }
        }
    }
}

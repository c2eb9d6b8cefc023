//! The outcomes of the calls of a fake service.

use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use reattempt_core::watch;

use super::script::{self, Run};

/// The outcome of each call of a fake service: success, or an error.
///
/// The fake calls [`check`](Self::check) first. After the end of a script its last entry repeats:
/// `"fail, ok"` fails once, `"ok, fail"` succeeds once. Tasks and threads can share a plan; they
/// get its entries in the order of their calls.
///
/// # Examples
///
/// ```
/// use reattempt::testing::FaultPlan;
///
/// let faults = FaultPlan::script("fail x2, ok", || "busy");
/// assert_eq!(faults.check(), Err("busy"));
/// assert_eq!(faults.check(), Err("busy"));
/// assert_eq!(faults.check(), Ok(()));
/// assert_eq!(faults.calls(), 3);
///
/// let faults = FaultPlan::from([Err("reset"), Ok(()), Err("gone")]);
/// assert_eq!([(); 4].map(|()| faults.check()), [Err("reset"), Ok(()), Err("gone"), Err("gone")]);
/// ```
pub struct FaultPlan<E> {
    entries: Vec<Entry<E>>,
    calls: AtomicUsize,
}

struct Entry<E> {
    calls: usize,
    /// Makes the error; `None` where the calls succeed.
    fault: Option<Make<E>>,
}

type Make<E> = Arc<dyn Fn() -> E + Send + Sync>;

impl<E> FaultPlan<E> {
    /// Reads a script: `fail` and `ok`, separated by commas, each with a count if need be, as in
    /// `fail x3, ok`.
    ///
    /// # Units and ranges
    ///
    /// An entry with the count `x0` is skipped.
    ///
    /// # Panics
    ///
    /// Panics if the text is not a script; the message says why.
    #[track_caller]
    #[expect(clippy::panic, reason = "documented")]
    pub fn script(text: &str, fault: impl Fn() -> E + Send + Sync + 'static) -> Self {
        let fault: Make<E> = Arc::new(fault);
        let entry = |run: Run| Entry {
            calls: run.calls,
            fault: run.fails.then(|| Arc::clone(&fault)),
        };
        match script::parse(text) {
            Ok(runs) => Self::new(runs.into_iter().map(entry).collect()),
            Err(mistake) => panic!("{mistake}; the script is `{text}`"),
        }
    }

    /// Returns a plan under which every call fails.
    pub fn always(fault: impl Fn() -> E + Send + Sync + 'static) -> Self {
        Self::new(vec![Entry::failing(fault)])
    }

    /// Returns a plan under which no call fails.
    pub fn never() -> Self {
        Self::new(vec![Entry::succeeding(1)])
    }

    /// Returns a plan under which so many calls succeed, and all later calls fail.
    pub fn after(successes: usize, fault: impl Fn() -> E + Send + Sync + 'static) -> Self {
        Self::new(vec![Entry::succeeding(successes), Entry::failing(fault)])
    }

    /// Returns a plan under which the call with this number fails, and all others succeed.
    ///
    /// # Units and ranges
    ///
    /// Calls are counted from 1; with 0 no call fails.
    pub fn at(call: usize, fault: impl Fn() -> E + Send + Sync + 'static) -> Self {
        let Some(before) = call.checked_sub(1) else {
            return Self::never();
        };
        Self::after(before, fault).then(Self::never())
    }

    /// Returns these entries once, then the entries of `next`. Neither plan has been checked yet.
    ///
    /// `always` and `never` are one entry each.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::testing::FaultPlan;
    ///
    /// let faults = FaultPlan::script("fail", || "reset").then(FaultPlan::always(|| "gone"));
    /// assert_eq!([(); 3].map(|()| faults.check()), [Err("reset"), Err("gone"), Err("gone")]);
    /// ```
    #[must_use]
    pub fn then(mut self, next: Self) -> Self {
        self.entries.extend(next.entries);
        self
    }

    /// Returns the outcome of the next call.
    ///
    /// # Errors
    ///
    /// Returns the error of the plan, where the call fails.
    pub fn check(&self) -> Result<(), E> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.at_call(call).and_then(|entry| entry.fault.as_ref()) {
            Some(fault) => Err(fault()),
            None => Ok(()),
        }
    }

    /// Returns how often [`check`](Self::check) was called.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn new(entries: Vec<Entry<E>>) -> Self {
        watch::set(watch::FAULTS);
        Self {
            entries,
            calls: AtomicUsize::new(0),
        }
    }

    fn at_call(&self, mut call: usize) -> Option<&Entry<E>> {
        for entry in &self.entries {
            match call.checked_sub(entry.calls) {
                Some(rest) => call = rest,
                None => return Some(entry),
            }
        }
        self.entries.iter().rfind(|entry| entry.calls > 0)
    }
}

impl<E> Entry<E> {
    fn failing(fault: impl Fn() -> E + Send + Sync + 'static) -> Self {
        Self {
            calls: 1,
            fault: Some(Arc::new(fault)),
        }
    }

    const fn succeeding(calls: usize) -> Self {
        Self { calls, fault: None }
    }
}

/// One call each; the last one repeats.
impl<E: Clone + Send + Sync + 'static, const N: usize> From<[Result<(), E>; N]> for FaultPlan<E> {
    fn from(results: [Result<(), E>; N]) -> Self {
        const { assert!(N > 0, "a fault script needs at least one call") };
        let entry = |result: Result<(), E>| match result {
            Ok(()) => Entry::succeeding(1),
            Err(error) => Entry::failing(move || error.clone()),
        };
        Self::new(results.into_iter().map(entry).collect())
    }
}

impl<E> fmt::Debug for FaultPlan<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.entries.iter().map(|entry| Run {
            calls: entry.calls,
            fails: entry.fault.is_some(),
        });
        f.debug_struct("FaultPlan")
            .field("script", &script::text(runs))
            .field("calls", &self.calls())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn is_shared<T: Send + Sync>(_: &T) {}

    /// What the first calls do: `.` for a success.
    fn story(faults: &FaultPlan<char>) -> String {
        (0..6)
            .map(|_| faults.check().err().unwrap_or('.'))
            .collect()
    }

    #[test]
    fn every_kind() {
        let x = || 'x';
        for (faults, expected) in [
            (FaultPlan::script("fail, fail, ok", x), "xx...."),
            (FaultPlan::script("ok x2, fail, ok x0", x), "..xxxx"),
            (FaultPlan::always(x), "xxxxxx"),
            (FaultPlan::never(), "......"),
            (FaultPlan::after(3, x), "...xxx"),
            (FaultPlan::after(0, x), "xxxxxx"),
            (FaultPlan::at(1, x), "x....."),
            (FaultPlan::at(3, x), "..x..."),
            (FaultPlan::at(0, x), "......"),
            (FaultPlan::from([Err('a'), Ok(()), Err('b')]), "a.bbbb"),
            (
                FaultPlan::always(x).then(FaultPlan::from([Err('y')])),
                "xyyyyy",
            ),
        ] {
            is_shared(&faults);
            assert_eq!(story(&faults), expected, "{faults:?}");
            assert_eq!(faults.calls(), 6);
        }
    }

    #[test]
    #[should_panic(
        expected = "`nope` is not a word of a fault script; write `fail` or `ok`, with a count if need be: `fail x3`; the script is `fail, nope`"
    )]
    fn a_wrong_script() {
        drop(FaultPlan::script("fail, nope", || ()));
    }

    #[test]
    fn shows_its_script() {
        let faults = FaultPlan::after(3, || ());
        assert_eq!(
            format!("{faults:?}"),
            r#"FaultPlan { script: "ok x3, fail", calls: 0 }"#
        );
    }
}

//! All drivers against each other.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::num::NonZero;
use std::thread;

use crate::case::Case;
use crate::drivers::{self, Driver};
use crate::random::Random;
use crate::trace::Trace;

/// What drivers are compared with.
struct Comparison<'d> {
    cutting: &'d Driver,
    enduring: &'d Driver,
    /// What these did with parts of the case at hand.
    known: Vec<(&'static str, Case, Trace)>,
}

/// The part of a case about which two drivers do not agree, and what they did.
type Disagreement = Box<(Case, String)>;

impl Comparison<'_> {
    fn compare(&mut self, driver: &Driver, case: &Case) -> Result<(), Disagreement> {
        let mut part = driver.part_of(&self.cutting.part_of(case));
        if driver.endures() && self.trace(self.cutting, &part).has_cut {
            // A blocked thread has no part in tokio's time.
            if !part.tokio {
                self.same(self.enduring, driver, &part)?;
            }
            part.hurry();
        }
        self.same(self.cutting, driver, &part)
    }

    fn same(&mut self, model: &Driver, driver: &Driver, part: &Case) -> Result<(), Disagreement> {
        let expected = driver.shows(self.trace(model, part));
        let found = driver.shows(driver.run(part));
        if expected == found {
            return Ok(());
        }
        let [model, driver] = [model.name, driver.name];
        let report = format!(
            "{model}: {expected}\n{driver}: {found}\n{part:#?}\n{model}: {expected:?}\n{driver}: {found:?}"
        );
        Err(Box::new((part.clone(), report)))
    }

    fn trace(&mut self, model: &Driver, part: &Case) -> Trace {
        let is_known = |(name, case, _): &&(_, Case, _)| *name == model.name && case == part;
        if let Some((.., trace)) = self.known.iter().find(is_known) {
            return trace.clone();
        }
        let trace = model.run(part);
        self.known.push((model.name, part.clone(), trace.clone()));
        trace
    }

    /// The shortest script, made by dropping attempts and calls, about which this driver does not agree.
    fn shrink(&mut self, driver: &Driver, mut disagreement: Disagreement) -> Disagreement {
        loop {
            let case = &disagreement.0;
            let mut candidates = vec![case.clone(); case.acts.len() + 1];
            for (act, shorter) in candidates.iter_mut().enumerate() {
                if act < shorter.acts.len() {
                    shorter.acts.remove(act);
                } else {
                    shorter.calls = 1;
                }
            }
            candidates.retain(|candidate| candidate != case);
            let mut smaller = candidates.iter().map(|case| self.compare(driver, case));
            match smaller.find_map(Result::err) {
                Some(smaller) => disagreement = smaller,
                None => return disagreement,
            }
        }
    }
}

#[test]
fn all_drivers_agree() {
    let (seed, cases) = chosen(100_000);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for nth in 0..threads {
            let own = (0..cases).zip(seeds(seed)).skip(nth).step_by(threads);
            scope.spawn(move || agree(seed, own));
        }
    });
}

/// The seed and the number of cases, which is `usual` where nobody asks for another one.
pub(crate) fn chosen(usual: u64) -> (u64, u64) {
    let number = |variable| Some(std::env::var(variable).ok()?.parse().expect(variable));
    let drawn = || RandomState::new().build_hasher().finish();
    let seed = number("REATTEMPT_SEED").unwrap_or_else(drawn);
    let cases = number("REATTEMPT_CASES").unwrap_or(usual);
    println!("REATTEMPT_SEED={seed}, {cases} cases");
    (seed, cases)
}

/// The seeds of all cases.
pub(crate) fn seeds(seed: u64) -> impl Iterator<Item = u64> + Clone {
    let mut seeds = Random(seed);
    std::iter::repeat_with(move || seeds.next())
}

fn agree(seed: u64, cases: impl Iterator<Item = (u64, u64)>) {
    let drivers = drivers::all();
    let mut comparison = Comparison {
        cutting: drivers::named(&drivers, "`async fn`"),
        enduring: drivers::named(&drivers, "`fn`"),
        known: Vec::new(),
    };
    for (number, of_case) in cases {
        let case = Case::random(of_case);
        comparison.known.clear();
        for driver in drivers.iter().filter(|driver| driver.takes(&case)) {
            if let Err(disagreement) = comparison.compare(driver, &case) {
                let (_, report) = *comparison.shrink(driver, disagreement);
                panic!("REATTEMPT_SEED={seed}, case {number}\n{report}");
            }
        }
    }
}

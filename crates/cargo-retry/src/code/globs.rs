//! What `use path::*` brings: which modules are seen through which, worked out once for all names.

use super::modules::Code;
use super::modules::Meaning;
use super::names::{Search, is_of_ours};

/// A `*` that is found through a `*` of another module, and so on.
const ROUNDS: usize = 10;

impl Code {
    /// Finds the modules behind each `*`, again until nothing is new: the way to one may lead through another.
    pub(super) fn link(&mut self) {
        for _ in 0..ROUNDS {
            let modules = 0..self.modules.len();
            let behind: Vec<_> = modules.map(|module| self.behind(module)).collect();
            if behind == self.globs {
                return;
            }
            self.globs = behind;
        }
    }

    /// The modules behind the `*`s of one; of crates that are not read, ours.
    fn behind(&self, module: usize) -> Vec<Meaning> {
        let mut all = Vec::new();
        let uses = self.modules.get(module).into_iter().flat_map(|it| &it.uses);
        for it in uses.filter(|it| it.name.is_none()) {
            let mut found = Vec::new();
            self.follow(it, &[], module, &mut Search::default(), &mut found);
            for meaning in found {
                let is_kept = match &meaning {
                    Meaning::Module(_) => true,
                    // `use Kind::*` brings the variants of an enum, which are no functions.
                    Meaning::Item(..) => false,
                    // Whether a foreign module has a name is not known, unless it is ours.
                    Meaning::Foreign(package, _) => is_of_ours(package),
                };
                if is_kept && !all.contains(&meaning) {
                    all.push(meaning);
                }
            }
        }
        all
    }
}

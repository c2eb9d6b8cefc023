//! What a path means: a macro of ours, a module, a function, a constant.

use std::collections::HashSet;

use super::modules::{Code, Crate, Meaning};
use super::uses::Use;

/// The packages whose macros are meant.
const OURS: &[&str] = &["reattempt", "retry-macros"];

/// What has been looked up on the way, since modules may import from each other.
#[derive(Default)]
pub(super) struct Search {
    /// Modules and paths below them.
    seen: HashSet<(usize, Vec<String>)>,
    /// Each `use` that is being followed, by its address: none leads through itself.
    open: HashSet<*const Use>,
}

/// A path as written.
pub(crate) struct Path {
    pub(crate) segments: Vec<String>,
    /// Whether it begins with `::`.
    pub(crate) is_global: bool,
}

impl Path {
    pub(crate) fn of(path: &syn::Path) -> Self {
        use syn::ext::IdentExt as _;
        let segments = path.segments.iter().map(|it| it.ident.unraw().to_string());
        Self {
            segments: segments.collect(),
            is_global: path.leading_colon.is_some(),
        }
    }
}

impl Code {
    /// Whether a path is the macro `name` of ours, as seen from `module` and the `use`s in the blocks around.
    pub(crate) fn is_ours(&self, path: &Path, name: &str, module: usize, local: &[&Use]) -> bool {
        let meanings = self.meanings(path, module, local);
        let ours = |it: &Meaning| match it {
            Meaning::Foreign(package, rest) => {
                rest.last().is_some_and(|last| last == name)
                    && (OURS.contains(&package.as_str()) || rest.iter().any(|it| it == "reattempt"))
            }
            _ => false,
        };
        if meanings.iter().any(ours) {
            return true;
        }
        // Through a `*` of a crate that is not read.
        let is_hidden = path.segments.as_slice() == [name] && meanings.is_empty();
        is_hidden && self.may_be_ours(name, module)
    }

    /// Whether a crate can see our macros, and has none of this name itself.
    fn may_be_ours(&self, name: &str, module: usize) -> bool {
        let krate = self.krate(module);
        krate.is_some_and(|it| {
            let mut packages = it.externs.values();
            !it.macros.contains(name) && packages.any(|package| OURS.contains(&package.as_str()))
        })
    }

    /// Everything that a path may mean.
    pub(crate) fn meanings<'a>(
        &'a self,
        path: &Path,
        module: usize,
        local: &[&'a Use],
    ) -> Vec<Meaning> {
        if !local.is_empty() {
            return self.searched(path, module, local);
        }
        let asked = (module, path.is_global, path.segments.clone());
        if let Some(known) = self.answers.borrow().get(&asked) {
            return known.clone();
        }
        let found = self.searched(path, module, local);
        self.answers.borrow_mut().insert(asked, found.clone());
        found
    }

    fn searched<'a>(&'a self, path: &Path, module: usize, local: &[&'a Use]) -> Vec<Meaning> {
        let mut found = Vec::new();
        let mut search = Search::default();
        if path.is_global {
            self.of_crates(&path.segments, module, &mut search, &mut found);
            return found;
        }
        if let Some((first, rest)) = path.segments.split_first() {
            for it in local {
                if it.name.as_ref() == Some(first) {
                    self.follow(it, rest, module, &mut search, &mut found);
                } else if it.name.is_none() {
                    self.through_all(it, &path.segments, module, &mut search, &mut found);
                }
            }
        }
        if found.is_empty() {
            self.seen_from(&path.segments, module, &mut search, &mut found);
        }
        found
    }
}

impl<'a> Code {
    /// What a module is compiled into.
    fn krate(&self, module: usize) -> Option<&Crate> {
        let krate = self.modules.get(module)?.krate;
        self.crates.get(krate)
    }

    /// A path as it stands in a module.
    fn seen_from(
        &'a self,
        segments: &[String],
        module: usize,
        search: &mut Search,
        found: &mut Vec<Meaning>,
    ) {
        let Some((first, rest)) = segments.split_first() else {
            return;
        };
        let Some(here) = self.modules.get(module) else {
            return;
        };
        match first.as_str() {
            "crate" | "$crate" => {
                if let Some(krate) = self.crates.get(here.krate) {
                    self.inside(krate.root, rest, search, found);
                }
            }
            "self" => self.inside(module, rest, search, found),
            "super" => {
                if let Some(parent) = here.parent {
                    match rest.first() {
                        Some(next) if next == "super" => {
                            self.seen_from(rest, parent, search, found);
                        }
                        _ => self.inside(parent, rest, search, found),
                    }
                }
            }
            _ => {
                self.inside(module, segments, search, found);
                if found.is_empty() {
                    self.of_crates(segments, module, search, found);
                }
                // The macros of `#[macro_use] extern crate`, which are seen everywhere.
                if found.is_empty() && rest.is_empty() {
                    let root = self
                        .crates
                        .get(here.krate)
                        .and_then(|it| self.modules.get(it.root));
                    let everywhere = root.into_iter().flat_map(|root| &root.uses);
                    for it in everywhere.filter(|it| it.name.is_none() && it.is_global) {
                        self.follow(it, segments, module, search, found);
                    }
                }
            }
        }
    }

    /// A path that begins with the name of a crate.
    fn of_crates(
        &'a self,
        segments: &[String],
        module: usize,
        search: &mut Search,
        found: &mut Vec<Meaning>,
    ) {
        let Some((first, rest)) = segments.split_first() else {
            return;
        };
        let krate = self.krate(module);
        let Some(krate) = krate else { return };
        let package = match krate.externs.get(first) {
            Some(package) => package,
            // Macros name themselves and each other in full.
            None if OURS.iter().any(|it| it.replace('-', "_") == *first) => first,
            None if ["std", "core", "alloc"].contains(&first.as_str()) => first,
            None => return,
        };
        let is_ours = OURS.contains(&package.as_str());
        let library = self
            .crates
            .iter()
            .find(|it| it.package == *package && it.kind == "lib");
        match library.filter(|_| !is_ours) {
            Some(library) => self.inside(library.root, rest, search, found),
            None => found.push(Meaning::Foreign(package.clone(), rest.to_vec())),
        }
    }

    /// A path below a module.
    fn inside(
        &'a self,
        module: usize,
        segments: &[String],
        search: &mut Search,
        found: &mut Vec<Meaning>,
    ) {
        if !self.own(module, segments, search, found) {
            return;
        }
        let mut ways = vec![module];
        let mut seen = HashSet::from([module]);
        while let Some(behind) = ways.pop().and_then(|way| self.globs.get(way)) {
            for it in behind {
                let mut here = Vec::new();
                match it {
                    Meaning::Module(next)
                        if seen.insert(*next) && self.own(*next, segments, search, &mut here) =>
                    {
                        ways.push(*next);
                    }
                    Meaning::Foreign(package, above) => {
                        let path = [above.as_slice(), segments].concat();
                        here.push(Meaning::Foreign(package.clone(), path));
                    }
                    _ => {}
                }
                join(here, segments, found);
            }
        }
    }

    /// Without what comes through `*`; whether that is to be looked at, too.
    fn own(
        &'a self,
        module: usize,
        segments: &[String],
        search: &mut Search,
        found: &mut Vec<Meaning>,
    ) -> bool {
        let Some(here) = self.modules.get(module) else {
            return false;
        };
        if !search.seen.insert((module, segments.to_vec())) {
            return false;
        }
        let Some((first, rest)) = segments.split_first() else {
            found.push(Meaning::Module(module));
            return false;
        };
        for child in here.children.get(first).into_iter().flatten() {
            self.inside(*child, rest, search, found);
        }
        for it in here
            .uses
            .iter()
            .filter(|it| it.name.as_ref() == Some(first))
        {
            self.follow(it, rest, module, search, found);
        }
        if here.names.contains(first) {
            found.push(Meaning::Item(module, segments.to_vec()));
        }
        let is_module = here.children.contains_key(first)
            || here.uses.iter().any(|it| it.name.as_ref() == Some(first));
        // A name that is written out hides those behind `*`; of macros and functions there may be one more.
        found.is_empty() && (!is_module || rest.is_empty())
    }

    /// What a `use path::*` leads to.
    fn through_all(
        &'a self,
        it: &'a Use,
        segments: &[String],
        module: usize,
        search: &mut Search,
        found: &mut Vec<Meaning>,
    ) {
        let mut through = Vec::new();
        self.follow(it, segments, module, search, &mut through);
        join(through, segments, found);
    }

    /// What a `use` leads to, and `rest` below it.
    pub(super) fn follow(
        &'a self,
        it: &'a Use,
        rest: &[String],
        module: usize,
        search: &mut Search,
        found: &mut Vec<Meaning>,
    ) {
        let address = std::ptr::from_ref(it);
        if !search.open.insert(address) {
            return;
        }
        self.led(it, rest, module, search, found);
        search.open.remove(&address);
    }

    fn led(
        &'a self,
        it: &Use,
        rest: &[String],
        module: usize,
        search: &mut Search,
        found: &mut Vec<Meaning>,
    ) {
        let mut path = it.path.clone();
        path.extend_from_slice(rest);
        if it.is_global {
            return self.of_crates(&path, module, search, found);
        }
        let krate = self.krate(module);
        // `use retry::retry;` in a module that has the name `retry` from that very line means the crate.
        let is_itself = it.name.is_some() && it.name.as_ref() == it.path.first();
        if !is_itself {
            self.seen_from(&path, module, search, found);
        }
        if found.is_empty() {
            self.of_crates(&path, module, search, found);
        }
        if found.is_empty()
            && let Some(krate) = krate.filter(|it| it.is_2015)
        {
            self.inside(krate.root, &path, search, found);
        }
        if found.is_empty() && is_itself {
            let children = self
                .modules
                .get(module)
                .and_then(|it| it.children.get(it_first(&path)));
            for child in children.into_iter().flatten() {
                self.inside(*child, path.get(1..).unwrap_or_default(), search, found);
            }
        }
    }
}

/// What comes through a `*`, each once: the same is reached on many ways.
fn join(through: Vec<Meaning>, segments: &[String], found: &mut Vec<Meaning>) {
    for it in through {
        let is_kept = match &it {
            Meaning::Module(_) => true,
            // `use Kind::*` brings the variants of an enum, which are no functions.
            Meaning::Item(_, names) => names.len() <= segments.len(),
            // Whether a foreign module has this name is not known, unless it is ours.
            Meaning::Foreign(package, _) => is_of_ours(package),
        };
        if is_kept && !found.contains(&it) {
            found.push(it);
        }
    }
}

pub(super) fn is_of_ours(package: &str) -> bool {
    OURS.contains(&package)
}

fn it_first(path: &[String]) -> &str {
    path.first().map_or("", String::as_str)
}

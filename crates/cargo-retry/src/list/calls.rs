//! Which functions of the workspace a call means.

use std::collections::HashMap;

use super::sites::{Call, Callee, Node, Scope, Survey};
use super::types::Types;
use crate::code::Place;
use crate::code::modules::Code;
use crate::code::modules::Meaning;
use crate::code::names::Path;

/// Where each function stands that can be called.
pub(crate) struct Index<'a> {
    code: &'a Code,
    types: &'a Types,
    survey: &'a Survey,
    by_place: HashMap<&'a Place, Vec<usize>>,
    functions: HashMap<(usize, &'a str), Vec<usize>>,
    /// By type, and by trait.
    methods: HashMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(code: &'a Code, types: &'a Types, survey: &'a Survey) -> Self {
        let mut index = Self {
            code,
            types,
            survey,
            by_place: HashMap::new(),
            functions: HashMap::new(),
            methods: HashMap::new(),
        };
        for (number, node) in survey.nodes.iter().enumerate() {
            index.by_place.entry(&node.place).or_default().push(number);
            match &node.owner {
                None => index
                    .functions
                    .entry((node.module, node.name.as_str()))
                    .or_default()
                    .push(number),
                Some(owner) => {
                    for owner in [Some(owner), node.of_trait.as_ref()].into_iter().flatten() {
                        index
                            .methods
                            .entry((owner.as_str(), node.name.as_str()))
                            .or_default()
                            .push(number);
                    }
                }
            }
        }
        index
    }

    /// The functions that a call in `node` may mean.
    pub(crate) fn meant(&self, node: &Node, call: &Call) -> Vec<usize> {
        match &call.callee {
            Callee::Block(number) => vec![*number],
            Callee::Method(ty, name) => self.method(node, ty, name),
            Callee::Path(path) => self.path(node, path, &call.scope),
        }
    }

    fn path(&self, node: &Node, path: &Path, scope: &Scope) -> Vec<usize> {
        match path.segments.as_slice() {
            [name] if !path.is_global => {
                if let Some(place) = scope.function(name) {
                    return self.by_place.get(place).cloned().unwrap_or_default();
                }
            }
            [ty, name] if ty == "Self" => {
                return node
                    .owner
                    .as_ref()
                    .map_or_else(Vec::new, |owner| self.method(node, owner, name));
            }
            _ => {}
        }
        let meanings = self.code.meanings(path, node.module, &scope.uses());
        let mut found = Vec::new();
        for meaning in &meanings {
            let Meaning::Item(module, rest) = meaning else {
                continue;
            };
            match rest.as_slice() {
                [name] => found.extend(
                    self.functions
                        .get(&(*module, name.as_str()))
                        .into_iter()
                        .flatten(),
                ),
                [ty, name] => found.extend(self.method(node, ty, name)),
                _ => {}
            }
        }
        found
    }

    fn method(&self, node: &Node, ty: &str, name: &str) -> Vec<usize> {
        let own = self.methods.get(&(ty, name)).cloned().unwrap_or_default();
        let found = if own.is_empty() {
            // What the traits of the type have by default.
            let defaults = self.types.traits(ty).flat_map(|of| {
                let all = self.methods.get(&(of, name)).into_iter().flatten();
                all.filter(move |it| {
                    self.node(**it)
                        .is_some_and(|node| node.owner.as_deref() == Some(of))
                })
            });
            defaults.copied().collect()
        } else {
            own
        };
        // A decorator holds another value of the trait that it has itself: `self.inner.find()` in its own `find`.
        let is_decorator = node.of_trait.as_deref() == Some(ty) && node.name == name;
        let is_own =
            |it: &Node| is_decorator && it.owner == node.owner && it.of_trait == node.of_trait;
        let found: Vec<_> = (found.into_iter())
            .filter(|it| self.node(*it).is_some_and(|it| !is_own(it)))
            .collect();
        // Several crates may have a type of this name.
        let near: Vec<_> = found
            .iter()
            .copied()
            .filter(|it| self.node(*it).is_some_and(|it| it.krate == node.krate))
            .collect();
        if near.is_empty() { found } else { near }
    }

    fn node(&self, number: usize) -> Option<&'a Node> {
        self.survey.nodes.get(number)
    }
}

//! What is found in the code: the places that retry, the functions around them, and what is called in each.

use std::collections::BTreeSet;
use std::rc::Rc;

use syn::Expr;

use super::reading::Reading;
use crate::code::Place;
use crate::code::names::Path;
use crate::code::uses::Use;

/// All of them.
#[derive(Default)]
pub(crate) struct Survey {
    pub(crate) sites: Vec<Site>,
    pub(crate) nodes: Vec<Node>,
}

/// A place that retries.
pub(crate) struct Site {
    pub(crate) place: Place,
    pub(crate) form: Form,
    /// `module::function`, or what `name` says; of a block `module:line`.
    pub(crate) operation: String,
    /// The same without lines; of a block the function around it. Several places may share one.
    pub(crate) identity: String,
    pub(crate) package: String,
    /// The kinds of the targets in which it is compiled.
    pub(crate) kinds: BTreeSet<&'static str>,
    /// The `cfg`s around it.
    pub(crate) conditions: Vec<String>,
    /// The macro by whose rules it is made.
    pub(crate) by_macro: Option<String>,
    pub(crate) reading: Reading,
    pub(crate) module: usize,
    /// The blocks around it.
    pub(crate) scope: Rc<Scope>,
    /// `Self`.
    pub(crate) owner: Option<String>,
}

/// How the policy is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `#[retry]` on a function or a method.
    Function,
    /// A method in a block with `#[retry]`.
    Method,
    /// `retry_block!`
    Block,
    /// `Policy::run` and `Policy::run_async`
    Run,
    /// `RetryLayer` and `RetryMiddleware`
    Layer,
    /// `#[step(retry(...))]` of a durable task
    Step,
}

impl Form {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method of a retried `impl`",
            Self::Block => "block",
            Self::Run => "`Policy::run`",
            Self::Layer => "layer",
            Self::Step => "durable step",
        }
    }
}

/// A function or a retried block, and what is called in it.
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) krate: usize,
    pub(crate) module: usize,
    pub(crate) name: String,
    /// The type or the trait that it belongs to.
    pub(crate) owner: Option<String>,
    /// The trait that is implemented.
    pub(crate) of_trait: Option<String>,
    /// The number of its site, if it retries.
    pub(crate) site: Option<usize>,
    pub(crate) calls: Vec<Call>,
}

pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) scope: Rc<Scope>,
    /// Whether it runs elsewhere: what it is in cannot be seen there.
    pub(crate) is_spawned: bool,
    /// Whether it may be made more than once when its function is called once.
    pub(crate) is_looped: bool,
}

/// What is called.
pub(crate) enum Callee {
    Path(Path),
    /// A method of a type, or of a trait, of this name.
    Method(String, String),
    /// A retried block in the same function, by the number of its node.
    Block(usize),
}

/// What the blocks around a call bring into scope.
#[derive(Default)]
pub(crate) struct Scope {
    pub(crate) uses: Vec<Use>,
    /// Functions in the block, by the places of their names.
    pub(crate) functions: Vec<(String, Place)>,
    pub(crate) constants: Vec<(String, Expr)>,
    pub(crate) outer: Option<Rc<Scope>>,
}

impl Scope {
    pub(crate) fn uses(&self) -> Vec<&Use> {
        let outer = self.outer.as_ref().map(|outer| outer.uses());
        self.uses
            .iter()
            .chain(outer.into_iter().flatten())
            .collect()
    }

    pub(crate) fn function(&self, name: &str) -> Option<&Place> {
        let own = self.functions.iter().find(|(known, _)| known == name);
        let outer = || self.outer.as_ref().and_then(|outer| outer.function(name));
        own.map(|(_, place)| place).or_else(outer)
    }

    pub(crate) fn constant(&self, name: &str) -> Option<&Expr> {
        let own = self.constants.iter().find(|(known, _)| known == name);
        let outer = || self.outer.as_ref().and_then(|outer| outer.constant(name));
        own.map(|(_, expr)| expr).or_else(outer)
    }
}

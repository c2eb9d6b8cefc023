//! The places that retry, and the functions around them: what the visitor finds.

use std::collections::BTreeSet;
use std::rc::Rc;

use retry_runtime::config::Config;

use super::calls::{Callee, Scope};
use super::policy::{Effective, Reading};
use super::types::Types;
use super::values::{Constants, Standing};
use super::visit;
use crate::code::Place;
use crate::code::modules::Code;

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
}

impl Form {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method of a retried `impl`",
            Self::Block => "block",
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
}

impl Survey {
    /// The policy that holds at each site.
    pub(crate) fn effective(
        &self,
        constants: &Constants<'_>,
        configuration: Option<&Config>,
    ) -> Vec<Option<Effective>> {
        let sites = self.sites.iter().map(|site| {
            let at = Standing {
                module: site.module,
                scope: Some(&site.scope),
                owner: site.owner.as_deref(),
            };
            site.reading
                .effective(&site.operation, constants, at, configuration)
        });
        sites.collect()
    }
}

/// Finds everything.
pub(crate) fn survey(code: &Code, types: &Types) -> Survey {
    let mut survey = Survey::default();
    for module in 0..code.modules.len() {
        visit::module(code, types, module, &mut survey);
    }
    survey
}

//! The functions of a crate, by name: those that sleep, so that a loop that calls one waits there, and those that say
//! which errors are final.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;
use syn::{Block, ImplItemFn, ItemFn, Signature, TraitItemFn};

use super::loops::calls;
use crate::code::modules::Code;
use crate::code::written;

/// Calls from function to function that are followed.
const DEEPEST: u32 = 4;

/// Functions of a crate, by name. A name that several functions have says nothing.
#[derive(Default)]
pub(super) struct Callees {
    /// Those that sleep.
    pub(super) sleeping: BTreeSet<String>,
    /// Those that return an `OperationResult` of the crate retry.
    pub(super) tell_apart: BTreeSet<String>,
}

/// The functions of each crate.
pub(super) fn of(code: &Code) -> Vec<Callees> {
    let mut crates: Vec<Functions> = Vec::new();
    crates.resize_with(code.crates.len(), Functions::default);
    for module in &code.modules {
        if let Some(functions) = crates.get_mut(module.krate) {
            let items = module.items.iter();
            items.for_each(|it| functions.visit_item(&it.item));
        }
    }
    crates.into_iter().map(Functions::callees).collect()
}

/// What is known of each function of a crate; nothing of two that have one name.
#[derive(Default)]
struct Functions(BTreeMap<String, Option<Function>>);

struct Function {
    sleeps: bool,
    calls: Vec<String>,
    tells_apart: bool,
}

impl Functions {
    fn add(&mut self, signature: &Signature, block: &Block) {
        let (sleeps, calls) = calls(&block.stmts);
        let function = Function {
            sleeps,
            calls,
            tells_apart: written(&signature.output).contains("OperationResult<"),
        };
        let known = self.0.entry(signature.ident.to_string());
        known.and_modify(|it| *it = None).or_insert(Some(function));
    }

    fn callees(self) -> Callees {
        let known = self
            .0
            .iter()
            .filter_map(|(name, it)| Some((name, it.as_ref()?)));
        let known: Vec<_> = known.collect();
        let named = |is: &dyn Fn(&Function) -> bool| -> BTreeSet<String> {
            let found = known.iter().filter(|(_, it)| is(it));
            found.map(|(name, _)| (*name).clone()).collect()
        };
        let mut sleeping = named(&|it| it.sleeps);
        for _ in 1..DEEPEST {
            let more = named(&|it| it.calls.iter().any(|call| sleeping.contains(call)));
            sleeping.extend(more);
        }
        Callees {
            sleeping,
            tell_apart: named(&|it| it.tells_apart),
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, it: &'ast ItemFn) {
        self.add(&it.sig, &it.block);
    }

    fn visit_impl_item_fn(&mut self, it: &'ast ImplItemFn) {
        self.add(&it.sig, &it.block);
    }

    fn visit_trait_item_fn(&mut self, it: &'ast TraitItemFn) {
        if let Some(block) = &it.default {
            self.add(&it.sig, block);
        }
    }
}

//! Through the modules: each place that retries without this library.

mod hand;
mod tower;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::visit::Visit;
use syn::{Block, Expr, ImplItemFn, Item, ItemFn, ItemImpl, Macro, Signature, Stmt};

use super::callees::{self, Callees};
use super::keys::{BUDGET, Keys};
use super::libraries::{self, Around, Site};
use super::{Finding, Suggestion, loops, unique};
use crate::code::modules::Code;
use crate::code::modules::Meaning;
use crate::code::names::Path;
use crate::code::uses::{Use, uses};
use crate::code::{File, Place, conditions, loose, written};
use crate::input;

/// Everything in the packages of these names, or in all.
pub(super) fn all(code: &Code, packages: &[String], no_tests: bool) -> Vec<Finding> {
    let texts = RefCell::new(HashMap::new());
    let mut findings: Vec<Finding> = Vec::new();
    let (callees, none) = (callees::of(code), Callees::default());
    for (number, module) in code.modules.iter().enumerate() {
        let Some(krate) = code.crates.get(module.krate) else {
            continue;
        };
        let is_asked = packages.is_empty() || packages.contains(&krate.package);
        let is_left =
            no_tests && (!matches!(krate.kind, "lib" | "bin") || is_test(&module.conditions));
        if !is_asked || is_left {
            continue;
        }
        let mut visitor = Visitor {
            code,
            module: number,
            file: Rc::clone(&module.file),
            texts: &texts,
            no_tests,
            callees: callees.get(module.krate).unwrap_or(&none),
            functions: Vec::new(),
            turns: Vec::new(),
            behind: Vec::new(),
            uses: Vec::new(),
            findings: Vec::new(),
        };
        for written in &module.items {
            visitor.file = Rc::clone(&written.file);
            visitor.visit_item(&written.item);
        }
        findings.append(&mut visitor.findings);
    }
    findings.sort_by(|one, other| {
        let key = |it: &Finding| (it.file.clone(), it.line, it.column);
        key(one).cmp(&key(other))
    });
    // A file may be part of several targets.
    findings.dedup_by(|one, other| {
        (&one.file, one.line, one.column) == (&other.file, other.line, other.column)
    });
    findings
}

fn is_test(conditions: &[String]) -> bool {
    conditions
        .iter()
        .any(|it| it == "test" || it.contains("(test"))
}

struct Visitor<'c> {
    code: &'c Code,
    module: usize,
    file: Rc<File>,
    texts: &'c RefCell<HashMap<PathBuf, Rc<str>>>,
    no_tests: bool,
    callees: &'c Callees,
    functions: Vec<Function>,
    /// What each turn of the loops around a place begins anew with.
    turns: Vec<BTreeSet<String>>,
    /// What the code behind the next loop calls.
    behind: Vec<String>,
    uses: Vec<Use>,
    findings: Vec<Finding>,
}

/// A function around a place.
struct Function {
    /// Where an attribute goes.
    start: usize,
    /// The bytes of the one expression that is its body.
    body: Option<(usize, usize)>,
    is_async: bool,
    tokens: TokenStream,
    /// What its variables are set to.
    variables: Vec<(String, Expr)>,
    /// The variables that are set again.
    changed: Vec<String>,
    /// What would have to be `mut` to be called.
    immutable: Vec<String>,
}

impl Visitor<'_> {
    fn text(&self) -> Rc<str> {
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry(self.file.path.clone());
        Rc::clone(text.or_insert_with(|| input::text(&self.file.path).unwrap_or_default().into()))
    }

    /// The piece of the file that something is; as tokens where it is not in the file.
    fn source(&self, tokens: &dyn ToTokens) -> String {
        let tokens = tokens.to_token_stream();
        let text = self.text();
        let piece = bytes(&tokens).and_then(|(start, end)| text.get(start..end));
        piece.map_or_else(|| written(&tokens), ToOwned::to_owned)
    }

    fn depends(&self, package: &str) -> bool {
        let krate = self.code.modules.get(self.module).map(|it| it.krate);
        let krate = krate.and_then(|it| self.code.crates.get(it));
        krate.is_some_and(|it| it.externs.values().any(|known| known == package))
    }

    fn foreign(&self, path: &syn::Path) -> Option<(String, Vec<String>)> {
        let local: Vec<&Use> = self.uses.iter().collect();
        let meanings = self.code.meanings(&Path::of(path), self.module, &local);
        meanings.into_iter().find_map(|it| match it {
            Meaning::Foreign(package, rest) => Some((package, rest)),
            _ => None,
        })
    }

    fn named(&self, name: &str) -> Option<Expr> {
        let variables = self.functions.iter().rev().flat_map(|it| &it.variables);
        let mut own = variables.filter(|(known, _)| known == name);
        let constants = self.code.modules.get(self.module).map(|it| &it.constants);
        let constant = constants
            .and_then(|it| it.get(name))
            .and_then(|all| all.first());
        own.next().map(|(_, expr)| expr).or(constant).cloned()
    }

    /// The place as a finding, if a library retries there.
    fn by_library(&mut self, whole: &Expr) -> bool {
        let (expr, is_awaited) = match whole {
            Expr::Await(it) => (&*it.base, true),
            expr => (expr, false),
        };
        let finding = {
            let around = Around {
                depends: &|package| self.depends(package),
                foreign: &|path| self.foreign(path),
                named: &|name| self.named(name),
                changes: &|name| {
                    let mut functions = self.functions.iter();
                    functions.any(|it| it.changed.iter().any(|known| known == name))
                },
                source: &|tokens| self.source(tokens),
                tells_apart: &|name| self.callees.tell_apart.contains(name),
            };
            let Some(mut site) = libraries::site(expr, &around) else {
                return false;
            };
            let function = self.functions.last();
            if let (Expr::Path(name), Some(function)) = (site.operation, function)
                && function.immutable.contains(&written(name))
            {
                site.keys.missing.push(format!(
                    "`mut {0}`, where `{0}` is declared: it is called here, and not moved",
                    written(name)
                ));
            }
            if !is_awaited && site.ends_behind_await() {
                site.keys.missing.push("where the future is awaited: what stands behind the block here belongs behind that `.await`".to_owned());
            }
            let finding = self.finding(whole, &site, is_awaited, &around);
            (finding, site.operation.clone())
        };
        self.findings.push(finding.0);
        self.visit_expr(&finding.1);
        true
    }

    fn finding(
        &self,
        whole: &Expr,
        site: &Site<'_>,
        is_awaited: bool,
        around: &Around<'_>,
    ) -> Finding {
        let range = bytes(&whole.to_token_stream());
        let function = self.functions.last();
        let fits = function.filter(|it| {
            site.is_plain()
                && site.keys.missing.is_empty()
                && it.body == range
                && range.is_some()
                && it.is_async == site.is_async
                && is_awaited == site.is_async
        });
        let suggestion = match fits {
            Some(function) => Suggestion {
                attribute: Some((
                    function.start,
                    format!("#[reattempt::retry({})]", site.keys.text()),
                )),
                replaces: range,
                code: site.body(around.source),
            },
            None => Suggestion {
                attribute: None,
                replaces: range.filter(|_| site.keys.missing.is_empty()),
                code: site.code(is_awaited, around.source),
            },
        };
        self.found(whole, site.by, Some(suggestion), &site.keys)
    }

    fn found(
        &self,
        place: &impl ToTokens,
        by: &'static str,
        suggestion: Option<Suggestion>,
        keys: &Keys,
    ) -> Finding {
        let place = Place::of(&self.file, place.to_token_stream().span());
        let mut differs = keys.differs.clone();
        if suggestion.is_some() && keys.has_default_budget() {
            differs.push(BUDGET.to_owned());
        }
        Finding {
            file: place.file.shown.clone(),
            line: place.line,
            column: place.column,
            by,
            suggestion,
            differs,
            missing: unique(&keys.missing),
            unknown: keys.unknown.clone(),
        }
    }

    fn function(
        &mut self,
        item: &dyn ToTokens,
        signature: &Signature,
        attributes: usize,
        block: &Block,
    ) {
        let mut tokens = item.to_token_stream().into_iter().skip(attributes);
        let start = tokens.next().map(|it| it.span().byte_range().start);
        let body = match block.stmts.as_slice() {
            [Stmt::Expr(expr, None)] => bytes(&expr.to_token_stream()),
            _ => None,
        };
        let mut variables = Variables {
            immutable: immutable(signature),
            ..Variables::default()
        };
        variables.visit_block(block);
        self.functions.push(Function {
            start: start.unwrap_or_default(),
            body: body.filter(|_| start.is_some()),
            is_async: signature.asyncness.is_some(),
            tokens: block.to_token_stream(),
            variables: variables.first,
            changed: variables.changed,
            immutable: variables.immutable,
        });
        let turns = std::mem::take(&mut self.turns);
        self.visit_block(block);
        self.turns = turns;
        self.functions.pop();
    }

    fn is_left(&self, attributes: &[syn::Attribute]) -> bool {
        let is_test_function = || {
            attributes.iter().any(|it| {
                it.path()
                    .segments
                    .last()
                    .is_some_and(|it| it.ident == "test")
            })
        };
        self.no_tests && (is_test(&conditions::of(attributes)) || is_test_function())
    }
}

/// From the first byte of the tokens to the last.
fn bytes(tokens: &TokenStream) -> Option<(usize, usize)> {
    let mut all = tokens.clone().into_iter();
    let first = all.next()?.span().byte_range();
    let last = all
        .last()
        .map_or_else(|| first.clone(), |it| it.span().byte_range());
    (last.end > first.start).then_some((first.start, last.end))
}

/// What the variables of a function are set to at first.
#[derive(Default)]
struct Variables {
    first: Vec<(String, Expr)>,
    changed: Vec<String>,
    immutable: Vec<String>,
}

/// The parameters that would have to be `mut` to be called.
fn immutable(signature: &Signature) -> Vec<String> {
    let is_mut = |ty: &syn::Type| {
        let name = written(ty);
        let generics = signature.generics.params.iter().filter_map(|it| match it {
            syn::GenericParam::Type(it) if it.ident == name => Some(written(&it.bounds)),
            _ => None,
        });
        let clause = signature.generics.where_clause.iter();
        let clauses = clause
            .flat_map(|it| &it.predicates)
            .filter_map(|it| match it {
                syn::WherePredicate::Type(it) if written(&it.bounded_ty) == name => {
                    Some(written(&it.bounds))
                }
                _ => None,
            });
        let mut bounds = [name.clone()].into_iter().chain(generics).chain(clauses);
        bounds.any(|it| it.contains("FnMut"))
    };
    let inputs = signature.inputs.iter().filter_map(|it| match it {
        syn::FnArg::Typed(it) => match &*it.pat {
            syn::Pat::Ident(name) if name.mutability.is_none() && is_mut(&it.ty) => {
                Some(name.ident.to_string())
            }
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    });
    inputs.collect()
}

impl<'ast> Visit<'ast> for Variables {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        let pattern = match &local.pat {
            syn::Pat::Type(it) => &*it.pat,
            it => it,
        };
        if let (syn::Pat::Ident(name), Some(init)) = (pattern, &local.init) {
            if let (None, Expr::Closure(it)) = (&name.mutability, &*init.expr)
                && loops::changes(it)
            {
                self.immutable.push(name.ident.to_string());
            }
            self.first
                .push((name.ident.to_string(), (*init.expr).clone()));
        }
        syn::visit::visit_local(self, local);
    }
    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        self.changed.push(written(&assign.left));
        syn::visit::visit_expr_assign(self, assign);
    }
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Const(it) = item {
            let value = (it.ident.to_string(), (*it.expr).clone());
            self.first.push(value);
        }
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !self.is_left(&item.attrs) {
            let attributes = item.attrs.iter().map(tokens).sum();
            self.function(item, &item.sig, attributes, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !self.is_left(&item.attrs) {
            let attributes = item.attrs.iter().map(tokens).sum();
            self.function(item, &item.sig, attributes, &item.block);
        }
    }

    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {
        // A module of its own, wherever it stands.
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if !self.is_left(&item.attrs) {
            self.tower(item);
            syn::visit::visit_item_impl(self, item);
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let before = self.uses.len();
        for statement in &block.stmts {
            if let Stmt::Item(Item::Use(item)) = statement {
                uses(&item.tree, item.leading_colon.is_some(), &mut self.uses);
            }
        }
        let mut rest = block.stmts.as_slice();
        while let Some((statement, behind)) = rest.split_first() {
            if matches!(statement, Stmt::Expr(it, _) if is_loop(it)) {
                // A loop tries for itself.
                let next = behind
                    .iter()
                    .position(|it| matches!(it, Stmt::Expr(it, _) if is_loop(it)));
                let behind = next.and_then(|it| behind.get(..it)).unwrap_or(behind);
                self.behind = loops::calls(behind).1;
            }
            self.visit_stmt(statement);
            rest = behind;
        }
        self.uses.truncate(before);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        if self.by_library(expr) {
            return;
        }
        let behind = std::mem::take(&mut self.behind);
        self.by_hand(expr, &behind);
        if is_loop(expr) {
            self.turns.push(loops::fresh(expr));
            syn::visit::visit_expr(self, expr);
            self.turns.pop();
        } else {
            syn::visit::visit_expr(self, expr);
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        for statement in loose::statements(&mac.tokens) {
            self.visit_stmt(&statement);
        }
    }
}

const fn is_loop(expr: &Expr) -> bool {
    matches!(expr, Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_))
}

fn tokens(attribute: &syn::Attribute) -> usize {
    attribute.to_token_stream().into_iter().count()
}

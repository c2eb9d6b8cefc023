//! Through the modules: their functions, what they call, and where they retry.

mod loops;
mod syntax;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::visit::Visit;
use syn::{Attribute, Block, Item, Macro, Meta, Signature, Stmt};

use super::macros;
use super::reading::Reading;
use super::sites::{Call, Callee, Form, Node, Scope, Site, Survey};
use super::types::{self, Types, Variables};
use crate::code::conditions::{self, Given};
use crate::code::modules::Code;
use crate::code::modules::Meaning;
use crate::code::names::Path;
use crate::code::uses::uses;
use crate::code::{File, Place, loose};

/// Finds everything.
pub(crate) fn survey(code: &Code, types: &Types) -> Survey {
    let mut survey = Survey::default();
    for number in 0..code.modules.len() {
        module(code, types, number, &mut survey);
    }
    survey
}

fn module(code: &Code, types: &Types, number: usize, survey: &mut Survey) {
    let Some(module) = code.modules.get(number) else {
        return;
    };
    let mut visitor = Visitor {
        code,
        types,
        survey,
        module: number,
        file: Rc::clone(&module.file),
        conditions: module.conditions.clone(),
        owner: None,
        nodes: Vec::new(),
        scope: Rc::default(),
        variables: Variables::new(),
        is_spawned: false,
        is_looped: false,
        known: HashSet::new(),
    };
    for written in &module.items {
        visitor.file = Rc::clone(&written.file);
        visitor.visit_item(&written.item);
    }
    for (file, given) in &module.given {
        visitor.file = Rc::clone(file);
        visitor.unread(given);
    }
}

struct Visitor<'c> {
    code: &'c Code,
    types: &'c Types,
    survey: &'c mut Survey,
    module: usize,
    file: Rc<File>,
    conditions: Vec<String>,
    owner: Option<Owner>,
    /// The functions and blocks around, by the numbers of their nodes.
    nodes: Vec<usize>,
    scope: Rc<Scope>,
    variables: Variables,
    is_spawned: bool,
    is_looped: bool,
    /// Where the attributes and blocks are that have been read.
    known: HashSet<Place>,
}

/// An `impl` or a trait.
#[derive(Clone)]
struct Owner {
    name: Option<String>,
    /// What its methods have in front of their names.
    title: Option<String>,
    of_trait: Option<String>,
    /// The traits of its type parameters.
    bounds: HashMap<String, String>,
    /// The policy of the whole block.
    policy: Option<TokenStream>,
}

/// A function of any kind.
struct Function<'a> {
    attributes: &'a [Attribute],
    signature: &'a Signature,
    body: Option<&'a Block>,
    tokens: TokenStream,
}

impl Visitor<'_> {
    fn is_ours(&self, path: &syn::Path, name: &str) -> bool {
        self.code
            .is_ours(&Path::of(path), name, self.module, &self.scope.uses())
    }

    /// The attribute of ours, its arguments, and the conditions that it has itself.
    fn policy(&mut self, attributes: &[Attribute]) -> Option<(Span, TokenStream, Vec<String>)> {
        let mut given = conditions::given(attributes).into_iter();
        let Given { meta, conditions } = given.find(|it| self.is_ours(it.meta.path(), "retry"))?;
        let span = syn::spanned::Spanned::span(meta.path());
        self.known.insert(Place::of(&self.file, span));
        let arguments = match meta {
            Meta::List(list) => list.tokens,
            _ => TokenStream::new(),
        };
        Some((span, arguments, conditions))
    }

    /// The keys of `#[step(retry(...))]`, as those of the attribute.
    fn step(&mut self, attributes: &[Attribute]) -> Option<(Span, TokenStream, Vec<String>, Form)> {
        let mut given = conditions::given(attributes).into_iter();
        let is_step = |it: &Given| {
            let of_step = ["step", "undo"].into_iter();
            of_step
                .into_iter()
                .any(|name| self.is_durable(it.meta.path(), name))
        };
        let Given { meta, conditions } = given.find(is_step)?;
        let span = syn::spanned::Spanned::span(meta.path());
        let Meta::List(list) = meta else { return None };
        let items = list
            .parse_args_with(syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated);
        let retry = items.ok()?.into_iter().find_map(|it| match it {
            Meta::List(it) if it.path.is_ident("retry") => Some(it.tokens),
            _ => None,
        })?;
        self.known.insert(Place::of(&self.file, span));
        Some((span, retry, conditions, Form::Step))
    }

    fn is_durable(&self, path: &syn::Path, name: &str) -> bool {
        let scope = self.scope.uses();
        let meanings = self.code.meanings(&Path::of(path), self.module, &scope);
        meanings.iter().any(|it| match it {
            Meaning::Foreign(package, rest) => {
                package.starts_with("reattempt-supervisor")
                    && rest.last().is_some_and(|last| last == name)
            }
            _ => false,
        })
    }

    /// Everything under these conditions.
    fn under(&mut self, conditions: Vec<String>, visit: impl FnOnce(&mut Self)) {
        let before = self.conditions.len();
        self.conditions.extend(conditions);
        visit(self);
        self.conditions.truncate(before);
    }

    fn function(&mut self, function: &Function<'_>) {
        let around = conditions::of(function.attributes);
        self.under(around, |it| it.function_here(function));
    }

    fn function_here(&mut self, function: &Function<'_>) {
        let name = function.signature.ident.unraw().to_string();
        let own = self.policy(function.attributes);
        let own =
            own.map(|(span, arguments, conditions)| (span, arguments, conditions, Form::Function));
        let of_block = self.owner.as_ref().and_then(|owner| owner.policy.clone());
        let retried = match own.or_else(|| self.step(function.attributes)) {
            Some((span, arguments, conditions, form)) => Some((span, arguments, conditions, form)),
            None => of_block.filter(|_| is_retried(function)).map(|arguments| {
                (
                    function.signature.ident.span(),
                    arguments,
                    Vec::new(),
                    Form::Method,
                )
            }),
        };
        let retried = retried.filter(|(_, arguments, ..)| arguments.to_string() != "never");
        let site = retried.map(|(span, arguments, conditions, form)| {
            let reading =
                Reading::of_function(&self.file, arguments, without_ours(function).as_ref());
            let operation = self.inside_of(&name);
            let mut all = self.conditions.clone();
            all.extend(conditions);
            self.site(span, form, [operation.clone(), operation], all, reading)
        });
        let node = self.node(function.signature.ident.span(), name, site);
        if let Some(body) = function.body {
            let owner = self.owner.as_ref().and_then(|owner| owner.name.clone());
            let variables = types::parameters(function.signature, owner.as_deref());
            let outer = std::mem::replace(&mut self.variables, variables);
            self.inside(node, |it| it.visit_block(body));
            self.variables = outer;
        }
    }

    fn inside(&mut self, node: usize, visit: impl FnOnce(&mut Self)) {
        let is_spawned = std::mem::replace(&mut self.is_spawned, false);
        let is_looped = std::mem::replace(&mut self.is_looped, false);
        self.nodes.push(node);
        visit(self);
        self.nodes.pop();
        self.is_spawned = is_spawned;
        self.is_looped = is_looped;
    }

    fn module_path(&self) -> String {
        self.code
            .modules
            .get(self.module)
            .map_or_else(String::new, |module| module.path.clone())
    }

    /// What a function here is called, with its type.
    fn inside_of(&self, name: &str) -> String {
        let owner = self.owner.as_ref().and_then(|owner| owner.title.as_deref());
        let parts = [
            Some(self.module_path()),
            owner.map(ToOwned::to_owned),
            Some(name.to_owned()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("::")
    }

    fn site(
        &mut self,
        span: Span,
        form: Form,
        [operation, identity]: [String; 2],
        conditions: Vec<String>,
        reading: Reading,
    ) -> usize {
        let krate = self
            .code
            .modules
            .get(self.module)
            .and_then(|it| self.code.crates.get(it.krate));
        let number = self.survey.sites.len();
        self.known.insert(Place::of(&self.file, span));
        self.survey.sites.push(Site {
            place: Place::of(&self.file, span),
            form,
            operation: reading.name.clone().unwrap_or(operation),
            identity,
            package: krate.map_or_else(String::new, |it| it.package.clone()),
            kinds: krate.map(|it| it.kind).into_iter().collect::<BTreeSet<_>>(),
            conditions,
            by_macro: None,
            reading,
            module: self.module,
            scope: Rc::clone(&self.scope),
            owner: self.owner.as_ref().and_then(|owner| owner.name.clone()),
        });
        number
    }

    fn node(&mut self, span: Span, name: String, site: Option<usize>) -> usize {
        let number = self.survey.nodes.len();
        let owner = self.owner.clone();
        self.survey.nodes.push(Node {
            place: Place::of(&self.file, span),
            krate: self.code.modules.get(self.module).map_or(0, |it| it.krate),
            module: self.module,
            name,
            owner: owner.as_ref().and_then(|it| it.name.clone()),
            of_trait: owner.and_then(|it| it.of_trait),
            site,
            calls: Vec::new(),
        });
        number
    }

    fn call(&mut self, callee: Callee) {
        let call = Call {
            callee,
            scope: Rc::clone(&self.scope),
            is_spawned: self.is_spawned,
            is_looped: self.is_looped,
        };
        if let Some(node) = self
            .nodes
            .last()
            .and_then(|node| self.survey.nodes.get_mut(*node))
        {
            node.calls.push(call);
        }
    }

    /// What is called in `visit` runs elsewhere.
    fn elsewhere(&mut self, is_elsewhere: bool, visit: impl FnOnce(&mut Self)) {
        let before = self.is_spawned;
        self.is_spawned |= is_elsewhere;
        visit(self);
        self.is_spawned = before;
    }

    /// What is called in `visit` may be called again and again.
    fn again(&mut self, is_again: bool, visit: impl FnOnce(&mut Self)) {
        let before = self.is_looped;
        self.is_looped |= is_again;
        visit(self);
        self.is_looped = before;
    }

    /// `retry_block!(...)`
    fn block(&mut self, mac: &Macro) {
        let span = syn::spanned::Spanned::span(&mac.path);
        let (reading, body) = Reading::of_block(&self.file, mac.tokens.clone());
        let line = span.start().line;
        let names = self.names_of_block(line, "block");
        let conditions = self.conditions.clone();
        let site = self.site(span, Form::Block, names, conditions, reading);
        let owner = self.owner.clone();
        let node = self.node(span, String::new(), Some(site));
        // It belongs to the function around it alone.
        if let Some(node) = self.survey.nodes.get_mut(node) {
            node.owner = owner.and_then(|it| it.name);
            node.name = format!("block:{line}");
        }
        self.call(Callee::Block(node));
        let statements = loose::statements(&body);
        self.inside(node, |it| it.statements(&statements));
    }

    /// The operation of something in a function, and the same without its line.
    fn names_of_block(&self, line: usize, what: &str) -> [String; 2] {
        let around = self
            .nodes
            .iter()
            .filter_map(|it| self.survey.nodes.get(*it));
        let mut functions = around.filter(|node| !node.name.starts_with("block:"));
        let function = functions.next_back().map_or("", |node| node.name.as_str());
        let identity = format!("{} {what}", self.inside_of(function));
        [format!("{}:{line}", self.module_path()), identity]
    }

    /// A policy that an expression makes retries here.
    fn by_expression(&mut self, span: Span, form: Form, policy: &syn::Expr) {
        let place = Place::of(&self.file, span);
        if !self.known.insert(place) {
            return;
        }
        let reading = Reading::of_function(&self.file, quote::quote!(policy = #policy), None);
        let names = self.names_of_block(span.start().line, form.as_str());
        let conditions = self.conditions.clone();
        self.site(span, form, names, conditions, reading);
    }

    /// Whether a path is `Type::function` of a type of ours.
    fn is_made_by(&self, path: &syn::Path, ty: &str) -> bool {
        let mut path = path.clone();
        path.segments.pop();
        path.segments.pop_punct();
        !path.segments.is_empty() && self.is_ours(&path, ty)
    }

    /// What a macro makes, seen as text.
    fn visit_named_macro(&mut self, mac: &Macro, name: &str) {
        let found = macros::retried(&mac.tokens, &|path, name| self.is_ours(path, name));
        for found in found {
            let place = Place::of(&self.file, found.span);
            if !self.known.insert(place) || found.arguments.to_string() == "never" {
                continue;
            }
            let mut reading = Reading::of_rules(&self.file, found.arguments);
            reading.is_async = found.is_async;
            let operation = format!("{}::{}", self.module_path(), found.name);
            let conditions = self.conditions.clone();
            let names = [
                operation,
                self.inside_of(&format!("{name}! {}", found.name)),
            ];
            let site = self.site(found.span, found.form, names, conditions, reading);
            if let Some(site) = self.survey.sites.get_mut(site) {
                site.by_macro = Some(name.to_owned());
            }
        }
    }

    /// What is given to a macro and cannot be read as code: `proptest! { fn f(x in 0..9) {} }`.
    fn unread(&mut self, mac: &Macro) {
        if let Some(name) = mac.path.segments.last() {
            self.visit_named_macro(mac, &name.ident.to_string());
        }
    }

    fn statements(&mut self, statements: &[Stmt]) {
        let scope = self.scope_of(statements);
        let outer = std::mem::replace(&mut self.scope, scope);
        for statement in statements {
            self.visit_stmt(statement);
        }
        self.scope = outer;
    }

    fn scope_of(&self, statements: &[Stmt]) -> Rc<Scope> {
        let mut scope = Scope {
            outer: Some(Rc::clone(&self.scope)),
            ..Scope::default()
        };
        for statement in statements {
            match statement {
                Stmt::Item(Item::Use(item)) => {
                    uses(&item.tree, item.leading_colon.is_some(), &mut scope.uses);
                }
                Stmt::Item(Item::Fn(item)) => {
                    let place = Place::of(&self.file, item.sig.ident.span());
                    scope
                        .functions
                        .push((item.sig.ident.unraw().to_string(), place));
                }
                Stmt::Item(Item::Const(item)) => {
                    scope
                        .constants
                        .push((item.ident.unraw().to_string(), (*item.expr).clone()));
                }
                _ => {}
            }
        }
        if scope.uses.is_empty() && scope.functions.is_empty() && scope.constants.is_empty() {
            return Rc::clone(&self.scope);
        }
        Rc::new(scope)
    }
}

/// Whether a method gets the policy of its block, by the macro's own rule.
fn is_retried(function: &Function<'_>) -> bool {
    let method = syn::parse2::<reattempt_syntax::item::Function>(function.tokens.clone());
    method.is_ok_and(|method| reattempt_syntax::methods::is_retried(&method))
}

/// As the macro sees it: without the attribute itself.
fn without_ours(function: &Function<'_>) -> Option<reattempt_syntax::item::Function> {
    let mut method =
        syn::parse2::<reattempt_syntax::item::Function>(function.tokens.clone()).ok()?;
    let ours = method
        .attributes
        .iter()
        .position(reattempt_syntax::item::is_retry);
    if let Some(ours) = ours {
        method.attributes.remove(ours);
    }
    Some(method)
}

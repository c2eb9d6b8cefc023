//! Through the modules: their functions, what they call, and where they retry.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::visit::Visit;
use syn::{
    Attribute, Block, Expr, ExprCall, ExprMethodCall, ExprPath, ImplItemFn, Item, ItemFn, ItemImpl,
    ItemTrait, Local, Macro, Meta, Pat, Signature, Stmt, TraitItemFn,
};

use super::macros;
use super::reading::Reading;
use super::sites::{Call, Callee, Form, Node, Scope, Site, Survey};
use super::types::{self, Types, Variables};
use crate::code::conditions::{self, Given};
use crate::code::modules::{Code, uses};
use crate::code::names::Path;
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
    /// Where the attributes and blocks are that have been read.
    known: HashSet<Place>,
}

/// An `impl` or a trait.
#[derive(Clone)]
struct Owner {
    name: Option<String>,
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
        let of_block = self.owner.as_ref().and_then(|owner| owner.policy.clone());
        let retried = match own {
            Some((span, arguments, conditions)) => {
                Some((span, arguments, conditions, Form::Function))
            }
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
            let operation = format!("{}::{name}", self.module_path());
            let mut all = self.conditions.clone();
            all.extend(conditions);
            self.site(span, form, operation, all, reading)
        });
        let node = self.node(function.signature.ident.span(), name, site);
        if let Some(body) = function.body {
            let owner = self.owner.as_ref().and_then(|owner| owner.name.clone());
            let variables = types::parameters(function.signature, owner.as_deref());
            let outer = std::mem::replace(&mut self.variables, variables);
            let spawned = std::mem::replace(&mut self.is_spawned, false);
            self.inside(node, |it| it.visit_block(body));
            self.variables = outer;
            self.is_spawned = spawned;
        }
    }

    fn inside(&mut self, node: usize, visit: impl FnOnce(&mut Self)) {
        self.nodes.push(node);
        visit(self);
        self.nodes.pop();
    }

    fn module_path(&self) -> String {
        self.code
            .modules
            .get(self.module)
            .map_or_else(String::new, |module| module.path.clone())
    }

    fn site(
        &mut self,
        span: Span,
        form: Form,
        operation: String,
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

    /// `retry_block!(...)`
    fn block(&mut self, mac: &Macro) {
        let span = syn::spanned::Spanned::span(&mac.path);
        let (reading, body) = Reading::of_block(&self.file, mac.tokens.clone());
        let line = span.start().line;
        let operation = format!("{}:{line}", self.module_path());
        let conditions = self.conditions.clone();
        let site = self.site(span, Form::Block, operation, conditions, reading);
        let owner = self.owner.clone();
        let node = self.node(span, String::new(), Some(site));
        // It belongs to the function around it alone.
        if let Some(node) = self.survey.nodes.get_mut(node) {
            node.owner = owner.and_then(|it| it.name);
            node.name = format!("block:{line}");
        }
        self.call(Callee::Block(node));
        let statements = loose::statements(&body);
        let outer = self.is_spawned;
        self.is_spawned = false;
        self.inside(node, |it| it.statements(&statements));
        self.is_spawned = outer;
    }

    /// What a macro makes, seen as text.
    fn made(&mut self, mac: &Macro, name: &str) {
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
            let site = self.site(found.span, found.form, operation, conditions, reading);
            if let Some(site) = self.survey.sites.get_mut(site) {
                site.by_macro = Some(name.to_owned());
            }
        }
    }

    /// What is given to a macro and cannot be read as code: `proptest! { fn f(x in 0..9) {} }`.
    fn unread(&mut self, mac: &Macro) {
        if let Some(name) = mac.path.segments.last() {
            self.made(mac, &name.ident.to_string());
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
    let method = syn::parse2::<retry_syntax::item::Function>(function.tokens.clone());
    method.is_ok_and(|method| retry_syntax::methods::is_retried(&method))
}

/// As the macro sees it: without the attribute itself.
fn without_ours(function: &Function<'_>) -> Option<retry_syntax::item::Function> {
    let mut method = syn::parse2::<retry_syntax::item::Function>(function.tokens.clone()).ok()?;
    let ours = method
        .attributes
        .iter()
        .position(retry_syntax::item::is_retry);
    if let Some(ours) = ours {
        method.attributes.remove(ours);
    }
    Some(method)
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        // A function in a method belongs to no type.
        let owner = self.owner.take();
        self.function(&Function {
            attributes: &item.attrs,
            signature: &item.sig,
            body: Some(&item.block),
            tokens: item.to_token_stream(),
        });
        self.owner = owner;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&Function {
            attributes: &item.attrs,
            signature: &item.sig,
            body: Some(&item.block),
            tokens: item.to_token_stream(),
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.function(&Function {
            attributes: &item.attrs,
            signature: &item.sig,
            body: item.default.as_ref(),
            tokens: item.to_token_stream(),
        });
    }

    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {
        // A module of its own, wherever it stands.
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let (policy, own) = match self.policy(&item.attrs) {
            Some((_, arguments, conditions)) => (Some(arguments), conditions),
            None => (None, Vec::new()),
        };
        let of_trait = item
            .trait_
            .as_ref()
            .and_then(|(path, _)| path.segments.last());
        let owner = Owner {
            name: types::hint(&item.self_ty, &HashMap::new(), None),
            of_trait: of_trait.map(|last| last.ident.to_string()),
            bounds: types::bounds(&item.generics),
            policy: policy.filter(|arguments| arguments.to_string() != "never"),
        };
        let mut around = conditions::of(&item.attrs);
        around.extend(own);
        let outer = self.owner.replace(owner);
        self.under(around, |it| {
            item.items.iter().for_each(|item| it.visit_impl_item(item));
        });
        self.owner = outer;
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        let owner = Owner {
            name: Some(item.ident.to_string()),
            of_trait: None,
            bounds: types::bounds(&item.generics),
            policy: None,
        };
        let outer = self.owner.replace(owner);
        let around = conditions::of(&item.attrs);
        self.under(around, |it| {
            item.items.iter().for_each(|item| it.visit_trait_item(item));
        });
        self.owner = outer;
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        match &item.ident {
            Some(name) => {
                self.made(&item.mac, &name.to_string());
            }
            None => self.visit_macro(&item.mac),
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        if self.is_ours(&mac.path, "retry_block") {
            return self.block(mac);
        }
        let spawns = mac
            .path
            .segments
            .last()
            .is_some_and(|it| it.ident.to_string().contains("spawn"));
        let statements = loose::statements(&mac.tokens);
        self.elsewhere(spawns, |it| it.statements(&statements));
        self.unread(mac);
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.statements(&block.stmts);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes: &[Attribute] = match statement {
            Stmt::Local(local) => &local.attrs,
            Stmt::Macro(mac) => &mac.attrs,
            Stmt::Expr(Expr::Block(block), _) => &block.attrs,
            Stmt::Expr(Expr::Macro(mac), _) => &mac.attrs,
            _ => &[],
        };
        let around = conditions::of(attributes);
        self.under(around, |it| syn::visit::visit_stmt(it, statement));
    }

    fn visit_local(&mut self, local: &'ast Local) {
        syn::visit::visit_local(self, local);
        let owner = self.owner.as_ref().and_then(|owner| owner.name.clone());
        let (pattern, told) = match &local.pat {
            Pat::Type(typed) => (
                &*typed.pat,
                types::hint(&typed.ty, &HashMap::new(), owner.as_deref()),
            ),
            pattern => (pattern, None),
        };
        let Pat::Ident(name) = pattern else { return };
        let init = local.init.as_ref().map(|init| &init.expr);
        let ty = told.or_else(|| {
            self.types
                .expression(init?, &self.variables, owner.as_deref())
        });
        self.variables.insert(name.ident.unraw().to_string(), ty);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        // Hides a function of its name.
        self.variables
            .entry(pattern.ident.unraw().to_string())
            .or_insert(None);
        syn::visit::visit_pat_ident(self, pattern);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        self.visit_expr(&call.func);
        let spawns = match &*call.func {
            Expr::Path(path) => path
                .path
                .segments
                .last()
                .is_some_and(|it| it.ident.to_string().contains("spawn")),
            _ => false,
        };
        self.elsewhere(spawns, |it| {
            call.args
                .iter()
                .for_each(|argument| it.visit_expr(argument));
        });
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let name = call.method.unraw().to_string();
        let owner = self.owner.as_ref().and_then(|owner| owner.name.clone());
        if let Some(ty) = self
            .types
            .expression(&call.receiver, &self.variables, owner.as_deref())
        {
            // `inner: S` of a type is what the block says of `S`.
            let bound = self
                .owner
                .as_ref()
                .and_then(|it| it.bounds.get(&ty).cloned());
            self.call(Callee::Method(bound.unwrap_or(ty), name.clone()));
        }
        self.visit_expr(&call.receiver);
        let spawns = name.contains("spawn");
        self.elsewhere(spawns, |it| {
            call.args
                .iter()
                .for_each(|argument| it.visit_expr(argument));
        });
    }

    /// A function that is called, or handed on.
    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        if let Some(name) = path.path.get_ident()
            && self.variables.contains_key(&name.unraw().to_string())
        {
            return;
        }
        match &path.qself {
            Some(of) => {
                let owner = self.owner.as_ref().and_then(|owner| owner.name.clone());
                let ty = types::hint(&of.ty, &HashMap::new(), owner.as_deref());
                if let (Some(ty), Some(last)) = (ty, path.path.segments.last()) {
                    self.call(Callee::Method(ty, last.ident.unraw().to_string()));
                }
            }
            None => self.call(Callee::Path(Path::of(&path.path))),
        }
    }
}

//! What is done at each kind of syntax.

use std::collections::HashMap;

use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::visit::Visit;
use syn::{
    Attribute, Block, Expr, ExprCall, ExprMethodCall, ExprPath, ImplItemFn, ItemFn, ItemImpl,
    ItemTrait, Local, Macro, Pat, Stmt, TraitItemFn,
};

use super::{Function, Owner, Visitor, loops};
use crate::code::Place;
use crate::code::conditions;
use crate::code::loose;
use crate::code::names::Path;
use crate::list::sites::{Callee, Form};
use crate::list::types;

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
            title: types::title(item),
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
            title: Some(item.ident.unraw().to_string()),
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
                self.visit_named_macro(&item.mac, &name.to_string());
            }
            None => self.visit_macro(&item.mac),
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        if self.is_ours(&mac.path, "retry_block") {
            return self.block(mac);
        }
        let last = mac.path.segments.last();
        let name = last.map_or_else(String::new, |it| it.ident.to_string());
        match name.as_str() {
            "stringify" => return,
            // Code for another crate: it is not called here.
            "quote" | "quote_spanned" | "parse_quote" | "parse_quote_spanned" => {
                return self.unread(mac);
            }
            _ => {}
        }
        let spawns = name.contains("spawn");
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
        let (pattern, written) = match &local.pat {
            Pat::Type(typed) => (
                &*typed.pat,
                types::hint(&typed.ty, &HashMap::new(), owner.as_deref()),
            ),
            pattern => (pattern, None),
        };
        let Pat::Ident(name) = pattern else { return };
        let init = local.init.as_ref().map(|init| &init.expr);
        let ty = written.or_else(|| {
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
        if let Expr::Path(path) = &*call.func
            && let Some(policy) = call.args.first()
            && ["RetryLayer", "RetryMiddleware"]
                .iter()
                .any(|it| self.is_made_by(&path.path, it))
        {
            let span = syn::spanned::Spanned::span(&path.path);
            self.by_expression(span, Form::Layer, policy);
        }
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
        let runs = ["run", "run_async", "try_run", "try_run_async"];
        if runs.contains(&name.as_str()) {
            self.run(call);
        } else if makes_runner(call) && self.is_policy(&call.receiver) {
            self.by_expression(call.method.span(), Form::Run, &call.receiver);
        }
        self.visit_expr(&call.receiver);
        let spawns = name.contains("spawn");
        self.elsewhere(spawns, |it| {
            it.again(loops::is_for_each(call), |it| {
                call.args
                    .iter()
                    .for_each(|argument| it.visit_expr(argument));
            });
        });
    }

    fn visit_expr_for_loop(&mut self, it: &'ast syn::ExprForLoop) {
        self.visit_expr(&it.expr);
        self.visit_pat(&it.pat);
        self.again(true, |visitor| visitor.visit_block(&it.body));
    }

    fn visit_expr_while(&mut self, it: &'ast syn::ExprWhile) {
        self.again(true, |visitor| syn::visit::visit_expr_while(visitor, it));
    }

    fn visit_expr_loop(&mut self, it: &'ast syn::ExprLoop) {
        self.again(true, |visitor| visitor.visit_block(&it.body));
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

impl Visitor<'_> {
    /// `policy.run(..)`, or the same of a runner: `policy.on(..).name(..).run(..)`.
    fn run(&mut self, call: &ExprMethodCall) {
        let mut maker = &*call.receiver;
        while let Expr::MethodCall(inner) = maker
            && !makes_runner(inner)
        {
            maker = &inner.receiver;
        }
        let policy = match maker {
            Expr::MethodCall(runner) => &*runner.receiver,
            _ => &*call.receiver,
        };
        if !self.is_policy(policy) {
            return;
        }
        self.by_expression(call.method.span(), Form::Run, policy);
        if let Expr::MethodCall(runner) = maker {
            self.known
                .insert(Place::of(&self.file, runner.method.span()));
        }
    }

    /// Whether `expr` is `Policy::new().max(3)`, or a constant that is set to one.
    fn is_policy(&self, expr: &Expr) -> bool {
        match expr {
            Expr::MethodCall(call) => self.is_policy(&call.receiver),
            Expr::Paren(it) => self.is_policy(&it.expr),
            Expr::Reference(it) => self.is_policy(&it.expr),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => self.is_made_by(&path.path, "Policy"),
                _ => false,
            },
            Expr::Field(_) => self.holds_policy(expr),
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| {
                let name = name.unraw().to_string();
                let module = self.code.modules.get(self.module);
                let constants = module.and_then(|it| it.constants.get(&name));
                let own = self.scope.constant(&name);
                own.into_iter()
                    .chain(constants.into_iter().flatten())
                    .any(|it| !matches!(it, Expr::Path(_)) && self.is_policy(it))
                    || self.holds_policy(expr)
            }),
            _ => false,
        }
    }

    /// Whether a variable or a field has the type `Policy`, as it is written there.
    fn holds_policy(&self, expr: &Expr) -> bool {
        let owner = self.owner.as_ref().and_then(|owner| owner.name.as_deref());
        let ty = self.types.expression(expr, &self.variables, owner);
        ty.is_some_and(|ty| ty == "Policy" && self.is_ours(&syn::parse_quote!(Policy), "Policy"))
    }
}

/// `policy.on(judge)`, `policy.runner()`
fn makes_runner(call: &ExprMethodCall) -> bool {
    call.method == "on" || call.method == "runner"
}

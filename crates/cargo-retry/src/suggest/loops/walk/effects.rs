//! What a failure does that is not a decision: it logs, sleeps, or ends the loop.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use quote::quote;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Macro};

use super::{End, Walk};
use crate::code::written;
use crate::suggest::brief;
use crate::suggest::loops::counters::unparenthesized;
use crate::suggest::loops::facts::is_sleep;
use crate::suggest::loops::failure::{Exits, Log, Scope};
use crate::suggest::loops::macros::{ends, is_log, logs};
use crate::suggest::loops::names;
use crate::suggest::loops::patterns::name;

impl<'a> Walk<'a, '_> {
    pub(super) fn of_macro(
        &mut self,
        attributes: &[Attribute],
        line: &Macro,
        scope: &Scope<'a>,
    ) -> End {
        if logs(line) {
            self.logs(quote!(#(#attributes)* #line), scope, true);
            return End::Falls;
        }
        if ends(line) {
            self.failure.exit(Exits::Other);
            return End::Leaves;
        }
        self.besides(line);
        End::Falls
    }

    fn logs(&mut self, line: TokenStream, scope: &Scope<'a>, formats: bool) {
        let place = line.span().byte_range().start;
        self.ways.logs(place, &brief(&written(&line)));
        self.failure.logs.push(Log {
            scope: scope.clone(),
            line,
            formats,
        });
    }

    /// Out of the loop, with this.
    pub(super) fn leaves(&mut self, with: Option<&Expr>, scope: &Scope<'_>) -> End {
        let (with, is_converted) = match with {
            Some(Expr::Try(it)) => (Some(&*it.expr), true),
            with => (with, false),
        };
        let exit = match with {
            Some(Expr::Call(it)) if written(&it.func) == "Err" => match it.args.first() {
                Some(error) if is_error(error, scope) => Exits::Same,
                // `Err(Fault::Gone) => return Err(Fault::Gone)`
                Some(error) if (scope.pattern).is_some_and(|it| written(it) == written(error)) => {
                    Exits::Same
                }
                Some(Expr::MethodCall(it))
                    if it.method == "into" && is_error(&it.receiver, scope) =>
                {
                    Exits::Converted
                }
                _ => Exits::Other,
            },
            // `result => return result`
            Some(Expr::Path(_)) if scope.pattern.is_none() => Exits::Same,
            _ => Exits::Other,
        };
        let is_same = exit == Exits::Same && is_converted;
        self.failure
            .exit(if is_same { Exits::Converted } else { exit });
        End::Leaves
    }

    /// A call that sleeps, ends the program, or does something else.
    pub(super) fn call(&mut self, expr: &'a Expr, scope: &Scope<'a>) -> End {
        let (name, arguments) = match expr {
            Expr::Call(it) => match &*it.func {
                Expr::Path(path) => {
                    let last = path.path.segments.last();
                    (last.map(|it| it.ident.to_string()), &it.args)
                }
                _ => (None, &it.args),
            },
            Expr::MethodCall(it) => (Some(it.method.to_string()), &it.args),
            _ => return End::Falls,
        };
        let name = name.unwrap_or_default();
        if let Some(time) = arguments.first().filter(|_| is_sleep(&name)) {
            let time = self.meant(time, scope);
            if names(time).is_disjoint(&scope.bound) {
                self.ways.sleeps(&written(time));
            } else {
                self.ways.is_asked();
            }
            self.failure.sleeps.push((scope.clone(), time));
        } else if name == "exit" || name == "abort" {
            return End::Leaves;
        } else if is_log(&name) && matches!(expr, Expr::Call(_)) {
            self.logs(expr.to_token_stream(), scope, false);
        } else if (self.sleeping)(&name) {
            self.ways.sleeps(&written(expr));
        } else if !is_sleep(&name) && name != "yield_now" {
            self.besides(expr);
        }
        End::Falls
    }

    /// What a variable is set to, if that speaks of the error.
    fn meant(&self, time: &'a Expr, scope: &Scope<'a>) -> &'a Expr {
        let Expr::Path(path) = time else { return time };
        let mut known = self.variables.iter().rev();
        let set = known
            .find(|(name, _)| path.path.is_ident(*name))
            .map(|(_, set)| *set);
        set.filter(|it| !names(*it).is_disjoint(&scope.bound))
            .unwrap_or(time)
    }
}

/// Whether it is the error itself: a name, or a reference to it.
pub(super) fn is_error(expr: &Expr, scope: &Scope<'_>) -> bool {
    match unparenthesized(expr) {
        Expr::Reference(it) => is_error(&it.expr, scope),
        Expr::Path(path) => {
            let whole = scope.pattern.and_then(name);
            whole.is_some_and(|it| path.path.is_ident(&it))
        }
        _ => false,
    }
}

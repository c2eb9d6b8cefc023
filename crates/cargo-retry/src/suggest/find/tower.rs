//! A policy of tower as a finding.

use syn::visit::Visit;
use syn::{Expr, ImplItem, ItemImpl, Macro, Pat};

use super::Visitor;
use crate::code::written;
use crate::suggest::keys::Keys;
use crate::suggest::{Suggestion, brief, loops, unique};

impl Visitor<'_> {
    /// `impl tower::retry::Policy for ..`, unless another policy decides in it.
    pub(super) fn tower(&mut self, item: &ItemImpl) {
        let Some((path, _)) = &item.trait_ else {
            return;
        };
        let Some((package, rest)) = self.foreign(path) else {
            return;
        };
        let is_tower = package.starts_with("tower") && rest.last().is_some_and(|it| it == "Policy");
        let decision = Decision::of(item);
        if !is_tower || decision.is_of_another {
            return;
        }
        let request = path
            .segments
            .last()
            .map_or_else(String::new, |it| written(&it.arguments));
        let (form, on) = match (request.contains("Request<"), decision.asks.as_slice()) {
            (true, _) => ("http", ""),
            (false, []) => ("new", ".on_answer(|answer: &Result<_, _>| answer.is_err())"),
            (false, _) => ("new", ".on_answer(...)"),
        };
        let code = format!(
            "// cargo add reattempt --features tower\nlet layer = reattempt::tower::RetryLayer::{form}(reattempt::Policy::new().max(4)){on};"
        );
        let suggestion = Suggestion {
            attribute: None,
            replaces: None,
            code,
        };
        let differs = vec![
            "one layer in place of the `impl`: `RetryLayer::http` and `::grpc` know statuses, `Retry-After` and methods that are not idempotent".to_owned(),
            "a clone of the request is made for each attempt where its type is `Clone`; `clone_with` takes what `clone_request` does".to_owned(),
        ];
        let mut missing = vec![format!(
            "how often and after which delays `{}` retries: its fields say so; write them as `max`, `base` and `cap` of the `Policy`",
            written(&item.self_ty)
        )];
        if !decision.asks.is_empty() {
            missing.push(format!(
                "which answers are retried: its `retry` asks `{}`; what of that is no count belongs into `on_answer`",
                unique(&decision.asks).join("`, `")
            ));
        }
        for line in unique(&decision.logs) {
            missing.push(format!("what its `retry` logs: `{line}`"));
        }
        let keys = Keys {
            differs,
            missing,
            ..Keys::default()
        };
        let finding = self.found(path, "tower", Some(suggestion), &keys);
        self.findings.push(finding);
    }
}

/// What the method `retry` of a policy asks.
#[derive(Default)]
struct Decision {
    /// Conditions, and patterns of errors.
    asks: Vec<String>,
    logs: Vec<String>,
    /// Whether it hands the question on.
    is_of_another: bool,
}

impl Decision {
    fn of(item: &ItemImpl) -> Self {
        let mut decision = Self::default();
        for item in &item.items {
            if let ImplItem::Fn(it) = item
                && it.sig.ident == "retry"
            {
                decision.visit_block(&it.block);
            }
        }
        decision
    }

    fn asks(&mut self, condition: &Expr) {
        match condition {
            Expr::Let(it) => self.asks_for(&it.pat),
            condition => self.asks.push(brief(&written(condition))),
        }
    }

    /// A pattern that tells one error from another.
    fn asks_for(&mut self, pattern: &Pat) {
        if !loops::tells_no_error(pattern) {
            self.asks.push(brief(&written(pattern)));
        }
    }
}

impl<'ast> Visit<'ast> for Decision {
    fn visit_expr_if(&mut self, it: &'ast syn::ExprIf) {
        self.asks(&it.cond);
        syn::visit::visit_expr_if(self, it);
    }

    fn visit_arm(&mut self, it: &'ast syn::Arm) {
        match &it.pat {
            Pat::Guard(guard) => {
                self.asks_for(&guard.pat);
                self.asks(&guard.guard);
            }
            pattern => self.asks_for(pattern),
        }
        syn::visit::visit_arm(self, it);
    }

    fn visit_expr_method_call(&mut self, it: &'ast syn::ExprMethodCall) {
        self.is_of_another |= it.method == "retry";
        syn::visit::visit_expr_method_call(self, it);
    }

    fn visit_macro(&mut self, it: &'ast Macro) {
        if loops::logs(it) {
            self.logs.push(brief(&written(it)));
        }
    }
}

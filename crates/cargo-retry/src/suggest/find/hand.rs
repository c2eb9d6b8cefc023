//! A loop by hand as a finding.

use quote::ToTokens as _;
use syn::Expr;
use syn::visit::Visit;

use super::{Visitor, bytes};
use crate::suggest::loops::poll::Poll;
use crate::suggest::{Finding, Suggestion, loops};

impl Visitor<'_> {
    pub(super) fn by_hand(&mut self, whole: &Expr) {
        let around = loops::Around {
            named: &|name| self.named(name),
            sleeping: &|name| self.callees.sleeping.contains(name),
        };
        let Some(found) = loops::of(whole, &around) else {
            if let Some(poll) = loops::poll::of(whole, &around) {
                self.findings.push(self.polled(whole, &poll));
            }
            return;
        };
        let mut keys = found.keys.clone();
        if found.operation.is_none() && !found.is_explained {
            keys.only_missing(
                "what is tried: the loop does not say it in one `match` or `if let`".to_owned(),
            );
        } else if found.operation.is_some() && !found.is_plain {
            keys.missing.push(
                "what the loop does with the answer, and what it ends with: keep that around the block".to_owned(),
            );
        } else if found.operation.is_some() && found.is_statement {
            keys.differs.push("after the last attempt the block returns its error, and what follows the loop is not reached".to_owned());
        }
        let suggestion = found.operation.map(|operation| {
            let is_whole = found.is_plain && keys.missing.is_empty();
            Suggestion {
                attribute: None,
                replaces: bytes(&whole.to_token_stream()).filter(|_| is_whole),
                code: self.block(&found, operation),
            }
        });
        let finding = self.found(whole, "a loop", suggestion, &keys);
        self.findings.push(finding);
    }

    fn polled(&self, whole: &Expr, poll: &Poll<'_>) -> Finding {
        let mut awaits = Awaits::default();
        awaits.visit_expr(poll.value);
        poll.before.iter().for_each(|it| awaits.visit_stmt(it));
        let lines = poll.before.iter().map(|it| self.source(it));
        let body: Vec<_> = lines.chain([self.source(poll.value)]).collect();
        let block = poll.keys.block(&body.join("\n        "), awaits.0);
        let block = format!("{block}{}", if awaits.0 { ".await" } else { "" });
        let pattern = poll.pattern.map(|it| format!("let {} = ", self.source(it)));
        let over = poll.over.map(|it| format!(" else {}", self.source(it)));
        let (pattern, over) = (pattern.unwrap_or_default(), over.unwrap_or_default());
        let code = match poll.then {
            Some(then) => format!("if {pattern}{block} {}{over}", self.source(then)),
            None if over.is_empty() => format!("_ = {block};"),
            None => format!("if {pattern}{block} {{}}{over}"),
        };
        let suggestion = Suggestion {
            attribute: None,
            replaces: bytes(&whole.to_token_stream()).filter(|_| poll.keys.missing.is_empty()),
            code,
        };
        self.found(whole, "a loop that polls", Some(suggestion), &poll.keys)
    }

    /// A loop as a block.
    fn block(&self, found: &loops::Loop<'_>, operation: &Expr) -> String {
        let mut awaits = Awaits::default();
        awaits.visit_expr(operation);
        found.before.iter().for_each(|it| awaits.visit_stmt(it));
        let is_async = awaits.0;
        let before = found.before.iter().map(|it| self.source(it));
        let lines = found.turn.clone().into_iter().chain(before);
        let body = lines.chain([self.source(operation)]).collect::<Vec<_>>();
        let body = body.join("\n        ");
        let awaited = if is_async { ".await" } else { "" };
        let converted = if found.converts {
            ".map_err(Into::into)"
        } else {
            ""
        };
        let (before, after) = match (found.is_plain && found.returns, found.is_statement) {
            (true, true) => ("return ", ";"),
            (true, false) => ("return ", ""),
            _ => ("", ""),
        };
        let block = found.keys.block(&body, is_async);
        format!("{before}{block}{awaited}{converted}{after}")
    }
}

/// Whether something is awaited, and not only in a block or a closure of its own.
#[derive(Default)]
struct Awaits(bool);

impl<'ast> Visit<'ast> for Awaits {
    fn visit_expr_await(&mut self, _: &'ast syn::ExprAwait) {
        self.0 = true;
    }
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
}

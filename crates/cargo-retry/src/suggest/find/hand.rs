//! A loop by hand as a finding.

use std::collections::BTreeSet;

use quote::ToTokens as _;
use syn::Expr;
use syn::visit::Visit;

use super::{Visitor, bytes};
use crate::suggest::loops::poll::Poll;
use crate::suggest::{Finding, Suggestion, loops};

impl Visitor<'_> {
    /// `behind` is what the code behind the loop calls.
    pub(super) fn by_hand(&mut self, whole: &Expr, behind: &[String]) {
        let around = loops::Around {
            named: &|name| self.named(name),
            sleeping: &|name| self.callees.sleeping.contains(name),
        };
        let found = loops::of(whole, &around);
        let is_asked = found.as_ref().is_none_or(|it| it.is_asked);
        let poll = is_asked.then(|| loops::poll::of(whole, &around)).flatten();
        let poll = poll.filter(|it| found.is_none() || it.keys.missing.is_empty());
        if let Some(poll) = poll {
            self.findings.push(self.polled(whole, &poll));
            return;
        }
        let Some(found) = found else { return };
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
        if let Some(tried) = found.operation.and_then(called) {
            for (calls, what) in [
                (&*found.in_front, "what stands in front of"),
                (behind, "what follows"),
            ] {
                if calls.contains(&tried) {
                    keys.missing.push(format!(
                        "`max`: {what} the loop calls `{tried}` once more: that attempt counts, too"
                    ));
                }
            }
        }
        if found.operation.is_some() && !(found.is_plain && found.returns) {
            for name in self.names_behind(whole).intersection(&found.changed) {
                keys.missing.push(format!(
                    "`{name}`, which the code behind the loop reads: the loop changes it, and the block does not"
                ));
            }
            let is_carried = |name: &&String| self.turns.iter().any(|it| !it.contains(*name));
            for name in found.steps.iter().filter(is_carried) {
                keys.missing.push(format!(
                    "`{name}`, which the loop around this one does not set anew: it goes on where it was, and a block begins at the start"
                ));
            }
        }
        let suggestion = found.operation.map(|operation| {
            let is_whole = found.is_plain && keys.missing.is_empty();
            Suggestion {
                attribute: None,
                replaces: bytes(&whole.to_token_stream()).filter(|_| is_whole),
                code: self.block(&found, operation, awaits(whole)),
            }
        });
        let finding = self.found(whole, "a loop", suggestion, &keys);
        self.findings.push(finding);
    }

    /// What the function reads behind this.
    fn names_behind(&self, whole: &Expr) -> BTreeSet<String> {
        let end = bytes(&whole.to_token_stream()).map(|(_, end)| end);
        let function = self.functions.last().zip(end);
        function.map_or_else(BTreeSet::new, |(it, end)| {
            loops::names_behind(it.tokens.clone(), end)
        })
    }

    fn polled(&self, whole: &Expr, poll: &Poll<'_>) -> Finding {
        let is_async = awaits(whole);
        let lines = poll.before.iter().map(|it| self.source(it));
        let body: Vec<_> = lines.chain([self.source(poll.value)]).collect();
        let block = poll.keys.block(&body.join("\n        "), is_async);
        let block = format!("{block}{}", if is_async { ".await" } else { "" });
        let pattern = poll.pattern.map(|it| format!("let {} = ", self.source(it)));
        let pattern = pattern.unwrap_or_default();
        let [then, over] = [poll.then, poll.over].map(|it| it.map(|it| self.source(it)));
        let code = match (then, over) {
            (None, None) => format!("_ = {block};"),
            (None, Some(over)) if pattern.is_empty() => format!("if !{block} {over}"),
            (then, over) => {
                let then = then.unwrap_or_else(|| "{}".to_owned());
                let over = over.map(|it| format!(" else {it}")).unwrap_or_default();
                format!("if {pattern}{block} {then}{over}")
            }
        };
        let suggestion = Suggestion {
            attribute: None,
            replaces: bytes(&whole.to_token_stream()).filter(|_| poll.keys.missing.is_empty()),
            code,
        };
        self.found(whole, "a loop that polls", Some(suggestion), &poll.keys)
    }

    /// A loop as a block.
    fn block(&self, found: &loops::Loop<'_>, operation: &Expr, is_async: bool) -> String {
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

/// The name of the function that is called.
fn called(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Await(it) => called(&it.base),
        Expr::Paren(it) => called(&it.expr),
        Expr::Call(it) => match &*it.func {
            Expr::Path(it) => it.path.segments.last().map(|it| it.ident.to_string()),
            _ => None,
        },
        Expr::MethodCall(it) => Some(it.method.to_string()),
        _ => None,
    }
}

/// Whether a loop awaits something, a delay or an attempt, and not only in a block or a closure of its own.
fn awaits(code: &Expr) -> bool {
    let mut awaits = Awaits(false);
    awaits.visit_expr(code);
    awaits.0
}

struct Awaits(bool);

impl<'ast> Visit<'ast> for Awaits {
    fn visit_expr_await(&mut self, _: &'ast syn::ExprAwait) {
        self.0 = true;
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        const AWAIT: &[&str] = &["select", "select_biased", "join", "try_join"];
        let name = mac.path.segments.last().map(|it| it.ident.to_string());
        let is_one = name.is_some_and(|it| AWAIT.contains(&it.as_str()));
        self.0 |= is_one || loops::names(&mac.tokens).contains("await");
    }
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
}

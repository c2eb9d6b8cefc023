//! `map_err = |error: RetryError<E>| ...`: what makes the caller's error.

use reattempt_policy::rules::RuleId;
use syn::spanned::Spanned as _;
use syn::{Expr, Pat};

use super::together::async_closure;
use crate::args::Code;
use crate::diagnostics::Diagnostics;
use crate::item::text;
use crate::model::Mapper;

/// The function, and the type of its parameter, which is the only place where the error of the body is written.
pub(super) fn mapper(code: Option<Code>, faults: &mut Diagnostics) -> Option<Mapper> {
    read(super::expression(code?, faults)?, faults)
}

fn read(code: Expr, faults: &mut Diagnostics) -> Option<Mapper> {
    if let Some(span) = async_closure(&code) {
        faults.push(
            span,
            RuleId::S9,
            "`map_err` converts the last error and cannot be async; make the closure sync, or move code that waits to `fallback`",
        );
        return None;
    }
    let wrong = match code {
        Expr::Group(group) => return read(*group.expr, faults),
        Expr::Paren(paren) => return read(*paren.expr, faults),
        Expr::Path(_) => {
            return Some(Mapper {
                code,
                parameter: None,
            });
        }
        Expr::Closure(ref closure) => match closure.inputs.first() {
            Some(Pat::Type(typed)) if closure.inputs.len() > 1 => {
                let ty = text(&typed.ty);
                faults.push(
                    closure.inputs.span(),
                    RuleId::S9,
                    format!("the function of `map_err` has one parameter, the error; write `map_err = |error: {ty}| ...`"),
                );
                return None;
            }
            Some(Pat::Type(typed)) if closure.inputs.len() == 1 => {
                let parameter = Some((*typed.ty).clone());
                return Some(Mapper { code, parameter });
            }
            parameter => parameter.map_or_else(|| closure.span(), syn::spanned::Spanned::span),
        },
        _ => code.span(),
    };
    faults.push(
        wrong,
        RuleId::S9,
        "`map_err` must be a path, or a closure whose parameter has a type that names the error of an attempt; write `map_err = |error: reattempt::RetryError<E>| ...`, with that error for `E`",
    );
    None
}

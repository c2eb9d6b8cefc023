//! `undo = path`: the compensation with arguments of its own, where the task goes back.
//!
//! ```text
//! let kept_0 = keep::<Order>(argument_0);
//! Some(move |result| Box::new(move |flow| Box::pin(async move { undone(refund(&flow, lend(&kept_0), &result).await) })))
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{GenericArgument, Path, PathArguments, Type};

use crate::function::Parameter;
use crate::step::{Step, argument};
use crate::types::{bare, borrowed};
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::model::{at, located};
use retry_runtime::rules::RuleId;

/// How an argument is kept for the compensation.
enum Kept<'a> {
    /// `&T`: as what `T` is owned as.
    Lent(&'a Type),
    /// `Option<&T>`.
    Perhaps(&'a Type),
    Owned(&'a Type),
}

impl<'a> Kept<'a> {
    fn of(ty: &'a Type) -> Self {
        match bare(ty) {
            Type::Reference(reference) => Self::Lent(&reference.elem),
            Type::Path(path) => match optional(&path.path) {
                Some(elem) => Self::Perhaps(elem),
                None => Self::Owned(ty),
            },
            _ => Self::Owned(ty),
        }
    }

    fn ty(&self) -> &'a Type {
        match self {
            Self::Lent(ty) | Self::Perhaps(ty) | Self::Owned(ty) => ty,
        }
    }
}

/// The `T` of `Option<&T>`.
fn optional(path: &Path) -> Option<&Type> {
    let last = path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => match bare(ty) {
            Type::Reference(reference) if arguments.args.len() == 1 => Some(&reference.elem),
            _ => None,
        },
        _ => None,
    }
}

/// What a compensation is given outlives the call, so it must be possible to own it.
pub(crate) fn keeps(parameters: &[Parameter], faults: &mut Diagnostics) -> bool {
    let mut can = true;
    for parameter in parameters.iter().filter(|parameter| !parameter.is_with) {
        if let Some(span) = borrowed(Kept::of(&parameter.ty).ty()) {
            faults.push(
                span,
                RuleId::D4,
                "the compensation gets a copy of this after the call, and it borrows; take `&T`, `Option<&T>` or an owned type, or drop `undo`",
            );
            can = false;
        }
    }
    can
}

/// An `Option` of what makes the compensation out of the answer.
pub(crate) fn expand(step: &Step, undo: &Path) -> TokenStream {
    let (private, value) = (&step.private, step.value());
    let kept = step.asked().map(|(i, parameter)| {
        let (name, argument) = (copy(i), argument(i));
        let kind = Kept::of(&parameter.ty);
        let ty = kind.ty();
        let function = match kind {
            Kept::Lent(_) => ours!(#private::keep),
            Kept::Perhaps(_) => ours!(#private::keep_some),
            Kept::Owned(_) => ours!(#private::keep_owned),
        };
        let function = located(function, ty.span());
        let argument = match kind {
            Kept::Owned(_) => ours!(&#argument),
            Kept::Lent(_) | Kept::Perhaps(_) => argument.to_token_stream(),
        };
        quote_spanned!(at(ty.span())=> let #name = #function::<#ty>(#argument);)
    });
    let place = at(undo.span());
    let given = step.asked().map(|(i, parameter)| {
        let name = copy(i);
        let private = located(private.clone(), undo.span());
        match Kept::of(&parameter.ty) {
            Kept::Lent(ty) => quote_spanned!(place=> #private::lend::<#ty>(&#name)),
            Kept::Perhaps(ty) => quote_spanned!(place=> #private::lend_some::<#ty>(&#name)),
            Kept::Owned(_) => {
                let mut name = name;
                name.set_span(place);
                name.to_token_stream()
            }
        }
    });
    let given: Vec<_> = given.collect();
    let task = quote_spanned!(place=> &flow);
    let result = quote_spanned!(place=> &result);
    let outcome = quote_spanned! {place=>
        let outcome: ::core::result::Result<_, #private::StepError> = #undo(#task, #(#given,)* #result).await;
    };
    ours! {
        if #private::goes_back(flow) {
            #(#kept)*
            ::core::option::Option::Some(move |result: #value| -> #private::Box<
                dyn ::core::ops::FnOnce(#private::Flow) -> #private::Undoing + ::core::marker::Send,
            > {
                #private::Box::new(move |flow: #private::Flow| -> #private::Undoing {
                    #private::Box::pin(async move {
                        #outcome
                        #private::undone(outcome)
                    })
                })
            })
        } else {
            ::core::option::Option::None
        }
    }
}

fn copy(i: usize) -> Ident {
    Ident::new(&format!("kept_{i}"), Span::mixed_site())
}

//! `undo = path` and `undo_unknown = path`: the compensation with the recorded arguments, for a task
//! that is undone.
//!
//! ```text
//! Some(move |value, arguments| Ok(match value {
//!     Some(value) => {
//!         let copy_0 = read_borrowed::<Order, _>(arguments)?;
//!         Some(Box::new(move |context| Box::pin(async move {
//!             without_value(refund(&context, borrow_copy(&copy_0), &value).await)
//!         })))
//!     }
//!     None => None,
//! }))
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{GenericArgument, Path, PathArguments, Type};

use crate::function::{Durable, Parameter};
use crate::types::{bare, find_borrow};
use reattempt_policy::rules::RuleId;
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::model::{at, located};

/// How the compensation gets its copy of an argument.
enum ArgumentKind<'a> {
    /// `&T`: a copy in the owned form of `T`.
    Borrowed(&'a Type),
    /// `Option<&T>`: an optional copy in the owned form of `T`.
    Optional(&'a Type),
    /// `T`: a clone.
    Owned(&'a Type),
}

impl<'a> ArgumentKind<'a> {
    /// Decides by the tokens of a type.
    fn of(ty: &'a Type) -> Self {
        match bare(ty) {
            Type::Reference(reference) => Self::Borrowed(&reference.elem),
            Type::Path(path) => match optional(&path.path) {
                Some(elem) => Self::Optional(elem),
                None => Self::Owned(ty),
            },
            _ => Self::Owned(ty),
        }
    }

    fn ty(&self) -> &'a Type {
        match self {
            Self::Borrowed(ty) | Self::Optional(ty) | Self::Owned(ty) => ty,
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

/// Checks that each argument of a compensation can be owned: the compensation runs after the call.
pub(crate) fn check_arguments(parameters: &[Parameter], faults: &mut Diagnostics) -> bool {
    let mut is_right = true;
    for parameter in parameters.iter().filter(|parameter| !parameter.is_with) {
        if let Some(span) = find_borrow(ArgumentKind::of(&parameter.ty).ty()) {
            faults.push(
                span,
                RuleId::D4,
                "the compensation gets a copy of this argument after the call, and the argument borrows; take `&T`, `Option<&T>` or an owned type, or drop `undo`",
            );
            is_right = false;
        }
    }
    is_right
}

/// Returns the name of an undo for the record: the last word of its path.
pub(crate) fn name(undo: Option<&Path>) -> TokenStream {
    let last = undo.and_then(|path| path.segments.last());
    match last.map(|last| last.ident.unraw().to_string()) {
        None => ours!(::core::option::Option::None),
        Some(name) => ours!(::core::option::Option::Some(#name)),
    }
}

/// Returns an `Option` with a closure that turns the recorded arguments, and the result if there is
/// one, into the compensation: `undo` or `undo_unknown`.
pub(crate) fn expand(
    durable: &Durable,
    value: &TokenStream,
    private: &TokenStream,
    (undo, undo_unknown): (Option<&Path>, Option<&Path>),
) -> TokenStream {
    let copies = durable.arguments().map(|(i, parameter)| {
        let name = copy(i);
        let kind = ArgumentKind::of(&parameter.ty);
        let ty = kind.ty();
        let function = match kind {
            ArgumentKind::Borrowed(_) => ours!(#private::read_borrowed),
            ArgumentKind::Optional(_) => ours!(#private::read_optional),
            ArgumentKind::Owned(_) => ours!(#private::read_owned),
        };
        let function = located(function, ty.span());
        quote_spanned!(at(ty.span())=> let #name = #function::<#ty, _>(arguments)?;)
    });
    let copies: Vec<_> = copies.collect();
    let done = undo.map(|path| compensation(durable, private, path, true));
    let unknown = undo_unknown.map(|path| compensation(durable, private, path, false));
    let done = done.map(|done| {
        ours! {
            ::core::option::Option::Some(value) => {
                #(#copies)*
                ::core::option::Option::Some(#done)
            }
        }
    });
    let unknown = unknown.map(|unknown| {
        ours! {
            ::core::option::Option::None => {
                #(#copies)*
                ::core::option::Option::Some(#unknown)
            }
        }
    });
    let other = (undo.is_none() || undo_unknown.is_none())
        .then(|| ours!(_ => ::core::option::Option::None,));
    ours! {
        if #private::is_undoing(context) {
            ::core::option::Option::Some(
                move |
                    value: ::core::option::Option<#value>,
                    arguments: &mut #private::UndoArguments<'_>,
                | -> #private::JsonResult<::core::option::Option<#private::Compensation>> {
                    ::core::result::Result::Ok(match value {
                        #done
                        #unknown
                        #other
                    })
                }
            )
        } else {
            ::core::option::Option::None
        }
    }
}

/// Returns the compensation by the step `undo`, as an expression. It uses the copies of the
/// arguments, and `value` if the step was done.
fn compensation(
    durable: &Durable,
    private: &TokenStream,
    undo: &Path,
    is_done: bool,
) -> TokenStream {
    let place = at(undo.span());
    let arguments = durable.arguments().map(|(i, parameter)| {
        let name = copy(i);
        let private = located(private.clone(), undo.span());
        match ArgumentKind::of(&parameter.ty) {
            ArgumentKind::Borrowed(ty) => {
                quote_spanned!(place=> #private::borrow_copy::<#ty, _>(&#name))
            }
            ArgumentKind::Optional(ty) => {
                quote_spanned!(place=> #private::borrow_optional_copy::<#ty, _>(&#name))
            }
            ArgumentKind::Owned(_) => {
                let mut name = name;
                name.set_span(place);
                name.to_token_stream()
            }
        }
    });
    let arguments: Vec<_> = arguments.collect();
    let task = quote_spanned!(place=> &context);
    let value_of_step = is_done.then(|| quote_spanned!(place=> &value));
    let result = quote_spanned! {place=>
        let result: ::core::result::Result<_, #private::StepError> = #undo(#task, #(#arguments,)* #value_of_step).await;
    };
    ours! {
        #private::Box::new(move |context: #private::WorkflowContext| -> #private::CompensationFuture {
            #private::Box::pin(async move {
                #result
                #private::without_value(result)
            })
        })
    }
}

fn copy(i: usize) -> Ident {
    Ident::new(&format!("copy_{i}"), Span::mixed_site())
}

//! `undo = path`: the compensation with copies of the arguments, for a task that is undone.
//!
//! ```text
//! let copy_0 = copy_borrowed::<Order>(argument_0);
//! Some(move |result| Box::new(move |context| Box::pin(async move {
//!     without_value(refund(&context, borrow_copy(&copy_0), &result).await)
//! })))
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{GenericArgument, Path, PathArguments, Type};

use crate::function::{Durable, Parameter, argument};
use crate::types::{bare, find_borrow};
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::model::{at, located};
use retry_runtime::rules::RuleId;

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

/// Returns an `Option` with a closure that turns the result of the step into the compensation.
pub(crate) fn expand(durable: &Durable, private: &TokenStream, undo: &Path) -> TokenStream {
    let value = durable.value(private);
    let copies = durable.arguments().map(|(i, parameter)| {
        let (name, argument) = (copy(i), argument(i));
        let kind = ArgumentKind::of(&parameter.ty);
        let ty = kind.ty();
        let function = match kind {
            ArgumentKind::Borrowed(_) => ours!(#private::copy_borrowed),
            ArgumentKind::Optional(_) => ours!(#private::copy_optional),
            ArgumentKind::Owned(_) => ours!(#private::copy_owned),
        };
        let function = located(function, ty.span());
        let argument = match kind {
            ArgumentKind::Owned(_) => ours!(&#argument),
            ArgumentKind::Borrowed(_) | ArgumentKind::Optional(_) => argument.to_token_stream(),
        };
        quote_spanned!(at(ty.span())=> let #name = #function::<#ty>(#argument);)
    });
    let place = at(undo.span());
    let arguments = durable.arguments().map(|(i, parameter)| {
        let name = copy(i);
        let private = located(private.clone(), undo.span());
        match ArgumentKind::of(&parameter.ty) {
            ArgumentKind::Borrowed(ty) => {
                quote_spanned!(place=> #private::borrow_copy::<#ty>(&#name))
            }
            ArgumentKind::Optional(ty) => {
                quote_spanned!(place=> #private::borrow_optional_copy::<#ty>(&#name))
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
    let value_of_step = quote_spanned!(place=> &value);
    let result = quote_spanned! {place=>
        let result: ::core::result::Result<_, #private::StepError> = #undo(#task, #(#arguments,)* #value_of_step).await;
    };
    ours! {
        if #private::is_undoing(context) {
            #(#copies)*
            ::core::option::Option::Some(move |value: #value| -> #private::Box<
                dyn ::core::ops::FnOnce(#private::WorkflowContext) -> #private::CompensationFuture + ::core::marker::Send,
            > {
                #private::Box::new(move |context: #private::WorkflowContext| -> #private::CompensationFuture {
                    #private::Box::pin(async move {
                        #result
                        #private::without_value(result)
                    })
                })
            })
        } else {
            ::core::option::Option::None
        }
    }
}

fn copy(i: usize) -> Ident {
    Ident::new(&format!("copy_{i}"), Span::mixed_site())
}

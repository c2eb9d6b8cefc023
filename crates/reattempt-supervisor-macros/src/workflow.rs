//! `#[workflow]`: a function that turns its arguments into a submission, around the function that
//! runs.
//!
//! ```text
//! #[workflow(version = 2)]
//! async fn order(context: &WorkflowContext, cart: Cart) -> Result<Receipt, E> { BODY }
//!
//! fn order(cart: Cart) -> Submission<impl Workflow<Output = Receipt>> {
//!     struct __WorkflowOf;
//!     impl __WorkflowOf {
//!         async fn order(context: &WorkflowContext, cart: Cart) -> Result<Receipt, E> { BODY }
//!     }
//!     impl Workflow for __WorkflowOf {
//!         const NAME ...;
//!         fn run(context, input) {
//!             let argument_0 = input.read(codec::<Cart>())?;
//!             workflow_result(__WorkflowOf::order(context, argument_0).await)
//!         }
//!     }
//!     submission::<__WorkflowOf>([codec::<Cart>().write(&cart)])
//! }
//! ```
//!
//! In `BODY`, `order` is the outer function, with which a workflow continues as new or starts itself as a child.
//! An `await` before it keeps clippy from saying that a workflow which awaits nothing need not be `async`.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;

use crate::expand::Expanded;
use crate::function::{Durable, Requirements, argument, with_first};
use crate::types::find_borrow;
use crate::{args, attributes, values};
use reattempt_policy::rules::RuleId;
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::Function;
use reattempt_syntax::model::{at, located};

const REQUIREMENTS: Requirements = Requirements {
    what: "workflow",
    first: "WorkflowContext",
    takes_with: false,
    is_declared: false,
};

/// Failures of a task before it is undone.
const MAX_FAILURES: i32 = 5;

/// The library implements `WorkflowFn` for up to this many arguments.
const MAX_ARGUMENTS: usize = 8;

/// A workflow without mistakes; wrong keys are left out.
struct Workflow {
    krate: TokenStream,
    private: TokenStream,
    name: TokenStream,
    version: TokenStream,
    complete_by: TokenStream,
    step_complete_by: Option<TokenStream>,
    max_failures: TokenStream,
    on_failure: TokenStream,
    durable: Durable,
}

/// Expands `#[workflow]`, and reports what is wrong.
pub(crate) fn expand(
    arguments: TokenStream,
    function: Function,
    faults: &mut Diagnostics,
) -> Expanded {
    let keys: args::WorkflowKeys = args::parse(arguments, args::WORKFLOW_KEYS, faults);
    let mut wrong = Diagnostics::default();
    let durable = Durable::read(function, &REQUIREMENTS, &mut wrong);
    if let Some(durable) = &durable {
        check_arguments(durable, &mut wrong);
    }
    let is_right = wrong.is_empty();
    faults.merge(wrong);
    let workflow = Workflow::from_keys(keys, durable?, faults);
    is_right.then(|| workflow.expand())
}

/// Checks that the arguments are owned, and not too many.
fn check_arguments(durable: &Durable, faults: &mut Diagnostics) {
    for parameter in &durable.parameters {
        if let Some(span) = find_borrow(&parameter.ty) {
            faults.push(
                span,
                RuleId::D11,
                "the store keeps the arguments of a workflow after the submission; take them by value",
            );
        }
    }
    if let Some(parameter) = durable.parameters.get(MAX_ARGUMENTS) {
        faults.push(
            parameter.ty.span(),
            RuleId::D11,
            format!(
                "a workflow takes at most {MAX_ARGUMENTS} arguments; put some of them into a struct"
            ),
        );
    }
}

impl Workflow {
    /// Converts the keys, and reports wrong ones.
    fn from_keys(keys: args::WorkflowKeys, durable: Durable, faults: &mut Diagnostics) -> Self {
        let krate = values::krate(keys.krate, faults);
        let name = durable.function.signature.ident.unraw().to_string();
        let on_failure = values::choice("on_failure", &["undo", "keep"], keys.on_failure, faults);
        let on_failure = if on_failure == Some("keep") {
            ours!(#krate::OnFailure::Keep)
        } else {
            ours!(#krate::OnFailure::Undo)
        };
        let step_complete_by = keys.step_complete_by.map(|limit| {
            let limit = values::limit(Some(limit), faults);
            ours! {
                const STEP_COMPLETE_BY: ::core::time::Duration = match #limit {
                    ::core::option::Option::Some(limit) => limit,
                    ::core::option::Option::None => ::core::time::Duration::MAX,
                };
            }
        });
        Self {
            name: values::name(keys.name, &name, faults),
            version: values::number(keys.version, 1, faults),
            complete_by: values::limit(keys.complete_by, faults),
            max_failures: values::number(keys.max_failures, MAX_FAILURES, faults),
            on_failure,
            step_complete_by,
            private: ours!(#krate::private),
            krate,
            durable,
        }
    }

    fn expand(&self) -> TokenStream {
        let Self {
            krate,
            private,
            name,
            version,
            complete_by,
            max_failures,
            on_failure,
            step_complete_by,
            ..
        } = self;
        let Function {
            attributes,
            visibility,
            signature,
            ..
        } = &self.durable.function;
        let (outer, inner) = attributes::split(attributes);
        // The body is an associated function, so that the name of the workflow is in its body what
        // callers see: `continue_as_new(importing(next))` needs a submission.
        let body = self.durable.function.body.as_ref();
        let body = body.map(|body| {
            let point = ours!(::core::future::ready(()).await;);
            with_first(body, point)
        });
        let function = &signature.ident;
        let parameters = &self.durable.parameters;
        let names: Vec<_> = parameters.iter().map(|it| &it.name).collect();
        let types = parameters.iter().map(|it| &it.ty);
        let codecs = self.codecs();
        let value = self.durable.value(private);
        let run = self.run();
        ours! {
            #outer
            #visibility fn #function(
                #(#names: #types),*
            ) -> #krate::Submission<impl #krate::Workflow<Output = #value>> {
                struct __WorkflowOf;
                impl __WorkflowOf {
                    #inner
                    #signature #body
                }
                impl #private::Workflow for __WorkflowOf {
                    const NAME: &'static ::core::primitive::str = #name;
                    const VERSION: ::core::primitive::i32 = #version;
                    const COMPLETE_BY: ::core::option::Option<::core::time::Duration> = #complete_by;
                    const MAX_FAILURES: ::core::primitive::i32 = #max_failures;
                    const ON_FAILURE: #krate::OnFailure = #on_failure;
                    #step_complete_by
                    type Output = #value;

                    fn run<'context>(
                        context: &'context #krate::WorkflowContext,
                        input: &'context ::core::primitive::str,
                    ) -> #private::WorkflowFuture<'context> {
                        #run
                    }
                }
                #private::submission::<__WorkflowOf>([#(#codecs.write(&#names)),*])
            }
        }
    }

    /// Returns the future that runs the task.
    fn run(&self) -> TokenStream {
        let Self { private, .. } = self;
        let name = &self.durable.function.signature.ident;
        let count = self.durable.parameters.len();
        let arguments: Vec<_> = (0..count).map(argument).collect();
        let codecs = self.codecs();
        let first = &self.durable.first;
        let task = quote_spanned!(at(first.span())=> <#first as #private::IsContext>::of(context));
        let read = (count > 0).then(|| {
            ours! {
                let mut input = #private::Arguments::of::<__WorkflowOf>(input, #count)?;
                #(let #arguments = input.read(#codecs)?;)*
            }
        });
        let convert = located(ours!(#private::workflow_result), self.durable.answer.span());
        let pinned = located(ours!(#private::Box::pin), name.span());
        // All tokens have the span of the name, so that the compiler reports there that the future
        // is not `Send`.
        let future = quote_spanned! {at(name.span())=>
            async move {
                #read
                #convert::<__WorkflowOf, _>(__WorkflowOf::#name(#task, #(#arguments),*).await)
            }
        };
        quote_spanned!(at(name.span())=> #pinned(#future))
    }

    /// Returns the codec of each argument. The expansion uses each twice, and the compiler reports
    /// the same error once.
    fn codecs(&self) -> Vec<TokenStream> {
        let private = &self.private;
        let parameters = self.durable.parameters.iter();
        let codecs = parameters.map(|parameter| {
            let ty = &parameter.ty;
            let codec = located(ours!(#private::codec), ty.span());
            ours!(#codec::<#ty>())
        });
        codecs.collect()
    }
}

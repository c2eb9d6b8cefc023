//! `#[workflow]`: a function that makes a submission of its arguments, around the function that is run.
//!
//! ```text
//! #[workflow(version = 2)]
//! async fn order(flow: &Flow, cart: Cart) -> Result<Receipt, E> { BODY }
//!
//! fn order(cart: Cart) -> Submission<impl Workflow<Output = Receipt>> {
//!     struct __WorkflowOf;
//!     impl Workflow for __WorkflowOf {
//!         const NAME ...;
//!         fn run(flow, input) {
//!             let argument_0 = form::<Cart>().read(input)?;
//!             let function = { async fn order(flow: &Flow, cart: Cart) { BODY } order };
//!             ended(function(flow, argument_0).await)
//!         }
//!     }
//!     submission::<__WorkflowOf>([form::<Cart>().write(&cart)])
//! }
//! ```

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;

use crate::expand::Expanded;
use crate::function::{Durable, Wanted};
use crate::step::argument;
use crate::types::borrowed;
use crate::{args, attributes, values};
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::Function;
use reattempt_syntax::model::{at, located};
use retry_runtime::rules::RuleId;

const WANTED: Wanted = Wanted {
    what: "workflow",
    first: "Flow",
    takes_with: false,
};

/// Failures of a task before it is undone.
const MAX_FAILURES: i32 = 5;

/// More have no `Starts` in the runtime.
const MAX_ARGUMENTS: usize = 8;

/// A workflow with nothing wrong in it; what is wrong is left out.
struct Workflow {
    krate: TokenStream,
    private: TokenStream,
    name: TokenStream,
    version: TokenStream,
    complete_by: TokenStream,
    max_failures: TokenStream,
    durable: Durable,
}

pub(crate) fn expand(
    arguments: TokenStream,
    function: Function,
    faults: &mut Diagnostics,
) -> Expanded {
    let keys: args::Workflow = args::parse(arguments, args::OF_WORKFLOW, faults);
    let mut wrong = Diagnostics::default();
    let durable = Durable::read(function, &WANTED, &mut wrong);
    if let Some(durable) = &durable {
        arguments_are_owned(durable, &mut wrong);
    }
    let is_right = wrong.is_empty();
    faults.merge(wrong);
    let workflow = Workflow::checked(keys, durable?, faults);
    is_right.then(|| workflow.expand())
}

fn arguments_are_owned(durable: &Durable, faults: &mut Diagnostics) {
    for parameter in &durable.parameters {
        if let Some(span) = borrowed(&parameter.ty) {
            faults.push(
                span,
                RuleId::D11,
                "the arguments of a workflow are written down and outlive their submission; take them by value",
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
    fn checked(keys: args::Workflow, durable: Durable, faults: &mut Diagnostics) -> Self {
        let krate = values::krate(keys.krate, faults);
        let name = durable.function.signature.ident.unraw().to_string();
        Self {
            name: values::name(keys.name, &name, faults),
            version: values::number(keys.version, 1, faults),
            complete_by: values::limit(keys.complete_by, faults),
            max_failures: values::number(keys.max_failures, MAX_FAILURES, faults),
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
            ..
        } = self;
        let Function {
            attributes,
            visibility,
            signature,
            ..
        } = &self.durable.function;
        let (outer, inner) = attributes::split(attributes);
        let function = &signature.ident;
        let parameters = &self.durable.parameters;
        let names: Vec<_> = parameters.iter().map(|it| &it.name).collect();
        let types = parameters.iter().map(|it| &it.ty);
        let forms = self.forms();
        let value = self.value();
        let run = self.run(&inner);
        ours! {
            #outer
            #visibility fn #function(
                #(#names: #types),*
            ) -> #krate::Submission<impl #krate::Workflow<Output = #value>> {
                struct __WorkflowOf;
                impl #private::Workflow for __WorkflowOf {
                    const NAME: &'static ::core::primitive::str = #name;
                    const VERSION: ::core::primitive::i32 = #version;
                    const COMPLETE_BY: ::core::option::Option<::core::time::Duration> = #complete_by;
                    const MAX_FAILURES: ::core::primitive::i32 = #max_failures;
                    type Output = #value;

                    fn run<'flow>(
                        flow: &'flow #krate::Flow,
                        input: &'flow ::core::primitive::str,
                    ) -> #private::Running<'flow> {
                        #run
                    }
                }
                #private::submission::<__WorkflowOf>([#(#forms.write(&#names)),*])
            }
        }
    }

    /// How the task is run, with the function as written out of sight of what is ours.
    fn run(&self, attributes: &TokenStream) -> TokenStream {
        let Self { private, .. } = self;
        let Function {
            signature, body, ..
        } = &self.durable.function;
        let name = &signature.ident;
        let count = self.durable.parameters.len();
        let given: Vec<_> = (0..count).map(argument).collect();
        let forms = self.forms();
        let first = &self.durable.first;
        let task = quote_spanned!(at(first.span())=> <#first as #private::IsFlow>::of(flow));
        let function = Ident::new("function", at(name.span()));
        let read = (count > 0).then(|| {
            ours! {
                let mut input = #private::Arguments::of::<__WorkflowOf>(input, #count)?;
                #(let #given = #forms.read(&mut input)?;)*
            }
        });
        let ended = located(ours!(#private::ended), self.durable.answer.span());
        let pinned = located(ours!(#private::Box::pin), name.span());
        // All of it at the name, where the compiler tells that it is not `Send`.
        let future = quote_spanned! {at(name.span())=>
            async move {
                #read
                let function = {
                    #attributes
                    #signature #body
                    #name
                };
                #ended::<__WorkflowOf, _>(#function(#task, #(#given),*).await)
            }
        };
        quote_spanned!(at(name.span())=> #pinned(#future))
    }

    /// What writes and reads each argument. The same twice, so that the compiler finds the same fault twice and tells it once.
    fn forms(&self) -> Vec<TokenStream> {
        let private = &self.private;
        let parameters = self.durable.parameters.iter();
        let forms = parameters.map(|parameter| {
            let ty = &parameter.ty;
            let form = located(ours!(#private::form), ty.span());
            ours!(#form::<#ty>())
        });
        forms.collect()
    }

    fn value(&self) -> TokenStream {
        let (private, answer) = (&self.private, &self.durable.answer);
        quote_spanned!(at(answer.span())=> <#answer as #private::AnyResult>::Value)
    }
}

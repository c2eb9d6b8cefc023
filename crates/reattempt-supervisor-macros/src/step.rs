//! `#[step]`: a function that asks the task for the result, around the function that does the work.
//!
//! ```text
//! #[step(retry(KEYS), complete_by = "30s", undo = refund)]
//! async fn pay(step: &Step, #[with] shop: &Shop, order: &Order) -> Result<Paid, E> { BODY }
//!
//! fn pay(context: &WorkflowContext, order: &Order) -> impl Future<Output = Result<Paid, StepError>> + Send {
//!     let argument_1 = order;
//!     let undo = ...;
//!     call(context, StepSpec { ... }, codec::<Paid>(), |step| {
//!         let argument_0 = resource()?;
//!         Ok(async {
//!             let function = {
//!                 #[retry(KEYS)]
//!                 async fn pay(step: &Step, shop: &Shop, order: &Order) -> Result<Paid, RetryError<E>> { BODY }
//!                 pay
//!             };
//!             retry_result(function(step, argument_0, argument_1).await)
//!         })
//!     }, undo)
//! }
//! ```

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, FnArg, Pat, Path, Type};

use crate::expand::Expanded;
use crate::function::{Durable, Parameter, Requirements, argument, with_first};
use crate::types::{bare, find_unique};
use crate::{args, attributes, undo, values};
use reattempt_policy::rules::RuleId;
use reattempt_syntax::args::{Args, Given};
use reattempt_syntax::diagnostics::{Diagnostic, Diagnostics};
use reattempt_syntax::item::Function;
use reattempt_syntax::literal::Attempts;
use reattempt_syntax::model::{at, located};

const REQUIREMENTS: Requirements = Requirements {
    what: "step",
    first: "Step",
    takes_with: true,
    is_declared: false,
};

/// A step without mistakes; wrong keys are left out.
pub(crate) struct Step {
    krate: TokenStream,
    private: TokenStream,
    name: TokenStream,
    complete_by: TokenStream,
    retries: Option<Retries>,
    undo: Option<Path>,
    undo_unknown: Option<Path>,
    is_transaction: bool,
    ignores_args: bool,
    key: Option<Expr>,
    /// The queue of the agents that run it.
    queue: Option<TokenStream>,
    durable: Durable,
}

/// Refuses `&mut T`: a workflow that runs again would go on with another value than before.
fn refuse_changes(durable: &Durable, faults: &mut Diagnostics) {
    for (_, parameter) in durable.arguments() {
        if let Some(span) = find_unique(&parameter.ty) {
            faults.push(
                span,
                RuleId::D11,
                "a step that is in the record does not run again, so what it changes here would be missing; return the new value, or write `args = \"ignore\"` if nothing reads it later",
            );
        }
    }
}

/// Expands `#[step]`, and reports what is wrong.
pub(crate) fn expand(
    arguments: TokenStream,
    function: Function,
    faults: &mut Diagnostics,
) -> Expanded {
    let keys: args::StepKeys = args::parse(arguments, args::STEP_KEYS, faults);
    let mut wrong = Diagnostics::default();
    let requirements = Requirements {
        is_declared: keys.queue.is_some(),
        ..REQUIREMENTS
    };
    let durable = Durable::read(function, &requirements, &mut wrong);
    let is_right = wrong.is_empty();
    faults.merge(wrong);
    let step = Step::from_keys(keys, durable?, faults);
    is_right.then(|| step.expand())
}

impl Step {
    /// Converts the keys, and reports wrong ones.
    fn from_keys(keys: args::StepKeys, durable: Durable, faults: &mut Diagnostics) -> Self {
        let krate = values::krate(keys.krate, faults);
        let retries = keys
            .retry
            .and_then(|retries| ok_or_report(retries.0, faults));
        values::check_limits(keys.complete_by.as_ref(), retries.as_ref(), faults);
        let retries = retries.filter(|keys| values::check_one_attempt(keys.clone(), faults));
        let private = ours!(#krate::private);
        let name = durable.function.signature.ident.unraw().to_string();
        let undo = keys.undo.and_then(|undo| ok_or_report(undo.0, faults));
        let undo_unknown = (keys.undo_unknown).and_then(|undo| ok_or_report(undo.0, faults));
        let has_undo = undo.is_some() || undo_unknown.is_some();
        let is_right = !has_undo || undo::check_arguments(&durable.parameters, faults);
        let args = values::choice("args", &["ignore"], keys.args, faults);
        if args.is_none() {
            refuse_changes(&durable, faults);
        }
        let key = keys.key.and_then(|key| ok_or_report(key.0, faults));
        let is_transaction = keys.transaction.is_some();
        let _ = keys
            .transaction
            .and_then(|flag| ok_or_report(flag.0, faults));
        if let (true, Some(undo)) = (is_transaction, &undo_unknown) {
            faults.push(
                undo.span(),
                RuleId::D4,
                "the outcome of a step with `transaction` is never unknown; drop `undo_unknown`",
            );
        }
        if keys.queue.is_some() {
            refuse_own_code(&durable, is_transaction, retries.as_ref(), faults);
        }
        // What a transaction returns is no second fault.
        let is_transaction = is_transaction && keys.queue.is_none();
        let queue = keys
            .queue
            .map(|queue| values::name(Some(queue), "", faults));
        Self {
            queue,
            name: values::name(keys.name, &name, faults),
            complete_by: values::limit(keys.complete_by, faults),
            retries: retries.map(|keys| Retries::of(&keys, &private)),
            undo: undo.filter(|_| is_right),
            undo_unknown: undo_unknown.filter(|_| is_right),
            is_transaction,
            ignores_args: args.is_some(),
            key,
            durable,
            krate,
            private,
        }
    }

    fn expand(&self) -> TokenStream {
        let Self {
            krate,
            private,
            name,
            complete_by,
            ..
        } = self;
        let Function {
            attributes,
            visibility,
            signature,
            ..
        } = &self.durable.function;
        let (outer, inner) = attributes::split(attributes);
        let (function, generics) = (&signature.ident, &signature.generics);
        let bounds = &generics.where_clause;
        let context = self.durable.context();
        let (names, types): (Vec<_>, Vec<_>) = self
            .durable
            .arguments()
            .map(|(_, parameter)| (&parameter.name, &parameter.ty))
            .unzip();
        let arguments: Vec<_> = self.durable.arguments().map(|(i, _)| argument(i)).collect();
        let task = (context != "context").then(|| ours!(let context = #context;));
        let moved = (!names.is_empty()).then(|| ours!(let (#(#arguments,)*) = (#(#names,)*);));
        let key = self.key.as_ref();
        let set_key = key.map(|key| self.set_key(key));
        let value = self.value();
        // It never runs twice.
        let retries = self.retries.as_ref().filter(|_| !self.is_transaction);
        let idempotent = retries.map(|retries| &retries.idempotent);
        let idempotent = idempotent.map_or_else(|| ours!(true), |idempotent| ours!(#idempotent));
        let undos = (self.undo.as_ref(), self.undo_unknown.as_ref());
        let undo = match undos {
            (None, None) => ours!(::core::option::Option::None::<#private::NoUndo<#value>>),
            _ => undo::expand(&self.durable, &value, private, undos),
        };
        let (undo_name, undo_unknown_name) = (undo::name(undos.0), undo::name(undos.1));
        let recorded = self.recorded_arguments();
        let recorded = key.map_or(
            recorded.clone(),
            |_| ours!(#private::with_key(#recorded, call_key)),
        );
        let body = (self.queue.is_none()).then(|| self.body(&inner));
        let codec = quote_spanned!(at(self.durable.answer.span())=> #private::codec::<#value>());
        let located = located(private.clone(), function.span());
        let agents = (self.queue.as_ref()).map(|queue| {
            let body = self.agent_body(&inner);
            quote_spanned! {at(function.span())=>
                #located::call_agent(context, (spec, #queue), #codec, recorded, #body, undo)
            }
        });
        let call = if self.is_transaction {
            quote_spanned!(at(function.span())=> #located::call_transaction)
        } else {
            quote_spanned!(at(function.span())=> #located::call)
        };
        let call = quote_spanned! {at(function.span())=>
            #call(context, spec, #codec, recorded, #body, undo)
        };
        let call = agents.unwrap_or(call);
        ours! {
            #outer
            #visibility fn #function #generics(
                #context: &#krate::WorkflowContext,
                #(#names: #types),*
            ) -> impl ::core::future::Future<Output = ::core::result::Result<#value, #krate::StepError>> + ::core::marker::Send
            #bounds
            {
                #set_key
                #moved
                #task
                let spec = #private::StepSpec {
                    name: #name,
                    complete_by: #complete_by,
                    idempotent: #idempotent,
                    undo: #undo_name,
                    undo_unknown: #undo_unknown_name,
                };
                let recorded = #recorded;
                let undo = #undo;
                #call
            }
        }
    }

    /// Returns the type of the recorded value: the `T` of `Committed<T>` for a transaction.
    fn value(&self) -> TokenStream {
        let Self { private, .. } = self;
        let value = self.durable.value(private);
        if !self.is_transaction {
            return value;
        }
        quote_spanned!(at(self.durable.answer.span())=> <#value as #private::IsCommitted>::Value)
    }

    /// Returns the arguments for the record. A step that ignores their changes, cannot be undone and is run here
    /// needs none.
    fn recorded_arguments(&self) -> TokenStream {
        let Self { private, .. } = self;
        let is_run_here = self.queue.is_none();
        if self.ignores_args && is_run_here && self.undo.is_none() && self.undo_unknown.is_none() {
            return ours!(#private::step_arguments(false, []));
        }
        let is_compared = !self.ignores_args;
        let arguments = self.durable.arguments().map(|(i, Parameter { ty, .. })| {
            let argument = argument(i);
            let json = located(ours!(#private::argument_json), ty.span());
            ours!(#json::<#ty>(&#argument))
        });
        ours!(#private::step_arguments(#is_compared, [#(#arguments),*]))
    }

    /// Returns the statement that computes the key, before the arguments move. The expression sees them by their own
    /// names.
    fn set_key(&self, key: &Expr) -> TokenStream {
        let Self { private, .. } = self;
        let inputs = self.durable.function.signature.inputs.iter().skip(1);
        let arguments = inputs.zip(&self.durable.parameters);
        let bindings = arguments.filter(|(_, parameter)| !parameter.is_with);
        let bindings = bindings.filter_map(|(input, Parameter { name, .. })| {
            let FnArg::Typed(typed) = input else {
                return None;
            };
            let mut pattern = typed.pat.clone();
            if let Pat::Ident(ident) = &mut *pattern {
                ident.mutability = None;
            }
            Some(ours!(let #pattern = &#name;))
        });
        let of = located(ours!(#private::step_key), key.span());
        let text = quote_spanned!(at(key.span())=> #of(&(#key)));
        ours! {
            #[allow(unused_variables)]
            let call_key = {
                #(#bindings)*
                #text
            };
        }
    }

    /// Returns the closure that asks the policy of the step what an answer of an agent means.
    fn agent_body(&self, attributes: &TokenStream) -> TokenStream {
        let Self { private, .. } = self;
        let (value, error) = (self.durable.value(private), self.durable.error(private));
        let (name, first) = (&self.durable.function.signature.ident, &self.durable.first);
        let (retry, answer, convert) = match &self.retries {
            Some(retries) => (
                Some(retries.with_timer(&ours!(#private::agent_timer(step)))),
                ours!(#private::RetryError<#error>),
                ours!(#private::retry_result),
            ),
            None => (None, error, ours!(#private::single_attempt_result)),
        };
        quote_spanned! {at(name.span())=>
            move |step: ::std::sync::Arc<#private::Step>| async move {
                #retry
                #attributes
                async fn #name(step: &#first) -> ::core::result::Result<#value, #answer> {
                    #private::agent_attempt(step).await
                }
                #convert(#name(<#first as #private::IsStep>::of(&step)).await)
            }
        }
    }

    /// Returns the function as written, where it cannot see the names of the wrapper.
    fn inner_function(&self, attributes: &TokenStream) -> TokenStream {
        let Self { private, .. } = self;
        let function = &self.durable.function;
        let (mut signature, mut body) = (function.signature.clone(), function.body.clone());
        let name = signature.ident.clone();
        let retry = self.retries.as_ref().map(|retries| {
            let (value, error) = (self.durable.value(private), self.durable.error(private));
            let answer = quote_spanned! {at(self.durable.answer.span())=>
                ::core::result::Result<#value, #private::RetryError<#error>>
            };
            signature.output = syn::parse_quote!(-> #answer);
            let count = ours!(#private::count_attempt(););
            body = body.take().map(|body| with_first(&body, count));
            &retries.attribute
        });
        ours!({
            #retry
            #attributes
            #signature #body
            #name
        })
    }

    /// Returns the closure for an agent: it gets the resources, then makes the future.
    fn body(&self, attributes: &TokenStream) -> TokenStream {
        let Self { private, .. } = self;
        let parameters = &self.durable.parameters;
        let inner = self.inner_function(attributes);
        let first = &self.durable.first;
        let task = quote_spanned!(at(first.span())=> <#first as #private::IsStep>::of(&step));
        let resources = parameters.iter().enumerate().filter(|(_, it)| it.is_with);
        let resources = resources.map(|(i, Parameter { ty, .. })| {
            let argument = argument(i);
            let ty = match bare(ty) {
                Type::Reference(reference) => &*reference.elem,
                ty => ty,
            };
            let resource = located(ours!(#private::resource), ty.span());
            ours!(let #argument = #resource::<#ty>(context, spec.name)?;)
        });
        let arguments = parameters.iter().enumerate().map(|(i, parameter)| {
            let argument = argument(i);
            if parameter.is_with {
                ours!(::core::ops::Deref::deref(&#argument))
            } else {
                ours!(#argument)
            }
        });
        let convert = match (&self.retries, self.is_transaction) {
            (Some(_), _) => ours!(#private::retry_result),
            (None, false) => ours!(#private::single_attempt_result),
            (None, true) => ours!(#private::transaction_result),
        };
        let convert = located(convert, self.durable.answer.span());
        // Its body is rolled back.
        let is_lost = (self.retries.is_none() && self.is_transaction).then(|| {
            ours! {
                , |error| {
                    use #private::{LostByContent as _, LostByNothing as _, LostBySource as _, LostByVerdict as _};
                    (&&&&#private::Lost(error)).is_lost()
                }
            }
        });
        let function = Ident::new("function", at(self.durable.function.signature.ident.span()));
        // All tokens have the span of the name, so that the compiler reports there that the future
        // is not `Send`.
        let future = quote_spanned! {at(function.span())=>
            async move {
                let function = #inner;
                #convert(#function(#task, #(#arguments),*).await #is_lost)
            }
        };
        ours! {
            move |step| {
                #(#resources)*
                ::core::result::Result::Ok(#future)
            }
        }
    }
}

/// Refuses what only code of this process can use.
fn refuse_own_code(
    durable: &Durable,
    is_transaction: bool,
    retries: Option<&TokenStream>,
    faults: &mut Diagnostics,
) {
    let name = durable.function.signature.ident.span();
    let keys = retries
        .map(|keys| reattempt_syntax::args::parse(keys.clone(), &mut Diagnostics::default()));
    if let Some(until) = keys.and_then(|keys| keys.until) {
        faults.push(
            until.key,
            RuleId::D6,
            "a step with `queue` is run by agents, and what they return is final; drop `until`, and let an agent that is not done yet call `retry_fail` with `'transient'` and a delay",
        );
    }
    if is_transaction {
        faults.push(
            name,
            RuleId::D6,
            "a step with `queue` is run by agents, which have transactions of their own; drop `transaction`",
        );
    }
    if durable.parameters.iter().any(|parameter| parameter.is_with) {
        faults.push(
            name,
            RuleId::D8,
            "a step with `queue` is run by agents, which have no values of the scheduler; drop the parameter with `#[with]`",
        );
    }
}

/// Returns the value, or reports what is wrong with it.
fn ok_or_report<T>(result: Result<T, Diagnostic>, faults: &mut Diagnostics) -> Option<T> {
    result.map_err(|fault| faults.add(fault)).ok()
}

/// `retry(KEYS)`, as an attribute of the inner function.
struct Retries {
    keys: TokenStream,
    private: TokenStream,
    attribute: TokenStream,
    idempotent: TokenStream,
}

impl Retries {
    /// Returns the attribute with this timer.
    fn with_timer(&self, timer: &TokenStream) -> TokenStream {
        let Self { keys, private, .. } = self;
        let comma = (!ends_in_comma(keys)).then(|| ours!(,));
        ours!(#[#private::reattempt::retry(#keys #comma timer = #timer)])
    }

    /// Reads the keys of the retries that matter to the step.
    fn of(keys: &TokenStream, private: &TokenStream) -> Self {
        // The inner attribute reports what is wrong with them.
        let read = reattempt_syntax::args::parse(keys.clone(), &mut Diagnostics::default());
        let keys = &judge_one_attempt(keys, &read, private);
        let comma = (!keys.is_empty() && !ends_in_comma(keys)).then(|| ours!(,));
        let krate = match read.krate {
            Some(_) => None,
            None => Some(ours!(#comma crate = #private::reattempt)),
        };
        let idempotent = match read.idempotent.map(|value| value.given) {
            Some(Given::Literal(false, _)) => ours!(false),
            Some(Given::Expression(expression)) => ours!(#expression),
            _ => ours!(true),
        };
        Self {
            keys: ours!(#keys #krate),
            private: private.clone(),
            attribute: ours!(#[#private::reattempt::retry(#keys #krate)]),
            idempotent,
        }
    }
}

/// Turns `max = 1` into a constant that the inner attribute does not read: a literal says that the
/// caller does not ask what an error means, and a task asks. A transient error ends the attempts,
/// and the task runs the step again later.
fn judge_one_attempt(keys: &TokenStream, read: &Args, private: &TokenStream) -> TokenStream {
    let max = read.max.as_ref().map(|value| &value.given);
    if !matches!(max, Some(Given::Literal(Attempts(1), _))) {
        return keys.clone();
    }
    let tokens: Vec<_> = keys.clone().into_iter().collect();
    let is_value = |i: usize| {
        let before = |back: usize| tokens.get(i.checked_sub(back)?).map(ToString::to_string);
        before(1).as_deref() == Some("=") && before(2).as_deref() == Some("max")
    };
    let each = tokens.iter().enumerate().map(|(i, token)| match token {
        TokenTree::Literal(one) if is_value(i) => {
            quote_spanned!(at(one.span())=> #private::ONE_ATTEMPT)
        }
        other => other.to_token_stream(),
    });
    each.collect()
}

fn ends_in_comma(tokens: &TokenStream) -> bool {
    let last = tokens.clone().into_iter().last();
    matches!(last, Some(TokenTree::Punct(punct)) if punct.as_char() == ',')
}

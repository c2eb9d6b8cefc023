//! What the loops report of their attempts. The runtime decides what is left of it in a build without observers.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote_spanned;
use reattempt_policy::rules::Key;
use reattempt_syntax::model::at;
use syn::spanned::Spanned as _;

use super::parts::Parts;
use reattempt_syntax::item::Answer;

/// Whether a type leaves a part of it to the compiler, which may not know it yet.
pub(super) fn has_hole(ty: &TokenStream) -> bool {
    ty.clone().into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "_",
        TokenTree::Group(group) => has_hole(&group.stream()),
        _ => false,
    })
}

impl Parts<'_> {
    /// Whether the policy may ask for times or spans.
    pub(super) fn may_be_timed(&self) -> bool {
        self.model.is_inherited() || self.model.has(Key::Telemetry)
    }

    /// The future of an attempt, in a span where the policy may ask for one.
    pub(super) fn spanned(&self, attempt: TokenStream) -> TokenStream {
        let krate = &self.krate;
        self.with_span(
            attempt,
            |attempt| ours!(#krate::__private::spanned(span, #attempt)),
        )
    }

    /// `run`, with the span of the attempt as `span` in front of it: nothing borrows the policy while an attempt runs.
    pub(super) fn with_span(
        &self,
        attempt: TokenStream,
        run: impl FnOnce(TokenStream) -> TokenStream,
    ) -> TokenStream {
        if !self.may_be_timed() {
            return attempt;
        }
        let (krate, context, run) = (&self.krate, self.context(), run(attempt));
        let span = self.unless_plain(
            ours!(#krate::__private::attempt_span(#context, #krate::__private::LiveCall::failures(&call))),
            &ours!(#krate::__private::AttemptSpan::NONE),
        );
        ours!({ let span = #span; #run })
    }

    /// What failed, with what the error says of itself, as far as its type is known by now: which of its traits it has
    /// is asked of a method.
    pub(super) fn failure(&self) -> TokenStream {
        if self.has_cause() {
            self.failure_of(&ours!(cause))
        } else {
            self.failure_of(&ours!(&error))
        }
    }

    /// The same of `cause`, an expression.
    pub(super) fn failure_of(&self, cause: &TokenStream) -> TokenStream {
        let krate = &self.krate;
        let opaque = self.model.until.is_none() && !self.knows_error();
        let opaque = opaque.then(|| ours!(opaque));
        let failure = ours!(#krate::__private::describe!(#opaque #cause));
        let failure = if self.model.may_reset() {
            ours!(#krate::__private::Described::since(#failure, start))
        } else {
            failure
        };
        let failure = if self.model.context.is_some() {
            ours!(#krate::__private::Described::moved_on(#failure, &started))
        } else {
            failure
        };
        let Some(detail) = &self.model.detail else {
            return failure;
        };
        // A reference, so that nothing is moved.
        let located = self.model.krate_at(detail.span());
        quote_spanned!(at(detail.span())=> #located::__private::Described::of(#failure, || #located::__private::Detail::new(&(#detail))))
    }

    fn knows_error(&self) -> bool {
        if let Some(mapper) = &self.model.map_err {
            let parameter = mapper.parameter.as_ref();
            return parameter.is_none_or(|ty| !has_hole(&ours!(#ty)));
        }
        match self.answer {
            Answer::Inferred => false,
            answer => answer.ty().is_none_or(|ty| !has_hole(&ours!(#ty))),
        }
    }

    /// A success on its way out of the loop, which may be a recovery.
    pub(super) fn succeeded(&self, answer: &TokenStream) -> TokenStream {
        let (context, gates) = (self.deferred_context(), self.gates());
        let succeeded = self.at_timer("succeeded");
        // Where the compiler says that the answer does not live long enough.
        let span = at(self.answer_span());
        let answered = quote_spanned!(span=> (&mut call).#succeeded(#answer, #context, #gates));
        if !self.model.is_running() {
            return self.finished(&answered);
        }
        // Only a recovery is reported, and what the policy is.
        let (krate, timer) = (&self.krate, &self.timer);
        let first = ours!(#krate::__private::Gate::settle(#gates, #timer));
        self.finished(&ours! {{
            let answer = #answer;
            if #krate::__private::LiveCall::failures(&call) == 0 {
                #first;
                __REATTEMPT_SITE.answered(answer)
            } else {
                (&mut call).succeeded(answer, #context, #gates)
            }
        }})
    }

    /// A sync call has nothing to drop, which the compiler does not see.
    fn finished(&self, answered: &TokenStream) -> TokenStream {
        if self.asynchronous {
            return answered.clone();
        }
        ours!({ let answer = #answered; call.finish(); answer })
    }

    /// The same of a first attempt, which cannot be a recovery.
    pub(super) fn succeeded_at_once(&self, answer: &TokenStream) -> TokenStream {
        if self.model.is_limited() {
            // Gates are settled by any success.
            self.succeeded(answer)
        } else {
            self.answered_at_once(answer)
        }
    }

    /// The answer of a success at once, of which the operation's own budget may learn.
    pub(super) fn answered_at_once(&self, answer: &TokenStream) -> TokenStream {
        if self.shares_default_budget() {
            quote_spanned!(at(self.answer_span())=> __REATTEMPT_SITE.answered(#answer))
        } else {
            answer.clone()
        }
    }
}

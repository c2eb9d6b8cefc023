//! The policy in an expansion: built from its keys, checked where only the
//! compiler can, and named as an operation.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use reattempt_policy::Values;
use reattempt_policy::rules::{Key, Kind};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprClosure, Ident};

use super::parts::{Parts, is_place, method};
use reattempt_syntax::item::mentions;
use reattempt_syntax::model::{BudgetSource, Inherited, Model, Setting, at};

impl Parts<'_> {
    /// The policy: of its name, where the compiler knows it, so that its keys are written once.
    pub(super) fn policy(&self) -> TokenStream {
        if self.is_constant_item() {
            ours!((*__REATTEMPT_POLICY))
        } else {
            self.built_policy()
        }
    }

    /// `const POLICY: &Policy = ...;`
    fn policy_item(&self) -> Option<TokenStream> {
        // By reference: a policy is large, and each use of a constant copies it.
        let (krate, policy) = (&self.krate, self.built_policy());
        self.is_constant_item()
            .then(|| ours!(const __REATTEMPT_POLICY: &#krate::Policy = &#policy;))
    }

    /// Whether an item can be made of the policy.
    fn is_constant_item(&self) -> bool {
        self.model.named.is_none()
            && !self.model.is_running()
            // An item sees neither `Self` nor a generic parameter.
            && !mentions(&self.built_policy(), &self.model.generics)
    }

    /// `Policy::new().max(5)...`, or the inherited policy with what overrides it.
    fn built_policy(&self) -> TokenStream {
        let krate = &self.krate;
        let start = match &self.model.inherited {
            Some(Inherited {
                expr,
                constant: true,
            }) => {
                // Checked by the macro and in a constant, unless the running program adds to it.
                let take = if self.model.is_running() {
                    "unchecked"
                } else {
                    "inherited"
                };
                let take = Ident::new(take, at(expr.span()));
                quote_spanned! {at(expr.span())=> {
                    use #krate::__private::WrongPolicy as _;
                    #krate::__private::PolicyOf(#expr).#take()
                }}
            }
            Some(Inherited { expr, .. }) => {
                let held = self.runtime_policy(expr);
                ours!((*#held))
            }
            None if self.model.is_running() => ours!(#krate::Policy::new()),
            None => ours!(#krate::Policy::constant()),
        };
        let policy = match self.model.strategy {
            // Marked, so that X6 and X7 know that the strategy bounds the call.
            Some(_) => ours!(#start.decided()),
            None => start,
        };
        let settings = self.model.settings.iter();
        settings.fold(policy, |policy, setting| self.with(&policy, setting))
    }

    /// `policy.max(5)`
    fn with(&self, policy: &TokenStream, setting: &Setting) -> TokenStream {
        let (krate, value) = (&self.krate, &setting.value);
        let method = method(setting.key.as_str());
        match (setting.key, setting.expression) {
            (Key::Backoff, Some(span)) => {
                let value = custom_backoff(krate, value, span);
                ours!(#policy.#method(#value))
            }
            (Key::Budget, _) if matches!(self.model.budget, Some(BudgetSource::Never)) => {
                ours!(#policy.without_budget())
            }
            // Which budget, only the call knows.
            (Key::Budget, _) if value.is_empty() => ours!(#policy.budgeted()),
            (_, None) => ours!(#policy.#method(#value)),
            // By the variable of `kept_values`, which has the name of the key.
            (key, Some(_)) if setting.running.as_ref().is_some_and(|expr| !is_read(expr)) => {
                set(policy, key, &ours!(#method))
            }
            (key, Some(span)) => set(policy, key, &self.typed(key, value, span)),
        }
    }

    /// The value of an expression in the type of its key; for any other type the compiler says what to write.
    fn typed(&self, key: Key, value: &TokenStream, span: Span) -> TokenStream {
        let krate = self.model.krate_at(span);
        let kind = match key.kind() {
            Kind::Attempts => "number",
            Kind::Jitter => "jitter",
            Kind::Factor => "factor",
            Kind::Time => "duration",
            _ => return value.clone(),
        };
        let kind = Ident::new(kind, at(span));
        // A constant cannot call a method of a trait, so the types that a key takes have inherent
        // ones. The trait is found for any other type, and its bound carries the message.
        let value = quote_spanned! {at(span)=> {
            use #krate::__private::WrongValue as _;
            #krate::__private::ValueOf(#value).#kind()
        }};
        if key.kind() == Kind::Attempts {
            // Cast, since a number without a type would fit several such methods.
            quote_spanned!(at(span)=> #krate::__private::attempts(#value as i128))
        } else {
            value
        }
    }

    /// `let max = ...;` for each value of the running program that is evaluated once.
    fn kept_values(&self) -> TokenStream {
        let settings = self.model.settings.iter();
        let kept = settings.filter_map(|setting| {
            let expr = setting.running.as_ref().filter(|expr| !is_read(expr))?;
            let name = method(setting.key.as_str());
            let value = self.typed(setting.key, &ours!(#expr), expr.span());
            Some(ours!(let #name = #value;))
        });
        kept.collect()
    }

    /// Statements before a call begins: items, constants the compiler must judge, and what is evaluated once.
    pub(super) fn prelude(&self) -> TokenStream {
        let (checks, site, kept) = (self.constant_checks(), self.site(), self.kept_policy());
        let budget = self.own_budget();
        let context = self.constant_context();
        let beside = self.checks_beside();
        let (timer, form, values) = (self.kept_timer(), self.mapped_form(), self.kept_values());
        let (policy, plain) = (self.policy_item(), self.plain());
        // `plain` asks the policy, so it stands behind `kept`; the closure of the context takes the
        // timer.
        ours!(#policy #form #budget #site #checks #beside #kept #values #plain #timer #context)
    }

    /// Statements with which a call begins: what has to be known from its start on.
    pub(super) fn call_start(&self) -> TokenStream {
        let (krate, timer) = (&self.krate, &self.timer);
        let until = self.model.may_have_bounds().then(|| {
            let policy = self.limit_ref(Key::Deadline);
            let until = self.unless_plain(
                ours!(#krate::__private::Until::start(#policy, #timer)),
                &ours!(#krate::__private::Until::NEVER),
            );
            ours!(let until = #until;)
        });
        let started = self
            .model
            .context
            .as_ref()
            .map(|_| ours!(let started = #krate::__private::Started::now(#timer);));
        let (ignored, gates) = (self.ignored_timeout(), self.start_gates());
        ours!(#ignored #until #started #gates)
    }

    /// Whether the running program says once, when a call begins, whether its policy has anything to say before something
    /// fails.
    pub(super) fn may_ask_once(&self) -> bool {
        self.model.named.is_some() && !self.holds_from_start()
            || self.runtime_inherited().is_some() && self.has_policy_in_place()
    }

    /// Whether the body may run while a closure borrows the policy: it has a name, or nothing can
    /// change it meanwhile.
    pub(super) fn is_policy_shared(&self) -> bool {
        (self.runtime_inherited())
            .is_none_or(|inherited| is_shared(&inherited.expr, &self.model.shared))
    }

    /// `let mut plain = ...;`: the answer.
    fn plain(&self) -> Option<TokenStream> {
        let (krate, policy) = (&self.krate, self.policy_ref());
        self.asks_once.then(|| {
            let plain = if self.model.named.is_some() {
                ours!(#krate::__private::Live::is_idle(&live))
            } else {
                ours!(#krate::Policy::starts_plain(#policy))
            };
            ours!(let mut plain = #plain;)
        })
    }

    /// `asked`, a question about the policy at the start of a call or of an attempt, or the answer of one that says nothing.
    pub(super) fn unless_plain(&self, asked: TokenStream, answer: &TokenStream) -> TokenStream {
        if self.asks_once {
            ours!(if plain { #answer } else { #asked })
        } else {
            asked
        }
    }

    /// After the first attempt, which the policy may follow that holds by then.
    pub(super) fn no_longer_plain(&self) -> Option<TokenStream> {
        self.asks_once.then(|| ours!(plain = false;))
    }

    /// With `cut_off = false` a `timeout` that only the running program knows is not applied, which is reported.
    fn ignored_timeout(&self) -> Option<TokenStream> {
        let is_known = self.model.named.is_none() && self.runtime_inherited().is_none();
        let (krate, policy) = (&self.krate, self.policy_ref());
        (self.asynchronous && !self.model.cut_off && !is_known).then(|| {
            ours! {{
                static IGNORED: #krate::__private::IgnoredTimeout = #krate::__private::IgnoredTimeout::new();
                #krate::__private::IgnoredTimeout::check(&IGNORED, #policy, &__REATTEMPT_SITE);
            }}
        })
    }

    /// The policy that the running program evaluates, as an expression of type `&Policy`. A place is read where it
    /// stands, so that nothing borrows it while an attempt runs; any other expression was evaluated once.
    fn runtime_policy(&self, expr: &Expr) -> TokenStream {
        let krate = self.model.krate_at(expr.span());
        if is_place(expr) {
            quote_spanned!(at(expr.span())=> #krate::__private::policy(&#expr))
        } else {
            quote_spanned!(at(expr.span())=> #krate::__private::policy(&policy))
        }
    }

    /// `let policy = ...;` where the expression is evaluated once.
    fn kept_policy(&self) -> Option<TokenStream> {
        let expr = &self.runtime_inherited()?.expr;
        (!is_place(expr)).then(|| ours!(let policy = #expr;))
    }

    /// The inherited policy, if it can only be evaluated when the function is called.
    fn runtime_inherited(&self) -> Option<&Inherited> {
        let inherited = self.model.inherited.as_ref();
        inherited.filter(|inherited| !inherited.constant)
    }

    /// A `&Policy`.
    pub(super) fn policy_ref(&self) -> TokenStream {
        if self.model.named.is_some() {
            let krate = &self.krate;
            return ours!(#krate::__private::Live::policy(&live));
        }
        let policy = self.policy();
        if self.is_constant_item() {
            ours!(__REATTEMPT_POLICY)
        } else if self.model.is_running() {
            ours!(&#policy)
        } else {
            ours!(const { &#policy })
        }
    }

    /// A `&Policy` for what reads `key` before anything has failed: without the other keys, if the running program has to
    /// make it.
    pub(super) fn limit_ref(&self, key: Key) -> TokenStream {
        if !self.model.is_running() {
            return self.policy_ref();
        }
        let krate = &self.krate;
        // One key alone: a success should not make a policy for a limit.
        let start = ours!(#krate::Policy::new());
        let given = self
            .model
            .settings
            .iter()
            .find(|setting| setting.key == key);
        match (given, &self.model.inherited) {
            (Some(setting), _) => {
                let policy = self.with(&start, setting);
                ours!(&#policy)
            }
            (
                None,
                Some(Inherited {
                    expr,
                    constant: false,
                }),
            ) => self.runtime_policy(expr),
            (None, Some(Inherited { expr, .. })) => ours!(&#expr),
            (None, None) => ours!(&#start),
        }
    }

    /// Whether the policy is used where it stands: nothing is written over it.
    pub(super) fn has_policy_in_place(&self) -> bool {
        self.model.named.is_some()
            || self.model.settings.is_empty() && self.model.strategy.is_none()
    }

    /// Policies with parts that only the compiler can evaluate are judged where
    /// it does, each fault at its own expression.
    fn constant_checks(&self) -> TokenStream {
        if self.model.is_literal() || self.runtime_inherited().is_some() {
            return TokenStream::new();
        }
        let policy = self.constant_part();
        let replaced = self.model.timeout_by.as_ref().map(|_| Key::Timeout);
        let unknown = self.model.running_keys().chain(replaced);
        let unknown = unknown.map(|key| variant(key.as_str()));
        let krate = &self.krate;
        let unknown = ours!(&[#(#krate::policy::rules::Key::#unknown),*]);
        let constant = (self.model.settings.iter()).filter(|setting| setting.running.is_none());
        let places = constant.map(|setting| {
            let key = variant(setting.key.as_str());
            let blame = |span, is_about_effects: bool| {
                let krate = self.model.krate_at(span);
                quote_spanned! {at(span)=>
                    #krate::__private::blame(broken.as_ref(), #krate::policy::rules::Key::#key, #is_about_effects);
                }
            };
            let (word, value) = (blame(setting.word, true), blame(setting.place, false));
            ours!(#word #value)
        });
        let whole = self.model.inherited.as_ref().map_or_else(
            || {
                let mut settings = self.model.settings.iter();
                settings
                    .find_map(|setting| setting.expression.filter(|_| setting.running.is_none()))
            },
            |inherited| Some(inherited.expr.span()),
        );
        // Literals have been judged.
        let Some(whole) = whole else {
            return TokenStream::new();
        };
        let located = self.model.krate_at(whole);
        let last = quote_spanned!(at(whole)=> #located::__private::refuse(broken.as_ref()););
        let limits = self.limit_checks(whole);
        let krate = &self.krate;
        let checks = ours!({
            let policy = #policy;
            let broken = #krate::__private::broken(&policy, #unknown);
            #(#places)*
            #last
            #limits
        });
        self.constant_item(&checks)
    }

    /// The policy without the values that only the running program knows.
    fn constant_part(&self) -> TokenStream {
        if !self.model.is_running() {
            return self.policy();
        }
        let mut model = self.model.clone();
        model.settings.retain(|setting| setting.running.is_none());
        Parts {
            model: &model,
            ..self.clone()
        }
        .built_policy()
    }

    /// A budget, and beside a constant policy a breaker and a hedge, as far as they are constants.
    fn checks_beside(&self) -> TokenStream {
        let budget = self.check_budget();
        if self.model.is_running() {
            return ours!(#budget);
        }
        let (model, policy) = (self.model, self.policy());
        let may_time_out = model.inherited.is_some() || model.has(Key::Timeout);
        let breaker = model
            .breaker
            .as_ref()
            .filter(|breaker| may_time_out && self.judges_window(breaker));
        let breaker = breaker.map(|breaker| {
            let krate = model.krate_at(breaker.span());
            let check = quote_spanned!(at(breaker.span())=> #krate::__private::refuse_window(#breaker, &#policy));
            // Only the value of a `static` may read a `static` with atomics in it.
            self.constant_item(&ours!({ static _FITS: () = #check; }))
        });
        let hedge = model
            .hedge
            .as_ref()
            .filter(|hedge| !hedge.is_literal || model.inherited.is_some());
        let hedge = hedge.map(|hedge| {
            let (value, krate) = (&hedge.value, model.krate_at(hedge.span));
            let check =
                quote_spanned!(at(hedge.span)=> #krate::__private::refuse_hedge(&#krate::__private::HedgeOf(#value).hedge(), &#policy));
            self.constant_item(&ours!({ #check }))
        });
        ours!(#breaker #hedge #budget)
    }

    /// A budget that the key names, which has to pay for a retry.
    fn check_budget(&self) -> Option<TokenStream> {
        let Some(BudgetSource::Shared) = self.model.budget else {
            return None;
        };
        let mut settings = self.model.settings.iter();
        let setting = settings.find(|setting| setting.key == Key::Budget)?;
        let budget = &setting.value;
        if mentions(budget, &self.model.generics) {
            return None;
        }
        let krate = self.model.krate_at(budget.span());
        // As the policy takes it, so that the compiler says once what is wrong.
        let policy = if self.is_constant_item() {
            self.policy_ref()
        } else {
            let policy = self.with(&ours!(#krate::Policy::constant()), setting);
            ours!(&#policy)
        };
        let check =
            quote_spanned!(at(budget.span())=> #krate::__private::refuse_shared_budget(#policy));
        // Only the value of a `static` may read a `static` with atomics in it.
        Some(self.constant_item(&ours!({ static _PAYS: () = #check; })))
    }

    /// Whether the compiler can look at the breaker and at the policy.
    fn judges_window(&self, breaker: &Expr) -> bool {
        let policy = self.policy();
        !self.model.is_running()
            && names_static(breaker)
            && !mentions(&ours!(#breaker #policy), &self.model.generics)
    }

    /// A block that the compiler evaluates even when the function is never called; where it mentions generics, which
    /// an item cannot see, when it is.
    pub(super) fn constant_item(&self, block: &TokenStream) -> TokenStream {
        // An item is evaluated also where the function is never called; an inline `const` is not.
        if mentions(block, &self.model.generics) {
            return ours!(const #block);
        }
        ours!(const _: () = #block;)
    }

    /// A `timeout` that comes with an inherited policy, where nothing can be cut off.
    fn limit_checks(&self, place: Span) -> TokenStream {
        let progress = self.model.progress.filter(|_| !self.model.is_running());
        let progress = progress
            .filter(|_| self.model.strategy.is_none())
            .map(|place| {
                let krate = self.model.krate_at(place);
                quote_spanned!(at(place)=> #krate::__private::refuse_restarts(&policy);)
            });
        let limits = self.inherited_limit_checks(place);
        ours!(#progress #limits)
    }

    fn inherited_limit_checks(&self, place: Span) -> TokenStream {
        if self.model.inherited.is_none() {
            return TokenStream::new();
        }
        let krate = self.model.krate_at(place);
        if !self.asynchronous {
            return quote_spanned!(at(place)=> #krate::__private::refuse_blocking(&policy););
        }
        if !self.model.cut_off {
            return quote_spanned!(at(place)=> #krate::__private::refuse_timeout(&policy););
        }
        TokenStream::new()
    }
}

/// `policy.max(max)`; a duration that there may be, and that there is not, leaves the policy as it is.
fn set(policy: &TokenStream, key: Key, value: &TokenStream) -> TokenStream {
    let method = method(key.as_str());
    if key.kind() != Kind::Time {
        return ours!(#policy.#method(#value));
    }
    ours! {
        match (#policy, #value) {
            (policy, ::core::option::Option::Some(given)) => policy.#method(given),
            (policy, ::core::option::Option::None) => policy,
        }
    }
}

/// Whether a value is read where it stands, each time: nothing but places and what is worked out from them. What is
/// called may do more than answer, so it is called once.
fn is_read(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Const(_) => true,
        Expr::Unary(unary) => is_read(&unary.expr),
        Expr::Binary(binary) => is_read(&binary.left) && is_read(&binary.right),
        Expr::Cast(cast) => is_read(&cast.expr),
        Expr::Paren(paren) => is_read(&paren.expr),
        Expr::Group(group) => is_read(&group.expr),
        // These only answer, so they may be called each time.
        Expr::Call(call) => makes_duration(&call.func) && call.args.iter().all(is_read),
        Expr::Verbatim(tokens) => syn::parse2::<Expr>(tokens.clone())
            .is_ok_and(|parsed| !matches!(parsed, Expr::Verbatim(_)) && is_read(&parsed)),
        _ => is_place(expr),
    }
}

/// `Duration::from_secs`
fn makes_duration(function: &Expr) -> bool {
    let Expr::Path(path) = function else {
        return false;
    };
    let owner = path.path.segments.iter().rev().nth(1);
    owner.is_some_and(|owner| owner.ident == "Duration")
}

/// `Backoff::Custom(...)`; a closure gets the type of its parameter.
fn custom_backoff(krate: &TokenStream, value: &TokenStream, span: Span) -> TokenStream {
    let closure = syn::parse2::<ExprClosure>(value.clone()).is_ok();
    let make = if closure {
        ours!(backoff_by)
    } else {
        ours!(backoff)
    };
    quote_spanned!(at(span)=> #krate::Backoff::Custom(#krate::__private::#make(&#value)))
}

/// `FastFirst` for `fast_first`.
fn variant(word: &str) -> Ident {
    let camel: String = word
        .split('_')
        .map(|part| {
            let mut letters = part.chars();
            letters
                .next()
                .map(|first| first.to_ascii_uppercase())
                .into_iter()
                .chain(letters)
                .collect::<String>()
        })
        .collect();
    Ident::new(&camel, Span::mixed_site())
}

/// The policy, as far as literals tell, for the documentation.
pub(super) fn literal_policy(model: &Model) -> Option<&Values> {
    model.is_literal().then_some(&model.known)
}

/// `&NAME`, of which the macro cannot know more than that it is written like a `static`.
pub(super) fn names_static(expr: &Expr) -> bool {
    let Expr::Reference(reference) = expr else {
        return false;
    };
    matches!(&*reference.expr, Expr::Path(path) if path.path.segments.last().is_some_and(|name| !name.ident.to_string().contains(char::is_lowercase)))
}

/// Whether the place is a `static`, or lies behind a shared reference that is a parameter.
fn is_shared(place: &Expr, shared: &[Ident]) -> bool {
    match place {
        Expr::Path(path) => {
            path.path
                .get_ident()
                .is_some_and(|name| shared.contains(name))
                || is_item(place)
        }
        Expr::Field(field) => is_shared(&field.base, shared),
        Expr::Unary(unary) => is_shared(&unary.expr, shared),
        Expr::Reference(reference) => is_shared(&reference.expr, shared),
        Expr::Paren(paren) => is_shared(&paren.expr, shared),
        Expr::Group(group) => is_shared(&group.expr, shared),
        _ => false,
    }
}

/// Whether it is a path with a last name that begins with a capital, as no variable's does.
pub(super) fn is_item(code: &Expr) -> bool {
    let Expr::Path(path) = code else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

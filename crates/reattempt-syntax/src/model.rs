//! What an expansion is made from: everything checked, nothing left to judge.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use reattempt_policy::Values;
use reattempt_policy::rules::{Key, Keys};
use syn::{Expr, Ident, LitStr, Path, Type};

use crate::args::Predicate;
use crate::escape::Escape;
use crate::moves::{Owned, SetBy};
use crate::rename::self_to;

/// A checked policy with everything around it.
#[derive(Clone)]
pub struct Model {
    /// The path of the crate, where it is another one.
    pub krate: Option<Path>,
    /// The policy that the keys override: `policy = ...`.
    pub inherited: Option<Inherited>,
    /// Its name in the configuration, which the keys stand below: `policy = "storage"`.
    pub named: Option<LitStr>,
    /// The given keys, each as a call on the builder.
    pub settings: Vec<Setting>,
    /// `timeout = |attempt| ...`
    pub timeout_by: Option<Expr>,
    /// The policy as far as literals tell.
    pub known: Values,
    /// Keys whose value is an expression.
    pub unknown: Keys,
    /// Where the budget comes from, unless the inherited policy brings one.
    pub budget: Option<BudgetSource>,
    /// `breaker = ...`
    pub breaker: Option<Expr>,
    /// `bulkhead = ...`
    pub bulkhead: Option<Expr>,
    /// `throttle = ...`
    pub throttle: Option<Expr>,
    /// `hedge = ...`
    pub hedge: Option<Hedging>,
    /// `on = ...`, `on(...)`
    pub on: Option<Predicate>,
    /// `except = ...`, `except(...)`
    pub except: Option<Predicate>,
    /// `verify = ...`
    pub verify: Option<Expr>,
    /// `until = ...`
    pub until: Option<Expr>,
    /// `retry_after = ...`
    pub retry_after: Option<Expr>,
    /// `fallback = ...`
    pub fallback: Option<Expr>,
    /// `map_err = ...`
    pub map_err: Option<Mapper>,
    /// Where `history` stands, by which a call keeps its errors and its time.
    pub history: Option<Span>,
    /// Whether time and gates may end the call where it has no error of its own: unless `cut_off = false`.
    pub cut_off: bool,
    /// Whether the documentation of the function gets a line about the policy: unless `doc = false`.
    pub doc: bool,
    /// `before_retry = ...`
    pub before_retry: Option<Expr>,
    /// `on_retry = ...`
    pub on_retry: Option<Expr>,
    /// `context = ...`
    pub context: Option<Ident>,
    /// Where the body says that its attempt moves the work on.
    pub progress: Option<Span>,
    /// Parameters to clone for each attempt, and whether each is `mut`.
    pub clone: Vec<(Ident, bool)>,
    /// Parameters that are passed by value and not cloned.
    pub owned: Vec<Owned>,
    /// Whether an async block of the user's captures them: what code that never runs names is captured, too.
    pub is_block: bool,
    /// What the answer may borrow, which only the compiler can tell.
    pub escape: Option<Escape>,
    /// Who can change the types of the parameters.
    pub set_by: SetBy,
    /// Parameters that are shared references, `self` too.
    pub shared: Vec<Ident>,
    /// Parameters that an async attempt borrows for itself alone.
    pub borrowed: Vec<Ident>,
    /// The same of parameters that are mutable references, which no answer borrows.
    pub reborrowed: Vec<Ident>,
    /// The keys, as written.
    pub keys: Vec<TokenTree>,
    /// The name of the operation.
    pub name: OperationName,
    /// `detail = ...`
    pub detail: Option<Expr>,
    /// `strategy = ...`
    pub strategy: Option<Expr>,
    /// `timer = ...`
    pub timer: Option<Expr>,
    /// The function's own generic parameters, which no item in it can see.
    pub generics: Vec<Ident>,
    /// Where errors about the error type belong.
    pub error_span: Span,
}

/// The name of an operation.
#[derive(Clone)]
pub enum OperationName {
    /// An expression of the name: that of a block, or the key `name`.
    Given(TokenStream),
    /// The name of the function, with its module; its type, if it has one, the compiler knows.
    Function(String),
}

/// `policy = ...` that is an expression.
#[derive(Clone)]
pub struct Inherited {
    /// As written.
    pub expr: Expr,
    /// Whether it can be evaluated as a constant.
    pub constant: bool,
}

/// A key that the policy has.
#[derive(Clone)]
pub struct Setting {
    /// The key.
    pub key: Key,
    /// Where the key stands.
    pub word: Span,
    /// Where its value stands.
    pub place: Span,
    /// What the builder sets.
    pub value: TokenStream,
    /// The span of an expression, which the macro cannot evaluate.
    pub expression: Option<Span>,
    /// The expression, where the compiler cannot evaluate it either: a value of the running program.
    pub running: Option<Expr>,
}

/// `budget = ...`.
#[derive(Clone)]
pub enum BudgetSource {
    /// None, nor the one that an operation has by default.
    Never,
    /// The operation's own: the expression of its `static`.
    Own(TokenStream),
    /// A constant: a reference to one, one of the operation's own, or the share of such a one.
    Named(Expr),
    /// One that a reference to a constant names.
    Shared,
    /// One that only the running program knows.
    Borrowed(Expr),
}

/// `map_err = ...`.
#[derive(Clone)]
pub struct Mapper {
    /// The path, or the closure.
    pub code: Expr,
    /// The type of the parameter of a closure.
    pub parameter: Option<Type>,
}

/// `hedge = ...`.
#[derive(Clone)]
pub struct Hedging {
    /// A constant expression of type `Hedge`.
    pub value: TokenStream,
    /// Whether the macro has judged it already.
    pub is_literal: bool,
    /// Whether the latencies of the operation may be asked for.
    pub measures: bool,
    /// Where it stands.
    pub span: Span,
}

impl Hedging {
    /// How often an attempt is made at most; of an expression only the compiler knows.
    pub fn most(&self) -> Option<u32> {
        self.is_literal.then_some(2)
    }
}

impl Model {
    /// The crate's path, with every token at `span`: the first token of a path
    /// sets where the compiler points.
    pub fn krate_at(&self, span: Span) -> TokenStream {
        if let Some(path) = &self.krate {
            located(quote::quote!(#path), span)
        } else {
            quote_spanned!(at(span)=> ::reattempt)
        }
    }

    /// The path of the crate.
    pub fn krate(&self) -> TokenStream {
        self.krate_at(Span::mixed_site())
    }

    /// The same for an async block in front of which these variables stand, and may hide parameters.
    #[must_use = "the model itself stays as it is"]
    pub fn in_block(&self, mut variables: Vec<Owned>) -> Self {
        let mut model = self.clone();
        model.is_block = true;
        // Each attempt has its own copy of these.
        variables.retain(|it| self.clone.iter().all(|(cloned, _)| *cloned != it.name));
        let is_hidden = |it: &Owned| variables.iter().any(|variable| variable.name == it.name);
        model.owned.retain(|it| !is_hidden(it));
        model.owned.extend(variables);
        model
    }

    /// The same with `name` for `self` in the user's code.
    #[must_use = "the model itself stays as it is"]
    pub fn with_self(&self, name: &Ident) -> Self {
        let mut model = self.clone();
        let owned = model.owned.iter_mut().map(|owned| &mut owned.name);
        let cloned = model.clone.iter_mut().map(|(cloned, _)| cloned);
        for known in owned.chain(cloned).filter(|it| *it == "self") {
            *known = name.clone();
        }
        if let Some(escape) = &mut model.escape {
            escape.call_self(name);
        }
        if let Some(inherited) = &mut model.inherited {
            rename(&mut inherited.expr, name);
        }
        for setting in &mut model.settings {
            if let Some(expr) = &mut setting.running {
                rename(expr, name);
                setting.value = expr.to_token_stream();
            }
        }
        if let Some(BudgetSource::Borrowed(budget)) = &mut model.budget {
            rename(budget, name);
        }
        let code = [
            &mut model.timeout_by,
            &mut model.breaker,
            &mut model.bulkhead,
            &mut model.throttle,
            &mut model.verify,
            &mut model.until,
            &mut model.retry_after,
            &mut model.fallback,
            &mut model.before_retry,
            &mut model.on_retry,
            &mut model.detail,
            &mut model.strategy,
            &mut model.timer,
        ];
        if let Some(mapper) = &mut model.map_err {
            rename(&mut mapper.code, name);
        }
        let filters = [&mut model.on, &mut model.except].into_iter().flatten();
        for expr in code.into_iter().flatten() {
            rename(expr, name);
        }
        for filter in filters {
            match filter {
                Predicate::Code(expr) => rename(expr, name),
                Predicate::Pattern(pattern) => *pattern = self_to(pattern.clone(), name),
            }
        }
        model
    }

    /// Whether an attempt may be cut off: by a limit of its own, by the call's, or
    /// by those of an inherited policy.
    pub fn may_be_cut(&self) -> bool {
        self.is_inherited() || self.has(Key::Deadline) || self.has(Key::Timeout)
    }

    /// Whether the policy is another than the keys alone make.
    pub fn is_inherited(&self) -> bool {
        self.inherited.is_some() || self.named.is_some()
    }

    /// Whether the running program has to make the policy: of an expression, or of the values of keys.
    pub fn is_running(&self) -> bool {
        let inherited = self.inherited.as_ref();
        inherited.is_some_and(|inherited| !inherited.constant)
            || self
                .settings
                .iter()
                .any(|setting| setting.running.is_some())
    }

    /// The keys whose values only the running program knows.
    pub fn running_keys(&self) -> impl Iterator<Item = Key> {
        let running = self
            .settings
            .iter()
            .filter(|setting| setting.running.is_some());
        running.map(|setting| setting.key)
    }

    /// Whether a call may hand bounds down, a deadline or a low priority: by a key, or by an inherited policy.
    pub fn may_have_bounds(&self) -> bool {
        self.is_inherited() || self.has(Key::Deadline) || self.has(Key::Priority)
    }

    /// Whether a call may have to know how long an attempt ran: by a key, or by an inherited policy.
    pub fn may_reset(&self) -> bool {
        self.is_inherited() || self.has(Key::ResetAfter)
    }

    /// Whether a call may be turned away before an attempt.
    pub fn is_gated(&self) -> bool {
        self.breaker.is_some() || self.bulkhead.is_some() || self.throttle.is_some()
    }

    /// Whether the attribute says which budget its calls share.
    pub fn brings_budget(&self) -> bool {
        !matches!(self.budget, None | Some(BudgetSource::Never))
    }

    /// Whether the expansion keeps limits: those of its keys, or a budget that may come with the policy.
    pub fn is_limited(&self) -> bool {
        self.is_gated() || self.brings_budget() || self.is_inherited()
    }

    /// Whether `key` is given.
    pub fn has(&self, key: Key) -> bool {
        self.settings.iter().any(|setting| setting.key == key)
            || key == Key::Timeout && self.timeout_by.is_some()
    }

    /// Whether an error is retried only when it proves that nothing was executed.
    pub fn wants_proof(&self) -> bool {
        self.verify.is_none() && self.has(Key::Idempotent) && !self.known.idempotent
    }

    /// `max = 1`, in the open, and nothing else asks what failures mean.
    pub fn is_single_attempt(&self) -> bool {
        !self.is_gated()
            && self.named.is_none()
            && self.hedge.is_none()
            && self.has(Key::Max)
            && !self.unknown.contains(Key::Max)
            && self.known.attempts() == Some(1)
    }

    /// Whether all of the policy in the code is written in literals.
    pub fn is_literal(&self) -> bool {
        self.inherited.is_none() && self.unknown == Keys::NONE
    }
}

/// Our own names, pointing at the user's code.
pub fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

fn rename(expr: &mut Expr, name: &Ident) {
    *expr = Expr::Verbatim(self_to(expr.to_token_stream(), name));
}

/// The user's path, for an error at `span`.
pub fn located(path: TokenStream, span: Span) -> TokenStream {
    path.into_iter()
        .map(|mut token| {
            token.set_span(token.span().located_at(span));
            token
        })
        .collect()
}

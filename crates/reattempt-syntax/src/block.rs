//! `retry_block!(keys..., body)`: the keys, and what is retried.

mod advice;

use darling::ast::NestedMeta;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use reattempt_policy::rules::RuleId;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::visit::{Visit, visit_expr};
use syn::{Expr, ExprBreak, ExprClosure, ExprContinue, Ident, Item, ReturnType, Stmt, Token};

use crate::args;
use crate::check;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::item::{self, Answer, has_word};
use crate::keys;
use crate::model::Model;
use crate::slips;

/// A block as written.
pub struct Block {
    /// The keys.
    pub items: Vec<NestedMeta>,
    /// What stands behind them.
    pub body: Body,
}

/// What is retried.
pub struct Body {
    /// Whether an attempt is a future.
    pub asynchronous: bool,
    /// `move` of an `async` block or a closure.
    pub moved: Option<Token![move]>,
    /// The type that a closure tells.
    pub answer: Answer,
    /// In braces.
    pub statements: Group,
}

impl Block {
    /// Reads the keys and the body; what is neither breaks S10.
    ///
    /// # Errors
    ///
    /// What is no block, or keys without a value.
    pub fn read(input: TokenStream) -> Result<Self, Diagnostics> {
        let mut faults = Diagnostics::default();
        for fault in args::without_value(input.clone()) {
            faults.add(fault);
        }
        faults.finish(())?;
        Self::parse.parse2(input.clone()).map_err(|wrong| {
            let known = advice::of(input);
            let fault = known.unwrap_or_else(|| Diagnostic::new(wrong.span(), RuleId::S10, wrong));
            fault.into()
        })
    }

    /// Checks the keys.
    pub fn check(items: Vec<NestedMeta>, body: &Body, faults: &mut Diagnostics) -> Model {
        let known: Vec<&str> = keys::KEYS
            .iter()
            .copied()
            .filter(|key| !keys::is_one_of(key, keys::FUNCTION_ONLY))
            .collect();
        let arguments = args::from_items(items, &known, faults);
        let place = body
            .answer
            .error_span()
            .or_else(|| Some(body.statements.span_open()));
        if !body.asynchronous && slips::awaits_in(body.statements.stream()) {
            faults.push(
                body.statements.span_open(),
                RuleId::S10,
                "an attempt that awaits is async; write `async { ... }`, and `.await` after the macro",
            );
        }
        if let Some((place, around)) = body.leaves_loop() {
            faults.push(
                place,
                RuleId::S10,
                format!("an attempt is a function of its own, which cannot leave the loop {around}around it; let the block return a value, and `break` after it"),
            );
        }
        if let Some((end, text)) = body.end_without_answer(arguments.until.is_some()) {
            faults.push(end, RuleId::S10, text);
        }
        let mut model = check::block(arguments, body.asynchronous, place, faults);
        check::progress::find(&mut model, body.statements.stream(), faults);
        model
    }
}

impl Body {
    /// Where `break` or `continue` leaves a loop that stands outside of the body, and the label of that.
    pub fn leaves_loop(&self) -> Option<(Span, String)> {
        let (mut declared, mut left) = (Vec::new(), Vec::new());
        labels(self.statements.stream(), &mut declared, &mut left);
        let label = left.into_iter().find(|label| !declared.contains(label));
        let place = label.map(|label| (label.span(), format!("`'{label}` ")));
        place.or_else(|| Some((breaks(self.statements.stream())?, String::new())))
    }

    /// Where it ends, if it answers with `()`, which cannot be, and what is said of it.
    pub fn end_without_answer(&self, polls: bool) -> Option<(Span, &'static str)> {
        if !matches!(self.answer, Answer::Inferred) {
            return None;
        }
        let code: syn::Block = syn::parse2(self.statements.to_token_stream()).ok()?;
        let Stmt::Expr(last, Some(end)) = code.stmts.last()? else {
            return None;
        };
        let text = match last {
            Expr::Try(_) => {
                "an attempt that fails by `?` answers with a `Result`, and this one ends with no value; end it with `Ok(())`"
            }
            Expr::Await(_) | Expr::Call(_) | Expr::MethodCall(_)
                if !polls && !has_word(&self.statements.stream(), "return") =>
            {
                "an attempt answers with the value at its end, and `;` drops that; write it without `;`, or end the attempt with `Ok(())`"
            }
            _ => return None,
        };
        Some((end.span(), text))
    }
}

impl Body {
    /// The statements and the value at the end, where the body tells no type and `?` leaves it, so that the value has to be
    /// a `Result`.
    pub fn tried(&self) -> Option<(Vec<Stmt>, Expr)> {
        if !matches!(self.answer, Answer::Inferred) || !has_question(&self.statements.stream()) {
            return None;
        }
        let mut code: syn::Block = syn::parse2(self.statements.to_token_stream()).ok()?;
        let is_left = slips::fails(&Expr::Block(syn::ExprBlock {
            attrs: Vec::new(),
            label: None,
            block: code.clone(),
        }));
        let Some(Stmt::Expr(end, None)) = code.stmts.pop().filter(|_| is_left) else {
            return None;
        };
        tells_its_type(&end).then_some((code.stmts, end))
    }
}

fn has_question(code: &TokenStream) -> bool {
    code.clone().into_iter().any(|token| match token {
        TokenTree::Punct(sign) => sign.as_char() == '?',
        TokenTree::Group(group) => has_question(&group.stream()),
        _ => false,
    })
}

/// Whether the type of a value follows from the value, and not from what it is used for.
pub(crate) fn tells_its_type(end: &Expr) -> bool {
    const ANY: &[&str] = &[
        "collect", "default", "expect", "into", "product", "sum", "unwrap",
    ];
    match end {
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            !ANY.iter().any(|it| name.starts_with(it))
        }
        Expr::Try(_)
        | Expr::Await(_)
        | Expr::Lit(_)
        | Expr::Binary(_)
        | Expr::Struct(_)
        | Expr::Field(_)
        | Expr::Tuple(_)
        | Expr::Array(_)
        | Expr::Cast(_) => true,
        Expr::Macro(made) => ["format", "vec"]
            .iter()
            .any(|name| made.mac.path.is_ident(name)),
        _ => false,
    }
}

/// The first `break` or `continue` without a label in code that is in no loop.
fn breaks(code: TokenStream) -> Option<Span> {
    struct Breaks(Option<Span>);
    impl<'a> Visit<'a> for Breaks {
        fn visit_expr(&mut self, code: &'a Expr) {
            match code {
                Expr::Break(ExprBreak { label: None, .. })
                | Expr::Continue(ExprContinue { label: None, .. }) => {
                    self.0.get_or_insert(code.span());
                }
                Expr::Loop(_)
                | Expr::ForLoop(_)
                | Expr::While(_)
                | Expr::Closure(_)
                | Expr::Async(_) => {}
                code => visit_expr(self, code),
            }
        }
        fn visit_item(&mut self, _: &'a Item) {}
    }
    // Most code has none, and is not parsed.
    names_break(code.clone()).then_some(())?;
    let mut breaks = Breaks(None);
    for statement in &syn::Block::parse_within.parse2(code).ok()? {
        breaks.visit_stmt(statement);
    }
    breaks.0
}

fn names_break(code: TokenStream) -> bool {
    code.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "break" || word == "continue",
        TokenTree::Group(group) => names_break(group.stream()),
        _ => false,
    })
}

/// Collects the names in `'label:`, and those that `break` and `continue` leave.
fn labels(statements: TokenStream, declared: &mut Vec<Ident>, left: &mut Vec<Ident>) {
    let tokens: Vec<_> = statements.into_iter().collect();
    let after = |count| tokens.iter().skip(count);
    for three in after(0).zip(after(1)).zip(after(2)) {
        match three {
            ((TokenTree::Punct(quote), TokenTree::Ident(name)), TokenTree::Punct(colon))
                if quote.as_char() == '\'' && colon.as_char() == ':' =>
            {
                declared.push(name.clone());
            }
            ((TokenTree::Ident(word), TokenTree::Punct(quote)), TokenTree::Ident(name))
                if (word == "break" || word == "continue") && quote.as_char() == '\'' =>
            {
                left.push(name.clone());
            }
            _ => {}
        }
    }
    for token in tokens {
        if let TokenTree::Group(group) = token {
            labels(group.stream(), declared, left);
        }
    }
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut items = Vec::new();
        let mut last = None;
        while !input.is_empty() && !starts_body(input) {
            last = Some(input.span());
            items.push(input.parse()?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if input.is_empty() {
            // Without a token the macro as a whole is the place.
            return Err(syn::Error::new(
                last.unwrap_or_else(|| input.span()),
                "`retry_block!` must end with the block or closure to retry; write `retry_block!(on(_), { ... })`",
            ));
        }
        let body = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            let rest: TokenStream = input.parse()?;
            return Err(syn::Error::new(
                rest.span(),
                "the body must come last, and there can be only one; put the keys before it",
            ));
        }
        Ok(Self { items, body })
    }
}

/// Whether a block or a closure comes next, not `key = value` or `key(...)`.
fn starts_body(input: ParseStream<'_>) -> bool {
    input.peek(syn::token::Brace)
        || input.peek(Token![|])
        || input.peek(Token![||])
        || input.peek(Token![move])
        || input.peek(Token![async])
        || !input.peek(Ident::peek_any)
}

impl Parse for Body {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // A macro's `$body:block` comes in an invisible group.
        let ahead = input.fork();
        if let Some(statements) = ahead
            .parse::<TokenTree>()
            .ok()
            .as_ref()
            .and_then(item::braces)
        {
            input.parse::<TokenTree>()?;
            return Ok(Self {
                asynchronous: false,
                moved: None,
                answer: Answer::Inferred,
                statements,
            });
        }
        let ahead = input.fork();
        let asynchronous = ahead.parse::<Option<Token![async]>>()?;
        let moved = ahead.parse::<Option<Token![move]>>()?;
        if ahead.peek(syn::token::Brace) && (moved.is_none() || asynchronous.is_some()) {
            input.parse::<Option<Token![async]>>()?;
            input.parse::<Option<Token![move]>>()?;
            return Ok(Self {
                asynchronous: asynchronous.is_some(),
                moved,
                answer: Answer::Inferred,
                statements: input.parse()?,
            });
        }
        if ahead.peek(Token![|]) || ahead.peek(Token![||]) {
            return Self::closure(&input.parse()?);
        }
        Err(input.error(if ahead.peek(syn::token::Brace) {
            "a block has no `move`; write it without, or as a closure, `move || { ... }`"
        } else {
            "expected a block, an `async` block, a closure or an async closure"
        }))
    }
}

impl Body {
    fn closure(closure: &ExprClosure) -> syn::Result<Self> {
        if let Some(parameter) = closure.inputs.first() {
            return Err(syn::Error::new(
                parameter.span(),
                "the closure must not take a parameter; with `context = attempt` the body can use `attempt`",
            ));
        }
        if advice::is_called(&closure.body) {
            // What is wrong is said by `advice::of`.
            return Err(syn::Error::new(closure.body.span(), "the body is a block"));
        }
        let answer = match &closure.output {
            ReturnType::Default => Answer::Inferred,
            ReturnType::Type(_, ty) => Answer::of(ty),
        };
        let inner_async = match &*closure.body {
            Expr::Async(block) if closure.asyncness.is_none() => Some(block),
            _ => None,
        };
        Ok(match inner_async {
            // `|| async { ... }`
            Some(block) => Self {
                asynchronous: true,
                moved: block.capture,
                answer: Answer::Inferred,
                statements: braces(block.block.to_token_stream()),
            },
            None => Self {
                asynchronous: closure.asyncness.is_some(),
                moved: closure.capture,
                answer,
                statements: braces(closure.body.to_token_stream()),
            },
        })
    }
}

/// A block as it is; anything else in braces.
fn braces(tokens: TokenStream) -> Group {
    let mut list = tokens.clone().into_iter();
    match (list.next(), list.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => group,
        _ => {
            let span = tokens.span();
            let mut group = Group::new(Delimiter::Brace, tokens);
            group.set_span(span);
            group
        }
    }
}

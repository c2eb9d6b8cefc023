//! Which parameters a body moves, as far as its syntax shows: the next attempt needs them again.
//!
//! A move that is found is one, unless its type is `Copy`, which the compiler is asked. What cannot be told without
//! types, such as whether a method takes `self` by value, is left to the compiler.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, FnArg, Macro, Pat, ReceiverKind, Signature, Stmt, Token, Type};

use crate::item::names;

/// A parameter that is passed by value.
#[derive(Clone)]
pub struct Owned {
    /// Its name, or `self`.
    pub name: Ident,
    /// Its type, except that of `self`.
    ty: Option<Type>,
    /// Whether only bounds give it methods: `impl Trait`, or a generic parameter.
    is_generic: bool,
}

/// Where a body moves a parameter.
pub struct Move {
    /// The parameter.
    pub name: Ident,
    /// What is moved: the parameter, or a field of it.
    pub place: TokenStream,
}

/// What the body does with parameters.
pub struct Moves {
    /// The first move of each parameter.
    pub certain: Vec<Move>,
    /// Where the last method of a parameter is called that may take it by value.
    pub possible: Option<Span>,
}

/// Returns the parameters that are passed by value and may not be `Copy`, by the looks of their types.
///
/// There are none in a module with `#![no_implicit_prelude]`: the check of moves needs an attribute
/// of the namespace `diagnostic`, which that module does not have.
pub fn owned(signature: &Signature, body: Option<&Group>) -> Vec<Owned> {
    let body = body.map(Group::stream);
    if may_lack_prelude(&quote::quote!(#signature #body)) {
        return Vec::new();
    }
    let inputs = signature.inputs.iter();
    let generics = crate::item::generics(signature);
    let is_generic = |ty: &Type| match ty {
        Type::ImplTrait(_) => true,
        Type::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| generics.contains(name)),
        _ => false,
    };
    let owned = inputs.filter_map(|input| match input {
        FnArg::Receiver(receiver) => match &receiver.kind {
            ReceiverKind::Value => Some(Owned {
                name: Ident::new("self", receiver.self_token.span),
                ty: None,
                is_generic: false,
            }),
            _ => None,
        },
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && !is_copied(&typed.ty) => Some(Owned {
                name: pat.ident.clone(),
                ty: Some((*typed.ty).clone()),
                is_generic: is_generic(&typed.ty),
            }),
            _ => None,
        },
    });
    owned.collect()
}

/// Whether values of a type are certainly copied, or reborrowed.
fn is_copied(ty: &Type) -> bool {
    const NAMES: &[&str] = &[
        "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
        "i128", "isize", "f32", "f64", "Duration", "Instant",
    ];
    match ty {
        Type::Reference(_) | Type::Ptr(_) | Type::Never(_) => true,
        Type::Group(group) => is_copied(&group.elem),
        Type::Paren(paren) => is_copied(&paren.elem),
        Type::Path(path) => {
            (path.path.get_ident()).is_some_and(|name| NAMES.contains(&&*name.to_string()))
        }
        _ => false,
    }
}

/// Finds what a body does with `owned`.
pub fn find(body: &TokenStream, owned: &[Owned]) -> Moves {
    let is_used = |owned: &&Owned| names(body, &owned.name);
    let mut walk = Walk {
        owned: owned.iter().filter(is_used).collect(),
        moved_into: 0,
        moves: Moves {
            certain: Vec::new(),
            possible: None,
        },
    };
    // What is compiled only sometimes may be what moves, or what binds the name anew.
    if !walk.owned.is_empty()
        && !has_condition(body)
        && let Ok(statements) = Block::parse_within.parse2(body.clone())
    {
        walk.statements(&statements);
    }
    walk.moves
}

/// Whether tokens contain a path such as `::core::option::Option`, but no bare name of the prelude.
/// Attributes such as `#[async_trait]` write such paths too, but they keep the user's names.
fn may_lack_prelude(tokens: &TokenStream) -> bool {
    const CRATES: &[&str] = &["alloc", "core", "std"];
    const PRELUDE: &[&str] = &[
        "Box", "Clone", "Copy", "Default", "Err", "From", "Into", "None", "Ok", "Option", "Result",
        "Send", "Some", "String", "Sync", "ToString", "Vec",
    ];
    let is_absolute = |name: &str, is_start: bool| !is_start && CRATES.contains(&name);
    let is_bare = |name: &str, is_start: bool| is_start && PRELUDE.contains(&name);
    any_name(tokens, &is_absolute) && !any_name(tokens, &is_bare)
}

/// Whether `test` holds for a name among the tokens, given whether nothing with `::` or `.` is in
/// front of it.
fn any_name(tokens: &TokenStream, test: &impl Fn(&str, bool) -> bool) -> bool {
    let (mut last, mut previous) = (' ', ' ');
    tokens.clone().into_iter().any(|token| {
        let (found, next) = match &token {
            TokenTree::Ident(name) => {
                let is_start = last != '.' && (last, previous) != (':', ':');
                (test(&name.to_string(), is_start), ' ')
            }
            TokenTree::Group(group) => (any_name(&group.stream(), test), ' '),
            TokenTree::Punct(punct) => (false, punct.as_char()),
            TokenTree::Literal(_) => (false, ' '),
        };
        (previous, last) = (last, next);
        found
    })
}

/// Whether `#[cfg]` or `#[cfg_attr]` stands somewhere among the tokens.
fn has_condition(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => {
            let first = group.stream().into_iter().next();
            let is_attribute = group.delimiter() == Delimiter::Bracket
                && matches!(first, Some(TokenTree::Ident(word)) if word == "cfg" || word == "cfg_attr");
            is_attribute || has_condition(&group.stream())
        }
        _ => false,
    })
}

/// A walk in the order of the source. A name that is bound anew anywhere is no longer looked for.
struct Walk<'o> {
    owned: Vec<&'o Owned>,
    /// How many closures and blocks around this place are `move`.
    moved_into: usize,
    moves: Moves,
}

impl<'o> Walk<'o> {
    /// The parameter that an expression is, or of which it is a field.
    fn root(&self, expr: &Expr) -> Option<(&'o Owned, bool)> {
        match expr {
            Expr::Path(path) if path.attrs.is_empty() => {
                let name = path.path.get_ident()?;
                let found = self.owned.iter().find(|owned| owned.name == *name);
                found.map(|owned| (*owned, false))
            }
            Expr::Field(field) => self.root(&field.base).map(|(owned, _)| (owned, true)),
            Expr::Paren(paren) => self.root(&paren.expr),
            Expr::Group(group) => self.root(&group.expr),
            _ => None,
        }
    }

    /// An expression of which the value is taken.
    fn value(&mut self, expr: &Expr) {
        match self.root(expr) {
            Some((owned, is_field)) if !is_field || owned.has_own_fields() => {
                self.moved(owned, expr);
            }
            Some(_) => {}
            None => self.visit_expr(expr),
        }
    }

    fn values(&mut self, exprs: &Punctuated<Expr, Token![,]>) {
        for expr in exprs {
            self.value(expr);
        }
    }

    fn optional(&mut self, expr: Option<&Expr>) {
        if let Some(expr) = expr {
            self.value(expr);
        }
    }

    /// An expression that is used where it stands: a part of it may be taken.
    fn place(&mut self, expr: &Expr) {
        if self.root(expr).is_none() {
            self.visit_expr(expr);
        }
    }

    fn moved(&mut self, owned: &Owned, expr: &Expr) {
        let mut certain = self.moves.certain.iter();
        if certain.all(|known| known.name != owned.name) {
            self.moves.certain.push(Move {
                name: owned.name.clone(),
                place: quote::quote!(#expr),
            });
        }
    }

    /// Visits an operator, an assignment or a call, if the expression is one.
    fn operator(&mut self, expr: &Expr) -> bool {
        match expr {
            Expr::Assign(assign) => {
                match &*assign.left {
                    Expr::Infer(_) => self.place(&assign.right),
                    _ => self.value(&assign.right),
                }
                self.place(&assign.left);
            }
            Expr::Binary(binary) => {
                use syn::BinOp::{
                    Add, BitAnd, BitOr, BitXor, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Rem, Shl, Shr,
                    Sub,
                };
                match binary.op {
                    Eq(_) | Ge(_) | Gt(_) | Le(_) | Lt(_) | Ne(_) => {
                        self.visit_expr(&binary.left);
                        self.visit_expr(&binary.right);
                    }
                    Add(_) | BitAnd(_) | BitOr(_) | BitXor(_) | Div(_) | Mul(_) | Rem(_)
                    | Shl(_) | Shr(_) | Sub(_) => {
                        self.value(&binary.left);
                        self.value(&binary.right);
                    }
                    _ => {
                        self.place(&binary.left);
                        self.value(&binary.right);
                    }
                }
            }
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                self.place(&unary.expr);
            }
            Expr::Unary(unary) => self.value(&unary.expr),
            Expr::Index(index) => {
                self.place(&index.expr);
                self.value(&index.index);
            }
            Expr::Call(call) => {
                match self.root(&call.func) {
                    Some((owned, false)) if owned.is_called_once() => self.moved(owned, &call.func),
                    Some(_) => {}
                    None => self.visit_expr(&call.func),
                }
                self.values(&call.args);
            }
            Expr::MethodCall(call) => {
                match self.root(&call.receiver) {
                    Some((owned, false)) if owned.is_taken_by(&call.method.to_string()) => {
                        self.moved(owned, &call.receiver);
                    }
                    Some(_) => {
                        if may_take(&call.method.to_string()) {
                            self.moves.possible = Some(call.receiver.span());
                        }
                        self.visit_expr(&call.receiver);
                    }
                    None => self.visit_expr(&call.receiver),
                }
                self.values(&call.args);
            }
            _ => return false,
        }
        true
    }

    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            match statement {
                Stmt::Local(local) => {
                    if let Some(init) = &local.init {
                        match bare(&local.pat) {
                            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                                self.value(&init.expr);
                            }
                            _ => self.place(&init.expr),
                        }
                        if let Some((_, otherwise)) = &init.diverge {
                            self.visit_expr(otherwise);
                        }
                    }
                    self.visit_pat(&local.pat);
                }
                Stmt::Item(item) => self.hidden_by(&quote::quote!(#item)),
                Stmt::Expr(expr, _) => {
                    self.value(expr);
                    if matches!(expr, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_)) {
                        return;
                    }
                }
                Stmt::Macro(call) => {
                    self.visit_macro(&call.mac);
                    let name = name_of(&call.mac);
                    if ENDS.contains(&&*name) {
                        return;
                    }
                    if !BORROWS.contains(&&*name) && !LOGS.contains(&&*name) {
                        self.hidden_by(&call.mac.tokens);
                    }
                }
            }
        }
    }

    /// Tokens that may bind names which what follows means.
    fn hidden_by(&mut self, tokens: &TokenStream) {
        self.owned.retain(|owned| !names(tokens, &owned.name));
    }

    fn moved_into(&mut self, is_move: bool, inside: impl FnOnce(&mut Self)) {
        let before = self.moved_into;
        if is_move {
            self.moved_into = before.saturating_add(1);
        }
        inside(self);
        self.moved_into = before;
    }
}

impl Owned {
    /// Whether its fields are certainly its own, not those of what it points to.
    fn has_own_fields(&self) -> bool {
        !matches!(self.type_name().as_deref(), Some("Arc" | "Rc"))
    }

    /// Whether a call uses it up.
    fn is_called_once(&self) -> bool {
        let ty = &self.ty;
        names(
            &quote::quote!(#ty),
            &Ident::new("FnOnce", Span::call_site()),
        )
    }

    fn type_name(&self) -> Option<String> {
        match self.ty.as_ref()? {
            Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
            _ => None,
        }
    }

    /// Whether a method of a type of the standard library takes it by value.
    fn is_taken_by(&self, method: &str) -> bool {
        let methods: &[&str] = match self.type_name().as_deref() {
            Some("String") => &["into", "into_boxed_str", "into_bytes"],
            Some("Vec") => &["into", "into_boxed_slice", "into_iter"],
            Some("PathBuf") => &["into", "into_boxed_path", "into_os_string"],
            Some("HashMap" | "BTreeMap") => &["into_iter", "into_keys", "into_values"],
            Some("HashSet" | "BTreeSet" | "VecDeque") => &["into_iter"],
            Some("Option") => &[
                "and",
                "and_then",
                "expect",
                "filter",
                "flatten",
                "into_iter",
                "is_none_or",
                "is_some_and",
                "map",
                "map_or",
                "map_or_else",
                "ok_or",
                "ok_or_else",
                "or",
                "or_else",
                "unwrap",
                "unwrap_or",
                "unwrap_or_default",
                "unwrap_or_else",
                "zip",
            ],
            _ if self.is_generic => &["into", "into_iter"],
            _ => &[],
        };
        methods.contains(&method)
    }
}

/// Macros that borrow their arguments.
const BORROWS: &[&str] = &[
    "assert",
    "debug_assert",
    "eprint",
    "eprintln",
    "format",
    "print",
    "println",
    "write",
    "writeln",
];
/// Macros of logging, whose syntax is their own.
const LOGS: &[&str] = &[
    "assert_eq",
    "assert_ne",
    "debug",
    "error",
    "event",
    "info",
    "log",
    "trace",
    "warn",
];
/// Macros that nothing follows.
const ENDS: &[&str] = &["bail", "panic", "todo", "unimplemented", "unreachable"];

fn name_of(call: &Macro) -> String {
    let last = call.path.segments.last();
    last.map(|last| last.ident.to_string()).unwrap_or_default()
}

/// A pattern without its type.
fn bare(pattern: &Pat) -> &Pat {
    match pattern {
        Pat::Type(typed) => bare(&typed.pat),
        Pat::Paren(paren) => bare(&paren.pat),
        _ => pattern,
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Path(_) => {
                // A closure or a block that is `move` takes all of what it names.
                if self.moved_into > 0
                    && let Some((owned, _)) = self.root(expr)
                {
                    self.moved(owned, expr);
                }
            }
            Expr::Field(_) if self.root(expr).is_some() => {}
            Expr::Array(array) => self.values(&array.elems),
            Expr::Tuple(tuple) => self.values(&tuple.elems),
            Expr::Repeat(repeat) => self.value(&repeat.expr),
            Expr::Struct(fields) => {
                for field in &fields.fields {
                    self.value(&field.expr);
                }
                if let Some(rest) = &fields.rest {
                    self.place(rest);
                }
            }
            Expr::Return(answer) => self.optional(answer.expr.as_deref()),
            Expr::Break(answer) => self.optional(answer.expr.as_deref()),
            Expr::Try(tried) => self.value(&tried.expr),
            Expr::Await(awaited) => self.value(&awaited.base),
            Expr::Range(range) => {
                self.optional(range.start.as_deref());
                self.optional(range.end.as_deref());
            }
            Expr::ForLoop(each) => {
                self.value(&each.expr);
                self.visit_pat(&each.pat);
                self.statements(&each.body.stmts);
            }
            Expr::Let(matched) => {
                self.place(&matched.expr);
                self.visit_pat(&matched.pat);
            }
            Expr::Match(matched) => {
                self.place(&matched.expr);
                for arm in &matched.arms {
                    self.visit_pat(&arm.pat);
                    self.value(&arm.body);
                }
            }
            Expr::Closure(closure) => {
                for input in &closure.inputs {
                    self.visit_pat(input);
                }
                self.moved_into(closure.capture.is_some(), |walk| walk.value(&closure.body));
            }
            Expr::Async(block) => {
                self.moved_into(block.capture.is_some(), |walk| {
                    walk.statements(&block.block.stmts);
                });
            }
            Expr::Const(_) => {}
            _ if self.operator(expr) => {}
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.statements(&block.stmts);
    }

    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.owned.retain(|owned| owned.name != pat.ident);
        visit::visit_pat_ident(self, pat);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let name = name_of(call);
        let takes = matches!(&*name, "dbg" | "vec");
        if !takes && !BORROWS.contains(&&*name) {
            return;
        }
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.tokens.clone());
        for argument in arguments.into_iter().flatten() {
            match &argument {
                _ if takes => self.value(&argument),
                Expr::Assign(named) => self.visit_expr(&named.right),
                _ => self.visit_expr(&argument),
            }
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a method may take a value, by its name.
fn may_take(method: &str) -> bool {
    const BORROWS: &[&str] = &[
        "as_",
        "borrow",
        "clone",
        "contains",
        "ends_with",
        "get",
        "insert",
        "is_",
        "iter",
        "len",
        "lock",
        "push",
        "read",
        "set_",
        "starts_with",
        "to_",
        "write",
    ];
    !BORROWS.iter().any(|prefix| method.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn moved(body: &str) -> Vec<String> {
        let signature: Signature = parse_quote!(
            fn fetch(
                self,
                url: String,
                id: Id,
                run: impl FnOnce(),
                shared: Arc<Id>,
                count: u32,
                lent: &mut Id,
                found: Option<Id>,
            )
        );
        let body = body.parse().expect("tokens");
        let moves = find(&body, &owned(&signature, None)).certain;
        moves
            .iter()
            .map(|found| found.place.to_string().replace(' ', ""))
            .collect()
    }

    #[test]
    fn a_bare_name_of_the_prelude_shows_that_there_is_one() {
        for (tokens, may_lack) in [
            (
                "fn f(url: ::std::string::String) -> Answer { send(url) }",
                true,
            ),
            (
                "fn f(url: ::core::option::Option<Id>) { a::Ok(url.Ok) }",
                true,
            ),
            (
                "fn f(url: Url) -> Pin<Box<dyn Future + ::core::marker::Send>>",
                false,
            ),
            ("fn f(url: ::url::Url) { send(url) }", false),
            ("fn f(url: Option<Url>) { ::std::mem::drop(url) }", false),
        ] {
            let tokens = tokens.parse().expect("tokens");
            assert_eq!(may_lack_prelude(&tokens), may_lack, "{tokens}");
        }
    }

    #[test]
    fn what_is_certainly_moved() {
        for (body, places) in [
            ("Ok(url)", vec!["url"]),
            ("Ok(url.into_bytes())", vec!["url"]),
            ("send(&url); send(url)", vec!["url"]),
            ("Ok(self)", vec!["self"]),
            ("Ok(self.0)", vec!["self.0"]),
            (
                "let Ok(x) = call(id) else { return Err(url) };",
                vec!["id", "url"],
            ),
            ("let kept = id; Ok(())", vec!["id"]),
            ("let id = parse(id)?; Ok(id)", vec!["id"]),
            ("Ok(vec![url])", vec!["url"]),
            ("Ok(Page { url, id: 3 })", vec!["url"]),
            ("spawn(move || url.len())", vec!["url"]),
            ("spawn(async move { log(&url).await })", vec!["url"]),
            ("spawn(move || println!(\"{}\", url))", vec!["url"]),
            ("Ok(|| drop(url))", vec!["url"]),
            ("run(); Ok(())", vec!["run"]),
            ("if url.is_empty() { Ok(1) } else { Err(url) }", vec!["url"]),
            ("match f() { 1 => id, _ => other }", vec!["id"]),
            ("Ok(url + \"x\")", vec!["url"]),
            ("found.ok_or(Error)", vec!["found"]),
            ("id?; Ok(())", vec!["id"]),
            ("for x in url { f(x) } Ok(())", vec!["url"]),
            ("self.list = url; Ok(())", vec!["url"]),
        ] {
            assert_eq!(moved(body), places, "{body}");
        }
    }

    #[test]
    fn what_may_not_be_moved() {
        for body in [
            "Ok(url.len())",
            "Ok(format!(\"{url}{}\", url))",
            "println!(\"{}\", url); Ok(())",
            "let _ = url; Ok(())",
            "_ = url; Ok(())",
            "let Id { ref a } = id; Ok(())",
            "match id { Id { a } => a.clone() }",
            "if let Some(ref id) = found { f(id) } Ok(())",
            "let url = url.trim(); Ok(url)",
            "Ok(list.iter().map(|id| f(id)))",
            "match f() { id => Ok(id) }",
            "let_it!(url); Ok(url)",
            "select! { id = next() => id, }",
            "fn url() {} Ok(url)",
            "Ok(url == other)",
            "Ok(shared.name)",
            "Ok(count)",
            "Ok(f(lent))",
            "spawn(move || id.name.len())",
            "Ok(self.name.len())",
            "Ok(id.parts())",
            "todo!(); Ok(url)",
            "return Err(1); drop(url)",
            "#[cfg(unix)] drop(url); Ok(())",
            "Ok(Page { rest: 1, ..id })",
            "url[1..].len(); *id = 3; Ok(())",
            "async { &url }; Ok(())",
            "x.url; Ok(x.id)",
            "url::parse(3)",
        ] {
            assert_eq!(moved(body), Vec::<String>::new(), "{body}");
        }
    }
}

//! What to write where code over the fields stands, and `with` takes a function of them.

use quote::ToTokens as _;
use syn::visit::{Visit, visit_expr};
use syn::visit_mut::{VisitMut, visit_expr_mut};
use syn::{
    Expr, ExprBinary, ExprCall, ExprClosure, Fields, Ident, Lit, Member, Pat, Type, parse_quote,
};

use reattempt_syntax::item::text;
use reattempt_syntax::tokens::written;

use super::members;

/// What people call the error itself, which a function of the fields does not get.
const WHOLE: &[&str] = &["self", "error", "err", "e"];

/// What is wrong with the function behind `with`.
pub(super) fn fault(value: &Expr, fields: &Fields) -> Option<String> {
    if let Expr::Lit(literal) = value
        && let Lit::Str(name) = &literal.lit
        && let Ok(path) = name.parse::<syn::Path>()
    {
        let path = written(&path.to_token_stream());
        return Some(format!(
            "a function has no quotes; write `#[retry(with = {path})]`"
        ));
    }
    match value {
        Expr::Closure(closure) if of_whole(closure, fields).is_some() => Some(format!(
            "`with` gets a reference to each field, and not the whole; write `#[retry(with = {})]`",
            of_whole(closure, fields)?
        )),
        Expr::Closure(closure)
            if !closure.inputs.is_empty() && closure.inputs.len() != fields.len() =>
        {
            let mut given = closure.inputs.iter();
            let list: Vec<_> = members(fields)
                .map(|(_, ty)| match given.next() {
                    // The compiler looks at the body first.
                    Some(Pat::Ident(name)) => parameter(&name.ident, ty),
                    Some(pattern) => written(&pattern.to_token_stream()),
                    None => "_".to_owned(),
                })
                .collect();
            let body = written(&closure.body.to_token_stream()).replace("* ", "*");
            let are = if fields.len() == 1 { "is" } else { "are" };
            Some(format!(
                "`with` gets a reference to each field, and there {are} {}; write `#[retry(with = |{}| {body})]`",
                fields.len(),
                list.join(", ")
            ))
        }
        Expr::Call(call) => called(call, fields),
        Expr::MethodCall(_)
        | Expr::Binary(_)
        | Expr::Unary(_)
        | Expr::Macro(_)
        | Expr::Match(_)
        | Expr::If(_)
        | Expr::Block(_) => {
            let closure = of_fields(value, fields)?;
            Some(format!(
                "`with` takes a function of the fields; write `#[retry(with = {closure})]`"
            ))
        }
        _ => None,
    }
}

/// `|code: &u16| *code >= 500` of `|error| error.code >= 500`, where the type of a field has no fields.
fn of_whole(closure: &ExprClosure, fields: &Fields) -> Option<String> {
    let Some(Pat::Ident(whole)) = closure.inputs.first() else {
        return None;
    };
    let is_plain = |ty: &Type| matches!(ty, Type::Path(path) if path.path.get_ident().is_some_and(|name| name == "String" || !name.to_string().contains(char::is_uppercase)));
    let (whole, plain) = (&whole.ident, fields.iter().filter(|it| is_plain(&it.ty)));
    let mut parts = Parts {
        whole,
        names: plain.filter_map(|field| field.ident.clone()).collect(),
        found: false,
    };
    let mut body = (*closure.body).clone();
    let is_alone = closure.inputs.len() == 1 && WHOLE.iter().any(|word| whole == word);
    parts.visit_expr_mut(&mut body);
    (is_alone && parts.found).then(|| of_fields(&body, fields))?
}

/// Writes `code` for `error.code`.
struct Parts<'a> {
    whole: &'a Ident,
    names: Vec<Ident>,
    found: bool,
}

impl VisitMut for Parts<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Field(field) = expr
            && let (Expr::Path(base), Member::Named(name)) = (&*field.base, &field.member)
            && base.path.is_ident(self.whole)
            && self.names.contains(name)
        {
            self.found = true;
            *expr = parse_quote!(#name);
        } else {
            visit_expr_mut(self, expr);
        }
    }
}

/// `with = judge(code)`.
fn called(call: &ExprCall, fields: &Fields) -> Option<String> {
    let name_in = |argument: &Expr| match argument {
        Expr::Infer(_) => Some("_".to_owned()),
        argument => name_of(argument).map(Ident::to_string),
    };
    let names: Vec<_> = call.args.iter().map(name_in).collect::<Option<_>>()?;
    let own: Vec<_> = members(fields).map(|(member, _)| shown(&member)).collect();
    let is_whole = |name: &String| WHOLE.contains(&&**name) || name.starts_with('_');
    let function = written(&call.func.to_token_stream());
    if names.is_empty()
        || !names
            .iter()
            .all(|name| own.contains(name) || is_whole(name))
    {
        return None;
    }
    if names == own || names.iter().all(is_whole) {
        return Some(format!(
            "`with` takes a function, which gets a reference to each field; write `#[retry(with = {function})]`"
        ));
    }
    let mut call = call.clone();
    for argument in &mut call.args {
        let name = name_of(argument)?.clone();
        *argument = parse_quote!(#name);
    }
    let closure = of_fields(&Expr::Call(call), fields)?;
    Some(format!(
        "`with` takes a function of the fields; write `#[retry(with = {closure})]`"
    ))
}

/// `|code: &u16| *code >= 500` of `code >= 500`.
pub(super) fn of_fields(body: &Expr, fields: &Fields) -> Option<String> {
    let names = names_in(body);
    let is_field = |member: &Member| matches!(member, Member::Named(name) if names.contains(name));
    // A field of a tuple has no name: the one in the code is meant.
    let only = match (fields, &*names) {
        (Fields::Unnamed(fields), [name]) if fields.unnamed.len() == 1 => Some(name.clone()),
        _ => None,
    };
    let parameters: Vec<_> = members(fields)
        .map(|(member, ty)| match (&only, &member) {
            (Some(name), _) | (None, Member::Named(name))
                if only.is_some() || is_field(&member) =>
            {
                (Some(name.clone()), parameter(name, ty))
            }
            _ => (None, "_".to_owned()),
        })
        .collect();
    let taken: Vec<_> = (parameters.iter())
        .filter_map(|(name, _)| name.clone())
        .collect();
    if taken.is_empty() {
        return None;
    }
    let mut body = body.clone();
    Derefs(&taken).visit_expr_mut(&mut body);
    let list: Vec<_> = parameters.into_iter().map(|(_, shown)| shown).collect();
    let tight =
        |text: String, name: &Ident| text.replace(&format!("* {name}"), &format!("*{name}"));
    let body = taken.iter().fold(written(&body.to_token_stream()), tight);
    Some(format!("|{}| {}", list.join(", "), body.replace("! ", "!")))
}

/// `|error: &RequestError<E, R>, _| reattempt::Classify::classify(error)`: the verdict of one of several fields.
pub(super) fn of_one(chosen: usize, fields: &Fields) -> String {
    let list: Vec<_> = members(fields)
        .enumerate()
        .map(|(index, (_, ty))| {
            if index == chosen {
                format!("error: &{}", text(ty))
            } else {
                "_".to_owned()
            }
        })
        .collect();
    format!(
        "#[retry(with = |{}| reattempt::Classify::classify(error))]",
        list.join(", ")
    )
}

/// Which of several fields is an error, by the name of its type.
pub(super) fn error_in(fields: &Fields) -> usize {
    let is_error = |ty: &Type| match ty {
        Type::Path(path) => (path.path.segments.last())
            .is_some_and(|last| last.ident.to_string().ends_with("Error")),
        _ => false,
    };
    let found = fields.iter().position(|field| is_error(&field.ty));
    found.unwrap_or(0)
}

fn parameter(name: &Ident, ty: &Type) -> String {
    format!("{name}: &{}", text(ty))
}

fn shown(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => format!("_{}", index.index),
    }
}

/// `code`, `&code`, `self.code`.
fn name_of(value: &Expr) -> Option<&Ident> {
    match value {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Reference(reference) => name_of(&reference.expr),
        Expr::Field(field) => match &field.member {
            Member::Named(name) if name_of(&field.base).is_some_and(|base| base == "self") => {
                Some(name)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The variables of some code, each once.
fn names_in(body: &Expr) -> Vec<Ident> {
    struct Names(Vec<Ident>);
    impl Visit<'_> for Names {
        fn visit_expr(&mut self, expr: &Expr) {
            match name_of(expr) {
                Some(name) if is_variable(name) && !self.0.contains(name) => {
                    self.0.push(name.clone());
                }
                Some(_) => {}
                None => match expr {
                    // What is called is no variable.
                    Expr::Call(call) => call.args.iter().for_each(|it| self.visit_expr(it)),
                    _ => visit_expr(self, expr),
                },
            }
        }
    }
    let mut names = Names(Vec::new());
    names.visit_expr(body);
    names.0
}

fn is_variable(name: &Ident) -> bool {
    name != "self" && !name.to_string().contains(char::is_uppercase)
}

/// Puts `*` before a field that stands beside an operator, because the function gets a reference; `self.code` becomes
/// `code`.
struct Derefs<'a>(&'a [Ident]);

impl Derefs<'_> {
    fn field(&self, value: &Expr) -> Option<Ident> {
        let name = name_of(value)?;
        self.0.contains(name).then(|| name.clone())
    }

    fn operand(&self, value: &mut Expr) {
        if let Some(name) = self.field(value) {
            *value = parse_quote!(*#name);
        }
    }
}

impl VisitMut for Derefs<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Binary(ExprBinary { left, right, .. }) => {
                self.operand(left);
                self.operand(right);
            }
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Not(_)) => {
                self.operand(&mut unary.expr);
            }
            Expr::Field(_) => {
                if let Some(name) = self.field(expr) {
                    *expr = parse_quote!(#name);
                }
            }
            // `*code` is that already.
            Expr::Unary(_) => return,
            _ => {}
        }
        visit_expr_mut(self, expr);
    }
}

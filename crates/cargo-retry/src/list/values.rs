//! What a constant expression is worth, as far as it is made of what policies are made of.

use std::collections::HashMap;
use std::time::Duration;

use retry_runtime::rules::{Key, Kind};
use retry_runtime::{Backoff, Jitter, KeyValue, Nested, Policy, Priority};
use syn::ext::IdentExt as _;
use syn::{BinOp, Expr, ExprCall, ExprMethodCall, ImplItem, Item, Lit, Stmt, UnOp};

use super::sites::Scope;
use super::types;
use crate::code::modules::Code;
use crate::code::modules::Meaning;
use crate::code::names::Path;

/// A value of a kind that keys have.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::large_enum_variant,
    reason = "few live at once, and all are copied"
)]
pub(crate) enum Value {
    Whole(u64),
    Number(f64),
    Time(Duration),
    Flag(bool),
    Policy(Policy),
    Jitter(Jitter),
    Backoff(Backoff),
    Nested(Nested),
    Priority(Priority),
    /// The copies that it may send.
    Hedge(u64),
    /// Retries for each call that it allows.
    Budget(f64),
}

/// The constants of a workspace.
pub(crate) struct Constants<'a> {
    code: &'a Code,
    /// `(Settings, MAX)`, and in which module it stands.
    associated: HashMap<(String, String), Vec<(usize, &'a Expr)>>,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(crate) struct Standing<'a> {
    pub(crate) module: usize,
    /// The blocks around it.
    pub(crate) scope: Option<&'a Scope>,
    /// `Self`.
    pub(crate) owner: Option<&'a str>,
}

/// Through how many constants a value is followed.
const DEPTH: usize = 32;

impl<'a> Constants<'a> {
    pub(crate) fn of(code: &'a Code) -> Self {
        let mut associated: HashMap<_, Vec<_>> = HashMap::new();
        for (number, module) in code.modules.iter().enumerate() {
            for written in &module.items {
                let Item::Impl(item) = &written.item else {
                    continue;
                };
                let Some(owner) = types::hint(&item.self_ty, &HashMap::new(), None) else {
                    continue;
                };
                for part in &item.items {
                    if let ImplItem::Const(constant) = part {
                        let name = constant.ident.unraw().to_string();
                        associated
                            .entry((owner.clone(), name))
                            .or_default()
                            .push((number, &constant.expr));
                    }
                }
            }
        }
        Self { code, associated }
    }

    /// The value of an expression; `None` where only the compiler knows it.
    pub(crate) fn value(&self, expr: &Expr, at: Standing<'_>) -> Option<Value> {
        self.evaluate(expr, at, DEPTH)
    }

    fn evaluate(&self, expr: &Expr, at: Standing<'_>, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        let inner = |expr: &Expr| self.evaluate(expr, at, depth);
        match expr {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => number.base10_parse().ok().map(Value::Whole),
                Lit::Float(number) => number.base10_parse().ok().map(Value::Number),
                Lit::Bool(flag) => Some(Value::Flag(flag.value)),
                _ => None,
            },
            Expr::Unary(unary) => match (&unary.op, inner(&unary.expr)?) {
                (UnOp::Neg(_), Value::Number(number)) => Some(Value::Number(-number)),
                (UnOp::Not(_), Value::Flag(flag)) => Some(Value::Flag(!flag)),
                _ => None,
            },
            Expr::Paren(it) => inner(&it.expr),
            Expr::Group(it) => inner(&it.expr),
            Expr::Reference(it) => inner(&it.expr),
            Expr::Cast(it) => cast(inner(&it.expr)?, &it.ty),
            Expr::Const(it) => only(&it.block).and_then(inner),
            Expr::Block(it) => only(&it.block).and_then(inner),
            Expr::Binary(it) => calculated(inner(&it.left)?, &it.op, inner(&it.right)?),
            Expr::Path(path) => named(&path.path).or_else(|| self.constant(&path.path, at, depth)),
            Expr::Call(call) => self.constructed(call, at, depth),
            Expr::MethodCall(call) => self.changed(call, at, depth),
            _ => None,
        }
    }

    fn constant(&self, path: &syn::Path, at: Standing<'_>, depth: usize) -> Option<Value> {
        let path = Path::of(path);
        if let ([name], false) = (path.segments.as_slice(), path.is_global)
            && let Some(expr) = at.scope.and_then(|scope| scope.constant(name))
        {
            return self.evaluate(expr, at, depth);
        }
        if let ([ty, name], Some(owner)) = (path.segments.as_slice(), at.owner)
            && ty == "Self"
        {
            return self.associated(owner, name, depth);
        }
        let uses = at.scope.map_or_else(Vec::new, Scope::uses);
        let meanings = self.code.meanings(&path, at.module, &uses);
        meanings.iter().find_map(|meaning| match meaning {
            Meaning::Item(module, rest) => match rest.as_slice() {
                [name] => match self
                    .code
                    .modules
                    .get(*module)?
                    .constants
                    .get(name)?
                    .as_slice()
                {
                    [expr] => self.evaluate(expr, outermost(*module), depth),
                    // One for each of several conditions.
                    _ => None,
                },
                [ty, name] => self.associated(ty, name, depth),
                _ => None,
            },
            _ => None,
        })
    }

    fn associated(&self, ty: &str, name: &str, depth: usize) -> Option<Value> {
        match self
            .associated
            .get(&(ty.to_owned(), name.to_owned()))?
            .as_slice()
        {
            [(module, expr)] => {
                let at = Standing {
                    owner: Some(ty),
                    ..outermost(*module)
                };
                self.evaluate(expr, at, depth)
            }
            _ => None,
        }
    }

    /// `Duration::from_millis(100)`, `Policy::new()`, `Jitter::Ratio(0.2)`.
    fn constructed(&self, call: &ExprCall, at: Standing<'_>, depth: usize) -> Option<Value> {
        let Expr::Path(path) = &*call.func else {
            return None;
        };
        let (ty, function) = ends(&path.path)?;
        let arguments: Option<Vec<_>> = call
            .args
            .iter()
            .map(|it| self.evaluate(it, at, depth))
            .collect();
        let whole = |make: fn(u64) -> Duration, argument: Value| match argument {
            Value::Whole(number) => Some(Value::Time(make(number))),
            _ => None,
        };
        Some(
            match (ty.as_str(), function.as_str(), arguments?.as_slice()) {
                ("Duration", "from_secs", [it]) => whole(Duration::from_secs, *it)?,
                ("Duration", "from_millis", [it]) => whole(Duration::from_millis, *it)?,
                ("Duration", "from_micros", [it]) => whole(Duration::from_micros, *it)?,
                ("Duration", "from_nanos", [it]) => whole(Duration::from_nanos, *it)?,
                ("Duration", "from_mins", [it]) => {
                    whole(|it| Duration::from_secs(it.saturating_mul(60)), *it)?
                }
                ("Duration", "from_hours", [it]) => {
                    whole(|it| Duration::from_secs(it.saturating_mul(3600)), *it)?
                }
                ("Duration", "from_secs_f64" | "from_secs_f32", [it]) => {
                    Value::Time(Duration::try_from_secs_f64(number(*it)?).ok()?)
                }
                ("Duration", "new", [Value::Whole(seconds), Value::Whole(nanos)]) => {
                    Value::Time(Duration::new(
                        *seconds,
                        u32::try_from(*nanos)
                            .ok()
                            .filter(|it| *it < 1_000_000_000)?,
                    ))
                }
                ("Policy", "new" | "default", []) => Value::Policy(Policy::new()),
                ("Policy", "interactive", []) => Value::Policy(Policy::interactive()),
                ("Policy", "transaction_step", []) => Value::Policy(Policy::transaction_step()),
                ("Policy", "background", []) => Value::Policy(Policy::background()),
                ("Budget", "per_success" | "per_request", [it]) => Value::Budget(number(*it)?),
                ("Hedge", "after" | "quantile", [_]) => Value::Hedge(1),
                ("Jitter", "Ratio", [it]) => Value::Jitter(Jitter::Ratio(number(*it)?)),
                _ => return None,
            },
        )
    }

    /// `policy.max(5)`, `delay.saturating_mul(2)`.
    fn changed(&self, call: &ExprMethodCall, at: Standing<'_>, depth: usize) -> Option<Value> {
        let receiver = self.evaluate(&call.receiver, at, depth)?;
        let arguments: Option<Vec<_>> = call
            .args
            .iter()
            .map(|it| self.evaluate(it, at, depth))
            .collect();
        let arguments = arguments?;
        let method = call.method.unraw().to_string();
        match (receiver, method.as_str(), arguments.as_slice()) {
            (Value::Policy(policy), "checked", []) => Some(Value::Policy(policy)),
            (Value::Policy(policy), "unlimited", []) => Some(Value::Policy(policy.unlimited())),
            (Value::Policy(policy), "merged_with", [Value::Policy(layer)]) => {
                Some(Value::Policy(policy.merged_with(layer)))
            }
            (Value::Policy(policy), key, [value]) => with(policy, key, *value).map(Value::Policy),
            (Value::Hedge(_), "max", [Value::Whole(copies)]) => Some(Value::Hedge(*copies)),
            (kept @ (Value::Hedge(_) | Value::Budget(_)), _, _) => Some(kept),
            (Value::Time(time), "saturating_mul", [Value::Whole(factor)]) => Some(Value::Time(
                time.saturating_mul(u32::try_from(*factor).ok()?),
            )),
            (Value::Time(time), "saturating_add", [Value::Time(more)]) => {
                Some(Value::Time(time.saturating_add(*more)))
            }
            _ => None,
        }
    }
}

const fn outermost(module: usize) -> Standing<'static> {
    Standing {
        module,
        scope: None,
        owner: None,
    }
}

/// The policy with `key` set, by the method of that name.
pub(crate) fn with(policy: Policy, key: &str, value: Value) -> Option<Policy> {
    let key = Key::from_name(key)?;
    let value = match (key.kind(), value) {
        (Kind::Attempts, Value::Whole(max)) => KeyValue::Attempts(u32::try_from(max).ok()?),
        (Kind::Backoff, Value::Backoff(shape)) => KeyValue::Backoff(shape),
        (Kind::Time, Value::Time(time)) => KeyValue::Time(time),
        (Kind::Factor, value) => KeyValue::Factor(number(value)?),
        (Kind::Jitter, Value::Jitter(jitter)) => KeyValue::Jitter(jitter),
        (Kind::Jitter, value) => KeyValue::Jitter(Jitter::Ratio(number(value)?)),
        (Kind::Flag, Value::Flag(on)) => KeyValue::Flag(on),
        (Kind::Nested, Value::Nested(nested)) => KeyValue::Nested(nested),
        (Kind::Priority, Value::Priority(priority)) => KeyValue::Priority(priority),
        _ => return None,
    };
    policy.assign(key, value)
}

#[expect(clippy::cast_precision_loss, reason = "a factor or a ratio")]
fn number(value: Value) -> Option<f64> {
    match value {
        Value::Whole(number) => Some(number as f64),
        Value::Number(number) => Some(number),
        _ => None,
    }
}

fn cast(value: Value, ty: &syn::Type) -> Option<Value> {
    let syn::Type::Path(path) = ty else {
        return None;
    };
    match path.path.get_ident()?.to_string().as_str() {
        "f32" | "f64" => number(value).map(Value::Number),
        _ => matches!(value, Value::Whole(_)).then_some(value),
    }
}

/// The last two names of a path.
fn ends(path: &syn::Path) -> Option<(String, String)> {
    let mut names = path
        .segments
        .iter()
        .rev()
        .map(|it| it.ident.unraw().to_string());
    let last = names.next()?;
    Some((names.next()?, last))
}

/// Names that mean the same everywhere.
fn named(path: &syn::Path) -> Option<Value> {
    let (ty, name) = ends(path)?;
    Some(match (ty.as_str(), name.as_str()) {
        ("Duration", "ZERO") => Value::Time(Duration::ZERO),
        ("Duration", "MAX") => Value::Time(Duration::MAX),
        ("u32", "MAX") => Value::Whole(u32::MAX.into()),
        ("Jitter", _) => Value::Jitter(kind(Jitter::WORDS, Jitter::variant, &name)?),
        ("Backoff", _) => Value::Backoff(kind(Backoff::WORDS, Backoff::variant, &name)?),
        ("Nested", _) => Value::Nested(kind(Nested::WORDS, Nested::variant, &name)?),
        ("Priority", _) => Value::Priority(kind(Priority::WORDS, Priority::variant, &name)?),
        _ => return None,
    })
}

/// The kind with this name in code.
fn kind<T: Copy>(words: &[(&str, T)], variant: fn(&T) -> &'static str, name: &str) -> Option<T> {
    let mut kinds = words.iter().map(|(_, kind)| *kind);
    kinds.find(|kind| variant(kind) == name)
}

/// The expression of a block that is nothing else.
fn only(block: &syn::Block) -> Option<&Expr> {
    match block.stmts.as_slice() {
        [Stmt::Expr(expr, None)] => Some(expr),
        _ => None,
    }
}

fn calculated(left: Value, op: &BinOp, right: Value) -> Option<Value> {
    if let (Value::Whole(left), Value::Whole(right)) = (left, right) {
        return match op {
            BinOp::Add(_) => left.checked_add(right),
            BinOp::Sub(_) => left.checked_sub(right),
            BinOp::Mul(_) => left.checked_mul(right),
            BinOp::Div(_) => left.checked_div(right),
            _ => None,
        }
        .map(Value::Whole);
    }
    let (left, right) = (number(left)?, number(right)?);
    Some(Value::Number(match op {
        BinOp::Add(_) => left + right,
        BinOp::Sub(_) => left - right,
        BinOp::Mul(_) => left * right,
        BinOp::Div(_) => left / right,
        _ => return None,
    }))
}

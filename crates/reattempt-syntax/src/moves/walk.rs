//! The walk over a body, in the order of the source.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, Item, Macro, Pat, Stmt, Token};

use self::macros::ends;
use super::patterns::{bare, bound_by, is_variable};
use super::words::{looks, takes};
use super::{By, Move, Moves, Owned, Way, conditions, declared};
use crate::item::{has_condition, has_word};
use crate::tokens::is_error;

mod macros;

/// A walk. A name that is bound anew is not looked for in its scope.
pub(super) struct Walk<'o> {
    pub(super) owned: Vec<&'o Owned>,
    /// How many closures and blocks around this place are `move`.
    moved_into: usize,
    /// Whether anything in the body is compiled only sometimes.
    has_conditions: bool,
    /// Whether the body may have names of its own for types.
    has_items: bool,
    /// What this place depends on.
    conditions: Vec<TokenStream>,
    /// How the attempt may have ended before this place.
    ended: Ended,
    moves: Moves,
}

/// How an attempt may have ended. What stands before a success is no whole by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ended {
    Nowhere,
    InFailure,
    InSuccess,
}

impl<'o> Walk<'o> {
    pub(super) fn new(owned: Vec<&'o Owned>, body: &TokenStream) -> Self {
        Self {
            owned,
            moved_into: 0,
            has_conditions: has_condition(body),
            has_items: ["const", "enum", "struct", "type", "use"]
                .iter()
                .any(|word| has_word(body, word)),
            conditions: Vec::new(),
            ended: Ended::Nowhere,
            moves: Moves {
                has_impl: has_word(body, "impl"),
                ..Moves::default()
            },
        }
    }

    /// What was found, the likeliest first.
    pub(super) fn found(self) -> Moves {
        let mut moves = self.moves;
        // A field may have been copied, and the whole be moved all the same.
        let whole = |it: &Move| it.name == it.place.to_string();
        let certain: Vec<_> = moves.certain.iter().filter(|it| whole(it)).collect();
        let is_new = |it: &Move| certain.iter().all(|known| known.name != it.name);
        moves.possible.retain(is_new);
        moves.unlikely.retain(is_new);
        // Of a pattern the types tell whether it moves: if not, something else does.
        let explains = |it: &Move| !matches!(it.by, By::Patterns(_)) || !it.conditions.is_empty();
        if moves.possible.iter().any(explains) {
            moves.unlikely.clear();
        }
        moves.unlikely = last_of_each(moves.unlikely);
        let (mut others, mut known): (Vec<_>, Vec<_>) =
            (moves.possible.into_iter()).partition(|it| matches!(it.by, By::Other));
        let mut names = Vec::new();
        known.retain(|it| {
            let is_first = !names.contains(&it.name);
            names.push(it.name.clone());
            // Of those that are compiled only sometimes, any may be the one; types tell it of each pattern.
            is_first || !it.conditions.is_empty() || matches!(it.by, By::Patterns(_))
        });
        others.retain(|it| !names.contains(&it.name));
        for moves in [&mut known, &mut others] {
            moves.sort_by_key(|it| !it.is_unique);
        }
        known.extend(last_of_each(others));
        moves.possible = known;
        moves
    }

    /// The parameter that an expression is, or of which it is a field.
    fn root(&self, expr: &Expr) -> Option<(&'o Owned, bool)> {
        match expr {
            Expr::Path(path) if path.attrs.is_empty() => {
                let name = path.path.get_ident()?;
                let found = self.owned.iter().find(|owned| owned.name == *name);
                let found = found.filter(|owned| owned.way != Way::Reborrowed);
                found.map(|owned| (*owned, false))
            }
            Expr::Field(field) if field.attrs.is_empty() => {
                self.root(&field.base).map(|(owned, _)| (owned, true))
            }
            Expr::Paren(paren) => self.root(&paren.expr),
            Expr::Group(group) => self.root(&group.expr),
            _ => None,
        }
    }

    /// The parameter that an expression is, if that is a `&mut`: only what does not expect one moves it.
    fn reference(&self, expr: &Expr) -> Option<&'o Owned> {
        let Expr::Path(path) = expr else {
            return None;
        };
        let mut references = (self.owned.iter()).filter(|owned| owned.way == Way::Reborrowed);
        let found = references.find(|owned| path.path.is_ident(&owned.name));
        found.copied()
    }

    /// An expression of which the value is taken.
    pub(super) fn value(&mut self, expr: &Expr) {
        // A condition, which the argument of a call may have.
        if let Expr::Path(syn::ExprPath { attrs, .. }) | Expr::Field(syn::ExprField { attrs, .. }) =
            expr
            && !attrs.is_empty()
        {
            return self.perhaps_among(&expr.to_token_stream());
        }
        if let Some(owned) = self.reference(expr) {
            // What takes such a reader is mostly generic, too.
            let is_likely =
                owned.bounds.is_some() || self.moved_into > 0 || declared(&owned.name) == "self";
            return if is_likely {
                self.perhaps_moved(owned, expr.to_token_stream(), By::Other);
            } else {
                self.unlikely(owned, expr.to_token_stream());
            };
        }
        // A closure that is `move` takes what points to the field.
        if let (Expr::Field(field), Some((owned, true))) = (expr, self.root(expr))
            && self.moved_into > 0
            && !owned.has_own_fields()
        {
            return self.visit_expr(&field.base);
        }
        match self.root(expr) {
            Some((owned, is_field)) if !is_field || owned.has_own_fields() => {
                let way = match &owned.way {
                    Way::CalledAgain(before, after) if self.moved_into == 0 => {
                        Way::PassedAgain(before.clone(), after.clone())
                    }
                    way => way.clone(),
                };
                self.moved_in_way(owned, expr, way);
            }
            Some(_) => {}
            None => self.visit_expr(expr),
        }
    }

    pub(super) fn values(&mut self, exprs: &Punctuated<Expr, Token![,]>) {
        for expr in exprs {
            self.under_condition(expr, |walk| walk.value(expr));
        }
    }

    /// An expression of which the value is kept as it is: a reference has another type.
    fn kept(&mut self, expr: &Expr) {
        match self.root(expr) {
            Some((owned, false))
                if owned.way == Way::InPlace && owned.bounds.is_none()
                    || owned.way == Way::Borrowed =>
            {
                self.moved_in_way(owned, expr, Way::Caller);
            }
            _ => self.value(expr),
        }
    }

    fn all_kept(&mut self, exprs: &Punctuated<Expr, Token![,]>) {
        for expr in exprs {
            self.under_condition(expr, |walk| walk.kept(expr));
        }
    }

    pub(super) fn optional(&mut self, expr: Option<&Expr>) {
        if let Some(expr) = expr {
            self.value(expr);
        }
    }

    /// An expression that is used where it stands: a part of it may be taken.
    fn place(&mut self, expr: &Expr) {
        if self.root(expr).is_none() || self.moved_into > 0 {
            self.visit_expr(expr);
        }
    }

    fn moved_in_way(&mut self, owned: &Owned, expr: &Expr, way: Way) {
        // What has a type by the rest of the body alone is not asked of it here.
        if way == Way::InFront && owned.ty.is_none() {
            return self.perhaps_moved(owned, expr.to_token_stream(), By::Other);
        }
        let found = self.found_at(owned, quote::quote!(#expr), By::Value);
        let found = Move { way, ..found };
        // What is compiled only sometimes may not be what moves.
        if !found.conditions.is_empty() {
            return self.moves.possible.push(found);
        }
        let place = found.place.to_string();
        let mut certain = self.moves.certain.iter();
        if certain.all(|known| known.place.to_string() != place) {
            self.moves.certain.push(found);
        }
    }

    fn found_at(&self, owned: &Owned, place: TokenStream, by: By) -> Move {
        let mut earlier = self.moves.certain.iter().chain(&self.moves.possible);
        // What stands before this move moves no other one: a block of that would need copies.
        let has_no_copies = |it: &Move| {
            it.is_unique
                || it.of_block.is_some()
                || matches!(it.way, Way::BoundInside(_) | Way::Receiver)
        };
        let stays = |it: &Move| {
            let is_taken = !matches!(it.by, By::Other) && it.way != Way::Reborrowed;
            if it.name == owned.name {
                it.follows_failure && !is_taken
            } else {
                it.follows_failure || !is_taken || !has_no_copies(it)
            }
        };
        let is_first = earlier.all(stays);
        // What another attribute makes of it, nobody knows.
        let conditions = owned.conditions.iter().chain(&self.conditions);
        let conditions: Vec<_> = conditions.cloned().collect();
        // A method that takes a socket is none of a reference.
        let way = match (&by, &owned.way) {
            (By::Call, Way::InPlace) => Way::Caller,
            (_, way) => way.clone(),
        };
        let is_known = conditions.iter().all(|it| !has_word(it, "cfg_attr"));
        let by = if is_known { by } else { By::Other };
        Move {
            name: owned.name.clone(),
            place,
            by,
            is_unique: owned.is_unique(),
            way,
            of_block: owned.of_block(),
            mutability: owned.mutability,
            follows_failure: is_first && self.ended == Ended::InFailure,
            is_captured: self.moved_into > 0,
            conditions,
            declared_under: owned.conditions.clone(),
        }
    }

    pub(super) fn perhaps_moved(&mut self, owned: &Owned, place: TokenStream, by: By) {
        let found = self.found_at(owned, place, by);
        self.moves.possible.push(found);
    }

    /// A move that few of its kind are: where nothing else may be one, a sync attempt is asked.
    pub(super) fn unlikely(&mut self, owned: &Owned, place: TokenStream) {
        let found = self.found_at(owned, place, By::Other);
        self.moves.unlikely.push(found);
    }

    /// A value that is taken apart by patterns.
    fn taken_apart(&mut self, expr: &Expr, bound: impl Iterator<Item = By>) {
        match self.root(expr) {
            Some(_) if self.moved_into > 0 => self.value(expr),
            Some((owned, _)) => {
                // What a pattern names may be known in the body alone.
                let by = bound.reduce(By::beside);
                if let Some(by) = by.map(|by| if self.has_items { By::Other } else { by }) {
                    self.perhaps_moved(owned, quote::quote!(#expr), by);
                }
            }
            None => self.visit_expr(expr),
        }
    }

    /// A call of a method of a parameter.
    fn method(&mut self, owned: &Owned, is_field: bool, call: &ExprMethodCall) {
        let method = call.method.to_string();
        let receiver = &call.receiver;
        // What takes a box of a trait as its `self` takes no reference to what is in it.
        let owned = &match owned.way {
            Way::Borrowed => Owned {
                way: Way::Caller,
                ..owned.clone()
            },
            _ => owned.clone(),
        };
        let is_own = !is_field || owned.has_own_fields();
        let is_self = declared(&owned.name) == "self";
        let is_into = method == "into" && call.args.is_empty() && is_own;
        if is_into || !is_field && owned.is_taken_by(&method) {
            self.moved_in_way(owned, receiver, owned.way_of_call(&method));
        } else if takes(&method) || owned.way == Way::Pinned && method != "as_mut" {
            self.perhaps_moved(owned, quote::quote!(#receiver), By::Call);
        } else if is_self && !(is_field && looks(call)) || owned.way == Way::InFront {
            // Methods beside this one are named as their author likes.
            self.perhaps_moved(owned, quote::quote!(#receiver), By::Other);
        } else if is_self || !looks(call) {
            self.unlikely(owned, quote::quote!(#receiver));
        }
    }

    /// What an assignment changes: a place, or several of them.
    fn assigned(&mut self, expr: &Expr) {
        match expr {
            Expr::Tuple(tuple) => tuple.elems.iter().for_each(|it| self.assigned(it)),
            Expr::Array(array) => array.elems.iter().for_each(|it| self.assigned(it)),
            Expr::Call(call) => call.args.iter().for_each(|it| self.assigned(it)),
            Expr::Struct(fields) => fields.fields.iter().for_each(|it| self.assigned(&it.expr)),
            _ => self.place(expr),
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
                self.assigned(&assign.left);
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
                match self.root(&unary.expr) {
                    Some((owned, _)) => self.perhaps_moved(owned, quote::quote!(#expr), By::Other),
                    None => self.visit_expr(&unary.expr),
                }
            }
            Expr::Unary(unary) => self.value(&unary.expr),
            Expr::Index(index) => {
                self.place(&index.expr);
                self.value(&index.index);
            }
            Expr::Call(call) => {
                match self.root(&call.func) {
                    Some((owned, false)) if owned.is_called_once() => {
                        self.moved_in_way(owned, &call.func, owned.way.clone());
                    }
                    // A block that is `move` takes what it calls.
                    Some(_) if self.moved_into > 0 => self.value(&call.func),
                    Some((owned, false)) if owned.is_called_again() => {}
                    Some((owned, _)) => {
                        let func = &call.func;
                        self.perhaps_moved(owned, quote::quote!(#func), By::Other);
                    }
                    None => self.visit_expr(&call.func),
                }
                if is_generic(&call.func) {
                    self.values(&call.args);
                } else {
                    self.all_kept(&call.args);
                }
            }
            Expr::MethodCall(call) => {
                match self.root(&call.receiver) {
                    Some((owned, is_field)) => {
                        self.method(owned, is_field, call);
                        self.visit_expr(&call.receiver);
                    }
                    None => self.visit_expr(&call.receiver),
                }
                self.all_kept(&call.args);
            }
            _ => return false,
        }
        true
    }

    /// Visits what has a scope of its own, if the expression does.
    fn scopes(&mut self, expr: &Expr) -> bool {
        match expr {
            Expr::ForLoop(each) => {
                self.value(&each.expr);
                self.scoped(|walk| {
                    walk.visit_pat(&each.pat);
                    walk.statements(&each.body.stmts);
                });
            }
            // What a condition binds is known in its own branch.
            Expr::If(chosen) => {
                self.scoped(|walk| {
                    walk.visit_expr(&chosen.cond);
                    walk.statements(&chosen.then_branch.stmts);
                });
                if let Some((_, other)) = &chosen.else_branch {
                    self.visit_expr(other);
                }
            }
            Expr::While(looped) => self.scoped(|walk| {
                walk.visit_expr(&looped.cond);
                walk.statements(&looped.body.stmts);
            }),
            Expr::Match(matched) => {
                let bound = matched.arms.iter().filter_map(|arm| {
                    let bound = bound_by(bare(&arm.pat))?;
                    // One that may not be there cannot be asked about.
                    let is_there = conditions(&arm.to_token_stream()).is_empty();
                    Some(if is_there { bound } else { By::Other })
                });
                self.taken_apart(&matched.expr, bound);
                // A variable of a whole `&mut` is no reborrow of it.
                if let Some(owned) = self.reference(&matched.expr)
                    && matched.arms.iter().any(|arm| is_variable(bare(&arm.pat)))
                {
                    self.perhaps_moved(owned, matched.expr.to_token_stream(), By::Other);
                }
                for arm in &matched.arms {
                    self.scoped(|walk| {
                        walk.under_condition(arm, |walk| {
                            walk.visit_pat(&arm.pat);
                            walk.value(&arm.body);
                        });
                    });
                }
            }
            Expr::Closure(closure) => {
                self.moved_into(closure.capture.is_some(), |walk| {
                    for input in &closure.inputs {
                        walk.visit_pat(input);
                    }
                    walk.value(&closure.body);
                });
            }
            Expr::Async(block) => {
                self.moved_into(block.capture.is_some(), |walk| {
                    walk.statements(&block.block.stmts);
                });
            }
            _ => return false,
        }
        true
    }

    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        let mut rest = statements.iter();
        while let Some(statement) = rest.next() {
            let ends = self.under_condition(statement, |walk| {
                // What is compiled only sometimes may not be there.
                walk.statement(statement) && walk.conditions.is_empty()
            });
            if ends {
                self.moves.has_dead_code |= rest.next().is_some();
                return;
            }
        }
    }

    /// Visits what may have `#[cfg]` in front of it.
    fn under_condition<R>(
        &mut self,
        node: &impl ToTokens,
        visit: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let before = self.conditions.len();
        if self.has_conditions {
            self.conditions.extend(conditions(&node.to_token_stream()));
        }
        let result = visit(self);
        self.conditions.truncate(before);
        result
    }

    /// Visits a statement and returns whether nothing behind it runs.
    fn statement(&mut self, statement: &Stmt) -> bool {
        match statement {
            Stmt::Local(local) => {
                if let Some(init) = &local.init {
                    // Such a value ends with the block that would make it.
                    if is_borrow_of_new(&init.expr) {
                        self.may_end(Ended::InSuccess);
                    }
                    match bare(&local.pat) {
                        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                            self.value(&init.expr);
                        }
                        pattern => self.taken_apart(&init.expr, bound_by(pattern).into_iter()),
                    }
                    if let Some((_, otherwise)) = &init.diverge {
                        self.visit_expr(otherwise);
                    }
                }
                self.visit_pat(&local.pat);
                false
            }
            Stmt::Item(item) => {
                self.item(item);
                false
            }
            Stmt::Expr(expr, _) => {
                self.value(expr);
                match expr {
                    Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
                    Expr::Macro(call) => ends(&call.mac),
                    _ => false,
                }
            }
            Stmt::Macro(call) => self.macro_statement(&call.mac),
        }
    }

    /// An item cannot name a parameter, but bind its name anew.
    fn item(&mut self, item: &Item) {
        match item {
            Item::Fn(item) => self.owned.retain(|owned| owned.name != item.sig.ident),
            Item::Enum(_) | Item::Impl(_) | Item::Struct(_) | Item::Trait(_) | Item::Type(_) => {}
            item => self.hidden_by(&item.to_token_stream()),
        }
    }

    pub(super) fn may_end(&mut self, ended: Ended) {
        self.ended = self.ended.max(ended);
    }

    /// Visits a closure or a block, which may be `move`.
    fn moved_into(&mut self, is_move: bool, inside: impl FnOnce(&mut Self)) {
        let before = self.moved_into;
        if is_move {
            self.moved_into = before.saturating_add(1);
        }
        self.scoped(inside);
        self.moved_into = before;
    }

    /// Visits what may bind names for itself.
    pub(super) fn scoped(&mut self, inside: impl FnOnce(&mut Self)) {
        let before = self.owned.clone();
        inside(self);
        self.owned = before;
    }
}

/// Whether an expression is a `&` of what it makes itself.
fn is_borrow_of_new(expr: &Expr) -> bool {
    matches!(expr, Expr::Reference(it) if matches!(*it.expr, Expr::Call(_) | Expr::Struct(_)))
}

/// What is moved is not used any more: of the uses of a parameter the last is the likeliest.
fn last_of_each(moves: Vec<Move>) -> Vec<Move> {
    let mut last: Vec<Move> = Vec::new();
    for found in moves {
        last.retain(|it| it.name != found.name);
        last.push(found);
    }
    last
}

/// Whether a call takes whatever reads or writes: `copy(file)`, `BufReader::new(file)`. Others may want a `File`.
fn is_generic(function: &Expr) -> bool {
    const NAMES: &[&str] = &[
        "copy",
        "copy_buf",
        "from_reader",
        "new",
        "read_to_string",
        "to_writer",
        "to_writer_pretty",
        "with_capacity",
    ];
    let Expr::Path(path) = function else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|last| NAMES.contains(&&*last.ident.to_string()))
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            // A closure or a block that is `move` takes all of what it names.
            Expr::Path(_) | Expr::Field(_)
                if self.root(expr).is_some() || self.reference(expr).is_some() =>
            {
                if self.moved_into > 0 {
                    self.value(expr);
                }
                // Of what is behind a pointer, the pointer is taken.
                if let (true, Some((owned, true))) = (self.moved_into > 0, self.root(expr)) {
                    self.perhaps_moved(owned, expr.to_token_stream(), By::Other);
                }
            }
            Expr::Array(array) => self.values(&array.elems),
            Expr::Tuple(tuple) => self.values(&tuple.elems),
            Expr::Repeat(repeat) => self.value(&repeat.expr),
            Expr::Struct(fields) => {
                for field in &fields.fields {
                    self.under_condition(field, |walk| walk.kept(&field.expr));
                }
                if let Some(rest) = &fields.rest {
                    match self.root(rest) {
                        // Of the fields that are not written some may be moved.
                        Some((owned, _)) => {
                            self.perhaps_moved(owned, rest.to_token_stream(), By::Other);
                        }
                        None => self.visit_expr(rest),
                    }
                }
            }
            Expr::Return(answer) => {
                self.optional(answer.expr.as_deref());
                let is_error = answer.expr.as_deref().is_some_and(is_error);
                self.may_end(if is_error {
                    Ended::InFailure
                } else {
                    Ended::InSuccess
                });
            }
            Expr::Break(answer) => self.optional(answer.expr.as_deref()),
            Expr::Try(tried) => {
                self.value(&tried.expr);
                self.may_end(Ended::InFailure);
            }
            Expr::Await(awaited) => {
                self.value(&awaited.base);
                self.may_end(Ended::InFailure);
            }
            Expr::Range(range) => {
                self.optional(range.start.as_deref());
                self.optional(range.end.as_deref());
            }
            Expr::Let(matched) => {
                self.taken_apart(&matched.expr, bound_by(bare(&matched.pat)).into_iter());
                self.visit_pat(&matched.pat);
            }
            Expr::Cast(cast) => self.value(&cast.expr),
            Expr::Const(_) => {}
            _ if self.scopes(expr) || self.operator(expr) => {}
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.scoped(|walk| walk.statements(&block.stmts));
    }

    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.owned.retain(|owned| owned.name != pat.ident);
        visit::visit_pat_ident(self, pat);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.macro_call(call);
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

//! What the compiler is asked of the borrows that a walk over a body finds.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{FnArg, Signature, Stmt, Type};

use super::answer::{Borrowed, Held, has_lifetime_argument, may_be_owned};
use super::apart::{self, Apart, Subject, Use};
use super::chains::How;
use super::made::Made;
use super::variables::Bound;
use super::walk::Found;
use super::{Escape, Proof};
use crate::item::{has_word, names};

/// What can be asked of a borrow that is found.
pub(super) struct Asked<'a> {
    pub(super) signature: &'a Signature,
    pub(super) answer: &'a Type,
    pub(super) borrowed: &'a [Borrowed],
    /// Those that a variable of the body hides.
    pub(super) hidden: &'a [Borrowed],
    pub(super) bound: &'a Bound,
    pub(super) body: &'a TokenStream,
}

impl Asked<'_> {
    pub(super) fn of_all(
        &self,
        mut found: Vec<Found>,
        held: &Held,
        successes: &[TokenStream],
    ) -> Option<Escape> {
        let certain = found.iter().find(|it| matches!(it.how, How::Uniquely));
        if let Some(found) = certain {
            return Some(found.proven_by(Proof::Certain));
        }
        // Even where no expression shows it, what has the lifetime of one parameter comes from that, unless it has none.
        let may_be_free = has_word(self.body, "unsafe") || has_word(self.body, "leak");
        if let Some((source, place)) = self.only_source(held, successes)
            && found
                .iter()
                .all(|it| it.name != source.name || it.how == How::Field)
            && !may_be_free
        {
            let part =
                apart::only_part(&Use::all(&source.name, self.body).iter().collect::<Vec<_>>());
            if let Some(part) = part.or_else(|| held.is_unique().then(Vec::new)) {
                let of_all = Found {
                    part,
                    ..Found::in_answer(source, place.clone())
                };
                if held.is_unique() || !self.may_borrow_another(&of_all) {
                    found.push(of_all);
                }
            }
        }
        let (fields, found): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|it| it.how == How::Field);
        // Of two parts the likeliest is a `&mut` that a constructor gets.
        let unique = found.iter().filter(|it| it.is_unique);
        let mut likely = unique.chain(found.iter().filter(|it| !it.is_unique));
        let escape = likely.find_map(|it| self.of(it, &found, held));
        let fields = self.of_fields(&fields);
        match (escape, fields) {
            (Some(mut escape), Some(fields)) => {
                escape.held.extend(fields.held);
                Some(escape)
            }
            (escape, fields) => escape.or(fields),
        }
    }

    /// What the answer is made of, where no expression shows what it borrows, or where its type says that `is_brought` by
    /// one parameter.
    pub(super) fn of_made(
        &self,
        source: &Borrowed,
        statements: &[Stmt],
        successes: &[TokenStream],
        is_brought: bool,
    ) -> Option<Escape> {
        let is_hidden = self.bound.has(&source.name);
        let made = Made::of(&source.name, statements, successes, is_hidden)?;
        let is_unique = |it: &&TokenStream| {
            let uses = Use::all(&source.name, it);
            uses.iter().any(Use::is_unique)
        };
        let borrow = made.code.iter().find(is_unique).or(made.code.first())?;
        let found = Found::in_answer(source, borrow.clone());
        if source.is_receiver_by_value
            || may_be_owned(self.answer)
            || !is_brought && self.may_borrow_another(&found)
        {
            return None;
        }
        // An argument behind a `&` is not what is borrowed by `&mut`.
        let unique: Vec<_> = made
            .uses
            .iter()
            .filter(|it| it.is_unique())
            .take(1)
            .collect();
        let is_called = |it: &&Use| !it.is_shared() && !it.is_field();
        let called: Vec<_> = made.uses.iter().filter(is_called).collect();
        let part = apart::only_part(&unique).or_else(|| apart::only_part(&called));
        if let Some(part) = part {
            return self.of_part(&found, &part, made.code, false);
        }
        let fields = made.uses.iter().filter(|it| it.is_field());
        let places: Vec<_> = fields.map(|it| it.place(&source.name)).collect();
        (!places.is_empty()).then(|| found.holding(places))
    }

    /// Whether the only code that may borrow a part, or all of the body, needs it by `&mut`.
    fn of_part(
        &self,
        found: &Found,
        part: &[String],
        users: Vec<TokenStream>,
        is_shared: bool,
    ) -> Option<Escape> {
        let users = users.into_iter().map(|it| it.into_iter().collect());
        let subject = Subject {
            name: &found.name,
            part,
            users: users.collect(),
        };
        let apart = Apart::of(self.signature, self.body, &subject)?;
        Some(Escape {
            is_shared,
            fields: apart::places(&found.name, found.place.span(), part),
            ..found.proven_by(Proof::Body(apart))
        })
    }

    /// Fields that become parts of the answer.
    fn of_fields(&self, fields: &[Found]) -> Option<Escape> {
        let there = fields
            .iter()
            .filter(|it| self.bound.leaves_alone(&it.place));
        let places: Vec<_> = there.clone().map(|it| it.place.clone()).collect();
        Some(there.clone().next()?.holding(places))
    }

    /// What is asked of a borrow, and of all others of the same part.
    fn of(&self, found: &Found, all: &[Found], held: &Held) -> Option<Escape> {
        if found.how == How::ByType {
            let of_it = all.iter().filter(|it| it.name == found.name);
            let ways = of_it.flat_map(|it| apart::places(&it.name, it.place.span(), &it.part));
            let held = [found.name.to_token_stream()].into_iter().chain(ways);
            return Some(found.holding(held.collect()));
        }
        if !self.is_in_answer(found, held) {
            return None;
        }
        let is_same = |it: &&Found| {
            (&it.name, &it.part) == (&found.name, &found.part) && self.is_in_answer(it, held)
        };
        let all: Vec<_> = all.iter().filter(is_same).collect();
        let is_whole = all.iter().any(|it| it.user.is_none());
        let users = all.iter().filter_map(|it| it.user.clone());
        let users = users.filter(|_| !is_whole).collect();
        // Which of several it is the compiler does not say: the value stands behind what it is made of.
        let mut later = all.iter().rev().filter(|it| it.user.is_some());
        let last = *later.next().or(all.first())?;
        self.of_part(last, &found.part, users, is_whole)
    }

    /// Whether the answer has such a borrow, and not that of another parameter with the same lifetime. A type that is made
    /// of both mostly holds both.
    fn is_in_answer(&self, found: &Found, held: &Held) -> bool {
        found.is_part
            || held.is_unique()
            || has_lifetime_argument(self.answer, |_| true)
            || held.is_self
            || !self.may_borrow_another(found)
    }

    /// What to write if the answer borrows nothing of the parameter.
    pub(super) fn unless(&self, escape: &Escape, held: &Held) -> Option<&'static str> {
        let place = escape.place.to_string();
        if place.starts_with('&') || place == "self" || matches!(escape.proof, Proof::Certain) {
            return None;
        }
        if matches!(escape.proof, Proof::Held) {
            let own = "write its own type in place of `Self::..`";
            return held.is_of_trait.then_some(own);
        }
        let mut borrowed = self.borrowed.iter().chain(self.hidden);
        let lifetime = borrowed
            .find(|it| it.name == escape.name)?
            .lifetime
            .as_ref();
        let has_it =
            |input: &&FnArg| lifetime.is_some_and(|it| names(&input.to_token_stream(), it));
        if self.signature.inputs.iter().filter(has_it).count() > 1 {
            return Some("give each parameter a lifetime of its own");
        }
        if has_lifetime_argument(self.answer, |it| it.ident == "_") {
            return Some("write `'static` for its lifetime");
        }
        let is_elided = held.is_elided && lifetime.is_none();
        is_elided.then_some("write the lifetime of what it borrows")
    }

    /// The only parameter that has a lifetime of the answer, and where the answer is made.
    fn only_source<'s>(
        &self,
        held: &Held,
        successes: &'s [TokenStream],
    ) -> Option<(&Borrowed, &'s TokenStream)> {
        let mut latest = successes.iter().rev();
        let is_used = |source: &Borrowed| names(self.body, &source.name);
        if let Some(source) = held.only_source(self.borrowed) {
            return latest
                .next()
                .filter(|_| is_used(source))
                .map(|it| (source, it));
        }
        let mut sources = self.borrowed.iter().filter(|it| {
            let has_receiver = self.signature.receiver().is_some();
            // A `Self` may have it or not, and the `self` of a method, too.
            let is_of_it = |lifetime| {
                held.named.contains(lifetime) && (held.own.contains(lifetime) || !has_receiver)
            };
            it.lifetime.as_ref().is_some_and(is_of_it) || it.is_owned && held.is_elided
        });
        let source = sources.next().filter(|it| is_used(it))?;
        if sources.next().is_some() {
            return None;
        }
        // A text of the source, or a constant, is made of nothing.
        let is_made =
            |place: &&TokenStream| names(place, &source.name) || !self.bound.leaves_alone(place);
        Some((source, latest.find(is_made)?))
    }

    /// Whether the answer may as well borrow a parameter that has the same lifetime, and is not borrowed uniquely.
    fn may_borrow_another(&self, found: &Found) -> bool {
        let Some(lifetime) = &found.lifetime else {
            return false;
        };
        let borrowed = self.borrowed.iter().chain(self.hidden);
        let unique = borrowed.filter(|it| it.lifetime.as_ref() == Some(lifetime));
        let has_it = |input: &&FnArg| names(&input.to_token_stream(), lifetime);
        self.signature.inputs.iter().filter(has_it).count() > unique.count()
    }
}

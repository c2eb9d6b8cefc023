//! Parameters that the body moves, and the next attempt needs: the compiler says at the move what to write.
//!
//! ```text
//! if never() {                              // what certainly moves: is it `Copy`?
//!     let state = Moved(&PLACE).kept_for_next_attempt();      // used up by a closure, which is `Fn` if it is `Copy`
//!     CopiedForEachAttempt::check(&move || ignore(state));
//! }
//! RunsAgain::body(|| BODY, TYPES)           // what may move: is the closure `FnMut`?
//! if never() {                              // the same of a block, which no trait describes
//!     RunsAgain::body(|| ignore(async { BODY }), TYPES);
//! }
//! if never() {                              // what the answer borrows: does the body need it by `&mut`?
//!     LendsNothing::check(&|| ignore(async { APART }));   // a copy that captures nothing else, see `escape`
//! }
//! ```
//!
//! The compiler finds every move of a closure, but tells a message only that there is one. So the second form
//! names all parameters that may be moved, and passes if the first has reported something. A twin of the
//! trait has the message for types without copies.
//!
//! A type that is lacked is asked of a closure, too, which uses it up: after an error of another
//! kind rustc says nothing of closures, and one error would hide the other. rustc reports equal
//! lints once, and a copy of a static that is never reached is not a second one.

use proc_macro2::{Group, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned as _;

use super::parts::Parts;
use reattempt_policy::rules::RuleId;
use reattempt_syntax::escape::{self, Escape, Proof, StandIn};
use reattempt_syntax::item::Answer;
use reattempt_syntax::model::at;
use reattempt_syntax::moves::{self, By, Move, Moves, Way};

impl Parts<'_> {
    /// What the body does with the parameters.
    pub(super) fn moves(&self, body: &Group) -> Moves {
        let found = moves::find(&body.stream(), &self.model.owned);
        // To ask the closure of a sync attempt costs nothing.
        if self.asynchronous {
            found
        } else {
            found.with_unlikely()
        }
    }

    /// Never runs: what the body certainly moves has to be `Copy`. Where the attempt is `runs_again`, the rest is found
    /// there.
    pub(super) fn moved(&self, moves: &Moves) -> Option<TokenStream> {
        let krate = &self.krate;
        // The closure itself is asked about these: twice would be two errors for one move.
        let possible: &[Move] = if self.runs_again_is_known(moves) {
            &[]
        } else {
            &moves.possible
        };
        let known = typed(moves).filter_map(|it| Some((it, self.is_kept_or_lacked(it)?)));
        let (known, kept): (Vec<_>, Vec<_>) = known.unzip();
        let states: Vec<_> = (0..known.len())
            .map(|index| format_ident!("state{index}", span = Span::mixed_site()))
            .collect();
        let values = known.iter().zip(&states).enumerate();
        let values = values.map(|(index, (moved, state))| {
            // One error for all: of the first that has no copies, or else of the first.
            let before = states.iter().take(index);
            let behind = states.iter().skip(index.saturating_add(1));
            let subject = before.fold(ours!(#state), |all, other| ours!(#other.before(#all)));
            let subject = behind.fold(subject, |all, other| ours!(#other.behind(#all)));
            let later = moves.certain.iter().skip(index.saturating_add(1));
            let later = later.filter(|it| it.is_unique && it.name != moved.name);
            let names: Vec<_> = [*moved].into_iter().chain(later).collect();
            self.copied(moved, &names, &subject)
        });
        let values: Vec<_> = values.collect();
        // Each by itself: none of them may be there.
        let sometimes = possible.iter().filter(|it| !it.conditions.is_empty());
        let sometimes = sometimes.filter_map(|moved| {
            let check = self.copied(moved, &[moved], &self.is_kept_or_lacked(moved)?);
            let conditions = &moved.conditions;
            Some(ours!(#(#conditions)* { #check }))
        });
        let checks: Vec<_> = values.into_iter().chain(sometimes).collect();
        // Dead code, for the types alone.
        (!checks.is_empty()).then(|| {
            ours! {
                if let ::core::option::Option::Some(()) = #krate::__private::never::<()>() {
                    use #krate::__private::{MovedUnique as _, MovedValue as _, ReborrowedValue as _};
                    #(let #states = #kept;)*
                    #({ #checks })*
                }
            }
        })
    }

    /// Whether a value of `place` is there for the next attempt, by its type.
    fn is_kept(&self, place: &TokenStream) -> TokenStream {
        let krate = self.model.krate_at(place.span());
        // The path has the span of the place, too: its first token decides where the compiler
        // points.
        quote_spanned!(at(place.span())=> #krate::__private::Moved(&#place).kept_for_next_attempt())
    }

    /// Refuses a `subject` that is lacked.
    fn copied(&self, moved: &Move, names: &[&Move], subject: &TokenStream) -> TokenStream {
        let krate = &self.krate;
        // The trait is written anew each time because its message has the name of the parameter;
        // `do_not_recommend` keeps the compiler from listing the impl below it.
        let refused = |message: TokenStream, state: TokenStream| {
            let check =
                quote_spanned!(at(moved.span())=> CopiedForEachAttempt::check(&next_attempt););
            ours! {{
                #message
                trait CopiedForEachAttempt {
                    fn check(&self) {}
                }
                #[diagnostic::do_not_recommend]
                impl<F: ::core::ops::Fn()> CopiedForEachAttempt for F {}
                let state = #state;
                let next_attempt = move || #krate::__private::ignore(state);
                #check
            }}
        };
        let with_copies = refused(self.message(names, false), ours!(kept));
        // Without copies there is another fix.
        let unique = self.has_copies_or_not(moved).then(|| {
            let message = moves::message_of_unique(&[moved], self.model.set_by);
            refused(unimplemented_by(&message), ours!(kept.without_copies(())))
        });
        ours! {
            let kept = { #subject };
            #unique
            #with_copies
        }
    }

    /// What the types say of a move, if they alone can tell.
    fn is_kept_after(&self, moved: &Move) -> Option<TokenStream> {
        let (krate, place) = (&self.krate, &moved.place);
        Some(match &moved.by {
            By::Value => self.is_kept(place),
            By::Patterns(patterns) => {
                let kept = patterns.iter().map(|(pattern, bound)| {
                    let kept = self.is_kept(&ours!((#(#bound,)*)));
                    ours! {{
                        match #krate::__private::taken_apart(&#place) {
                            ::core::option::Option::Some(#pattern) => #kept,
                            _ => loop {},
                        }
                    }}
                });
                kept.reduce(|all, kept| ours!(#all.and(#kept)))?
            }
            By::Call | By::Other => return None,
        })
    }

    /// The same, and what the next attempt lacks.
    fn is_kept_or_lacked(&self, moved: &Move) -> Option<TokenStream> {
        let (krate, place, name) = (&self.krate, &moved.place, &moved.name);
        let kept = self.is_kept_after(moved)?;
        if !self.has_copies_or_not(moved) {
            return Some(kept);
        }
        let there = self.model.krate_at(place.span());
        let whole = if self.may_be_named(moved) {
            ours!(#name)
        } else {
            let never = ours!(#krate::__private::never::<Self>());
            ours!(match #never { ::core::option::Option::Some(it) => it, _ => loop {} })
        };
        Some(quote_spanned! {at(place.span())=>
            #kept.or(#there::__private::Moved(&#whole).or_its_copies())
        })
    }

    /// Whether the type of a parameter tells whether it can be cloned.
    fn has_copies_or_not(&self, moved: &Move) -> bool {
        let is_asked = match &moved.by {
            By::Value => moved.way == Way::InFront || moved.way.is_copy_of_type(),
            By::Patterns(..) => moved.way.is_copy_of_type(),
            By::Call | By::Other => false,
        };
        is_asked && (self.may_be_named(moved) || Self::is_self(moved))
    }

    /// Whether `Self` is the type of a parameter, or what its box holds.
    fn is_self(moved: &Move) -> bool {
        moved.way == Way::Receiver
    }

    /// Whether code that never runs may name all of the parameter: the block of the user's would capture it.
    fn may_be_named(&self, moved: &Move) -> bool {
        moved.declared_under.is_empty()
            && (!self.model.is_block || moved.name == moved.place.to_string())
    }

    /// Whether one of these parameters has copies, where their types tell and copies are what all of them need.
    fn copies(&self, moved: &[&Move]) -> Option<TokenStream> {
        let krate = &self.krate;
        let known = moved.iter().filter(|it| it.way.is_copy_of_type());
        let of_each = known.map(|it| {
            let name = &it.name;
            ours!(#krate::__private::Moved(&#name).or_its_copies().by_copies(()))
        });
        let any = of_each.reduce(|any, copies| ours!(#any.or(#copies)));
        let is_copied = |it: &&Move| it.way.is_copy() && self.may_be_named(it);
        any.filter(|_| moved.iter().all(is_copied))
    }

    /// Whether the compiler can be asked of the closure of an attempt: it counts what moves in dead code too.
    fn runs_again_is_known(&self, moves: &Moves) -> bool {
        let is_any = if self.asynchronous {
            // Types alone tell the rest, and where.
            let is_hidden = |it: &Move| match it.by {
                By::Call | By::Other => true,
                By::Patterns(_) => false,
                By::Value => it.conditions.is_empty(),
            };
            moves.possible.iter().any(is_hidden) && self.can_be_copied(moves)
        } else {
            !moves.possible.is_empty() || !moves.certain.is_empty()
        };
        is_any && !moves.has_dead_code
    }

    /// Whether the body of an async attempt can stand in another place as well.
    fn can_be_copied(&self, moves: &Moves) -> bool {
        // Without a type each would have its own, and two of the same `impl` are one too many.
        !moves.has_impl && (self.form().is_some() || !matches!(self.answer, Answer::Inferred))
    }

    /// Never runs: what is asked of the closure of a sync attempt, asked of a closure that makes the future of an async one.
    /// The attempt itself is a block, of which no trait says whether it runs again.
    pub(super) fn asked_apart(&self, moves: &Moves, future: &TokenStream) -> Option<TokenStream> {
        self.runs_again_is_known(moves).then(|| {
            let krate = &self.krate;
            // What certainly moves is refused elsewhere: here each attempt has its own.
            let is_known = |it: &Move| {
                it.name != "self" && it.name == it.place.to_string() && it.conditions.is_empty()
            };
            let known = moves.certain.iter().filter(|it| is_known(it));
            let own = known.map(|it| {
                let name = &it.name;
                ours! {
                    let ::core::option::Option::Some(mut #name) = #krate::__private::taken_apart(&#name) else {
                        loop {}
                    };
                    _ = &mut #name;
                }
            });
            let closure = ours!(|| {
                #(#own)*
                #krate::__private::ignore(#future)
            });
            let others = moves.certain.iter().filter(|it| !is_known(it));
            let others = Moves {
                certain: others.cloned().collect(),
                possible: moves.possible.clone(),
                ..Moves::default()
            };
            let asked = self.runs_again(&others, closure);
            ours! {
                if let ::core::option::Option::Some(()) = #krate::__private::never::<()>() {
                    #krate::__private::ignore(#asked);
                }
            }
        })
    }

    /// The closure of an attempt, which has to run again.
    pub(super) fn runs_again(&self, moves: &Moves, closure: TokenStream) -> TokenStream {
        if !self.runs_again_is_known(moves) {
            return closure;
        }
        let krate = &self.krate;
        // A mutable reference, which is kept by its type, is moved where a generic parameter takes it.
        let possible: Vec<_> = moves.possible.iter().filter(|it| !is_typed(it)).collect();
        let references: Vec<_> = typed(moves).map(Move::of_reference).collect();
        let mut names = match &*possible {
            [] => references.iter().collect(),
            _ => possible,
        };
        let mut seen = Vec::new();
        names.retain(|it| {
            let is_new = !seen.contains(&&it.name);
            seen.push(&it.name);
            is_new
        });
        let message = self.message(&names, true);
        let copies = self.copies(&names);
        let last = copies
            .clone()
            .unwrap_or_else(|| ours!(#krate::__private::Kept));
        let kept = typed(moves).filter_map(|moved| self.is_kept_after(moved));
        let kept: Vec<_> = kept.collect();
        let all = (kept.iter().rev()).fold(last, |all, kept| ours!(#kept.and(#all)));
        let span = names
            .first()
            .map_or_else(|| closure.span(), |moved| moved.span());
        // The closure is bound to a variable first, so that the compiler finds all it moves and
        // makes it `FnOnce`. A bound would make it `FnMut` at once, with `E0507` at each move.
        // Rejected: to locate the closure in the user's code, where lints such as `needless_return`
        // then fire.
        let body = quote_spanned!(at(span)=> RunsAgain::body(body, types));
        let unique = copies
            .and(names.first())
            .map(|_| self.runs_again_or_unique(&names));
        ours! {{
            let types = {
                use #krate::__private::{MovedUnique as _, MovedValue as _, ReborrowedValue as _};
                #krate::__private::type_of(|| #all)
            };
            let body = #closure;
            {
                #message
                trait RunsAgain<T, R>: ::core::marker::Sized {
                    fn body(self, types: ::core::marker::PhantomData<T>) -> impl ::core::ops::FnMut() -> R;
                }
                #[diagnostic::do_not_recommend]
                impl<R, F: ::core::ops::FnMut() -> R> RunsAgain<#krate::__private::Kept, R> for F {
                    fn body(self, _: ::core::marker::PhantomData<#krate::__private::Kept>) -> impl ::core::ops::FnMut() -> R {
                        self
                    }
                }
                #[diagnostic::do_not_recommend]
                impl<R, F: ::core::ops::FnOnce() -> R> RunsAgain<#krate::__private::Lacked, R> for F {
                    fn body(self, _: ::core::marker::PhantomData<#krate::__private::Lacked>) -> impl ::core::ops::FnMut() -> R {
                        || loop {}
                    }
                }
                #unique
                #body
            }
        }}
    }

    /// The same for parameters that have no copies, with the message for them.
    fn runs_again_or_unique(&self, moved: &[&Move]) -> TokenStream {
        let krate = &self.krate;
        let message = unimplemented_by(&moves::message_of_unique(moved, self.model.set_by));
        let span = moved.first().map_or_else(Span::mixed_site, |it| it.span());
        let body = quote_spanned!(at(span)=> RunsAgainOrUnique::body(body, types));
        ours! {
            #[diagnostic::do_not_recommend]
            impl<R, F: ::core::ops::FnMut() -> R> RunsAgain<#krate::__private::Unique, R> for F {
                fn body(self, _: ::core::marker::PhantomData<#krate::__private::Unique>) -> impl ::core::ops::FnMut() -> R {
                    self
                }
            }
            #message
            trait RunsAgainOrUnique<T, R> {
                type Body;
                fn body(self, types: ::core::marker::PhantomData<T>) -> Self::Body;
            }
            #[diagnostic::do_not_recommend]
            impl<R, F: ::core::ops::FnMut() -> R> RunsAgainOrUnique<#krate::__private::Unique, R> for F {
                type Body = Self;
                fn body(self, _: ::core::marker::PhantomData<#krate::__private::Unique>) -> Self {
                    self
                }
            }
            #[diagnostic::do_not_recommend]
            impl<R, F: ::core::ops::FnOnce() -> R> RunsAgainOrUnique<#krate::__private::Kept, R> for F {
                type Body = Self;
                fn body(self, _: ::core::marker::PhantomData<#krate::__private::Kept>) -> Self {
                    self
                }
            }
            #[diagnostic::do_not_recommend]
            impl<R, F: ::core::ops::FnOnce() -> R> RunsAgainOrUnique<#krate::__private::Lacked, R> for F {
                type Body = Self;
                fn body(self, _: ::core::marker::PhantomData<#krate::__private::Lacked>) -> Self {
                    self
                }
            }
            let body = #body;
        }
    }

    /// Never runs: what the answer borrows is no unique borrow. An attempt around it would borrow all that it names.
    pub(super) fn answer_borrow(&self) -> Option<TokenStream> {
        let krate = &self.krate;
        let escape = self.model.escape.as_ref()?;
        let check = match &escape.proof {
            Proof::Certain => return None,
            Proof::Held => self.borrow_check(escape, &ours!(#krate::__private::Kept)),
            Proof::Body(apart) => {
                let never = self.never_answered()?;
                let body = &apart.body;
                let named = |it: &StandIn| {
                    let (name, of, conditions) = (&it.name, &it.of, &it.conditions);
                    let value = if it.is_unique {
                        ours!(#krate::__private::never_mut(&*#of))
                    } else {
                        ours!(#krate::__private::taken_apart(&#of))
                    };
                    ours! {
                        #(#conditions)*
                        let ::core::option::Option::Some(mut #name) = #value else {
                            loop {}
                        };
                        #(#conditions)* {
                            _ = &mut #name;
                        }
                    }
                };
                let source = named(&apart.source);
                let others = apart.others.iter().map(named);
                // The answer is that of a future, so that it may borrow, and `?` leaves no closure.
                let closure = ours!({
                    #source
                    || {
                        #(#others)*
                        #krate::__private::ignore(async { #never { #body } })
                    }
                });
                self.borrow_check(escape, &closure)
            }
        };
        // What follows could not borrow the same.
        Some(ours! {
            if let ::core::option::Option::Some(()) = #krate::__private::never::<()>() {
                #check
                loop {}
            }
        })
    }

    /// A dead `return`, which gives a copy of the body its type; lifetimes are those of the copy.
    fn never_answered(&self) -> Option<TokenStream> {
        let krate = &self.krate;
        let never = match (self.form(), self.answer) {
            (Some(form), _) => ours!((#form).never()),
            (None, Answer::Inferred) => return None,
            (None, written) => {
                let ty = escape::with_any_lifetime(written.spoken());
                ours!(#krate::__private::never::<#ty>())
            }
        };
        Some(ours! {
            if let ::core::option::Option::Some(outcome) = #never {
                return outcome;
            }
        })
    }

    /// Refuses a closure that needs a unique borrow, or a type that is one.
    fn borrow_check(&self, escape: &Escape, subject: &TokenStream) -> TokenStream {
        let (message, note) = (in_format(&escape.message()), RuleId::S12.footer());
        let krate = &self.krate;
        let check = quote_spanned!(at(escape.span())=> LendsNothing::check(&borrow););
        let of_kept = ours!(impl LendsNothing<()> for #krate::__private::Kept {});
        let of_closure = ours!(
            impl<R, F: ::core::ops::Fn() -> R> LendsNothing<R> for F {}
        );
        let is_typed = !(escape.fields.is_empty() && escape.held.is_empty());
        let imported = is_typed.then(|| ours!(use #krate::__private::MayLeave as _;));
        let implemented = match &escape.proof {
            Proof::Held => of_kept,
            _ if !is_typed => of_closure,
            _ => ours!(#of_kept #[diagnostic::do_not_recommend] #of_closure),
        };
        let outlives = escape.fields.iter();
        let outlives = outlives.map(|it| ours!(#krate::__private::Moved(&#it).outlives_attempt()));
        let subject = outlives.fold(subject.clone(), |subject, kept| ours!(#kept.or(#subject)));
        let held = escape.held.iter();
        let held = held.map(|it| ours!(#krate::__private::Moved(&#it).may_leave_attempt()));
        let subject = held.fold(subject, |subject, kept| ours!(#kept.and(#subject)));
        ours! {
            #[diagnostic::on_unimplemented(message = #message, label = "borrowed here", note = #note)]
            trait LendsNothing<R> {
                fn check(&self) {}
            }
            #[diagnostic::do_not_recommend]
            #implemented
            let borrow = {
                #imported
                #subject
            };
            #check
        }
    }

    /// What the compiler says of parameters that are moved, or of which `some` are.
    fn message(&self, moved: &[&Move], some: bool) -> TokenStream {
        let cloned = self.model.clone.iter();
        let cloned: Vec<_> = cloned.map(|(name, _)| moves::declared(name)).collect();
        unimplemented_by(&moves::message(moved, &cloned, self.model.set_by, some))
    }
}

/// The moves of which types tell whether they are any.
fn typed(moves: &Moves) -> impl Iterator<Item = &Move> {
    let patterns = moves.possible.iter().filter(|it| is_typed(it));
    moves.certain.iter().chain(patterns)
}

/// Whether types tell it of a move that is not certain.
fn is_typed(moved: &Move) -> bool {
    moved.conditions.is_empty() && matches!(moved.by, By::Patterns(_))
}

/// What a type that lacks a trait is told.
fn unimplemented_by(message: &str) -> TokenStream {
    let (message, note) = (in_format(message), RuleId::S6.footer());
    ours!(#[diagnostic::on_unimplemented(message = #message, label = "moved here", note = #note)])
}

/// Braces would be a parameter of the trait that a message is about.
fn in_format(message: &str) -> String {
    message.replace('{', "{{").replace('}', "}}")
}

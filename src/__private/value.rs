//! The value of a key in the type that the key takes. It may stand in a constant, where no trait has methods: so what the
//! type is decides by inherent methods, and a trait that is found after these says what else is expected.

use core::marker::PhantomData;
use core::time::Duration;

use reattempt_policy::Jitter;
use retry_runtime::timer::Timer;

/// An expression behind a key.
#[derive(Debug, Clone, Copy)]
pub struct ValueOf<T>(pub T);

impl ValueOf<Duration> {
    /// Returns the duration.
    #[inline(always)]
    pub const fn duration(self) -> Option<Duration> {
        Some(self.0)
    }
}

impl ValueOf<Option<Duration>> {
    /// Returns the duration, if there is one.
    #[inline(always)]
    pub const fn duration(self) -> Option<Duration> {
        self.0
    }
}

impl ValueOf<f64> {
    /// Returns the factor.
    #[inline(always)]
    pub const fn factor(self) -> f64 {
        self.0
    }

    /// Returns the jitter.
    #[inline(always)]
    pub const fn jitter(self) -> Jitter {
        Jitter::Ratio(self.0)
    }
}

impl ValueOf<Jitter> {
    /// Returns the jitter.
    #[inline(always)]
    pub const fn jitter(self) -> Jitter {
        self.0
    }
}

impl<N: IsNumber> ValueOf<N> {
    /// Returns the number, which can be cast in constants too.
    #[inline(always)]
    pub const fn number(self) -> N {
        self.0
    }
}

/// Says that an async function waits with this timer.
#[inline(always)]
pub const fn waits_with(_: &impl Timer) {}

/// Takes what a call answers: its closure answers nothing then, which may borrow.
pub fn ignore<T>(_: T) {}

/// What a body moves: only asked of its type, by code that never runs.
#[derive(Debug)]
pub struct Moved<'a, T>(pub &'a T);

/// What the next attempt has too: the body copies or reborrows it.
#[derive(Debug, Default, Clone, Copy)]
pub struct Kept;

/// What the next attempt lacks: a closure that uses this up is `FnOnce`, which the compiler tells as late as what other
/// closures are, so that none of its errors hides another one.
#[derive(Debug)]
pub struct Lacked;

/// What it lacks, and what has no copies.
#[derive(Debug, Default, Clone, Copy)]
pub struct Unique;

impl<T: Copy> Moved<'_, T> {
    /// Tells whether the next attempt has the value.
    pub const fn kept_for_next_attempt(self) -> Kept {
        Kept
    }
}

/// A mutable reference, which is reborrowed where the body seems to move it.
pub trait ReborrowedValue: Sized {
    fn kept_for_next_attempt(self) -> Kept {
        Kept
    }
}

impl<T: ?Sized> ReborrowedValue for Moved<'_, &mut T> {}

/// Any other value: found by one more reference.
pub trait MovedValue: Sized {
    fn kept_for_next_attempt(self) -> Lacked {
        Lacked
    }
}

impl<T> MovedValue for &Moved<'_, T> {}

impl<T: Clone> Moved<'_, T> {
    /// Tells what the next attempt lacks of a value that it lacks.
    pub const fn or_its_copies(self) -> Lacked {
        Lacked
    }
}

/// Any other value: found by one more reference.
pub trait MovedUnique: Sized {
    fn or_its_copies(self) -> Unique {
        Unique
    }
}

impl<T> MovedUnique for &Moved<'_, T> {}

impl<T: ?Sized> Moved<'_, &mut T> {
    /// Tells whether the value may leave the attempt in its answer: the next attempt needs a mutable reference.
    pub const fn may_leave_attempt(self) -> Lacked {
        Lacked
    }
}

/// Any other value: it may leave, and what is borrowed from it may not.
pub trait MayLeave: Sized {
    fn may_leave_attempt(self) -> Kept {
        Kept
    }

    fn outlives_attempt(self) -> Lacked {
        Lacked
    }
}

impl<T> MayLeave for Moved<'_, T> {}

impl<T: ?Sized> Moved<'_, &T> {
    /// Tells whether what is borrowed from it outlives the attempt: what a reference points to does.
    pub const fn outlives_attempt(self) -> Kept {
        Kept
    }
}

/// Of these the rest outlives them, as `as_str` of `Chars<'a>` gives it.
macro_rules! rest_outlives {
    ($([$($parameter:tt)*] $ty:ty),*) => { $(
        impl<$($parameter)*> Moved<'_, $ty> {
            /// Tells that what is borrowed from it outlives the attempt.
            pub const fn outlives_attempt(self) -> Kept {
                Kept
            }
        }
    )* };
}

rest_outlives!([] core::str::Chars<'_>, [] core::str::CharIndices<'_>, [T] core::slice::Iter<'_, T>);

/// What is reported where another parameter is lacked: one without copies, because no other fix helps then.
pub trait BesideLacked {
    type Reported: Default;
}

/// What follows from what is known of a value: `or` and `and` for one that is kept, `by_copies` where copies are what the
/// next attempt can have, `before` and `behind` for what is reported of another parameter, `without_copies` where only those
/// are lacked that have none.
macro_rules! states {
    ($($ty:ident: $reported:ident {
        $([$($method:ident)*] $bound:ident -> $out:ty = $value:expr;)*
    })*) => { $(
        impl BesideLacked for $ty { type Reported = $reported; }

        impl $ty { $( $(
            /// Returns what follows.
            #[must_use]
            pub fn $method<N: $bound>(&self, other: N) -> $out {
                $value(other)
            }
        )* )* }
    )* };
}

states! {
    Kept: Kept {
        [or without_copies] Sized -> Kept = |_| Kept;
        [and before behind] Sized -> N = |other| other;
    }
    Lacked: Kept {
        [by_copies without_copies] Sized -> Kept = |_| Kept;
        [or behind] Sized -> N = |other| other;
        [and] Sized -> Lacked = |_| Lacked;
        [before] BesideLacked -> N::Reported = |_| N::Reported::default();
    }
    Unique: Unique {
        [by_copies] Sized -> Unique = |_| Unique;
        [or] Sized -> N = |other| other;
        [before] Sized -> Kept = |_| Kept;
        [behind] BesideLacked -> N::Reported = |_| N::Reported::default();
        [without_copies] Sized -> Lacked = |_| Lacked;
    }
}

/// A parameter that each attempt gets a copy of.
#[derive(Debug)]
pub struct CopyOf<'a, T>(pub &'a T);

impl<T: Clone> CopyOf<'_, T> {
    /// Returns a copy.
    #[inline(always)]
    #[must_use]
    pub fn for_attempt(self) -> T {
        self.0.clone()
    }
}

/// One without copies: found by one more reference. The bound names no type of the user's, because the compiler would suggest
/// to add it to the function.
#[expect(clippy::unreachable, reason = "nothing has the bound")]
pub trait UniqueValue: Sized {
    type Value;
    type Copies;

    fn for_attempt(self) -> Self::Value
    where
        Self::Copies: HasCopies,
    {
        unreachable!()
    }
}

impl<T> UniqueValue for &CopyOf<'_, T> {
    type Value = T;
    type Copies = Lacked;
}

/// What `clone(..)` needs.
#[diagnostic::on_unimplemented(
    message = "`clone(..)` copies this parameter for each attempt, but its type is not `Clone`; implement `Clone`, borrow the parameter, or retry only what stands before the move with `retry_block!`",
    label = "not `Clone`",
    note = "or pass an `Option` by `&mut`, from which each attempt takes the value and puts it back, or a maker, `impl FnMut() -> V`",
    note = "rule S6: https://reattempt.github.io/reattempt/errors.html#s6"
)]
pub trait HasCopies {}

/// Returns no value of the type that a pattern takes apart.
#[inline(always)]
pub const fn taken_apart<T>(_: &T) -> Option<T> {
    None
}

/// Returns no mutable reference to a value of this type.
#[inline(always)]
pub const fn never_mut<'a, T: ?Sized>(_: &T) -> Option<&'a mut T> {
    None
}

/// Returns the type of what a closure returns, without calling it.
#[inline(always)]
pub fn type_of<T>(_: impl FnOnce() -> T) -> PhantomData<T> {
    PhantomData
}

/// An expression of another type.
#[expect(clippy::unreachable, reason = "no type has what is asked for")]
pub trait WrongValue<T>: Sized {
    fn duration(self) -> Option<Duration>
    where
        T: IsDuration,
    {
        unreachable!()
    }

    fn factor(self) -> f64
    where
        T: IsFactor,
    {
        unreachable!()
    }

    fn jitter(self) -> Jitter
    where
        T: IsJitter,
    {
        unreachable!()
    }

    fn number(self) -> u32
    where
        T: IsNumber,
    {
        unreachable!()
    }
}

impl<T> WrongValue<T> for ValueOf<T> {}

/// A duration.
#[diagnostic::on_unimplemented(
    message = "this key must be a `Duration`, but is a `{Self}`",
    label = "expected a `Duration`",
    note = "write a text with a unit behind the key itself, such as `\"100ms\"`, or `std::time::Duration::from_millis(..)` around a number; an `Option<Duration>` is a value, too",
    note = "write `*LIMIT` for what is behind a `LazyLock`",
    note = "rule R17: https://reattempt.github.io/reattempt/errors.html#r17"
)]
pub trait IsDuration {}

/// A factor.
#[diagnostic::on_unimplemented(
    message = "`factor` must be an `f64`, but is a `{Self}`",
    label = "expected an `f64`",
    note = "write `2.0`, or `f64::from(..)` around another number",
    note = "rule R4: https://reattempt.github.io/reattempt/errors.html#r4"
)]
pub trait IsFactor {}

/// A jitter.
#[diagnostic::on_unimplemented(
    message = "`jitter` must be an `f64` or a `Jitter`, but is a `{Self}`",
    label = "expected an `f64` or a `Jitter`",
    note = "write `0.2` for +/-20 %, or a kind, such as `\"full\"`",
    note = "rule R5: https://reattempt.github.io/reattempt/errors.html#r5"
)]
pub trait IsJitter {}

/// A number of attempts.
#[diagnostic::on_unimplemented(
    message = "`max` must be a whole number, such as a `u32` or a `usize`, but is a `{Self}`",
    label = "expected a `u32` or a `usize`",
    note = "write `max = 3`, `max = \"unlimited\"`, or `.unwrap_or(3)` behind an `Option`",
    note = "write `*MAX` for what is behind a `LazyLock`, and `MAX.load(Ordering::Relaxed)` for an atomic",
    note = "rule R1: https://reattempt.github.io/reattempt/errors.html#r1"
)]
pub trait IsNumber: Copy {}

/// Implements `IsNumber`.
macro_rules! numbers {
    ($($number:ty)+) => { $(impl IsNumber for $number {})+ };
}

// `i32` is what the compiler takes a number for of which nothing else is known.
numbers!(u8 u16 u32 u64 usize i32);

/// Returns a number as `max` takes it. A number below 0 becomes 0, which R1 refuses; one above the largest number of
/// attempts means no limit.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to the largest `u32`"
)]
pub const fn attempts(number: i128) -> u32 {
    if number < 0 {
        0
    } else if number > u32::MAX as i128 {
        u32::MAX
    } else {
        number as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_any_type_is_a_number_of_attempts() {
        let most = u32::MAX;
        for (number, count) in [
            (i128::MIN, 0),
            (-1, 0),
            (0, 0),
            (1, 1),
            (i128::from(most) - 1, most - 1),
            (i128::from(most), most),
            (i128::from(most) + 1, most),
            (i128::MAX, most),
        ] {
            assert_eq!(attempts(number), count, "{number}");
        }
    }
}

//! Every name of the prelude with another meaning; each file takes them all.

pub(crate) struct Ok;
pub(crate) struct Err;
pub(crate) struct Some;
pub(crate) struct None;
pub(crate) struct Result;
pub(crate) struct Option;
pub(crate) struct Box;
pub(crate) struct Pin;
pub(crate) struct Vec;
pub(crate) struct String;
pub(crate) struct Duration;
pub(crate) struct Policy;
pub(crate) struct Operation;
pub(crate) struct Call;
pub(crate) struct Backoff;
pub(crate) struct Jitter;
pub(crate) struct Until;
pub(crate) struct Pending;
pub(crate) struct RetryError;
pub(crate) struct Retry;

// Types of the language are no keywords.
pub(crate) struct bool;
pub(crate) struct u32;
pub(crate) struct u64;
pub(crate) struct f64;
pub(crate) struct str;

pub(crate) trait Clone {
    fn clone(&self) -> Ok {
        Ok
    }
}
impl<T> Clone for T {}

pub(crate) trait Copy {}
pub(crate) trait Send {}
pub(crate) trait Sync {}
pub(crate) trait Sized {}
pub(crate) trait Drop {}
pub(crate) trait Fn {}
pub(crate) trait FnMut {}
pub(crate) trait FnOnce {}
pub(crate) trait Into {
    fn into(&self) {}
}
impl<T> Into for T {}
pub(crate) trait Iterator {}
pub(crate) trait Default {}
pub(crate) trait Future {}
impl<T> Future for T {}
pub(crate) trait IntoFuture {
    fn into_future(&self) {}
}
impl<T> IntoFuture for T {}

// Methods that an expansion might call on its own values, both ways of taking
// `self`: an extension trait for every type is nothing unusual.
pub(crate) trait Borrowing {
    fn failed(&self) {}
    fn attempt(&self) {}
    fn cut_off(&self) {}
    fn poll(&self) {}
}
impl<T> Borrowing for T {}

pub(crate) trait Taking: ::core::marker::Sized {
    fn settle(self) {}
    fn failures(self) {}
    fn delay(self) {}
    fn policy(self) {}
    fn cause(self) {}
    fn end(self) {}
    fn report(self) {}
    fn max(self) {}
    fn base(self) {}
    fn unwrap(self) {}
}
impl<T> Taking for T {}

pub(crate) const POLICY: () = ();
pub(crate) const OPERATION: () = ();
pub(crate) const UNTIL: () = ();
pub(crate) const NEVER: () = ();
pub(crate) const KEY: () = ();
pub(crate) const MAX: () = ();

pub(crate) fn drop() {}
pub(crate) fn attempt() {}
pub(crate) fn failure() {}
pub(crate) fn failed() {}
pub(crate) fn classify() {}
pub(crate) fn sleep() {}
pub(crate) fn pause() {}
pub(crate) fn retry() {}
pub(crate) fn call() {}
pub(crate) fn outcome() {}
pub(crate) fn pending() {}
pub(crate) fn operation() {}
pub(crate) fn policy() {}

// What a path without `::core::` would find.
macro_rules! traps {
    ($dollar:tt $($name:ident)*) => {
        $(
            macro_rules! $name {
                ($dollar($dollar tokens:tt)*) => {
                    ::core::compile_error!("a macro of the user's own")
                };
            }
            pub(crate) use $name;
        )*
    };
}
traps!($ matches concat module_path line panic unreachable assert format vec pin);

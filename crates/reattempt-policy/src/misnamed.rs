//! How methods are made that people look for and that do not exist.

/// Makes methods of a type that cannot be called: a reason, its message, its label, the names.
///
/// The bound has a lifetime: without a variable it would be an error here. It is on the type, so that the message points at
/// the name. Of a type without parameters it is on the `impl`: then the compiler looks at no argument, takes the answer for any
/// type, and proposes none of these methods for another name. Of other types it would not say the message there.
#[doc(hidden)]
#[macro_export]
macro_rules! __misnamed {
    (@row [impl $($owner:tt)+] $reason:ident $message:literal $label:literal [$($name:ident)+]) => {
        #[diagnostic::on_unimplemented(
            message = $message,
            label = $label,
            note = "rule R15: https://reattempt.github.io/reattempt/errors.html#r15"
        )]
        pub trait $reason {}

        impl $($owner)+ { $(
            #[doc(hidden)]
            pub fn $name<V>(self, _: V) -> Self
            where
                for<'a> &'a Self: $reason,
            {
                self
            }
        )+ }
    };
    (@row [$owner:ty] $reason:ident $message:literal $label:literal [$($name:ident)+]) => {
        #[diagnostic::on_unimplemented(
            message = $message,
            label = $label,
            note = "rule R15: https://reattempt.github.io/reattempt/errors.html#r15"
        )]
        pub trait $reason<'a> {}

        impl $owner
        where
            for<'a> Self: $reason<'a>,
        { $(
            #[doc(hidden)]
            pub const fn $name(self) -> Self {
                self
            }
        )+ }
    };
    ($owner:tt $($reason:ident $message:literal $label:literal $names:tt;)+) => {
        $($crate::__misnamed! { @row $owner $reason $message $label $names })+
    };
}

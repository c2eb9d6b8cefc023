//! What an error says of itself to observers. Without the feature `observe` an expansion holds nothing of it.

#[cfg(feature = "observe")]
pub use observed::{ByCauses, ByContent, ByDebug, ByDisplay, ByName, Error};

pub use crate::engine::{Described, Detail, ErrorText};
#[doc(hidden)]
pub use crate::{
    __describe as describe, __keep as keep, __name as name, __named as named,
    __one_call as one_call, __sharing as sharing, __site as site, __too_late as too_late,
};

/// Describes an error as its type allows. `describe!(opaque ..)` gives its type alone, where more is not known yet.
#[cfg(feature = "observe")]
#[doc(hidden)]
#[macro_export]
macro_rules! __describe {
    (opaque $cause:expr) => {
        $crate::private::Described::new($cause, |error| {
            $crate::private::ErrorText::new(error, ::core::option::Option::None)
        })
    };
    ($cause:expr) => {
        $crate::private::Described::new($cause, |error| {
            use $crate::private::{
                ByCauses as _, ByContent as _, ByDebug as _, ByDisplay as _, ByName as _,
            };
            let text = (&&&&$crate::private::Error(error)).reattempt_text();
            $crate::private::ErrorText::new(error, text)
        })
    };
}

/// Describes nothing, in a build without observers.
#[cfg(not(feature = "observe"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __describe {
    (opaque $cause:expr) => {
        $crate::private::Described::new($cause, |_| $crate::private::ErrorText)
    };
    ($cause:expr) => {
        $crate::private::Described::new($cause, |_| $crate::private::ErrorText)
    };
}

/// Keeps what a call needs that ends after a delay, where its type allows.
#[doc(hidden)]
#[macro_export]
macro_rules! __keep {
    ($kept:expr) => {{
        use $crate::private::{DropOther as _, KeepSend as _};
        $crate::private::Keep(::core::option::Option::Some($kept)).reattempt_keep()
    }};
}

/// Returns the answer of a call that makes no attempt because its caller's deadline has passed, where answers of this type
/// can say so.
#[doc(hidden)]
#[macro_export]
macro_rules! __too_late {
    ($answer:ty, $context:expr) => {{
        use $crate::private::NoRefusal as _;
        $crate::private::refused(
            $crate::private::Refusal::<$answer>::REATTEMPT_ANSWER,
            $context,
        )
    }};
}

/// Makes the name of the function around it.
#[doc(hidden)]
#[macro_export]
macro_rules! __name {
    ($function:literal $($key:tt)*) => {{
        $crate::private::keys!($($key)*);
        enum Here {}
        static CODE: $crate::private::CodeName = $crate::private::CodeName::new(
            ::core::concat!(::core::module_path!(), "::", $function),
            ::core::any::type_name::<Here>,
        );
        $crate::private::Name::Code(&CODE)
    }};
}

/// Returns the closure that calls for an attempt whose body is one call, which answers with this type.
#[doc(hidden)]
#[macro_export]
macro_rules! __one_call {
    ($answer:ty, $call:expr) => {
        $crate::private::one_call(&$crate::private::never::<$answer>(), $call)
    };
}

/// Gives a site the budget that its calls share where the policy names none.
#[doc(hidden)]
#[macro_export]
macro_rules! __sharing {
    ($site:expr) => {{
        static BUDGET: $crate::private::DefaultBudget = $crate::private::DefaultBudget::new();
        // Whether the crate around it is compiled for tests.
        $crate::private::Site::sharing($site, &BUDGET, ::core::cfg!(test))
    }};
}

/// Makes the site of a function whose calls share a budget where the policy names none.
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($name:expr) => {
        $crate::private::sharing!($crate::private::Site::new($name))
    };
}

/// Makes the site of a policy that has a name in the configuration.
#[cfg(feature = "config")]
#[doc(hidden)]
#[macro_export]
macro_rules! __named {
    ($operation:expr, $name:literal, $inline:expr, $cuts_off:literal) => {{
        static POLICY: $crate::private::NamedPolicy =
            $crate::private::NamedPolicy::new($operation, $name, $inline, $cuts_off);
        $crate::private::Site::named(&POLICY)
    }};
}

/// Refuses a name: there is no configuration.
#[cfg(not(feature = "config"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __named {
    ($operation:expr, $name:literal, $inline:expr, $cuts_off:literal) => {{
        ::core::compile_error!(::core::concat!(
            "`policy = \"",
            $name,
            "\"` needs the feature `config` of `reattempt`; turn it on, or name a constant, as in `policy = STORAGE`\nrule X15: https://reattempt.github.io/reattempt/errors.html#x15"
        ));
        $crate::private::Site::new($operation)
    }};
}

#[cfg(feature = "observe")]
mod observed {
    use core::fmt;

    use reattempt_core::chained::AsError;
    use reattempt_observe::{said, said_with_causes, shown};

    /// An error that describes itself as its type allows: the method that needs fewer references is found first.
    #[derive(Debug)]
    pub struct Error<'e, E: ?Sized>(pub &'e E);

    // Whatever the error is.
    impl<E: ?Sized> Clone for Error<'_, E> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl<E: ?Sized> Copy for Error<'_, E> {}

    /// Describes an error with its causes.
    pub trait ByCauses {
        /// Returns what they say.
        fn reattempt_text(self) -> Option<String>;
    }

    impl<E: core::error::Error> ByCauses for &&&&Error<'_, E> {
        fn reattempt_text(self) -> Option<String> {
            Some(said_with_causes(self.0))
        }
    }

    /// Describes what holds an error, such as a box, by that error with its causes.
    pub trait ByContent<M> {
        /// Returns what they say.
        fn reattempt_text(self) -> Option<String>;
    }

    impl<M, E: AsError<M>> ByContent<M> for &&&Error<'_, E> {
        fn reattempt_text(self) -> Option<String> {
            Some(said_with_causes(self.0.as_error()))
        }
    }

    /// Describes an error by its `Display`.
    pub trait ByDisplay {
        /// Returns what it says.
        fn reattempt_text(self) -> Option<String>;
    }

    impl<E: fmt::Display + ?Sized> ByDisplay for &&Error<'_, E> {
        fn reattempt_text(self) -> Option<String> {
            Some(said(self.0))
        }
    }

    /// Describes an error by its `Debug`.
    pub trait ByDebug {
        /// Returns what it says.
        fn reattempt_text(self) -> Option<String>;
    }

    impl<E: fmt::Debug + ?Sized> ByDebug for &Error<'_, E> {
        fn reattempt_text(self) -> Option<String> {
            Some(shown(self.0))
        }
    }

    /// Describes any other error by the name of its type.
    pub trait ByName {
        /// Returns nothing.
        fn reattempt_text(self) -> Option<String>;
    }

    impl<E: ?Sized> ByName for Error<'_, E> {
        fn reattempt_text(self) -> Option<String> {
            None
        }
    }
}

//! What an error says of itself to observers. Without the feature `observe` an expansion holds nothing of it.

#[cfg(feature = "observe")]
pub use reattempt_observe::described::{ByCauses, ByContent, ByDebug, ByDisplay, ByName, Error};

pub use crate::engine::{Described, Detail, ErrorText};
#[doc(hidden)]
pub use crate::{
    __describe as describe, __keep as keep, __name as name, __named as named,
    __needs_std as needs_std, __one_call as one_call, __sharing as sharing, __site as site,
    __text as text, __too_late as too_late, __type_text as type_text,
};

/// Describes an error as its type allows. `describe!(opaque ..)` gives its type alone, where more is not known yet.
#[doc(hidden)]
#[macro_export]
macro_rules! __describe {
    (opaque $cause:expr) => {
        $crate::private::Described::new(
            $cause,
            |error| $crate::private::type_text!(error),
            |_, _| false,
        )
    };
    ($cause:expr) => {
        $crate::private::Described::new(
            $cause,
            |error| $crate::private::text!(error),
            |error, code| {
                use $crate::private::{CodeByClassify as _, NoCode as _};
                (&&$crate::private::Coded(error)).reattempt_has_code(code)
            },
        )
    };
}

/// Returns the text of an error of which its type is known.
#[cfg(feature = "observe")]
#[doc(hidden)]
#[macro_export]
macro_rules! __type_text {
    ($error:expr) => {
        $crate::private::ErrorText::new($error, ::core::option::Option::None)
    };
}

/// Returns the text of an error, as its type allows.
#[cfg(feature = "observe")]
#[doc(hidden)]
#[macro_export]
macro_rules! __text {
    ($error:expr) => {{
        use $crate::private::{
            ByCauses as _, ByContent as _, ByDebug as _, ByDisplay as _, ByName as _,
        };
        let text = (&&&&$crate::private::Error($error)).reattempt_text();
        $crate::private::ErrorText::new($error, text)
    }};
}

/// Describes nothing, in a build without observers.
#[cfg(not(feature = "observe"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __type_text {
    ($error:expr) => {{
        let _ = $error;
        $crate::private::ErrorText
    }};
}

/// Describes nothing, in a build without observers.
#[cfg(not(feature = "observe"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __text {
    ($error:expr) => {
        $crate::private::type_text!($error)
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

/// What a key needs that shares something between calls.
#[cfg(feature = "std")]
#[doc(hidden)]
#[macro_export]
macro_rules! __needs_std {
    ($key:literal $($code:tt)*) => {{ $($code)* }};
}

/// Refuses the key: nothing is shared without `std`.
#[cfg(not(feature = "std"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __needs_std {
    ($key:literal $($code:tt)*) => {{
        ::core::compile_error!(::core::concat!(
            "`",
            $key,
            "` needs the feature `std` of `reattempt`; turn it on, or drop `",
            $key,
            "`\nrule type: https://reattempt.github.io/reattempt/errors.html#type"
        ));
        (|| ::core::panic!())()
    }};
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

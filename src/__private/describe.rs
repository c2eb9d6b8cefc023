//! What an error says of itself to observers. Without the feature `observe` an expansion holds nothing of it.

#[doc(hidden)]
pub use crate::{
    __describe as describe, __keep as keep, __name as name, __named as named,
    __needs_std as needs_std, __one_call as one_call, __sharing as sharing, __site as site,
    __too_late as too_late, __type_text as type_text,
};

/// Describes an error as its type allows. `describe!(opaque ..)` gives its type alone, where more is not known yet.
#[doc(hidden)]
#[macro_export]
macro_rules! __describe {
    (opaque $cause:expr) => {
        $crate::__private::Described::new(
            $cause,
            |error| $crate::__private::type_text!(error),
            |_, _| false,
        )
    };
    ($cause:expr) => {
        $crate::__private::Described::new(
            $cause,
            |error| $crate::__private::text!(error),
            |error, code| {
                use $crate::__private::{CodeByClassify as _, NoCode as _};
                (&&$crate::__private::Coded(error)).reattempt_has_code(code)
            },
        )
    };
}

/// Returns the text of an error of which its type is known.
#[doc(hidden)]
#[macro_export]
macro_rules! __type_text {
    ($error:expr) => {
        $crate::__private::ErrorText::new($error, ::core::option::Option::None)
    };
}

/// Keeps what a call needs that ends after a delay, where its type allows.
#[doc(hidden)]
#[macro_export]
macro_rules! __keep {
    ($kept:expr) => {{
        use $crate::__private::{DropOther as _, KeepSend as _};
        $crate::__private::Keep(::core::option::Option::Some($kept)).reattempt_keep()
    }};
}

/// Returns the answer of a call that makes no attempt because its caller's deadline has passed, where answers of this type
/// can say so.
#[doc(hidden)]
#[macro_export]
macro_rules! __too_late {
    ($answer:ty, $context:expr) => {{
        use $crate::__private::NoRefusal as _;
        $crate::__private::refused(
            $crate::__private::Refusal::<$answer>::REATTEMPT_ANSWER,
            $context,
        )
    }};
}

/// Makes the name of the function around it.
#[doc(hidden)]
#[macro_export]
macro_rules! __name {
    ($function:literal $($key:tt)*) => {{
        $crate::__private::keys!($($key)*);
        enum Here {}
        static CODE: $crate::__private::CodeName = $crate::__private::CodeName::new(
            ::core::concat!(::core::module_path!(), "::", $function),
            ::core::any::type_name::<Here>,
        );
        $crate::__private::Name::Code(&CODE)
    }};
}

/// Returns the closure that calls for an attempt whose body is one call, which answers with this type.
#[doc(hidden)]
#[macro_export]
macro_rules! __one_call {
    ($answer:ty, $call:expr) => {
        $crate::__private::one_call(&$crate::__private::never::<$answer>(), $call)
    };
}

/// Gives a site the budget that its calls share where the policy names none.
#[doc(hidden)]
#[macro_export]
macro_rules! __sharing {
    ($site:expr) => {{
        static BUDGET: $crate::__private::DefaultBudget = $crate::__private::DefaultBudget::new();
        // Whether the crate around it is compiled for tests.
        $crate::__private::Site::sharing($site, &BUDGET, ::core::cfg!(test))
    }};
}

/// Makes the site of a function whose calls share a budget where the policy names none.
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($name:expr) => {
        $crate::__private::sharing!($crate::__private::Site::new($name))
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
        static POLICY: $crate::__private::NamedPolicy =
            $crate::__private::NamedPolicy::new($operation, $name, $inline, $cuts_off);
        $crate::__private::Site::named(&POLICY)
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
        $crate::__private::Site::new($operation)
    }};
}

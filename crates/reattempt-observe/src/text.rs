//! What an error says of itself, and what was called: without observers nothing.

#[cfg(feature = "observers")]
pub use crate::event::ErrorText;

/// What an error says of itself, in a build without observers.
#[cfg(not(feature = "observers"))]
#[derive(Debug)]
pub struct ErrorText;

#[cfg(not(feature = "observers"))]
impl ErrorText {
    /// Returns nothing.
    #[inline(always)]
    pub const fn new<E: ?Sized>(_: &E, _: Option<core::convert::Infallible>) -> Self {
        Self
    }

    /// Returns nothing.
    #[inline(always)]
    pub const fn message<E: ?Sized>(_: &E, _: Option<&dyn core::fmt::Display>) -> Self {
        Self
    }

    /// Returns nothing.
    pub const fn not_final() -> Self {
        Self
    }

    /// Returns nothing.
    pub const fn timed_out() -> Self {
        Self
    }

    /// Returns what an answer says that is a result itself: nothing, since it is not asked.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub fn of_answer<A>(_: &A, _: impl FnOnce() -> Option<String>) -> Self {
        Self
    }
}

/// Returns the text of an error, as its type allows.
#[cfg(feature = "observers")]
#[doc(hidden)]
#[macro_export]
macro_rules! __text {
    ($error:expr) => {{
        use $crate::described::{
            ByCauses as _, ByContent as _, ByDebug as _, ByDisplay as _, ByName as _,
        };
        let text = (&&&&$crate::described::Error($error)).reattempt_text();
        $crate::ErrorText::new($error, text)
    }};
}

/// Describes nothing, in a build without observers.
#[cfg(not(feature = "observers"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __text {
    ($error:expr) => {
        $crate::ErrorText::new($error, ::core::option::Option::None)
    };
}

/// What was called, in words.
#[cfg(feature = "observers")]
#[derive(Debug)]
pub struct Detail(String);

#[cfg(feature = "observers")]
impl Detail {
    /// Returns what `text` says.
    pub fn new(text: &(impl core::fmt::Display + ?Sized)) -> Self {
        Self(crate::said(text))
    }

    /// Returns the words.
    pub fn into_text(self) -> String {
        self.0
    }
}

/// What was called, in a build without observers.
#[cfg(not(feature = "observers"))]
#[derive(Debug)]
pub struct Detail;

#[cfg(not(feature = "observers"))]
impl Detail {
    /// Returns nothing.
    pub fn new(_: &(impl core::fmt::Display + ?Sized)) -> Self {
        Self
    }
}

#[cfg(all(test, feature = "observers"))]
#[allow(unused_imports, reason = "each type needs one of the traits")]
mod tests {
    use core::fmt;
    use std::io;

    /// The text of an error, and its type.
    macro_rules! said {
        ($error:expr) => {{
            let text = crate::__text!($error);
            (text.message, text.kind)
        }};
    }

    #[derive(Debug)]
    struct ByDebug;

    struct ByDisplay;

    impl fmt::Display for ByDisplay {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("displayed")
        }
    }

    struct ByName;

    #[test]
    fn an_error_describes_itself_as_its_type_allows() {
        let caused = || io::Error::other(io::Error::other(fmt::Error));
        let text = "an error occurred when formatting an argument";
        let boxed: Box<dyn std::error::Error> = Box::new(caused());
        for ((message, kind), expected, name) in [
            (said!(&caused()), Some(text), "Error"),
            (said!(&boxed), Some(text), "Error>"),
            (said!(&ByDisplay), Some("displayed"), "ByDisplay"),
            (said!(&ByDebug), Some("ByDebug"), "ByDebug"),
            (said!(&ByName), None, "ByName"),
            (said!("text"), Some("text"), "str"),
        ] {
            assert_eq!(message.as_deref(), expected, "{kind}");
            assert!(kind.ends_with(name), "{kind}");
        }
        assert_eq!(super::Detail::new(&7).into_text(), "7");
    }
}

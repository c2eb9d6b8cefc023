//! The words of the values that are kinds.

/// Gives an enum the words of its variants in attributes and files. A variant that is not here does not compile: `else` has
/// those that no word stands for, with what they are called.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($kind:ident $word:literal),* } $(else { $other:ident $called:literal })?) => {
        impl $name {
            /// The words, and the kinds that they stand for.
            #[doc(hidden)]
            pub const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$kind)),*];

            /// Returns the word for this kind in attributes and files.
            $(#[$meta])*
            pub const fn as_str(&self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)*
                    $(Self::$other(_) => $called,)?
                }
            }

            /// Returns the name of the variant, for code that is made of it.
            #[doc(hidden)]
            pub const fn variant(&self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($kind),)*
                    $(Self::$other(_) => stringify!($other),)?
                }
            }
        }
    };
}

pub(crate) use words;

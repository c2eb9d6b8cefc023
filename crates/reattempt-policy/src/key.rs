//! The keys of a policy, and sets of them.

use core::fmt;

/// The table of keys: the name of each, its kind, its default as it is written, and its meaning.
///
/// `keys!(list)` expands to `list! { Max max Attempts "3" "attempts in total, ..."; ... }`. The parser of the macros, policies,
/// files, their schema and `cargo retry` are made from it.
#[macro_export]
macro_rules! keys {
    ($list:ident) => {
        $list! {
            Max max Attempts "3" "attempts in total, the first one included";
            Backoff backoff Backoff "\"exp\"" "the shape of the delays";
            Base base Time "\"100ms\"" "the unit of the shape";
            First first Time "`base`" "the delay before the first retry";
            Factor factor Factor "2.0" "the growth of \"exp\" from one delay to the next";
            Cap cap Time "\"20s\"" "no delay is longer than this";
            Jitter jitter Jitter "\"full\"" "how each delay is spread";
            FastFirst fast_first Flag "false" "whether the first retry comes at once";
            ThrottledBase throttled_base Time "\"1s\"" "the least unit of the shape after an error that says that the service is overloaded";
            ResetAfter reset_after Time "none" "an attempt that ran at least this long before it failed starts the count and the delays anew";
            Deadline deadline Time "none" "one limit over all attempts and delays";
            Timeout timeout Time "none" "the limit of one attempt";
            MaxRetryAfter max_retry_after Time "\"1m\"" "the longest delay asked for by an error that a call waits for";
            Codes codes Codes "none" "what errors of a status or code mean, and how long the delays after them are at least";
            Idempotent idempotent Flag "true" "whether the operation may be executed twice";
            Nested nested Nested "\"collapse\"" "what happens inside a retry of another call";
            Priority priority Priority "\"normal\"" "which calls limits refuse first";
            Budget budget Budget "one of the operation's own" "how many retries all calls may make together";
            Telemetry telemetry Telemetry "\"default\"" "what is reported of its calls, and at which levels";
        }
    };
}

/// What kind of value a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A whole number from 1, or no limit.
    Attempts,
    /// The shape of the delays.
    Backoff,
    /// A duration.
    Time,
    /// A number above 1.
    Factor,
    /// A ratio from 0 to 1, or a word.
    Jitter,
    /// `true` or `false`.
    Flag,
    /// A word.
    Nested,
    /// A word.
    Priority,
    /// A ratio, or a budget.
    Budget,
    /// A table of statuses and codes.
    Codes,
    /// A word, or several settings.
    Telemetry,
}

impl Kind {
    /// Returns whether it is a number or a duration, which the running program may know.
    pub const fn is_measured(self) -> bool {
        matches!(
            self,
            Self::Attempts | Self::Time | Self::Factor | Self::Jitter
        )
    }
}

macro_rules! list {
    ($($key:ident $name:ident $kind:ident $default:literal $meaning:literal;)*) => {
        /// A key of a policy: its name in attributes and files, and the method of the builder.
        ///
        /// A minor release may add keys, so match with a wildcard.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Key {
            $(#[doc = concat!("`", stringify!($name), "`: ", $meaning, ".")] $key,)*
        }

        impl Key {
            /// Every key, in the order of the documentation.
            pub const ALL: [Self; [$(Self::$key),*].len()] = [$(Self::$key),*];

            /// Returns the name of this key.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$key => stringify!($name),)*
                }
            }

            /// Returns what kind of value it takes.
            pub const fn kind(self) -> Kind {
                match self {
                    $(Self::$key => Kind::$kind,)*
                }
            }

            /// Returns the default as it is written in an attribute, or words that say what it is.
            pub const fn default_value(self) -> &'static str {
                match self {
                    $(Self::$key => $default,)*
                }
            }

            /// Returns the meaning of this key in a few words.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$key => $meaning,)*
                }
            }
        }
    };
}

keys!(list);

impl Key {
    /// The keys that make the delays, which a strategy takes the place of.
    pub const DELAYS: [Self; 8] = [
        Self::Backoff,
        Self::Base,
        Self::First,
        Self::Factor,
        Self::Cap,
        Self::Jitter,
        Self::FastFirst,
        Self::ThrottledBase,
    ];

    /// Returns the key of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.as_str() == name)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys(u32);

impl Keys {
    /// No key.
    pub const NONE: Self = Self(0);

    /// This set and `key`.
    #[must_use]
    pub const fn with(self, key: Key) -> Self {
        Self(self.0 | 1 << key as u32)
    }

    /// This set but `key`.
    #[must_use]
    pub const fn without(self, key: Key) -> Self {
        Self(self.0 & !(1 << key as u32))
    }

    /// Whether `key` is in this set.
    pub const fn contains(self, key: Key) -> bool {
        self.0 & (1 << key as u32) != 0
    }

    /// Whether `other` has every key of this set.
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether the two sets share a key.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the set of these keys.
    pub const fn of(keys: &[Key]) -> Self {
        let (mut set, mut rest) = (Self::NONE, keys);
        while let [key, tail @ ..] = rest {
            set = set.with(*key);
            rest = tail;
        }
        set
    }
}

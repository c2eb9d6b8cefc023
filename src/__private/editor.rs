//! What an editor finds when it is asked about a key. Nothing of it gets into a program.

pub use crate::__keys as keys;

/// Names keys for editors, which set `cfg(rust_analyzer)`; a compiler sees nothing.
#[cfg(not(rust_analyzer))]
#[doc(hidden)]
#[macro_export]
macro_rules! __keys {
    ($($key:tt)*) => {};
}

/// Names keys for editors, which set `cfg(rust_analyzer)`; a compiler sees nothing.
#[cfg(rust_analyzer)]
#[doc(hidden)]
#[macro_export]
macro_rules! __keys {
    ($($key:ident)*) => { $($crate::__private::Keys.$key();)* };
}

macro_rules! methods {
    ($($key:ident $name:ident $kind:ident $default:literal $meaning:literal;)*) => {
        /// A method for each key, which says what the key means. `crate` cannot be the name of one.
        #[derive(Debug)]
        pub struct Keys;

        impl Keys {
            $(
                #[doc = $meaning]
                #[doc = ""]
                #[doc = "Default:"]
                #[doc = $default]
                pub const fn $name(self) {}
            )*
        }
    };
}

reattempt_policy::keys!(methods);

macro_rules! code {
    ($($name:ident $meaning:literal;)*) => {
        impl Keys {
            $(
                #[doc = $meaning]
                pub const fn $name(self) {}
            )*
        }
    };
}

code! {
    breaker "turns calls away while the service fails: `breaker = &BREAKER`";
    throttle "admits fewer calls while the service is overloaded: `throttle = &THROTTLE`";
    bulkhead "limits how many calls run at once: `bulkhead = &BULKHEAD`";
    hedge "starts a second copy of an attempt that is late: `hedge = \"50ms\"`";
    verify "finds out whether a failed attempt was executed after all: `verify = |error| ...`";
    on "the errors that are retried: `on(Error::Timeout)`, `on = |error| ...` or `on = Error::is_timeout`";
    except "the errors that are not retried, and wins over `on`: `except(Error::Denied)`";
    until "the values that are final: `until = |value| ...`";
    retry_after "the delay that an error asks for: `retry_after = |error| ...`";
    fallback "what a call returns in place of its last error: `fallback = |error| ...`";
    map_err "the error of a call, made from how the call ended: `map_err = |error: RetryError<E>| ...`";
    history "keeps the errors of all attempts and the total time for the `RetryError`";
    cut_off "`cut_off = false` keeps time and gates from ending a call that has no error of its own yet";
    before_retry "runs before each retry, after the delay; may be async: `before_retry = |retry| ...`";
    on_retry "sees each retry before its delay: `on_retry = |retry| ...`";
    context "the name under which the body sees its attempt: `context = attempt`";
    clone "the parameters that each attempt gets a clone of: `clone(url, body)`";
    name "the name of the operation in events, statistics and files: `name = \"payments.charge\"`";
    detail "what this call is about, for events: `detail = host`";
    doc "`doc = false` keeps the line about retries out of the documentation";
    policy "the policy that the other keys override: `policy = STORAGE`, `policy = self.policy` or `policy = \"storage\"`";
    strategy "decides about each retry in place of a backoff: `strategy = |failure| ...`";
    timer "what waits: `timer = TIMER`";
}

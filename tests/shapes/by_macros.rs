//! Functions that macros write.

use reattempt::{retry, retry_block};

use crate::{Fault, Script, sendable};

// A name, a type and a block.
macro_rules! function {
    ($name:ident, $script:ident, $answer:ty, $body:block) => {
        #[retry(max = 3, backoff = "none", on(_))]
        fn $name($script: &Script) -> $answer $body
    };
}

function!(block_of_macro, script, Result<u32, Fault>, {
    let number = script.step()?;
    Ok(number)
});

// The parts of the answer.
macro_rules! answer_parts {
    ($name:ident, $value:ty, $error:ty) => {
        #[retry(max = 3, backoff = "none", on(_))]
        fn $name(script: &Script) -> Result<$value, $error> {
            let number = script.step()?;
            Ok(number)
        }
    };
}

answer_parts!(parts_of_answer, u32, Fault);
answer_parts!(failed_of_answer, u32, reattempt::RetryError<Fault>);

// The answer as a whole.
macro_rules! whole_answer {
    ($name:ident, $answer:ty) => {
        #[retry(max = 3, backoff = "none", on(_))]
        fn $name(script: &Script) -> $answer {
            script.step().map_err(Into::into)
        }
    };
}

whole_answer!(whole_of_answer, Result<u32, Fault>);

// A future as the answer.
macro_rules! future_answer {
    ($name:ident, $answer:ty) => {
        #[retry(max = 3, on(_))]
        fn $name(script: &Script) -> $answer {
            Box::pin(async move { script.step_async().await })
        }
    };
}

future_answer!(
    boxed_of_answer,
    futures::future::BoxFuture<'_, Result<u32, Fault>>
);
future_answer!(
    pinned_of_answer,
    std::pin::Pin<Box<dyn Future<Output = Result<u32, Fault>> + Send + '_>>
);

// A future whose output is a part.
macro_rules! future_output {
    ($name:ident, $output:ty) => {
        #[retry(max = 3, on(_))]
        fn $name(script: &Script) -> impl Future<Output = $output> + Send {
            async move { script.step_async().await }
        }
    };
}

future_output!(output_of_future, Result<u32, Fault>);

// Values of keys.
macro_rules! keys {
    ($name:ident, $max:expr, $backoff:literal, $base:literal, $on:pat, $context:ident, $until:expr) => {
        #[retry(max = $max, backoff = $backoff, base = $base, on($on), context = $context)]
        async fn $name(script: &Script) -> Result<u32, Fault> {
            assert_eq!($context.number(), script.attempts() + 1);
            script.step_async().await
        }
    };
}

keys!(keys_of_macro, 3, "fixed", "10ms", Fault(1..=9), ctx, |_| {
    true
});

// A closure, a path and a list.
macro_rules! hooks {
    ($name:ident, $on:expr, $hook:path, $($cloned:ident: $ty:ty),*) => {
        #[retry(max = 3, backoff = "none", on = $on, on_retry = $hook, clone($($cloned),*))]
        fn $name(script: &Script, $($cloned: $ty),*) -> Result<u32, Fault> {
            $(drop($cloned);)*
            script.step()
        }
    };
}

hooks!(hooks_of_macro, |fault| fault.0 < 9, ignore, text: String, list: Vec<u32>);

fn ignore(_: &reattempt::Retry<'_, Fault>) {}

// Every token of the function.
macro_rules! passed_through {
    ($($token:tt)*) => {
        $($token)*
    };
}

passed_through! {
    #[retry(max = 3, backoff = "none", on(_))]
    fn tokens_of_macro(script: &Script) -> Result<u32, Fault> {
        let number = script.step()?;
        Ok(number)
    }
}

// The function as an item, its attribute added by the macro.
macro_rules! item {
    ($item:item) => {
        #[retry(max = 3, backoff = "none", on(_))]
        $item
    };
}

item! {
    fn item_of_macro(script: &Script) -> Result<u32, Fault> {
        let number = script.step()?;
        Ok(number)
    }
}

// The visibility and the attributes.
macro_rules! outside {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident<$lifetime:lifetime>) => {
        $(#[$attribute])*
        #[retry(max = 3, backoff = "none", on(_))]
        $visibility fn $name<$lifetime>(script: &$lifetime Script) -> Result<&$lifetime Script, Fault> {
            script.step().map(|_| script)
        }
    };
}

outside!(#[doc = "Text."] #[must_use] pub(crate) fn outside_of_macro<'a>);
outside!(fn private_of_macro<'a>);

// Methods of several types.
macro_rules! methods {
    ($($service:ident),*) => {
        $(
            struct $service(Script);

            impl $service {
                #[retry(max = 3, on(_))]
                async fn call(&mut self) -> Result<u32, Fault> {
                    self.0.step_async().await
                }
            }
        )*
    };
}

methods!(First, Second);

// The body of the block.
macro_rules! block {
    ($max:expr, $body:block) => {
        retry_block!(max = $max, backoff = "none", on(_), $body)
    };
}

fn block_body(script: &Script) -> Result<u32, Fault> {
    block!(3, { script.step() })
}

// An expression that is a closure.
macro_rules! closure {
    ($body:expr) => {
        retry_block!(max = 3, backoff = "none", on(_), $body)
    };
}

fn closure_body(script: &Script) -> Result<u32, Fault> {
    closure!(|| -> Result<u32, Fault> { Ok(script.step()?) })
}

// An expression that is an async block.
async fn async_body(script: &Script) -> Result<u32, Fault> {
    closure!(async { script.step_async().await }).await
}

// The types of a closure.
macro_rules! typed {
    ($script:expr, $answer:ty) => {
        retry_block!(max = 3, backoff = "none", on(_), || -> $answer {
            $script.step()
        })
    };
}

fn typed_closure(script: &Script) -> Result<u32, Fault> {
    typed!(script, Result<u32, Fault>)
}

shapes! {
    block_body,
    block_of_macro, parts_of_answer, whole_of_answer, tokens_of_macro, item_of_macro, closure_body, typed_closure,
    failed_of_answer => |script| crate::last(failed_of_answer(script)),
    hooks_of_macro => |script| hooks_of_macro(script, String::new(), vec![]),
    outside_of_macro => |script| outside_of_macro(script).map(Script::attempts),
    private_of_macro => |script| private_of_macro(script).map(Script::attempts),
}

async_shapes! {
    async_body,
    boxed_of_answer => async |script| boxed_of_answer(script).await,
    pinned_of_answer => async |script| pinned_of_answer(script).await,
    output_of_future => async |script| sendable(output_of_future(script)).await,
    keys_of_macro => async |script| sendable(keys_of_macro(script)).await,
    methods_of_macro => async |script| {
        assert_eq!(Second(Script::failing(2)).call().await, Ok(3));
        sendable(First(script.clone()).call()).await
    },
}

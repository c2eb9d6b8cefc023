//! Names that are taken away or mean something else.
#![no_implicit_prelude]

use ::durable::{step, workflow};

use crate::traps::*;

mod core {}
mod std {}
mod durable {}
mod reattempt_supervisor {}
mod private {}

type Answer<T> = ::core::result::Result<T, ::std::string::String>;

#[step(
    retry(max = 3, base = "1ms", on(_), deadline = "5s"),
    complete_by = "10s",
    undo = undo,
    crate = ::durable,
)]
pub async fn step(
    context: &::durable::Step,
    #[with] with: &::core::primitive::u64,
    step: ::core::primitive::u32,
    undo: &::core::primitive::str,
    input: ::core::option::Option<&::core::primitive::u32>,
) -> Answer<::core::primitive::u32> {
    if context.key() == undo && input.is_some() && *with == 1 {
        return ::core::result::Result::Err(::std::string::String::new());
    }
    ::core::result::Result::Ok(step)
}

#[step(crate = ::durable)]
pub async fn undo(
    _: &::durable::Step,
    context: ::core::primitive::u32,
    undo: &::core::primitive::str,
    input: ::core::option::Option<&::core::primitive::u32>,
    result: &::core::primitive::u32,
) -> Answer<()> {
    if context == *result && undo.is_empty() && input.is_none() {
        return ::core::result::Result::Err(::std::string::String::new());
    }
    ::core::result::Result::Ok(())
}

#[workflow(crate = ::durable)]
pub async fn context(
    step: &::durable::WorkflowContext,
    context: ::core::primitive::u32,
    input: ::std::string::String,
) -> ::core::result::Result<::core::primitive::u32, ::durable::StepError> {
    self::step(step, context, &input, ::core::option::Option::None).await
}

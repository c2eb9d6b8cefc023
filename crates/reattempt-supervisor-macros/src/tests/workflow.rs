//! `#[workflow]`.

use expect_test::expect;

use super::expanded;
use crate::workflow;

#[test]
fn the_smallest() {
    expanded(
        workflow::expand,
        "",
        "async fn ping(context: &WorkflowContext) -> Result<(), String> { Ok(()) }",
        &expect![[r#"
            fn ping() -> ::reattempt_supervisor::Submission<
                impl ::reattempt_supervisor::Workflow<
                    Output = <Result<
                        (),
                        String,
                    > as ::reattempt_supervisor::private::AnyResult>::Value,
                >,
            > {
                struct __WorkflowOf;
                impl __WorkflowOf {
                    async fn ping(context: &WorkflowContext) -> Result<(), String> {
                        ::core::future::ready(()).await;
                        Ok(())
                    }
                }
                impl ::reattempt_supervisor::private::Workflow for __WorkflowOf {
                    const NAME: &'static ::core::primitive::str = "ping";
                    const VERSION: ::core::primitive::i32 = 1i32;
                    const COMPLETE_BY: ::core::option::Option<::core::time::Duration> = ::core::option::Option::None;
                    const MAX_FAILURES: ::core::primitive::i32 = 5i32;
                    const ON_FAILURE: ::reattempt_supervisor::OnFailure = ::reattempt_supervisor::OnFailure::Undo;
                    type Output = <Result<
                        (),
                        String,
                    > as ::reattempt_supervisor::private::AnyResult>::Value;
                    fn run<'context>(
                        context: &'context ::reattempt_supervisor::WorkflowContext,
                        input: &'context ::core::primitive::str,
                    ) -> ::reattempt_supervisor::private::WorkflowFuture<'context> {
                        ::reattempt_supervisor::private::Box::pin(async move {
                            ::reattempt_supervisor::private::workflow_result::<
                                __WorkflowOf,
                                _,
                            >(
                                __WorkflowOf::ping(
                                        <WorkflowContext as ::reattempt_supervisor::private::IsContext>::of(
                                            context,
                                        ),
                                    )
                                    .await,
                            )
                        })
                    }
                }
                ::reattempt_supervisor::private::submission::<__WorkflowOf>([])
            }
        "#]],
    );
}

#[test]
fn every_key() {
    expanded(
        workflow::expand,
        r#"name = "order", version = VERSION, complete_by = "2d 12h", max_failures = 3, crate = ::durable"#,
        "/// Orders.\n#[instrument]\npub async fn order(context: &WorkflowContext, cart: Cart, (a, _): (u32, u32)) -> Result<Receipt, StepError> { pay(context, &cart).await }",
        &expect![[r#"
            /// Orders.
            pub fn order(
                cart: Cart,
                argument_1: (u32, u32),
            ) -> ::durable::Submission<
                impl ::durable::Workflow<
                    Output = <Result<Receipt, StepError> as ::durable::private::AnyResult>::Value,
                >,
            > {
                struct __WorkflowOf;
                impl __WorkflowOf {
                    #[instrument]
                    async fn order(
                        context: &WorkflowContext,
                        cart: Cart,
                        (a, _): (u32, u32),
                    ) -> Result<Receipt, StepError> {
                        ::core::future::ready(()).await;
                        pay(context, &cart).await
                    }
                }
                impl ::durable::private::Workflow for __WorkflowOf {
                    const NAME: &'static ::core::primitive::str = "order";
                    const VERSION: ::core::primitive::i32 = VERSION;
                    const COMPLETE_BY: ::core::option::Option<::core::time::Duration> = ::core::option::Option::Some(
                        ::core::time::Duration::new(216000u64, 0u32),
                    );
                    const MAX_FAILURES: ::core::primitive::i32 = 3i32;
                    const ON_FAILURE: ::durable::OnFailure = ::durable::OnFailure::Undo;
                    type Output = <Result<
                        Receipt,
                        StepError,
                    > as ::durable::private::AnyResult>::Value;
                    fn run<'context>(
                        context: &'context ::durable::WorkflowContext,
                        input: &'context ::core::primitive::str,
                    ) -> ::durable::private::WorkflowFuture<'context> {
                        ::durable::private::Box::pin(async move {
                            let mut input = ::durable::private::Arguments::of::<
                                __WorkflowOf,
                            >(input, 2usize)?;
                            let argument_0 = input.read(::durable::private::codec::<Cart>())?;
                            let argument_1 = input.read(::durable::private::codec::<(u32, u32)>())?;
                            ::durable::private::workflow_result::<
                                __WorkflowOf,
                                _,
                            >(
                                __WorkflowOf::order(
                                        <WorkflowContext as ::durable::private::IsContext>::of(
                                            context,
                                        ),
                                        argument_0,
                                        argument_1,
                                    )
                                    .await,
                            )
                        })
                    }
                }
                ::durable::private::submission::<
                    __WorkflowOf,
                >([
                    ::durable::private::codec::<Cart>().write(&cart),
                    ::durable::private::codec::<(u32, u32)>().write(&argument_1),
                ])
            }
        "#]],
    );
}

#[test]
fn a_wrong_function_stays_as_it_is() {
    expanded(
        workflow::expand,
        "",
        "async fn order(context: &WorkflowContext, cart: &Cart) -> Result<(), String> { Ok(()) }",
        &expect![[r#"
            async fn order(context: &WorkflowContext, cart: &Cart) -> Result<(), String> {
                Ok(())
            }
            ::core::compile_error! {
                "the store keeps the arguments of a workflow after the submission; take them by value\nrule D11: https://reattempt.github.io/reattempt/errors.html#d11"
            }
        "#]],
    );
}

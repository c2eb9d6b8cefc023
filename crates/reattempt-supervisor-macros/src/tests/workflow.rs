//! `#[workflow]`.

use expect_test::expect;

use super::expanded;
use crate::workflow;

#[test]
fn the_smallest() {
    expanded(
        workflow::expand,
        "",
        "async fn ping(flow: &Flow) -> Result<(), String> { Ok(()) }",
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
                impl ::reattempt_supervisor::private::Workflow for __WorkflowOf {
                    const NAME: &'static ::core::primitive::str = "ping";
                    const VERSION: ::core::primitive::i32 = 1i32;
                    const COMPLETE_BY: ::core::option::Option<::core::time::Duration> = ::core::option::Option::None;
                    const MAX_FAILURES: ::core::primitive::i32 = 5i32;
                    type Output = <Result<
                        (),
                        String,
                    > as ::reattempt_supervisor::private::AnyResult>::Value;
                    fn run<'flow>(
                        flow: &'flow ::reattempt_supervisor::Flow,
                        input: &'flow ::core::primitive::str,
                    ) -> ::reattempt_supervisor::private::Running<'flow> {
                        ::reattempt_supervisor::private::Box::pin(async move {
                            let function = {
                                async fn ping(flow: &Flow) -> Result<(), String> {
                                    Ok(())
                                }
                                ping
                            };
                            ::reattempt_supervisor::private::ended::<
                                __WorkflowOf,
                                _,
                            >(
                                function(<Flow as ::reattempt_supervisor::private::IsFlow>::of(flow))
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
        "/// Orders.\n#[instrument]\npub async fn order(flow: &Flow, cart: Cart, (a, _): (u32, u32)) -> Result<Receipt, StepError> { pay(flow, &cart).await }",
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
                impl ::durable::private::Workflow for __WorkflowOf {
                    const NAME: &'static ::core::primitive::str = "order";
                    const VERSION: ::core::primitive::i32 = VERSION;
                    const COMPLETE_BY: ::core::option::Option<::core::time::Duration> = ::core::option::Option::Some(
                        ::core::time::Duration::new(216000u64, 0u32),
                    );
                    const MAX_FAILURES: ::core::primitive::i32 = 3i32;
                    type Output = <Result<
                        Receipt,
                        StepError,
                    > as ::durable::private::AnyResult>::Value;
                    fn run<'flow>(
                        flow: &'flow ::durable::Flow,
                        input: &'flow ::core::primitive::str,
                    ) -> ::durable::private::Running<'flow> {
                        ::durable::private::Box::pin(async move {
                            let mut input = ::durable::private::Arguments::of::<
                                __WorkflowOf,
                            >(input, 2usize)?;
                            let argument_0 = ::durable::private::form::<Cart>().read(&mut input)?;
                            let argument_1 = ::durable::private::form::<(u32, u32)>()
                                .read(&mut input)?;
                            let function = {
                                #[instrument]
                                async fn order(
                                    flow: &Flow,
                                    cart: Cart,
                                    (a, _): (u32, u32),
                                ) -> Result<Receipt, StepError> {
                                    pay(flow, &cart).await
                                }
                                order
                            };
                            ::durable::private::ended::<
                                __WorkflowOf,
                                _,
                            >(
                                function(
                                        <Flow as ::durable::private::IsFlow>::of(flow),
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
                    ::durable::private::form::<Cart>().write(&cart),
                    ::durable::private::form::<(u32, u32)>().write(&argument_1),
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
        "async fn order(flow: &Flow, cart: &Cart) -> Result<(), String> { Ok(()) }",
        &expect![[r#"
            async fn order(flow: &Flow, cart: &Cart) -> Result<(), String> {
                Ok(())
            }
            ::core::compile_error! {
                "the arguments of a workflow are written down and outlive their submission; take them by value\nrule D11: https://docs.rs/reattempt/latest/reattempt/errors/#d11"
            }
        "#]],
    );
}

//! `#[step]`.

use expect_test::expect;

use super::expanded;
use crate::step;

#[test]
fn the_smallest() {
    expanded(
        step::expand,
        "",
        "async fn ping(_: &Step) -> Result<(), String> { Ok(()) }",
        &expect![[r#"
            fn ping(
                flow: &::reattempt_supervisor::Flow,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<
                    <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    ::reattempt_supervisor::StepError,
                >,
            > + ::core::marker::Send {
                let spec = ::reattempt_supervisor::private::Spec {
                    name: "ping",
                    complete_by: ::core::option::Option::None,
                    idempotent: true,
                };
                let undo = ::core::option::Option::None::<
                    ::reattempt_supervisor::private::NoUndo<
                        <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >,
                >;
                ::reattempt_supervisor::private::call(
                    flow,
                    spec,
                    ::reattempt_supervisor::private::form::<
                        <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >(),
                    move |step| {
                        ::core::result::Result::Ok(async move {
                            let function = {
                                async fn ping(_: &Step) -> Result<(), String> {
                                    Ok(())
                                }
                                ping
                            };
                            ::reattempt_supervisor::private::final_error(
                                function(
                                        <Step as ::reattempt_supervisor::private::IsStep>::of(&step),
                                    )
                                    .await,
                            )
                        })
                    },
                    undo,
                )
            }
        "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "one expansion")]
fn every_key_and_every_kind_of_parameter() {
    expanded(
        step::expand,
        r#"retry(max = 3, idempotent = false), complete_by = "1m 30s", undo = refund, name = "pay-once", crate = ::durable"#,
        r#"
            /// Pays.
            #[must_use]
            #[cfg_attr(feature = "spans", instrument(skip_all), doc = "Seen.")]
            pub(crate) async fn pay<'a>(step: &'a Step, #[with] shop: &Shop, text: &str, (a, b): (u32, u32), maybe: Option<&Card>) -> Answer<Paid>
            where
                'a: 'a,
            {
                shop.pay(text).await
            }
        "#,
        &expect![[r#"
            /// Pays.
            #[must_use]
            #[cfg_attr(feature = "spans", doc = "Seen.")]
            pub(crate) fn pay<'a>(
                flow: &::durable::Flow,
                text: &str,
                argument_2: (u32, u32),
                maybe: Option<&Card>,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<
                    <Answer<Paid> as ::durable::private::AnyResult>::Value,
                    ::durable::StepError,
                >,
            > + ::core::marker::Send
            where
                'a: 'a,
            {
                let (argument_1, argument_2, argument_3) = (text, argument_2, maybe);
                let spec = ::durable::private::Spec {
                    name: "pay-once",
                    complete_by: ::core::option::Option::Some(
                        ::core::time::Duration::new(90u64, 0u32),
                    ),
                    idempotent: false,
                };
                let undo = if ::durable::private::goes_back(flow) {
                    let kept_1 = ::durable::private::keep::<str>(argument_1);
                    let kept_2 = ::durable::private::keep_owned::<(u32, u32)>(&argument_2);
                    let kept_3 = ::durable::private::keep_some::<Card>(argument_3);
                    ::core::option::Option::Some(move |
                        result: <Answer<Paid> as ::durable::private::AnyResult>::Value,
                    | -> ::durable::private::Box<
                        dyn ::core::ops::FnOnce(
                            ::durable::private::Flow,
                        ) -> ::durable::private::Undoing + ::core::marker::Send,
                    > {
                        ::durable::private::Box::new(move |
                            flow: ::durable::private::Flow,
                        | -> ::durable::private::Undoing {
                            ::durable::private::Box::pin(async move {
                                let outcome: ::core::result::Result<
                                    _,
                                    ::durable::private::StepError,
                                > = refund(
                                        &flow,
                                        ::durable::private::lend::<str>(&kept_1),
                                        kept_2,
                                        ::durable::private::lend_some::<Card>(&kept_3),
                                        &result,
                                    )
                                    .await;
                                ::durable::private::undone(outcome)
                            })
                        })
                    })
                } else {
                    ::core::option::Option::None
                };
                ::durable::private::call(
                    flow,
                    spec,
                    ::durable::private::form::<
                        <Answer<Paid> as ::durable::private::AnyResult>::Value,
                    >(),
                    move |step| {
                        let argument_0 = ::durable::private::resource::<Shop>(flow, spec.name)?;
                        ::core::result::Result::Ok(async move {
                            let function = {
                                #[::durable::private::reattempt::retry(
                                    max = 3,
                                    idempotent = false,
                                    crate = ::durable::private::reattempt
                                )]
                                #[cfg_attr(feature = "spans", instrument(skip_all))]
                                async fn pay<'a>(
                                    step: &'a Step,
                                    shop: &Shop,
                                    text: &str,
                                    (a, b): (u32, u32),
                                    maybe: Option<&Card>,
                                ) -> ::core::result::Result<
                                    <Answer<Paid> as ::durable::private::AnyResult>::Value,
                                    ::durable::private::RetryError<
                                        <Answer<Paid> as ::durable::private::AnyResult>::Error,
                                    >,
                                >
                                where
                                    'a: 'a,
                                {
                                    shop.pay(text).await
                                }
                                pay
                            };
                            ::durable::private::gave_up(
                                function(
                                        <Step as ::durable::private::IsStep>::of(&step),
                                        ::core::ops::Deref::deref(&argument_0),
                                        argument_1,
                                        argument_2,
                                        argument_3,
                                    )
                                    .await,
                            )
                        })
                    },
                    undo,
                )
            }
        "#]],
    );
}

#[test]
fn a_parameter_called_like_the_task() {
    expanded(
        step::expand,
        "",
        "async fn ask(step: &Step, flow: u32) -> Result<u32, String> { Ok(flow) }",
        &expect![[r#"
            fn ask(
                flow_: &::reattempt_supervisor::Flow,
                flow: u32,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<
                    <Result<u32, String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    ::reattempt_supervisor::StepError,
                >,
            > + ::core::marker::Send {
                let (argument_0,) = (flow,);
                let flow = flow_;
                let spec = ::reattempt_supervisor::private::Spec {
                    name: "ask",
                    complete_by: ::core::option::Option::None,
                    idempotent: true,
                };
                let undo = ::core::option::Option::None::<
                    ::reattempt_supervisor::private::NoUndo<
                        <Result<u32, String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >,
                >;
                ::reattempt_supervisor::private::call(
                    flow,
                    spec,
                    ::reattempt_supervisor::private::form::<
                        <Result<u32, String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >(),
                    move |step| {
                        ::core::result::Result::Ok(async move {
                            let function = {
                                async fn ask(step: &Step, flow: u32) -> Result<u32, String> {
                                    Ok(flow)
                                }
                                ask
                            };
                            ::reattempt_supervisor::private::final_error(
                                function(
                                        <Step as ::reattempt_supervisor::private::IsStep>::of(&step),
                                        argument_0,
                                    )
                                    .await,
                            )
                        })
                    },
                    undo,
                )
            }
        "#]],
    );
}

#[test]
fn wrong_keys_leave_the_function_to_its_callers() {
    expanded(
        step::expand,
        r#"complete_by = "0s", undo = 5"#,
        "async fn ping(_: &Step) -> Result<(), String> { Ok(()) }",
        &expect![[r#"
            fn ping(
                flow: &::reattempt_supervisor::Flow,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<
                    <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    ::reattempt_supervisor::StepError,
                >,
            > + ::core::marker::Send {
                let spec = ::reattempt_supervisor::private::Spec {
                    name: "ping",
                    complete_by: ::core::option::Option::Some(
                        ::core::time::Duration::new(0u64, 0u32),
                    ),
                    idempotent: true,
                };
                let undo = ::core::option::Option::None::<
                    ::reattempt_supervisor::private::NoUndo<
                        <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >,
                >;
                ::reattempt_supervisor::private::call(
                    flow,
                    spec,
                    ::reattempt_supervisor::private::form::<
                        <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >(),
                    move |step| {
                        ::core::result::Result::Ok(async move {
                            let function = {
                                async fn ping(_: &Step) -> Result<(), String> {
                                    Ok(())
                                }
                                ping
                            };
                            ::reattempt_supervisor::private::final_error(
                                function(
                                        <Step as ::reattempt_supervisor::private::IsStep>::of(&step),
                                    )
                                    .await,
                            )
                        })
                    },
                    undo,
                )
            }
            ::core::compile_error! {
                "`undo` is the name of another step; write `undo = refund`\nrule D4: https://docs.rs/reattempt/latest/reattempt/errors/#d4"
            }
            ::core::compile_error! {
                "`complete_by` of 0 leaves no time; write a longer one, such as \"30s\", or drop it\nrule D2: https://docs.rs/reattempt/latest/reattempt/errors/#d2"
            }
        "#]],
    );
}

#[test]
fn a_wrong_function_stays_as_it_is() {
    expanded(
        step::expand,
        "",
        "fn pay(step: &Step, #[with] shop: &Shop) -> Result<(), String> { Ok(()) }",
        &expect![[r#"
            fn pay(step: &Step, shop: &Shop) -> Result<(), String> {
                Ok(())
            }
            ::core::compile_error! {
                "a step waits for others; write `async fn`\nrule D6: https://docs.rs/reattempt/latest/reattempt/errors/#d6"
            }
        "#]],
    );
}

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
                context: &::reattempt_supervisor::WorkflowContext,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<
                    <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    ::reattempt_supervisor::StepError,
                >,
            > + ::core::marker::Send {
                let spec = ::reattempt_supervisor::private::StepSpec {
                    name: "ping",
                    complete_by: ::core::option::Option::None,
                    idempotent: true,
                    undo: ::core::option::Option::None,
                    undo_unknown: ::core::option::Option::None,
                };
                let recorded = ::reattempt_supervisor::private::step_arguments(true, []);
                let undo = ::core::option::Option::None::<
                    ::reattempt_supervisor::private::NoUndo<
                        <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >,
                >;
                ::reattempt_supervisor::private::call(
                    context,
                    spec,
                    ::reattempt_supervisor::private::codec::<
                        <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >(),
                    recorded,
                    move |step| {
                        ::core::result::Result::Ok(async move {
                            let function = {
                                async fn ping(_: &Step) -> Result<(), String> {
                                    Ok(())
                                }
                                ping
                            };
                            ::reattempt_supervisor::private::single_attempt_result(
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
                context: &::durable::WorkflowContext,
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
                let spec = ::durable::private::StepSpec {
                    name: "pay-once",
                    complete_by: ::core::option::Option::Some(
                        ::core::time::Duration::new(90u64, 0u32),
                    ),
                    idempotent: false,
                    undo: ::core::option::Option::Some("refund"),
                    undo_unknown: ::core::option::Option::None,
                };
                let recorded = ::durable::private::step_arguments(
                    true,
                    [
                        ::durable::private::argument_json::<&str>(&argument_1),
                        ::durable::private::argument_json::<(u32, u32)>(&argument_2),
                        ::durable::private::argument_json::<Option<&Card>>(&argument_3),
                    ],
                );
                let undo = if ::durable::private::is_undoing(context) {
                    ::core::option::Option::Some(move |
                        value: ::core::option::Option<
                            <Answer<Paid> as ::durable::private::AnyResult>::Value,
                        >,
                        arguments: &mut ::durable::private::UndoArguments<'_>,
                    | -> ::durable::private::JsonResult<
                        ::core::option::Option<::durable::private::Compensation>,
                    > {
                        ::core::result::Result::Ok(
                            match value {
                                ::core::option::Option::Some(value) => {
                                    let copy_1 = ::durable::private::read_borrowed::<
                                        str,
                                        _,
                                    >(arguments)?;
                                    let copy_2 = ::durable::private::read_owned::<
                                        (u32, u32),
                                        _,
                                    >(arguments)?;
                                    let copy_3 = ::durable::private::read_optional::<
                                        Card,
                                        _,
                                    >(arguments)?;
                                    ::core::option::Option::Some(
                                        ::durable::private::Box::new(move |
                                            context: ::durable::private::WorkflowContext,
                                        | -> ::durable::private::CompensationFuture {
                                            ::durable::private::Box::pin(async move {
                                                let result: ::core::result::Result<
                                                    _,
                                                    ::durable::private::StepError,
                                                > = refund(
                                                        &context,
                                                        ::durable::private::borrow_copy::<str, _>(&copy_1),
                                                        copy_2,
                                                        ::durable::private::borrow_optional_copy::<
                                                            Card,
                                                            _,
                                                        >(&copy_3),
                                                        &value,
                                                    )
                                                    .await;
                                                ::durable::private::without_value(result)
                                            })
                                        }),
                                    )
                                }
                                _ => ::core::option::Option::None,
                            },
                        )
                    })
                } else {
                    ::core::option::Option::None
                };
                ::durable::private::call(
                    context,
                    spec,
                    ::durable::private::codec::<
                        <Answer<Paid> as ::durable::private::AnyResult>::Value,
                    >(),
                    recorded,
                    move |step| {
                        let argument_0 = ::durable::private::resource::<Shop>(context, spec.name)?;
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
                                    ::durable::private::count_attempt();
                                    shop.pay(text).await
                                }
                                pay
                            };
                            ::durable::private::retry_result(
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
        "async fn ask(step: &Step, context: u32) -> Result<u32, String> { Ok(context) }",
        &expect![[r#"
            fn ask(
                context_: &::reattempt_supervisor::WorkflowContext,
                context: u32,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<
                    <Result<u32, String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    ::reattempt_supervisor::StepError,
                >,
            > + ::core::marker::Send {
                let (argument_0,) = (context,);
                let context = context_;
                let spec = ::reattempt_supervisor::private::StepSpec {
                    name: "ask",
                    complete_by: ::core::option::Option::None,
                    idempotent: true,
                    undo: ::core::option::Option::None,
                    undo_unknown: ::core::option::Option::None,
                };
                let recorded = ::reattempt_supervisor::private::step_arguments(
                    true,
                    [::reattempt_supervisor::private::argument_json::<u32>(&argument_0)],
                );
                let undo = ::core::option::Option::None::<
                    ::reattempt_supervisor::private::NoUndo<
                        <Result<u32, String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >,
                >;
                ::reattempt_supervisor::private::call(
                    context,
                    spec,
                    ::reattempt_supervisor::private::codec::<
                        <Result<u32, String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >(),
                    recorded,
                    move |step| {
                        ::core::result::Result::Ok(async move {
                            let function = {
                                async fn ask(step: &Step, context: u32) -> Result<u32, String> {
                                    Ok(context)
                                }
                                ask
                            };
                            ::reattempt_supervisor::private::single_attempt_result(
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
                context: &::reattempt_supervisor::WorkflowContext,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<
                    <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    ::reattempt_supervisor::StepError,
                >,
            > + ::core::marker::Send {
                let spec = ::reattempt_supervisor::private::StepSpec {
                    name: "ping",
                    complete_by: ::core::option::Option::Some(
                        ::core::time::Duration::new(0u64, 0u32),
                    ),
                    idempotent: true,
                    undo: ::core::option::Option::None,
                    undo_unknown: ::core::option::Option::None,
                };
                let recorded = ::reattempt_supervisor::private::step_arguments(true, []);
                let undo = ::core::option::Option::None::<
                    ::reattempt_supervisor::private::NoUndo<
                        <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >,
                >;
                ::reattempt_supervisor::private::call(
                    context,
                    spec,
                    ::reattempt_supervisor::private::codec::<
                        <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >(),
                    recorded,
                    move |step| {
                        ::core::result::Result::Ok(async move {
                            let function = {
                                async fn ping(_: &Step) -> Result<(), String> {
                                    Ok(())
                                }
                                ping
                            };
                            ::reattempt_supervisor::private::single_attempt_result(
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
                "`undo` is the name of another step; write `undo = refund`\nrule D4: https://reattempt.github.io/reattempt/errors.html#d4"
            }
            ::core::compile_error! {
                "`complete_by` of 0 leaves no time; write a longer one, such as \"30s\", or drop it\nrule D2: https://reattempt.github.io/reattempt/errors.html#d2"
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
                "a step is asynchronous; write `async fn`\nrule D6: https://reattempt.github.io/reattempt/errors.html#d6"
            }
        "#]],
    );
}

#[test]
fn with_a_key() {
    expanded(
        step::expand,
        "key = item.number, args = \"ignore\"",
        "async fn charge(step: &Step, #[with] shop: &Shop, mut item: Item, (a, b): (u32, u32)) -> Result<(), String> { Ok(()) }",
        &expect![[r#"
            fn charge(
                context: &::reattempt_supervisor::WorkflowContext,
                item: Item,
                argument_2: (u32, u32),
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<
                    <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    ::reattempt_supervisor::StepError,
                >,
            > + ::core::marker::Send {
                #[allow(unused_variables)]
                let call_key = {
                    let item = &item;
                    let (a, b) = &argument_2;
                    ::reattempt_supervisor::private::step_key(&(item.number))
                };
                let (argument_1, argument_2) = (item, argument_2);
                let spec = ::reattempt_supervisor::private::StepSpec {
                    name: "charge",
                    complete_by: ::core::option::Option::None,
                    idempotent: true,
                    undo: ::core::option::Option::None,
                    undo_unknown: ::core::option::Option::None,
                };
                let recorded = ::reattempt_supervisor::private::with_key(
                    ::reattempt_supervisor::private::step_arguments(false, []),
                    call_key,
                );
                let undo = ::core::option::Option::None::<
                    ::reattempt_supervisor::private::NoUndo<
                        <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >,
                >;
                ::reattempt_supervisor::private::call(
                    context,
                    spec,
                    ::reattempt_supervisor::private::codec::<
                        <Result<(), String> as ::reattempt_supervisor::private::AnyResult>::Value,
                    >(),
                    recorded,
                    move |step| {
                        let argument_0 = ::reattempt_supervisor::private::resource::<
                            Shop,
                        >(context, spec.name)?;
                        ::core::result::Result::Ok(async move {
                            let function = {
                                async fn charge(
                                    step: &Step,
                                    shop: &Shop,
                                    mut item: Item,
                                    (a, b): (u32, u32),
                                ) -> Result<(), String> {
                                    Ok(())
                                }
                                charge
                            };
                            ::reattempt_supervisor::private::single_attempt_result(
                                function(
                                        <Step as ::reattempt_supervisor::private::IsStep>::of(&step),
                                        ::core::ops::Deref::deref(&argument_0),
                                        argument_1,
                                        argument_2,
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

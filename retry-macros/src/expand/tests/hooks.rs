//! The closures of the user in an expansion.

use expect_test::expect;

use super::{attribute, parse};

#[test]
#[expect(clippy::too_many_lines, reason = "it is one expansion")]
fn every_hook() {
    attribute(
        r#"max = 4, base = "50ms", deadline = "2s", on(Error::Busy | Error::Lost(_) if cold), except = is_final,
           context = attempt, clone(name), on_retry = |retry| log(retry), before_retry = async |_| renew().await,
           fallback = |_| cached(), crate = ::again"#,
        "async fn fetch(name: String) -> Result<Page, RetryError<Error>> { get(name, attempt).await }",
        &expect![[r#"
            ///
            /// **Retried:** Up to 4 attempts; delays of up to 50 ms, 100 ms, 200 ms, each drawn from 0 to that; at most 350 ms of waiting; 2 s for all attempts and delays together. Its calls share a budget.
            async fn fetch(mut name: String) -> Result<Page, RetryError<Error>> {
                const __REATTEMPT_POLICY: &::again::Policy = &::again::Policy::constant()
                    .max(4u32)
                    .base(::core::time::Duration::new(0u64, 50000000u32))
                    .deadline(::core::time::Duration::new(2u64, 0u32));
                static __REATTEMPT_SITE: ::again::__private::Site = ::again::__private::site!(
                    ::again::__private::name!("fetch" max base deadline on except context clone
                    on_retry before_retry fallback)
                );
                let context = |until| ::again::__private::CallContext::new(
                    &__REATTEMPT_SITE,
                    __REATTEMPT_POLICY,
                    until,
                    &::again::__private::ASYNC_TIMER,
                );
                let until = ::again::__private::Until::start(
                    __REATTEMPT_POLICY,
                    &::again::__private::ASYNC_TIMER,
                );
                let started = ::again::__private::Started::now(&::again::__private::ASYNC_TIMER);
                let mut call = ::again::__private::LiveCall::new(|| &__REATTEMPT_SITE);
                let answer = 'answer: {
                    let () = loop {
                        {
                            let attempt = ::again::__private::Started::attempt(
                                &started,
                                &call,
                                until,
                                &::again::__private::ASYNC_TIMER,
                            );
                            let outcome = ::again::__private::limited(
                                    async {
                                        if let ::core::option::Option::Some(outcome) = ({
                                            use ::again::__private::PlainForm as _;
                                            ::again::__private::FormOf::<
                                                Result<Page, RetryError<Error>>,
                                            >::NEW
                                                .reattempt_form()
                                        })
                                            .never()
                                        {
                                            return outcome;
                                        }
                                        if let ::core::option::Option::Some(()) = ::again::__private::never::<
                                            (),
                                        >() {
                                            let _ = &mut name;
                                        }
                                        let name = {
                                            use ::again::__private::UniqueValue as _;
                                            ::again::__private::CopyOf(&name).for_attempt()
                                        };
                                        get(name, attempt).await
                                    },
                                    until,
                                    &mut call,
                                    ::again::__private::ASYNC_TIMER,
                                )
                                .await;
                            let outcome = match (&mut call)
                                .in_time(outcome, || context(until), &mut ())
                            {
                                ::core::result::Result::Ok(outcome) => outcome,
                                ::core::result::Result::Err((_, _)) => break (),
                            };
                            let error = match ::again::__private::split_limited(
                                outcome,
                                |outcome| ::again::__private::split_as(
                                    {
                                        use ::again::__private::PlainForm as _;
                                        ::again::__private::FormOf::<
                                            Result<Page, RetryError<Error>>,
                                        >::NEW
                                            .reattempt_form()
                                    },
                                    outcome,
                                ),
                            ) {
                                ::core::result::Result::Ok(answer) => {
                                    break 'answer (&mut call)
                                        .succeeded(answer, || context(until), &mut ());
                                }
                                ::core::result::Result::Err(error) => error,
                            };
                            let cause = ::again::__private::cause_of(&error);
                            let delay = {
                                let verdict = ::again::__private::verdict(
                                    cause,
                                    |error| ::again::__private::unless(
                                        ::again::__private::exclude(error, is_final),
                                        || ::again::__private::judge(
                                            error,
                                            |error| {
                                                ::core::matches!(
                                                    error, Error::Busy | Error::Lost(_) if cold
                                                )
                                            },
                                        ),
                                    ),
                                );
                                let failure = ::again::__private::Described::moved_on(
                                    ::again::__private::describe!(cause),
                                    &started,
                                );
                                match (&mut call).failed(context(until), &mut (), failure, verdict) {
                                    ::core::result::Result::Ok(retry) => {
                                        ::again::__private::hooked(
                                            until,
                                            &::again::__private::ASYNC_TIMER,
                                            || ::again::__private::observe(&retry, |retry| log(retry)),
                                        );
                                        let delay = ::again::Retry::delay(&retry);
                                        delay
                                    }
                                    ::core::result::Result::Err(_) => break ::core::mem::drop(error),
                                }
                            };
                            (&mut call).pause(context(until), delay, ()).await;
                            if let ::core::result::Result::Err(_) = (&mut call)
                                .resume(context(until))
                            {
                                break ::core::mem::drop(error);
                            }
                            ::again::__private::nothing({
                                let reply = ::again::__private::limited_hook(
                                        {
                                            use ::again::__private::{
                                                SettleFuture as _, SettleValue as _,
                                            };
                                            ::again::__private::Reply(
                                                    ::core::option::Option::Some(
                                                        ::again::__private::hooked(
                                                            until,
                                                            &::again::__private::ASYNC_TIMER,
                                                            || ::again::__private::unseen(async |_| renew().await),
                                                        ),
                                                    ),
                                                )
                                                .reattempt_settle()
                                        },
                                        until,
                                        ::again::__private::ASYNC_TIMER,
                                    )
                                    .await;
                                match reply {
                                    ::core::result::Result::Ok(reply) => reply,
                                    ::core::result::Result::Err(_) => {
                                        let _ = (&mut call).late(context(until));
                                        break ::core::mem::drop(error);
                                    }
                                }
                            });
                            if let ::core::result::Result::Err(_) = (&mut call)
                                .resume(context(until))
                            {
                                break ::core::mem::drop(error);
                            }
                        };
                        (&mut call).retry_begins();
                    };
                    let value = ::again::__private::unseen(|_| cached());
                    ::again::__private::Answer::answer(
                        {
                            use ::again::__private::{SettleFuture as _, SettleValue as _};
                            ::again::__private::Reply(::core::option::Option::Some(value))
                                .reattempt_settle()
                        }
                            .await,
                    )
                };
                ::core::mem::drop((name,));
                answer
            }
        "#]],
    );
}

/// What a strategy is asked is a statement of its own, before the step is taken apart.
#[test]
fn a_strategy() {
    attribute(
        "strategy = &self.strategy, on(_), deadline = \"5s\"",
        "fn fetch(&mut self) -> Result<Page, FetchError> { self.get() }",
        &expect![[r#"
            ///
            /// **Retried:** Attempts and delays as its strategy says; 5 s for all attempts and delays together.
            fn fetch(&mut self) -> Result<Page, FetchError> {
                const __REATTEMPT_POLICY: &::reattempt::Policy = &::reattempt::Policy::constant()
                    .decided()
                    .deadline(::core::time::Duration::new(5u64, 0u32));
                static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::Site::new(
                    ::reattempt::__private::name!("fetch" strategy on deadline),
                );
                let context = |until| ::reattempt::__private::CallContext::new(
                    &__REATTEMPT_SITE,
                    __REATTEMPT_POLICY,
                    until,
                    &::reattempt::__private::BLOCKING_TIMER,
                );
                let until = ::reattempt::__private::Until::start(
                    __REATTEMPT_POLICY,
                    &::reattempt::__private::BLOCKING_TIMER,
                );
                let mut call = ::reattempt::__private::LiveCall::new(());
                let mut state = ::core::option::Option::None;
                if let ::core::option::Option::Some(answer) = ::reattempt::__private::too_late!(
                    Result < Page, FetchError >, || context(until)
                ) {
                    answer
                } else {
                    loop {
                        let outcome = ::reattempt::__private::LiveCall::attempt(
                            &mut call,
                            until,
                            || context(until),
                            || -> Result<Page, FetchError> { self.get() },
                        );
                        let error = match ::reattempt::__private::split(outcome) {
                            ::core::result::Result::Ok(answer) => {
                                break {
                                    let answer = (&mut call)
                                        .succeeded(answer, || context(until), &mut ());
                                    call.finish();
                                    answer
                                };
                            }
                            ::core::result::Result::Err(error) => error,
                        };
                        let cause = ::reattempt::attempt::Cause::Error(&error);
                        let verdict = ::reattempt::__private::verdict(
                            cause,
                            |error| ::reattempt::__private::judge(
                                error,
                                |error| ::core::matches!(error, _),
                            ),
                        );
                        let failure = ::reattempt::__private::describe!(cause);
                        let step = (&mut call)
                            .failed_by_strategy(
                                context(until),
                                &mut (),
                                failure,
                                verdict,
                                &mut state,
                                &(&self.strategy),
                            );
                        match step {
                            ::core::result::Result::Ok(retry) => {
                                let delay = ::reattempt::Retry::delay(&retry);
                                if let ::core::result::Result::Err(_) = (&mut call)
                                    .wait(context(until), delay)
                                {
                                    break ::reattempt::__private::fail(error);
                                }
                            }
                            ::core::result::Result::Err(_) => {
                                break ::reattempt::__private::fail(error);
                            }
                        }
                    }
                }
            }
        "#]],
    );
}

/// Of an error whose type the compiler may not know yet nothing is asked; that of the body is what `map_err` takes.
#[test]
fn an_error_is_described_as_far_as_its_type_is_written() {
    for (block, is_known) in [
        ("on(_), || -> Result<u32, Fault> { get() }", true),
        ("on(_), || -> Result<u32, _> { get() }", false),
        ("on(_), || -> Result<Vec<_>, Fault> { get() }", false),
        ("on(_), || -> Result<[(u32, _); 2], Fault> { get() }", false),
        ("on(_), async { get().await }", false),
        (
            "on(_), async || -> Result<u32, Fault> { get().await }",
            true,
        ),
        (
            "on(_), async || -> Result<u32, Box<_>> { get().await }",
            false,
        ),
        (
            "on(_), map_err = |it: Io| Fault(it), || -> Result<u32, Fault> { get() }",
            true,
        ),
        (
            "on(_), map_err = |it: Io<_>| Fault(it), || -> Result<u32, Fault> { get() }",
            false,
        ),
        (
            "on(_), map_err = |it: Io| Fault(it), || -> Result<Vec<_>, Fault> { get() }",
            true,
        ),
        (
            "on(_), map_err = Fault::Io, || -> Result<Vec<_>, Fault> { get() }",
            true,
        ),
    ] {
        let expanded = crate::expand::block(parse(block)).to_string();
        assert!(expanded.contains("describe !"), "{block}: {expanded}");
        assert_eq!(
            !expanded.contains("opaque"),
            is_known,
            "{block}: {expanded}"
        );
    }
}

#[test]
fn each_hook_is_called_by_itself() {
    for key in [
        "on_retry = |_| hooked()",
        "before_retry = |_| hooked()",
        "strategy = hooked()",
        "until = |_| hooked()",
        "fallback = |_| hooked()",
        "retry_after = |_| hooked()",
        "map_err = |error: Fault| hooked(error)",
        "verify = |_| hooked(), idempotent = false",
        "except = |_| hooked()",
        "context = attempt, detail = hooked()",
    ] {
        for start in ["fn", "async fn"] {
            let item = format!("{start} fetch() -> Result<u32, Fault> {{ get() }}");
            let arguments = parse(&format!("on(_), {key}"));
            let expanded = crate::expand::attribute(&arguments, parse(&item)).to_string();
            assert!(!expanded.contains("compile_error"), "{key}: {expanded}");
            assert!(expanded.contains("hooked"), "{start}, {key}: {expanded}");
        }
    }
}

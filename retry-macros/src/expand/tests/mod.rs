//! What typical uses expand to: small enough to read, and stable.

mod guide;
mod hooks;
mod named;
mod numbers;

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;

fn shown(tokens: &TokenStream) -> String {
    match syn::parse2(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => panic!("{error} in {tokens}"),
    }
}

fn parse(text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn attribute(arguments: &str, item: &str, expected: &Expect) {
    let text = shown(&crate::expand::attribute(&parse(arguments), parse(item)));
    expected.assert_eq(&text);
}

#[test]
fn sync_function() {
    attribute(
        r#"max = 5, backoff = "exp", jitter = 0.2, on = is_transient"#,
        "/// Fetches.\npub fn fetch(url: &str) -> Result<Page, FetchError> { client().get(url)? .page() }",
        &expect![[r#"
            /// Fetches.
            ///
            /// **Retried:** Up to 5 attempts; delays of about 100 ms, 200 ms, 400 ms, 800 ms, each +/-20 %; at most 1.8 s of waiting. Its calls share a budget.
            pub fn fetch(url: &str) -> Result<Page, FetchError> {
                const __REATTEMPT_POLICY: &::reattempt::Policy = &::reattempt::Policy::constant()
                    .max(5u32)
                    .backoff(::reattempt::Backoff::Exp)
                    .jitter(::reattempt::Jitter::Ratio(0.2f64));
                static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::site!(
                    ::reattempt::__private::name!("fetch" max backoff jitter on)
                );
                let context = || ::reattempt::__private::CallContext::blocking(
                    &__REATTEMPT_SITE,
                    __REATTEMPT_POLICY,
                );
                {
                    let mut body = ::reattempt::__private::CallStart::body(|| -> Result<
                        Page,
                        FetchError,
                    > { client().get(url)?.page() });
                    let begun = ::reattempt::__private::CallStart::now();
                    match ::reattempt::__private::split(body()) {
                        ::core::result::Result::Ok(answer) => __REATTEMPT_SITE.answered(answer),
                        ::core::result::Result::Err(error) => {
                            ::reattempt::__private::CallStart::retried(
                                begun,
                                context,
                                error,
                                body,
                                |error| ::reattempt::__private::describe!(error),
                                |error| ::reattempt::__private::judge(error, is_transient),
                                ::reattempt::__private::split,
                                |error, _| ::reattempt::__private::fail(error),
                            )
                        }
                    }
                }
            }
        "#]],
    );
}

#[test]
fn async_function() {
    attribute(
        r#"max = 5, backoff = "exp", jitter = 0.2, on = is_transient"#,
        "async fn fetch(client: &Client, url: &str) -> Result<Page, FetchError> { client.get(url).await?.page() }",
        &expect![[r#"
            ///
            /// **Retried:** Up to 5 attempts; delays of about 100 ms, 200 ms, 400 ms, 800 ms, each +/-20 %; at most 1.8 s of waiting. Its calls share a budget.
            async fn fetch(client: &Client, url: &str) -> Result<Page, FetchError> {
                const __REATTEMPT_POLICY: &::reattempt::Policy = &::reattempt::Policy::constant()
                    .max(5u32)
                    .backoff(::reattempt::Backoff::Exp)
                    .jitter(::reattempt::Jitter::Ratio(0.2f64));
                static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::site!(
                    ::reattempt::__private::name!("fetch" max backoff jitter on)
                );
                let context = || ::reattempt::__private::CallContext::asynchronous(
                    &__REATTEMPT_SITE,
                    __REATTEMPT_POLICY,
                );
                let mut call = ::reattempt::__private::LiveCall::new(|| &__REATTEMPT_SITE);
                loop {
                    let pause = {
                        let attempt = async {
                            if let ::core::option::Option::Some(outcome) = ::reattempt::__private::never::<
                                Result<Page, FetchError>,
                            >() {
                                return outcome;
                            }
                            client.get(url).await?.page()
                        };
                        let error = if ::reattempt::__private::LiveCall::failures(&call) == 0 {
                            let (outcome, marks) = (&mut call).first(attempt).await;
                            match ::reattempt::__private::split(outcome) {
                                ::core::result::Result::Ok(answer) => {
                                    break __REATTEMPT_SITE.answered(answer);
                                }
                                ::core::result::Result::Err(error) => {
                                    (&mut call).first_ended(marks, error)
                                }
                            }
                        } else {
                            match ::reattempt::__private::split((&mut call).again(attempt).await) {
                                ::core::result::Result::Ok(answer) => {
                                    break (&mut call).succeeded(answer, context, &mut ());
                                }
                                ::core::result::Result::Err(error) => error,
                            }
                        };
                        let assess = || (
                            ::reattempt::__private::describe!(& error),
                            ::reattempt::__private::judge(&error, is_transient),
                        );
                        match (&mut call).delay(context, &mut (), assess) {
                            ::core::result::Result::Ok(delay) => {
                                (&mut call)
                                    .pause(context(), delay, ::reattempt::__private::keep!(error))
                            }
                            ::core::result::Result::Err(_) => {
                                break ::reattempt::__private::fail(error);
                            }
                        }
                    };
                    let stopped = (&mut call).stopped(pause.await, context());
                    if let ::core::option::Option::Some((error, _)) = stopped {
                        break ::reattempt::__private::fail(error);
                    }
                }
            }
        "#]],
    );
}

/// `retry_after` is one question more, after all that decides about a retry.
#[test]
fn a_delay_that_the_error_asks_for() {
    let item = "fn fetch(&self) -> Result<Page, FetchError> { self.get() }";
    let expanded =
        |arguments: &str| shown(&crate::expand::attribute(&parse(arguments), parse(item)));
    let without = expanded("on(_)");
    let with = expanded("on(_), retry_after = FetchError::wait");
    let place = without.find("        match ::reattempt::__private::wait(");
    let (before, after) = without.split_at(place.unwrap_or_default());
    let added = with
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(after));
    let added: Vec<_> = added.unwrap_or(&with).lines().map(str::trim).collect();
    expect![[r#"
        ///
        /// **Retried:** Up to 3 attempts; delays of up to 100 ms, 200 ms, each drawn from 0 to that; at most 300 ms of waiting. Its calls share a budget.
        fn fetch(&self) -> Result<Page, FetchError> {
        const __REATTEMPT_POLICY: &::reattempt::Policy = &::reattempt::Policy::constant();
        static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::site!(
        ::reattempt::__private::name!("fetch" on retry_after)
        );
        let context = || ::reattempt::__private::CallContext::blocking(
        &__REATTEMPT_SITE,
        __REATTEMPT_POLICY,
        );
        let mut call = ::reattempt::__private::LiveCall::new(());
        loop {
        let outcome = ::reattempt::__private::LiveCall::attempt(
        &mut call,
        ::reattempt::__private::Until::NEVER,
        context,
        || -> Result<Page, FetchError> { self.get() },
        );
        let error = match ::reattempt::__private::split(outcome) {
        ::core::result::Result::Ok(answer) => {
        break {
        let answer = (&mut call).succeeded(answer, context, &mut ());
        call.finish();
        answer
        };
        }
        ::core::result::Result::Err(error) => error,
        };
        let verdict = ::reattempt::__private::judge(
        &error,
        |error| ::core::matches!(error, _),
        );
        let verdict = ::reattempt::__private::retry_after(
        __REATTEMPT_POLICY,
        ::reattempt::attempt::Cause::Error(&error),
        verdict,
        FetchError::wait,
        );
        let assess = || (::reattempt::__private::describe!(& error), verdict);
        match (&mut call).retry(context, &mut (), assess) {
        ::core::result::Result::Ok(()) => {}
        ::core::result::Result::Err(_) => break ::reattempt::__private::fail(error),
        }
        }
        }"#]]
    .assert_eq(&added.join("\n"));
}

/// A typical attribute stays readable.
#[test]
fn the_expansion_is_small() {
    let arguments = r#"max = 5, backoff = "exp", jitter = 0.2, on = is_transient"#;
    for item in [
        "fn fetch(url: &str) -> Result<Page, FetchError> { client().get(url) }",
        "async fn fetch(client: &Client, url: &str) -> Result<Page, FetchError> { client.get(url).await }",
    ] {
        let text = shown(&crate::expand::attribute(&parse(arguments), parse(item)));
        assert!(
            text.lines().count() < 60,
            "{} lines:\n{text}",
            text.lines().count()
        );
    }
}

/// Without `std` one macro of the runtime refuses the key, and nothing of what it needs is named.
#[test]
fn a_key_that_needs_std_is_refused_by_name() {
    let wrapped = |arguments: &str, item: &str| {
        let expanded = shown(&crate::expand::attribute(&parse(arguments), parse(item)));
        let key = expanded.split("needs_std!").nth(1)?.split('"').nth(1)?;
        Some(key.to_owned())
    };
    let function = "async fn fetch(url: &str) -> Result<Page, FetchError> { get(url).await }";
    for (arguments, key) in [
        ("on(_)", None),
        ("on(_), budget = \"none\"", None),
        ("on(_), budget = 0.2", Some("budget")),
        ("on(_), budget = &BUDGET", Some("budget")),
        ("on(_), breaker = &BREAKER", Some("breaker")),
        ("on(_), bulkhead = &self.bulkhead", Some("bulkhead")),
        ("on(_), throttle = &THROTTLE", Some("throttle")),
        ("on(_), hedge = \"50ms\"", Some("hedge")),
    ] {
        let found = wrapped(arguments, function);
        assert_eq!(found.as_deref(), key, "{arguments}");
    }
}

#[test]
fn the_documentation_says_whose_calls_share_a_budget() {
    let says_so = |arguments: &str| {
        let item = "fn fetch(&self) -> Result<Page, FetchError> { self.get() }";
        let expanded = shown(&crate::expand::attribute(&parse(arguments), parse(item)));
        assert!(expanded.contains("**Retried:**"), "{expanded}");
        expanded.contains("Its calls share a budget.")
    };
    assert!(says_so("on(_)"));
    for arguments in [
        "on(_), budget = 0.2",
        "on(_), budget = \"none\"",
        "on(_), budget = &BUDGET",
        "on(_), max = \"unlimited\"",
        "on(_), strategy = &self.strategy",
    ] {
        assert!(!says_so(arguments), "{arguments}");
    }
}

/// What is known only when the program runs may ask for one.
#[test]
fn a_budget_has_a_place_unless_it_is_known_that_none_is_shared() {
    for (arguments, expected) in [
        ("on(_)", true),
        ("on(_), max = MAX", true),
        ("on(_), max = \"unlimited\"", false),
        ("on(_), max = \"unlimited\", base = BASE", true),
        ("on(_), max = \"unlimited\", policy = \"orders\"", true),
        ("on(_), max = \"unlimited\", policy = POLICY", true),
        ("on(_), budget = 0.2", false),
        ("on(_), budget = 0.2, base = BASE", false),
        ("on(_), strategy = &STRATEGY", false),
    ] {
        let item = "fn fetch() -> Result<Page, FetchError> { get() }";
        let expanded = shown(&crate::expand::attribute(&parse(arguments), parse(item)));
        let places = ["__private::site!", "__private::sharing!"];
        let has_place = places.iter().any(|place| expanded.contains(place));
        assert_eq!(has_place, expected, "{arguments}: {expanded}");
    }
}

#[test]
fn a_refused_function_is_still_there() {
    attribute(
        "max = 0",
        "fn fetch() -> Result<(), Error> { Ok(()) }",
        &expect![[r#"
            fn fetch() -> Result<(), Error> {
                ::reattempt::__private::keys!(max);
                Ok(())
            }
            ::core::compile_error! {
                "`max` counts the first attempt too, so 0 would never call at all; write `max = 1` for no retry or `max = 3` for two\nrule R1: https://reattempt.github.io/reattempt/errors.html#r1"
            }
        "#]],
    );
}

/// The parser has a sign of the last key as part of its literal.
#[test]
fn a_negative_number_at_the_end_is_reported_as_one() {
    for arguments in ["max = -1", "max = -1, on(_)"] {
        let item = parse("fn fetch() -> Result<(), Error> { Ok(()) }");
        let text = crate::expand::attribute(&parse(arguments), item).to_string();
        assert!(
            text.contains("at least 1, but is -1; write `max = 3`"),
            "{text}"
        );
    }
}

/// A constant in a method cannot name what belongs to the block or the method.
#[test]
fn an_answer_with_a_parameter_is_judged_in_the_method() {
    for (head, method, is_item) in [
        ("impl Client", "fn get(&self) -> Reply<u8>", true),
        ("impl<T> Client<T>", "fn get(&self) -> Reply<T>", false),
        (
            "impl<T: Into<U>, U> Client<T>",
            "fn get(&self) -> Reply<U>",
            false,
        ),
        (
            "impl<T> Client<Other>",
            "fn get(&self) -> Reply<Other>",
            true,
        ),
        ("impl Client", "fn get<T>(&self) -> Reply<T>", false),
        ("impl Client", "fn get(&self) -> Reply<'_>", false),
        ("impl Client", "fn get(&self) -> Reply<[Self; 2]>", false),
    ] {
        let item = parse(&format!(
            "{head} {{ {method} {{ self.reply() }} fn put(&self) -> Result<(), Fault> {{ put() }} }}"
        ));
        let expanded = crate::expand::attribute(&parse("on(_)"), item).to_string();
        // An item of its own, or an expression.
        let said = if is_item {
            "const _ : () = { use"
        } else {
            "const { { use"
        };
        assert!(expanded.contains(said), "{head} {method}: {expanded}");
    }
}

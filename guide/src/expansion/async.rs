///
/// **Retried:** Up to 5 attempts; delays of about 100 ms, 200 ms, 400 ms, 800 ms, each +/-20 %; at most 1.8 s of waiting.
async fn fetch(client: &Client, url: &str) -> Result<Page, FetchError> {
    let mut call = ::reattempt::__private::Count::new();
    let mut first = true;
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
            let error = if first {
                let outcome = attempt.await;
                match ::reattempt::__private::split(outcome, &call) {
                    ::core::result::Result::Ok(answer) => break answer,
                    ::core::result::Result::Err(error) => error,
                }
            } else {
                let outcome = ::reattempt::__private::again(attempt, call).await;
                match ::reattempt::__private::split(outcome, &call) {
                    ::core::result::Result::Ok(answer) => break answer,
                    ::core::result::Result::Err(error) => error,
                }
            };
            let verdict = ::reattempt::__private::verdict(
                ::reattempt::Cause::Error(&error),
                |error| ::reattempt::__private::judge(error, is_transient),
            );
            match ::reattempt::__private::pause_after(
                error,
                &mut call,
                const {
                    &::reattempt::Operation::new(
                        ::core::concat!(::core::module_path!(), "::", "fetch"),
                        ::reattempt::Policy::new()
                            .max(5u32)
                            .jitter(::reattempt::Jitter::Ratio(0.2f64)),
                    )
                },
                ::reattempt::__private::Until::NEVER,
                &::reattempt::__private::ASYNC_TIMER,
                verdict,
                &mut (),
            ) {
                ::core::result::Result::Ok(pause) => pause,
                ::core::result::Result::Err((error, _)) => {
                    break ::reattempt::__private::fail(error);
                }
            }
        };
        pause.await;
        first = false;
    }
}

///
/// **Retried:** Up to 5 attempts; delays of about 100 ms, 200 ms, 400 ms, 800 ms, each +/-20 %; at most 1.8 s of waiting.
pub fn fetch(url: &str) -> Result<Page, FetchError> {
    let mut call = ::reattempt::__private::Count::new();
    let mut inside = ::reattempt::__private::Inside::new();
    loop {
        let outcome = ::reattempt::__private::attempt(|| -> Result<Page, FetchError> {
            client().get(url)?.page()
        });
        let error = match ::reattempt::__private::split(outcome, &call) {
            ::core::result::Result::Ok(answer) => break answer,
            ::core::result::Result::Err(error) => error,
        };
        inside.leave();
        let verdict = ::reattempt::__private::verdict(
            ::reattempt::Cause::Error(&error),
            |error| ::reattempt::__private::judge(error, is_transient),
        );
        match ::reattempt::__private::wait(
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
            &::reattempt::__private::BLOCKING_TIMER,
            verdict,
            &mut (),
        ) {
            ::core::result::Result::Ok(()) => {
                inside.enter(call);
            }
            ::core::result::Result::Err(_) => break ::reattempt::__private::fail(error),
        }
    }
}

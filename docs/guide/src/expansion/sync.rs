///
/// **Retried:** Up to 5 attempts; delays of about 100 ms, 200 ms, 400 ms, 800 ms, each +/-20 %; at most 1.8 s of waiting. Its calls share a budget.
pub fn fetch(url: &str) -> Result<Page, FetchError> {
    const __REATTEMPT_POLICY: &::reattempt::Policy = &::reattempt::Policy::constant()
        .max(5u32)
        .jitter(::reattempt::Jitter::Ratio(0.2f64));
    static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::site!(
        ::reattempt::__private::name!("fetch" max jitter on)
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

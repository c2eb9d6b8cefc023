///
/// **Retried:** Up to 5 attempts; delays of about 100 ms, 200 ms, 400 ms, 800 ms, each +/-20 %; at most 1.8 s of waiting. Its calls share a budget.
async fn fetch(client: &Client, url: &str) -> Result<Page, FetchError> {
    const __REATTEMPT_POLICY: &::reattempt::Policy = &::reattempt::Policy::constant()
        .max(5u32)
        .jitter(::reattempt::Jitter::Ratio(0.2f64));
    static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::site!(
        ::reattempt::__private::name!("fetch" max jitter on)
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

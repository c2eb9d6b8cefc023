//! What other libraries hand to their hooks, and what they give back.

use super::{findings, is_sketch, only};

#[test]
fn backoff_without_async_gives_its_own_error() {
    let call = |future: &str, awaited: &str| {
        format!("backoff::{future}retry(ExponentialBackoff::default(), || ask()){awaited}")
    };
    let (found, code) = only("others-sync", &call("", ""));
    assert!(!code.contains("map_err") && !is_sketch(&found), "{found}");
    let (_, code) = only("others-async", &call("future::", ".await"));
    assert!(code.contains(".map_err("), "{code}");
}

#[test]
fn an_error_that_says_when_is_asked() {
    for (name, call, wrapper) in [
        (
            "others-after",
            "backoff::future::retry(ExponentialBackoff::default(), || ask()).await",
            "backoff::Error",
        ),
        (
            "others-after-2",
            "tokio_retry2::Retry::spawn(FixedInterval::from_millis(9).take(3), || ask()).await",
            "tokio_retry2::RetryError",
        ),
    ] {
        let (found, code) = only(name, call);
        let key = format!(
            "retry_after = |error: &{wrapper}<_>| match error {{ {wrapper}::Transient {{ retry_after, .. }} => *retry_after, _ => None }},"
        );
        assert!(code.contains(&key), "{key} {found}");
        assert!(
            found["differs"].to_string().contains("`max_retry_after`"),
            "{found}"
        );
    }
}

/// backoff gives it the error, and a hook sees a reference.
#[test]
fn what_takes_the_error_is_not_a_hook() {
    let call = |notify: &str| {
        format!(
            "backoff::future::retry_notify(ExponentialBackoff::default(), || ask(), {notify}).await"
        )
    };
    for (number, notify) in [
        "log_retry",
        "|e, _| send(e)",
        "|e: Error, after| last = (e, after)",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, _) = only(&format!("others-notify-{number}"), &call(notify));
        let said = found["missing"].to_string();
        assert!(is_sketch(&found) && said.contains("`on_retry`"), "{found}");
    }
    for (number, notify) in [
        "|e, after| warn!(\"{e}: {after:?}\")",
        "|e: Error, _| look(&e, e.code())",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("others-notified-{number}"), &call(notify));
        assert!(
            !is_sketch(&found) && code.contains("on_retry = "),
            "{found}"
        );
    }
}

/// What is called in place of being moved.
#[test]
fn what_an_attempt_changes_has_to_be_mut() {
    let call = "tokio_retry::Retry::start(FixedInterval::from_millis(9).take(3), task).await";
    for (number, (function, is_whole)) in [
        (format!("async fn it<F: FnMut() -> T>(task: F) -> Result<u8, Error> {{ {call} }}"), false),
        (format!("async fn it<F>(task: F) -> Result<u8, Error> where F: FnMut() -> T {{ {call} }}"), false),
        (format!("async fn it(task: impl FnMut() -> T) -> Result<u8, Error> {{ {call} }}"), false),
        (format!("async fn it() -> Result<u8, Error> {{ let task = || {{ asked += 1; ask() }}; {call} }}"), false),
        (format!("async fn it(mut task: impl FnMut() -> T) -> Result<u8, Error> {{ {call} }}"), true),
        (format!("async fn it(task: impl Fn() -> T) -> Result<u8, Error> {{ {call} }}"), true),
        (format!("async fn it() -> Result<u8, Error> {{ let task = || ask(); {call} }}"), true),
    ]
    .into_iter()
    .enumerate()
    {
        let found = &findings(&format!("others-mut-{number}"), &function)[0];
        let said = found["missing"].to_string().contains("`mut task`");
        assert_eq!((said, !is_sketch(found)), (!is_whole, is_whole), "{found}");
    }
}

/// What has no key is missing: the keys above do not say it.
#[test]
fn what_has_no_key_makes_a_sketch() {
    for (number, (call, words)) in [
        ("tryhard::retry_fn(|| ask()).retries(3).linear_backoff(PAUSE).await", "`linear_backoff(PAUSE)` has no key"),
        ("tryhard::retry_fn(|| ask()).retries(3).fixed_backoff(PAUSE).on_retry(log).await", "`on_retry(log)` has no key"),
        ("(|| ask()).retry(backon::ExponentialBuilder::new().with_mood(GOOD)).await", "`with_mood(GOOD)` has no key"),
        ("tokio_retry::Retry::start(ExponentialBackoff::from_millis(base).take(3), || ask()).await", "`from_millis(base)` is the base of a power"),
        ("tokio_retry::Retry::start(ExponentialBackoff::from_millis(2).factor(unit).take(3), || ask()).await", "`factor(unit)` multiplies each delay"),
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("others-key-{number}"), call);
        assert_eq!(code.contains("\"fixed\""), call.contains("fixed"), "{code}");
        let said = found["missing"].to_string();
        assert!(is_sketch(&found) && said.contains(words), "{found}");
        assert!(!found["differs"].to_string().contains("breaks rule"), "{found}");
    }
}

#[test]
fn a_builder_that_is_changed_is_not_known() {
    let (found, _) = only(
        "others-changed",
        "let mut delays = backon::ExponentialBuilder::new(); if let Some(cap) = cap { delays = delays.with_max_delay(cap); } (|| ask()).retry(delays).await",
    );
    let said = found["missing"].to_string();
    assert!(
        is_sketch(&found) && said.contains("the code changes `delays`"),
        "{found}"
    );
}

#[test]
fn a_delay_of_zero_is_none() {
    for (number, call) in [
        "tokio_retry::Retry::spawn(FixedInterval::from_millis(0).take(2), || ask()).await",
        "tokio_retry::Retry::spawn(FixedInterval::new(Duration::from_secs(0)).take(2), || ask()).await",
        "(|| ask()).retry(backon::ConstantBuilder::new().with_delay(Duration::ZERO).with_max_times(2)).await",
        "(|| ask()).retry(backon::ExponentialBuilder::new().with_min_delay(std::time::Duration::ZERO).with_max_times(2)).await",
        "tryhard::retry_fn(|| ask()).retries(2).fixed_backoff(Duration::ZERO).await",
        "const PAUSE: Duration = Duration::from_millis(0); tokio_retry::Retry::spawn(FixedInterval::new(PAUSE).take(2), || ask()).await",
        "loop { tries += 1; match ask() { Ok(it) => return Ok(it), Err(e) if tries >= 3 => return Err(e), Err(_) => sleep(Duration::ZERO) } }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("others-zero-{number}"), call);
        assert!(code.contains("backoff = \"none\",") && !is_sketch(&found), "{found}");
        assert!(!code.contains("base") && !code.contains("jitter"), "{code}");
    }
    let (found, code) = only(
        "others-zero-times",
        "tokio_retry::Retry::spawn(FixedInterval::from_millis(0).take(times), || ask()).await",
    );
    assert!(
        code.contains("budget = 0.1,") && !is_sketch(&found),
        "{found}"
    );
}

#[test]
fn what_makes_another_delay_each_time_is_not_a_base() {
    for (number, sleep) in ["backoff.next().unwrap()", "context.backoff()"]
        .into_iter()
        .enumerate()
    {
        let code = format!(
            "for _ in 0..5 {{ match ask() {{ Ok(it) => return Ok(it), Err(_) => sleep({sleep}) }} }} fail()"
        );
        let (found, _) = only(&format!("others-next-{number}"), &code);
        let said = found["missing"].to_string();
        assert!(
            is_sketch(&found) && said.contains("`base`, how long the loop sleeps"),
            "{found}"
        );
    }
}

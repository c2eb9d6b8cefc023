//! What the macro says of attributes that other libraries or other parts of the language would accept.

use super::index::collect;

fn messages(arguments: &str, item: &str) -> Vec<String> {
    let parse = |text: &str| text.parse().unwrap_or_else(|error| panic!("{error}"));
    let mut messages = Vec::new();
    collect(
        crate::expand::attribute(&parse(arguments), parse(item)),
        &mut messages,
    );
    messages
}

const FUNCTION: &str = "fn fetch(x: u32) -> Result<u32, Shop> { Ok(x) }";

#[track_caller]
fn says(arguments: &str, expected: &str) {
    let said = messages(arguments, FUNCTION);
    let said: Vec<_> = said
        .iter()
        .map(|said| said.replace("\nrule ", " [").replace(": https", "] "))
        .map(|said| format!("{}]", said.split("] ").next().unwrap_or_default()))
        .collect();
    assert_eq!(said, [expected], "{arguments}");
}

#[test]
fn nothing_is_left_to_retry() {
    let all = "`except(_)` names every error, so nothing would be retried; name the errors that are not worth another attempt [X9]";
    for arguments in [
        "except(_)",
        "on(Shop::Busy), except(_)",
        "except(_ if true)",
        "except(Shop::Busy | _)",
    ] {
        says(arguments, all);
    }
    let some = "`except` names every error that `on` names, so nothing would be retried; drop one of them [X9]";
    for arguments in [
        "on(Shop::A | Shop::B), except(Shop::B | Shop::A)",
        "on(Shop::A), except(Shop::A | Shop::B)",
        "on(Shop::A if soon()), except(Shop::A)",
        "on(Busy), except(Busy | Auth)",
    ] {
        says(arguments, some);
    }
    for arguments in [
        "on(Shop::A | Shop::B), except(Shop::A)",
        "on(Shop::A), except(Shop::A if soon())",
        "on(_), except(Shop::A | Shop::B)",
        "except(Shop::A)",
    ] {
        assert_eq!(messages(arguments, FUNCTION), [""; 0], "{arguments}");
    }
}

#[test]
fn several_errors_are_separated_by_a_bar() {
    says(
        "on(Shop::Busy, Shop::Auth)",
        "several errors are separated by `|`; write `on(Shop::Busy | Shop::Auth)` [syntax]",
    );
    says(
        "on(Shop::Busy || Shop::Auth)",
        "several errors are separated by `|`; write `on(Shop::Busy | Shop::Auth)` [syntax]",
    );
    assert_eq!(messages("on(Shop::Busy,)", FUNCTION), [""; 0]);
    assert_eq!(messages("on(| Shop::Busy | Shop::Auth)", FUNCTION), [""; 0]);
}

#[test]
fn a_closure_stands_after_the_sign() {
    says(
        "on(|e| true)",
        "a closure stands after `=`; write `on = |e| true` [syntax]",
    );
    says(
        "except(|e: &Shop| e.is_busy())",
        "a closure stands after `=`; write `except = |e: &Shop| e.is_busy()` [syntax]",
    );
}

#[test]
fn a_pattern_stands_in_parentheses() {
    for pattern in [
        "_",
        "Shop::Busy",
        "Shop::Status(503)",
        "Shop::Busy | Shop::Status(_)",
        "Shop::Status { code: 3 }",
    ] {
        for word in ["on", "except"] {
            let patterns = messages(&format!("{word} = {pattern}"), FUNCTION);
            let fix = format!("a pattern stands in parentheses; write `{word}({pattern})`");
            assert_eq!(patterns.len(), 1, "{pattern}: {patterns:?}");
            assert!(patterns[0].starts_with(&fix), "{patterns:?}");
        }
    }
    for function in [
        "is_busy",
        "Shop::is_busy",
        "IS_BUSY",
        "Shop::IS_BUSY",
        "is_busy::<Shop>",
        "Judge::new(3)",
        "chain![Shop]",
    ] {
        assert_eq!(
            messages(&format!("on = {function}"), FUNCTION),
            [""; 0],
            "{function}"
        );
    }
}

#[test]
fn words_stand_in_quotes() {
    for (written, key) in [
        ("backoff = exp", "exp"),
        ("jitter = full", "full"),
        ("nested = multiply", "multiply"),
        ("max = unlimited, deadline = \"1s\"", "unlimited"),
    ] {
        let word = written.split(' ').next().unwrap_or_default();
        says(
            &format!("{written}, on(_)"),
            &format!("a word stands in quotes; write `{word} = \"{key}\"` [type]"),
        );
    }
    assert_eq!(messages("backoff = own, on(_)", FUNCTION), [""; 0]);
}

#[test]
fn a_key_is_followed_by_the_sign() {
    for written in ["max: 3", "max 3", "on(_), max: 3"] {
        says(
            written,
            "a key is followed by `=`; write `max = 3` [syntax]",
        );
    }
}

#[test]
fn values_that_are_no_code() {
    says(
        "until = 5, on(_)",
        "`until` takes a closure or a path; write `until = |value| ...` [S9]",
    );
    says(
        "policy = 5, on(_)",
        "`policy` is a `Policy`, or the name of one; write `policy = POLICY` or `policy = \"storage\"` [type]",
    );
    says(
        "on_retry = async |retry| (), on(_)",
        "`on_retry` only observes and cannot be async; move code that waits to `before_retry` [S9]",
    );
}

#[test]
fn keys_without_effect() {
    says(
        "clone(x, x), on(_)",
        "`x` stands here twice, and one copy is all that the body gets; drop one of them [X17]",
    );
    let said = messages(
        "on(_), until = |ready| *ready",
        "fn ready() -> bool { true }",
    );
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said.concat().starts_with(
            "`on` takes an error, and `bool` has none; drop `on`, or return a `Result`\nrule X17"
        ),
        "{said:?}"
    );
}

#[test]
fn values_in_other_words() {
    for (written, fix) in [("1 sec", "1s"), ("100 MS", "100ms"), ("1d", "24h")] {
        says(
            &format!("base = \"{written}\", cap = \"24h\", on(_)"),
            &format!(
                "a duration's unit must be one of `ns`, `us`, `ms`, `s`, `m`, `h`; write `\"{fix}\"` [R2]"
            ),
        );
    }
    says(
        "max = 4294967295, on(_)",
        "`max` must be at most 4294967294, but is 4294967295; write a smaller number, or `max = \"unlimited\"` [R1]",
    );
    says(
        "name = \"pay\u{200B}ment\", on(_)",
        "`name` must not have spaces, control characters or invisible characters; write `name = \"pay_ment\"` [R14]",
    );
    says(
        "MAX = 3, on(_)",
        "unknown key `MAX`; keys are written in lower case, `max` [R15]",
    );
    says(
        "abort_on(Shop::A)",
        "unknown key `abort_on`; it is called `except` here; write `except(Shop::A)` [R15]",
    );
}

/// The policy of a block: what only one of its methods has wrong names that method.
#[test]
fn methods_of_a_block_are_named() {
    const BLOCK: &str = "impl Shop {
        async fn a(&self, order: Order) -> Result<u32, Shop> { Ok(order) }
        fn b(&self) -> Result<u32, Shop> { Ok(1) }
        #[retry(never)]
        fn c(&self) -> Result<u32, Shop> { Ok(1) }
    }";
    let first = |arguments: &str| {
        let said = messages(arguments, BLOCK);
        let first = |message: &String| message.lines().next().unwrap_or_default().to_owned();
        said.iter().map(first).collect::<Vec<_>>()
    };
    assert_eq!(
        first("clone(order), on(_)"),
        [
            "method `b` has no parameter `order`; drop it here, and on the methods that have it write `clone(order)` in a `#[retry(...)]` with all keys, which replaces the policy of the block"
        ]
    );
    assert_eq!(
        first("timeout = \"1s\", on(_)"),
        [
            "`timeout` cannot interrupt a blocked thread, and the method `b` is sync; make it async, or write `deadline` and give the client a time-out of `deadline::remaining()`"
        ]
    );
    assert_eq!(
        first("before_retry = async |_| (), on(_)"),
        [
            "`before_retry` cannot be async in a sync method `b`; make the method `b` async or the closure sync"
        ]
    );
    assert_eq!(
        first("clone(order, text), on(_)").len(),
        3,
        "one for each name and method"
    );
}

#[test]
fn a_function_without_a_body_is_one_fault() {
    for function in [
        "fn fetch() -> i32;",
        "fn fetch() -> Option<u32>;",
        "fn fetch();",
    ] {
        let said = messages("timeout = \"1s\", on(_)", function);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said.concat().starts_with("a function without a body"));
    }
}

/// A mistake, what is said of it, and the fix in the words of who made it.
const FIXES: &[(&str, &str, &str)] = &[
    (
        "on(_), until = job.is_done()",
        "`until` takes a function",
        "until = |job| job.is_done()",
    ),
    (
        "on = fault.is_busy()",
        "`on` takes a function",
        "on = |fault| fault.is_busy()",
    ),
    ("on = E::A", "a pattern stands in parentheses", "on(E::A)"),
    (
        "on(Err(E::A))",
        "`on` looks at the error itself",
        "on(E::A)",
    ),
    (
        "on(E::A && E::B)",
        "several errors are separated by `|`",
        "on(E::A | E::B)",
    ),
    (
        "on(!Shop::Busy)",
        "a pattern has no opposite",
        "on(_), except(Shop::Busy)",
    ),
    (
        "on(_), except(!Shop::Busy)",
        "a pattern has no opposite",
        "on(Shop::Busy)",
    ),
    (
        "on(shop::is_busy)",
        "a function stands after `=`",
        "on = shop::is_busy",
    ),
    (
        "on(Shop::is_busy())",
        "a function stands after `=`",
        "on = Shop::is_busy",
    ),
    (
        "on(e.is_busy())",
        "a function stands after `=`",
        "on = |e| e.is_busy()",
    ),
    (
        "on(e.code == 503)",
        "a function stands after `=`",
        "on = |e| e.code == 503",
    ),
    (
        "on = e.is_busy()",
        "`on` takes a function",
        "on = |e| e.is_busy()",
    ),
    (
        "on(_), except = !error.is_busy()",
        "`except` takes a function",
        "except = |error| !error.is_busy()",
    ),
    (
        "on(_), clone = x",
        "`clone` takes a list of parameters",
        "clone(x)",
    ),
    (
        "on(_), clone = [x, y]",
        "`clone` takes a list of parameters",
        "clone(x, y)",
    ),
    (
        "on(_), clone(x.clone())",
        "`clone` lists parameters by their names",
        "clone(x)",
    ),
    (
        "on(_), budget = None",
        "a word stands in quotes",
        "budget = \"none\"",
    ),
    (
        "on(_), jitter = None",
        "a word stands in quotes",
        "jitter = \"none\"",
    ),
    (
        "on(_), base = \"500\"",
        "a duration needs a unit",
        "\"500ms\"` or `\"500s\"",
    ),
    (
        "on(_), base = 2 * SECOND",
        "a product of durations is no constant",
        "const { SECOND.saturating_mul(2) }",
    ),
    (
        "on(_), base_ms = 500",
        "unknown key `base_ms`; the unit stands in the value",
        "base = \"500ms\"",
    ),
    (
        "not_on(Shop::Busy)",
        "unknown key `not_on`; it is called `except` here",
        "except(Shop::Busy)",
    ),
    (
        "on(_), not_idempotent",
        "unknown key `not_idempotent`; it is called `idempotent` here",
        "idempotent = false",
    ),
    (
        "!idempotent",
        "a flag that is off has a value",
        "idempotent = false",
    ),
    ("P", "a policy is the value of a key", "policy = P"),
    (
        "self.retry",
        "a policy is the value of a key",
        "policy = self.retry",
    ),
    ("policy()", "`policy` needs a value", "policy = policy()"),
    (
        "patient",
        "unknown key `patient`; a policy is the value of a key",
        "policy = patient",
    ),
    (
        "Shop::Busy",
        "`Shop::Busy` is not a key; errors belong to `on`",
        "on(Shop::Busy)",
    ),
    ("\"max = 5\"", "keys stand without quotes", "max = 5"),
    ("\"max\" = 5, on(_)", "keys stand without quotes", "max = 5"),
    ("5 max, on(_)", "a key is followed by `=`", "max = 5"),
    (
        "5 times, on(_)",
        "unknown key `times`; it is called `max` here",
        "max = 6",
    ),
    (
        "\"5 times\"",
        "unknown key `times`; it is called `max` here",
        "max = 6",
    ),
    (
        "on(_), attempts 5",
        "unknown key `attempts`; it is called `max` here",
        "max = 5",
    ),
    (
        "100 ms, on(_)",
        "expected `key = value`",
        "deadline = \"100ms\"",
    ),
    (
        "on(_), base 100ms",
        "a key is followed by `=`",
        "base = \"100ms\"",
    ),
    (
        "on(_), base = 100 ms",
        "one value stands behind a key",
        "base = \"100ms\"",
    ),
    (
        "max = 5 times, on(_)",
        "one value stands behind a key",
        "max = 5",
    ),
    (
        "on(_), backoff(fixed)",
        "`backoff` takes a value after `=`",
        "backoff = \"fixed\"",
    ),
    ("on(_), jitter = 20%", "a share is a number", "jitter = 0.2"),
    (
        "{ max = 5, on(_) }",
        "the keys stand without braces",
        "max = 5, on(_)",
    ),
    (
        "(max = 5, on(_))",
        "the keys stand without parentheses",
        "max = 5, on(_)",
    ),
    ("{ max: 5 }", "the keys stand without braces", "max = 5"),
    (
        "on(_), every = \"1s\"",
        "unknown key `every`; it is called `base` here",
        "base = \"1s\"",
    ),
    (
        "on(_), up_to = 5",
        "unknown key `up_to`; it is called `max` here",
        "max = 5",
    ),
];

#[test]
fn fixes_are_made_of_what_is_written() {
    for (arguments, said, fix) in FIXES {
        let [first] = &*messages(arguments, FUNCTION) else {
            panic!("{arguments}")
        };
        let first = first.lines().next().unwrap_or_default();
        let parts = [
            first.starts_with(said),
            first.ends_with(&format!("write `{fix}`")),
        ];
        assert_eq!(parts, [true; 2], "{arguments}: {first}");
    }
}

#[test]
fn a_key_without_a_value_is_left_out() {
    for key in ["breaker", "verify", "policy", "on_retry"] {
        let arguments = format!("on(_), {key} = None");
        let expected = format!("a key that is not written has no value; drop `{key} = None`");
        let said = messages(&arguments, FUNCTION).concat();
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn a_hook_cannot_fail() {
    let said = "`before_retry` returns nothing, so that `?` cannot leave it; write `let _ = ...;` for what may fail, or do it in the body [S9]";
    says("on(_), before_retry = |_| refresh()?", said);
    says(
        "on(_), before_retry = |_| { for host in HOSTS { ping(host)?; } }",
        said,
    );
    for arguments in [
        "on(_), before_retry = |_| { let _ = (|| -> io::Result<()> { refresh()?; Ok(()) })(); }",
        "on(_), before_retry = |_| spawn(async { refresh().await?; Ok(()) })",
    ] {
        assert_eq!(messages(arguments, FUNCTION), [""; 0], "{arguments}");
    }
}

#[test]
fn shapes_of_others_are_a_key() {
    for (written, fix) in [
        ("exp", "and `backoff = \"exp\"` is the default"),
        (
            "fixed = \"1s\"",
            "and `backoff = \"fixed\"` waits for `base` each time",
        ),
        ("linear", "and `backoff = \"linear\"` grows by `base`"),
    ] {
        let word = written.split(' ').next().unwrap_or_default();
        says(
            &format!("on(_), {written}"),
            &format!("unknown key `{word}`; it is called `backoff` here, {fix} [R15]"),
        );
    }
    says(
        "on(_), no_jitter",
        "unknown key `no_jitter`; it is called `jitter` here, and `jitter = \"none\"` switches it off [R15]",
    );
}

/// A parameter of the closure hides that of the function.
#[test]
fn a_closure_moves_what_is_not_its_own() {
    let said = |parameter| {
        let arguments = format!("on(_), on_retry = move |{parameter}| log(url)");
        let item = "fn fetch(url: String) -> Result<u32, Shop> { Ok(1) }";
        messages(&arguments, item).len()
    };
    assert_eq!((said("url"), said("_")), (0, 1));
}

#[test]
fn numbers_are_no_errors() {
    // It lists nothing: the compiler says that it is no function.
    assert_eq!(messages("on = ()", FUNCTION), [""; 0]);
    says(
        "on = [503, 504]",
        "`on` looks at the error itself; write `on = |error| ...`, which asks it for what this lists [S9]",
    );
}

/// A key may begin as a verdict does.
#[test]
fn a_verdict_of_a_type_is_a_word() {
    for (arguments, is_verdict) in [
        ("throttled", true),
        ("transient, after = \"1s\"", true),
        ("default = permanent", true),
        ("throttled_base = \"1s\"", false),
        ("max = 3", false),
    ] {
        let said = messages(arguments, "struct Shop;").join("\n");
        let expected = [
            "write it above an `impl` block",
            "a verdict is read by `Classify`",
        ];
        let expected = expected[usize::from(is_verdict)];
        assert!(said.contains(expected), "{arguments}: {said}");
    }
}

/// An async hook does not belong there at all: what it takes is not said as well.
#[test]
fn of_an_async_hook_in_a_sync_function_one_rule_speaks() {
    let hook = "before_retry = |_| async move { login(name) }";
    for (head, takes) in [("fn", false), ("async fn", true)] {
        let item = format!("{head} fetch(name: String) -> Result<u32, Shop> {{ get(&name) }}");
        let [hook, item] = [hook, &item].map(|it| it.parse().expect("tokens"));
        let mut said = Vec::new();
        collect(crate::expand::attribute(&hook, item), &mut said);
        let is_said = said.iter().any(|it| it.contains("into its first run"));
        assert_eq!(is_said, takes, "{head}: {said:#?}");
    }
}

//! What the derive says of verdicts that are written in other words or at another place.

use super::index::collect;

/// The first line of each message.
fn said(item: &str) -> Vec<String> {
    let item = item.parse().unwrap_or_else(|error| panic!("{error}"));
    let mut messages = Vec::new();
    collect(crate::classify::derive(item), &mut messages);
    let first = |message: String| message.lines().next().unwrap_or_default().to_owned();
    messages.into_iter().map(first).collect()
}

/// What the derive says of a variant without fields that has these words.
#[track_caller]
fn says(words: &str, expected: &str) {
    let said = said(&format!("enum Fault {{ #[retry({words})] Busy }}"));
    assert_eq!(said, [expected], "{words}");
}

#[test]
fn a_verdict_takes_no_value() {
    for word in [
        "transient",
        "permanent",
        "throttled",
        "refused",
        "forbidden",
        "inherit",
    ] {
        let expected = format!("`{word}` takes no value; write `#[retry({word})]`");
        says(&format!("{word} = true"), &expected);
        says(&format!("{word}(5)"), &expected);
    }
}

#[test]
fn a_verdict_is_one_word() {
    for (written, word) in [
        ("Verdict::Transient", "transient"),
        ("reattempt::Verdict::RetryForbidden", "forbidden"),
        ("Transient", "transient"),
        ("Verdict::Throttled(None)", "throttled"),
    ] {
        let expected = format!("a verdict is one word here; write `#[retry({word})]`");
        says(written, &expected);
    }
    let said = said("enum Fault { #[retry(Other::Thing)] Busy }").concat();
    assert!(said.starts_with("unknown verdict `Other::Thing`; the verdicts are"));
}

#[test]
fn other_names_of_a_verdict() {
    for (theirs, ours) in [
        ("retryable", "transient"),
        ("retry", "transient"),
        ("temporary", "transient"),
        ("never", "permanent"),
        ("not_retryable", "permanent"),
        ("fatal", "permanent"),
        ("abort", "permanent"),
        ("no_retry", "permanent"),
        ("NoRetry", "permanent"),
        ("dont_retry", "permanent"),
        ("rate_limited", "throttled"),
        ("transparent", "inherit"),
    ] {
        let expected = format!("unknown verdict `{theirs}`; it is called `{ours}` here");
        says(theirs, &expected);
        says(&format!("{theirs} = true"), &expected);
    }
}

#[test]
fn a_verdict_stands_above_the_variant() {
    for (item, expected) in [
        (
            "enum Fault { A(#[retry(inherit)] io::Error) }",
            "a verdict belongs on a variant, not on a field; put `#[retry(inherit)]` above the variant `A`",
        ),
        (
            "enum Fault { #[retry(transient)] A { #[retry(inherit)] source: io::Error } }",
            "a verdict belongs on a variant, not on a field; put `#[retry(inherit)]` above the variant `A`",
        ),
        (
            "struct Fault(#[retry(inherit)] io::Error);",
            "a verdict belongs on a type, not on a field; put `#[retry(inherit)]` above the type `Fault`",
        ),
    ] {
        assert_eq!(said(item), [expected], "{item}");
    }
}

#[test]
fn a_default_without_a_verdict_is_one_fault() {
    let expected = "`default` needs a verdict; write `#[retry(default = permanent)]`";
    for words in ["default", "default()", "default(permanent)"] {
        let item = format!("#[retry({words})] enum Fault {{ A, B(u8) }}");
        assert_eq!(said(&item), [expected], "{words}");
    }
    for (words, expected) in [
        (
            "\"transient\"",
            "a verdict has no quotes; write `default = transient`",
        ),
        (
            "true",
            "`default` takes a verdict; write `default = transient`",
        ),
        (
            "Verdict::Throttled(None)",
            "a verdict is one word here; write `default = throttled`",
        ),
        (
            "no_retry",
            "unknown verdict `no_retry`; it is called `permanent` here",
        ),
        (
            "permanant",
            "unknown verdict `permanant`; did you mean `permanent`?",
        ),
    ] {
        let item = format!("#[retry(default = {words})] enum Fault {{ A, B(u8) }}");
        assert_eq!(said(&item), [expected], "{words}");
    }
    assert_eq!(
        said("#[retry(defualt = permanent)] enum Fault { A }"),
        ["unknown verdict `defualt`; did you mean `default`?"]
    );
    let unknown = said("#[retry(default = with)] enum Fault { A, B }");
    assert_eq!(unknown.len(), 1, "{unknown:?}");
}

const SAME: &str =
    "for a delay that is always the same write `#[retry(with = || reattempt::Verdict::";

#[test]
fn a_delay_that_is_always_the_same() {
    let names = "`after` names a field: write `after = field`, or `after = 0` in a tuple";
    for (written, verdict, delay) in [
        (
            "throttled",
            "Throttled(Some",
            "std::time::Duration::from_secs(5)",
        ),
        (
            "refused",
            "Throttled(Some",
            "std::time::Duration::from_secs(5)",
        ),
        (
            "transient",
            "TransientAfter",
            "std::time::Duration::from_secs(5)",
        ),
    ] {
        let end = if verdict == "TransientAfter" { "" } else { ")" };
        for given in ["\"5s\"", "std::time::Duration::from_secs(5)"] {
            says(
                &format!("{written}, after = {given}"),
                &format!("{names}; {SAME}{verdict}({delay}){end})]`"),
            );
        }
    }
    for (given, code) in [
        ("1.5s", "from_millis(1500)"),
        ("1.5ms", "from_nanos(1500000)"),
    ] {
        says(
            &format!("throttled, after = \"{given}\""),
            &format!("{names}; {SAME}Throttled(Some(std::time::Duration::{code})))]`"),
        );
    }
    says(
        "throttled, after = WAIT",
        &format!("`after` must name a field, and `Busy` has none; {SAME}Throttled(Some(WAIT)))]`"),
    );
    says(
        "throttled, after = 5",
        "`after` must name a field, and `Busy` has none; a delay that is always the same is a `Duration`, as in `#[retry(with = || reattempt::Verdict::Throttled(Some(std::time::Duration::from_secs(5))))]`",
    );
}

#[test]
fn a_function_of_no_field_has_no_parameter() {
    for variant in ["Busy", "Busy(u8)", "Busy { code: u8 }"] {
        let given = "with = || reattempt::Verdict::Refused";
        assert_eq!(
            said(&format!("enum Fault {{ #[retry({given})] {variant} }}")),
            [""; 0]
        );
    }
    says(
        "with = judge",
        "`with` asks a function about the fields, and there is none; write a verdict such as `transient` or `permanent`, or `with = || ...`",
    );
}

#[test]
fn a_function_gets_references() {
    let item = "enum Fault { #[retry(with = |code: u16, text: &String| true)] Busy(u16, String) }";
    assert_eq!(
        said(item),
        ["`with` gets a reference to each field; write `|code: &u16|`"]
    );
    let item = "enum Fault { #[retry(with = |code: &u16, _| true)] Busy(u16, String) }";
    assert_eq!(said(item), [""; 0]);
}

/// `judge(limits.code)` may be a call that gives the function.
#[test]
fn a_field_of_something_else_is_no_field() {
    let item =
        |code| format!("enum Fault {{ #[retry(with = judge({code}))] Busy {{ code: u16 }} }}");
    let expected = "`with` takes a function, which gets a reference to each field; write `#[retry(with = judge)]`";
    assert_eq!(said(&item("self.code")), [expected]);
    assert_eq!(said(&item("limits.code")), [""; 0]);
}

#[test]
fn a_verdict_above_the_type_is_one_fault() {
    for (words, expected) in [
        (
            "(transient)",
            "a verdict belongs on a variant; write `#[retry(default = transient)]` for all variants without one",
        ),
        (
            "(throttled, after = wait)",
            "a verdict that asks the fields belongs on a variant; move it there",
        ),
        (
            " = \"transient\"",
            "a verdict stands in parentheses; write `#[retry(default = transient)]` for all variants without one",
        ),
        (
            "",
            "a verdict is missing; write `#[retry(default = permanent)]` or another one",
        ),
        (
            "(fatal)",
            "unknown verdict `fatal`; it is called `permanent` here",
        ),
    ] {
        let item = format!("#[retry{words}] enum Fault {{ A, B {{ wait: Duration }} }}");
        assert_eq!(said(&item), [expected], "{words}");
    }
}

#[test]
fn code_where_a_verdict_belongs() {
    let function = "a verdict may come from a function; write `#[retry(with = ";
    for (written, expected) in [
        ("code >= 500", "|code: &u16, _| *code >= 500"),
        (
            "self.code * 2 > limit",
            "|code: &u16, limit: &u16| *code * 2 > *limit",
        ),
        ("permanent if code < 500", "|code: &u16, _| !(*code < 500)"),
        (
            "!code.eq(limit)",
            "|code: &u16, limit: &u16| !code.eq(limit)",
        ),
    ] {
        let item = format!("#[retry({written})] struct Fault {{ code: u16, limit: u16 }}");
        assert_eq!(
            said(&item),
            [format!("{function}{expected})]`")],
            "{written}"
        );
    }
    // A constant is no second field.
    let item = "enum Fault { #[retry(with = code >= LIMIT)] Busy(u16) }";
    let closure = "|code: &u16| *code >= LIMIT";
    assert_eq!(
        said(item),
        [format!(
            "`with` takes a function of the fields; write `#[retry(with = {closure})]`"
        )]
    );
    for (written, expected) in [
        (
            "no-retry",
            "`no-retry` is no verdict; it is called `permanent` here",
        ),
        (
            "!transient",
            "`!transient` is no verdict; it is called `permanent` here",
        ),
        (
            "true",
            "`true` is no verdict; it is called `transient` here",
        ),
        (
            "chain![io::Error, Fault]",
            "`chain` is a verdict here, and no macro; write `#[retry(chain(io::Error, Fault))]`",
        ),
    ] {
        says(written, expected);
    }
}

#[test]
fn a_function_is_not_called() {
    for (written, expected) in [
        ("judge(code, text)", "judge"),
        ("judge(_)", "judge"),
        ("judge(&self.code)", "|code: &u16, _| judge(code)"),
        ("code == 503", "|code: &u16, _| *code == 503"),
    ] {
        let item =
            format!("enum Fault {{ #[retry(with = {written})] A {{ code: u16, text: String }} }}");
        let [said] = &*said(&item) else {
            panic!("{written}")
        };
        assert!(
            said.ends_with(&format!("write `#[retry(with = {expected})]`")),
            "{said}"
        );
    }
    // What a call answers with may be the function.
    let item = "enum Fault { #[retry(with = from(LIMIT, &TABLE))] A { code: u16 } }";
    assert_eq!(said(item), [""; 0]);
}

#[test]
fn a_delay_is_called_after() {
    for (written, expected) in [
        ("throttled(wait)", "#[retry(throttled, after = wait)]"),
        (
            "throttled(after = wait)",
            "#[retry(throttled, after = wait)]",
        ),
        ("refused = wait", "#[retry(refused, after = wait)]"),
        ("TransientAfter(wait)", "#[retry(transient, after = wait)]"),
        (
            "Verdict::Throttled(Some(*wait))",
            "#[retry(throttled, after = wait)]",
        ),
        (
            "transient_after = wait",
            "#[retry(transient, after = wait)]",
        ),
        ("retry_after(wait)", "#[retry(transient, after = wait)]"),
        (
            "delay = \"1s\"",
            "#[retry(with = || reattempt::Verdict::TransientAfter(std::time::Duration::from_secs(1)))]",
        ),
    ] {
        let item = format!("enum Fault {{ #[retry({written})] A {{ wait: Duration }} }}");
        let [said] = &*said(&item) else {
            panic!("{written}")
        };
        assert!(said.ends_with(&format!("; write `{expected}`")), "{said}");
    }
}

#[test]
fn the_attribute_is_called_retry() {
    for (written, fix) in [
        ("enum Fault { #[classify(transient)] Busy }", "transient"),
        (
            "#[classify(default = permanent)] enum Fault { Busy }",
            "default = permanent",
        ),
        ("#[classify(permanent)] struct Fault;", "permanent"),
    ] {
        let expected = format!("the attribute of `Classify` is `retry`; write `#[retry({fix})]`");
        assert_eq!(said(written), [expected], "{written}");
    }
}

#[test]
fn keys_of_a_verdict_in_other_words() {
    for (written, expected) in [
        (
            "verdict = transient",
            "a verdict is one word here; write `#[retry(transient)]`",
        ),
        (
            "transient, after(wait)",
            "`after` takes a field behind `=`; write `after = wait`",
        ),
        (
            "with = |wait: &Duration, text| true",
            "`with` gets a reference to each field, and there is 1; write `#[retry(with = |wait: &Duration| true)]`",
        ),
    ] {
        let item = format!("enum Fault {{ #[retry({written})] A {{ wait: Duration }} }}");
        assert_eq!(said(&item), [expected], "{written}");
    }
}

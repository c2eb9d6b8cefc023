use retry_runtime::duration::Human;

use super::{Given, from_text};

fn rules(text: &str) -> Vec<(String, String)> {
    let given = from_text(text);
    let shown = |place: Option<std::ops::Range<usize>>| {
        place
            .and_then(|place| text.get(place))
            .unwrap_or_default()
            .to_owned()
    };
    given
        .broken
        .into_iter()
        .map(|it| (it.rule, shown(it.place)))
        .collect()
}

fn good(text: &str) -> Given {
    let given = from_text(text);
    assert_eq!(given.broken, [], "{text}");
    given
}

#[test]
fn the_keys_may_stand_in_an_attribute_or_alone() {
    for text in [
        "max = 5, jitter = \"none\"",
        "#[retry(max = 5, jitter = \"none\")]",
        "#[reattempt::retry(max = 5, jitter = \"none\",)]",
        "retry(max = 5, jitter = \"none\")",
        "#[ ::reattempt::retry(\n    max = 5,\n    jitter = \"none\",\n)]",
    ] {
        let policy = good(text).policy;
        assert_eq!(policy.attempts(), Some(5), "{text}");
        assert_eq!(Human(policy.delay(1)).to_string(), "200 ms");
    }
    for text in ["", "#[retry]", "#[retry()]", "retry"] {
        assert_eq!(good(text).policy.attempts(), Some(3), "{text}");
    }
    assert_eq!(good("#[retry(never)]").policy.attempts(), Some(1));
}

#[test]
fn a_name_is_fixed_without_what_is_refused() {
    for (text, fix) in [
        ("name = \"a\\u{7}b\"", "write `name = \"a_b\"`"),
        ("name = \" \\u{1b}\"", "write `name = \"payments.charge\"`"),
        (
            "policy = \"a\\u{7}\\u{85}b c\"",
            "write `policy = \"a b c\"`",
        ),
    ] {
        let given = from_text(text);
        assert!(
            given.broken.iter().any(|it| it.message.contains(fix)),
            "{text}: {:?}",
            given.broken
        );
    }
}

#[test]
fn a_text_that_nobody_writes_is_refused() {
    let nested = |levels: usize| format!("base = {}1{}", "(".repeat(levels), ")".repeat(levels));
    let long = |terms: usize| format!("max = 1{}", " + 1".repeat(terms));
    for (text, rule) in [
        (nested(101), "its code is nested more than 100 levels deep"),
        (format!("#[retry({})]", nested(100_000)), "characters long"),
        (long(3_000), "characters long"),
    ] {
        let given = from_text(&text);
        assert!(!given.is_read);
        let said = &given.broken.first().expect("a fault").message;
        assert!(said.contains(rule), "{said}");
    }
    for text in [nested(90), long(200)] {
        let given = from_text(&text);
        let is_refused = given.broken.iter().any(|it| it.rule == "syntax");
        assert!(!is_refused, "{:?}", given.broken);
    }
}

#[test]
fn every_fault_has_its_rule_and_its_place() {
    for (text, expected) in [
        ("max = 0, factor = 0.5", vec![("R1", "0"), ("R4", "0.5")]),
        ("#[retry(base = 250)]", vec![("R17", "250")]),
        ("base = \"1 fortnight\"", vec![("R2", "\"1 fortnight\"")]),
        ("maxx = 3", vec![("R15", "maxx")]),
        ("max = 3, max = 4", vec![("R16", "max")]),
        ("backoff = \"expo\"", vec![("R9", "\"expo\"")]),
        ("jitter = \"some\"", vec![("R5", "\"some\"")]),
        ("jitter = 1.5", vec![("R5", "1.5")]),
        ("base = \"30s\"", vec![("X1", "\"30s\"")]),
        (
            "deadline = \"1s\", max = 9, jitter = \"none\"",
            vec![("X4", "\"1s\"")],
        ),
        ("max = 1, jitter = 0.5", vec![("X5", "jitter")]),
        (
            "max = \"unlimited\", backoff = \"fixed\"",
            vec![("X6", "\"unlimited\"")],
        ),
        ("max = 30, backoff = \"fixed\"", vec![("X7", "30")]),
        ("backoff = \"fixed\", factor = 3.0", vec![("X8", "factor")]),
        ("strategy = mine, cap = \"1s\"", vec![("X11", "cap")]),
        ("on(), budget = 2.0", vec![("R13", ""), ("R11", "2.0")]),
        ("name = \"\"", vec![("R14", "\"\"")]),
    ] {
        let found = rules(text);
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(rule, at)| (rule.to_owned(), at.to_owned()))
            .collect();
        let ids = |list: &[(String, String)]| {
            list.iter()
                .map(|(rule, _)| rule.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            ids(&found),
            ids(&expected),
            "{text}: {found:?} {:?}",
            from_text(text).broken
        );
        for ((_, found), (_, expected)) in found.iter().zip(&expected) {
            assert!(
                expected.is_empty() || found == expected,
                "{text}: {found} {expected}"
            );
        }
    }
}

#[test]
fn what_cannot_be_parsed_is_a_fault() {
    for text in [
        "max = (",
        "max = 3)",
        "\"",
        "max 3",
        "3",
        "max =",
        "= 3",
        "#",
        "é = '",
        "max = 3 jitter = 0.1",
        "\0",
    ] {
        let given = from_text(text);
        assert!(!given.broken.is_empty(), "{text:?}");
        for broken in given.broken {
            assert!(
                broken.place.is_none_or(|place| text.get(place).is_some()),
                "{text:?}"
            );
        }
    }
}

#[test]
fn expressions_are_shown() {
    let given = good("max = limits::MAX, base = \"1s\", budget = &SHARED, breaker = &BREAKER");
    assert_eq!(
        given.unknown,
        [("max".to_owned(), "limits::MAX".to_owned())]
    );
    assert_eq!(given.beside, ["breaker"]);
    let given = good("policy = STORAGE, max = 4");
    assert_eq!(given.unknown, [("policy".to_owned(), "STORAGE".to_owned())]);
    assert_eq!(good("budget = 0.1").share, Some(0.1));
}

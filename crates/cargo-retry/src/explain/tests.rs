use super::report::Report;
use crate::plot::Look;
use crate::policy::from_text;

const LOOK: Look = Look {
    width: 80,
    height: 18,
    colours: false,
    ascii: false,
};

fn text(policy: &str, look: Look) -> String {
    let given = from_text(policy);
    Report::of(&given).text(look)
}

#[test]
fn extremes_are_drawn_within_the_width() {
    for policy in [
        "",
        "max = 1",
        "max = 2, backoff = \"none\"",
        "max = 2, fast_first = true",
        "max = 2, backoff = \"decorrelated\"",
        "max = 4294967294, deadline = \"24h\", base = \"1ns\", cap = \"1ns\"",
        "max = \"unlimited\", deadline = \"24h\", base = \"24h\", cap = \"24h\", fast_first = true",
        "max = \"unlimited\", budget = 0.1, factor = 1e300",
        "max = 20, factor = 1.0000001, cap = \"24h\", base = \"23h 59m 59s\", timeout = \"24h\"",
        "max = 3, deadline = \"1ns\", fast_first = true, timeout = \"1ms\"",
        "max = 3, backoff = \"decorrelated\", jitter = 0.3, base = \"123.456789ms\"",
        "deadline = \"0s\", max = 0, cap = \"0s\", base = \"0s\", factor = 0.0, jitter = 7.0",
        "strategy = mine, max = 4",
        "strategy = mine",
        "policy = \"storage\"",
    ] {
        for look in [
            LOOK,
            Look {
                width: 40,
                ascii: true,
                ..LOOK
            },
            Look {
                colours: true,
                height: 0,
                ..LOOK
            },
        ] {
            let text = text(policy, look);
            // A value that is refused by itself has no schedule that would mean anything.
            let is_refused = policy.contains("max = 0");
            assert!(
                text.contains("Worst case") != is_refused,
                "{policy}\n{text}"
            );
            let is_shown = |line: &&str| {
                !line.contains('\u{1b}') && !line.starts_with("error") && !line.contains(" | ")
            };
            let widest = text
                .lines()
                .filter(is_shown)
                .map(|line| line.chars().count())
                .max();
            assert!(
                widest <= Some(look.width.into()),
                "{policy}: {widest:?}\n{text}"
            );
        }
    }
}

#[test]
fn the_earlier_of_two_ends_is_reported() {
    for (policy, words) in [
        (
            "max = 2, jitter = \"none\", timeout = \"1s\"",
            "wall clock  2.1 s at most: the last attempt starts 1.1 s after",
        ),
        (
            "max = 2, jitter = \"none\", timeout = \"1s\", deadline = \"3s\"",
            "wall clock  2.1 s at most: the last attempt starts 1.1 s after",
        ),
        (
            "max = 2, jitter = \"none\", timeout = \"1s\", deadline = \"2s\"",
            "wall clock  2 s at most in async functions",
        ),
        (
            "max = 2, jitter = \"none\"",
            "wall clock  100 ms of delays and however long",
        ),
        ("max = 1", "wall clock  however long the attempts take"),
        ("max = 1, timeout = \"1s\"", "wall clock  1 s at most"),
    ] {
        let text = text(policy, LOOK);
        assert!(text.contains(words), "{policy}\n{text}");
    }
}

#[test]
fn copies_of_a_hedge_are_load() {
    for (policy, words) in [
        (
            "max = 4",
            "load        4 times that of the calls, while every call fails; the budget that its calls share by default",
        ),
        (
            "max = 4, hedge = \"10ms\"",
            "load        8 times that of the calls, while every call fails slowly",
        ),
        (
            "max = 1, hedge = \"10ms\"",
            "load        2 times that of the calls",
        ),
        (
            "max = 4, hedge = HEDGE",
            "load        4 times that of the calls, while every call fails, times the copies",
        ),
        ("max = 1", "load        that of the calls, never more"),
    ] {
        let text = text(policy, LOOK).replace("\n              ", " ");
        assert!(text.contains(words), "{policy}\n{text}");
    }
    for (policy, load) in [
        ("max = 4, hedge = \"10ms\"", serde_json::json!(8)),
        ("max = 4, hedge = HEDGE", serde_json::Value::Null),
    ] {
        let given = from_text(policy);
        let json = serde_json::to_value(Report::of(&given)).expect("JSON");
        assert_eq!(json["worst_case"]["load"], load, "{policy}");
    }
}

#[test]
fn the_floor_of_a_budget_is_shown() {
    let text = text("max = 4, budget = 0.1", LOOK).replace("\n              ", " ");
    let words = "to 1.1 times and 1 retry a second for each process (its `floor`)";
    assert!(text.contains(words), "{text}");
}

/// Pieces of attributes in any order.
#[test]
fn nothing_that_is_written_panics() {
    const PIECES: [&str; 24] = [
        "max",
        "=",
        "5",
        ",",
        "\"10s\"",
        "deadline",
        "jitter",
        "0.2",
        "(",
        ")",
        "#[retry(",
        ")]",
        "base",
        "\"",
        "é",
        "\n",
        "policy",
        "hedge",
        "quantile",
        "|e| e",
        "on",
        "'",
        "never",
        "\u{1F600}",
    ];
    let mut state = 1_u64;
    let mut next = |end: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or_default() % end
    };
    for _ in 0..3_000 {
        let written: Vec<_> = (0..=next(9)).map(|_| PIECES[next(PIECES.len())]).collect();
        let written = written.join(["", " "][next(2)]);
        assert!(!text(&written, LOOK).is_empty(), "{written}");
    }
}

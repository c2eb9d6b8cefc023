//! `cargo retry explain` of the keys of an attribute.

use std::path::PathBuf;

use super::{command, ended, folder, run};

#[test]
fn a_good_policy_is_explained() {
    let keys = "max = 5, backoff = \"exp\", jitter = 0.2, deadline = \"10s\"";
    let (code, out, err) = run(&["explain", keys]);
    assert_eq!((code, &*err), (0, ""), "{out}");
    for words in [
        "Up to 5 attempts; delays of about 100 ms, 200 ms, 400 ms, 800 ms, each +/-20 %;",
        "│       5 ┆       640 ms ┆  800 ms ┆  960 ms ┆           1.2 s ┆  1.8 s │",
        "A call whose attempts all fail",
        "      5│",
        "time since the call (ms)",
        "██ attempt",
        "░░ jitter",
        "╎╎ deadline: 10 s",
        "load        5 times that of the calls",
        "sleeping    1.8 s at most",
        "how long an attempt takes",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
    assert!(!out.contains('\u{1b}'), "no colours for a pipe");
    let widest = out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}\n{out}");
    let (_, ascii, _) = run(&["explain", "--ascii", keys]);
    assert!(ascii.is_ascii(), "{ascii}");
}

#[test]
fn colours_are_for_those_who_want_them() {
    let forced = command(&["explain", "max = 3"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(ended(&forced).1.contains("\u{1b}[38;5;"));
    for (variable, value) in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLICOLOR", "0")] {
        let plain = command(&["explain", "max = 0"])
            .env(variable, value)
            .output()
            .unwrap();
        let (code, out, _) = ended(&plain);
        assert_eq!(code, 1);
        assert!(!out.contains('\u{1b}'), "{variable}: {out}");
    }
}

#[test]
fn every_broken_rule_is_shown_under_the_text() {
    let (code, out, err) = run(&[
        "explain",
        "#[retry(max = 9, deadline = \"1s\", jitter = \"none\", timeout = \"0s\")]",
    ]);
    assert_eq!((code, &*err), (1, ""));
    for words in [
        "error[R8]: `timeout`",
        "error[X4]: `deadline` of 1s is over before attempt",
        "  |                             ^^^^\n",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
    // Of values that are no values there is nothing to draw.
    assert!(!out.contains("Worst case"), "{out}");
    // What several values come to is drawn, and what is wrong with it stands last.
    let (code, out, _) = run(&["explain", "max = 9, deadline = \"1s\", jitter = \"none\""]);
    let place = |words: &str| out.find(words).unwrap_or_else(|| panic!("{words}\n{out}"));
    assert_eq!(code, 1);
    assert!(
        place("never starts: the deadline always comes first")
            < place("error[X4]: `deadline` of 1s")
    );
    // Where a value cannot be read, nothing is explained.
    let (code, out, _) = run(&["explain", "max = 3, bose = \"1s\", cap = 5"]);
    assert_eq!(code, 1);
    assert!(
        out.contains("error[R15]: unknown key `bose`; did you mean `base`?"),
        "{out}"
    );
    assert!(out.contains("error[R17]:"), "{out}");
    assert!(!out.contains("attempts"), "{out}");
}

/// Mistakes of shells and of names. A word may be an operation, so the project here is searched: an empty one.
#[test]
fn a_lone_word_is_no_policy() {
    let project = project("words", "");
    let run =
        |arguments: &[&str]| ended(&command(arguments).current_dir(&project).output().unwrap());
    let (code, _, err) = run(&["explain", "max=5", "base=200ms"]);
    assert_eq!(code, 2);
    assert!(err.contains("put all of it into single quotes"), "{err}");
    for (given, fix) in [
        ("base=200ms", "put the whole policy into single quotes"),
        ("storage", "`--config retry.toml storage`"),
        ("retry.toml", "`cargo retry check retry.toml`"),
        ("backoff = exp", "write `backoff = \"exp\"`"),
    ] {
        let (_, out, _) = run(&["explain", given]);
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.contains(fix), "{given}: {out}");
    }
    for unreadable in ["max = (", "\"", "5", "max 5", "é"] {
        let (code, out, err) = run(&["explain", unreadable]);
        assert_eq!((code, &*err), (1, ""), "{unreadable}: {out}");
        assert!(out.starts_with("error["), "{out}");
    }
}

#[test]
fn a_rule_has_its_page() {
    let (code, out, err) = run(&["explain", "x4"]);
    assert_eq!((code, &*err), (0, ""));
    assert!(out.starts_with("X4\n\n"), "{out}");
    let (code, out, err) = run(&["explain", "X99"]);
    assert_eq!((code, &*out), (2, ""));
    assert!(
        err.starts_with("error: unknown rule `X99`; the rules are R1, "),
        "{err}"
    );
    let (_, out, _) = run(&["explain", "max = 0"]);
    assert!(
        out.contains("more of a rule: cargo retry explain R1\n"),
        "{out}"
    );
}

#[test]
fn expressions_are_reported() {
    let (code, out, _) = run(&[
        "explain",
        "max = limits::MAX, deadline = \"5s\", breaker = &PAYMENTS, budget = 0.1",
    ]);
    assert_eq!(code, 0);
    for words in [
        "`max = limits::MAX`: only the compiler knows",
        "`breaker`: it turns calls away",
        "1.1 times",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
}

#[test]
fn json_says_the_same() {
    let (code, out, _) = run(&["explain", "--json", "max = 0"]);
    assert_eq!(code, 1);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["faults"][0]["rule"], "R1");
    assert_eq!(
        (&value["faults"][0]["line"], &value["faults"][0]["column"]),
        (&1.into(), &7.into())
    );
    let (code, out, _) = run(&["explain", "--json", "base = \"1 fortnight\""]);
    assert_eq!(code, 1);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(value.get("attempts").is_none(), "{out}");
}

#[test]
fn a_picture_is_written() {
    let file = folder("picture").join("policy.svg");
    let path = file.to_str().unwrap();
    let (code, out, err) = run(&["explain", "max = 4, deadline = \"5s\"", "--svg", path]);
    assert_eq!((code, &*err), (0, ""));
    assert!(out.contains("Worst case"));
    let svg = std::fs::read_to_string(&file).unwrap();
    let (_, alone, _) = run(&["explain", "max = 4, deadline = \"5s\"", "--svg", "-"]);
    assert_eq!(svg, alone);
    // Bars, bands, the deadline, an axis with its unit.
    for word in [
        "<svg",
        "var(--jitter)",
        "var(--blue)",
        "time since the call (ms)",
        "deadline: 5 s",
    ] {
        assert!(svg.contains(word), "{word}");
    }
    for (policy, path, words) in [
        ("max = 1", path, "there is nothing to draw"),
        (
            "max = 2",
            "/nowhere/at/all.svg",
            "cannot write `/nowhere/at/all.svg`",
        ),
    ] {
        let (code, out, err) = run(&["explain", policy, "--svg", path]);
        assert_eq!((code, &*out), (2, ""), "{policy}");
        assert!(err.contains(words), "{err}");
    }
}

/// What almost every call gets, beside what none can pass.
#[test]
fn attempts_that_usually_fit_into_the_deadline() {
    let (code, out, _) = run(&["explain", "max = 10, base = \"1s\", deadline = \"2s\""]);
    assert_eq!(code, 0);
    assert!(
        out.contains("10 for each call, if all of them fail, of which usually"),
        "{out}"
    );
    let (_, out, _) = run(&[
        "explain",
        "--json",
        "max = 10, base = \"1s\", deadline = \"2s\"",
    ]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let typical = json["worst_case"]["typical_attempts"].as_u64().unwrap();
    assert!((2..=4).contains(&typical), "{typical}");
    // All of them always fit.
    let (_, out, _) = run(&["explain", "max = 3, deadline = \"1m\""]);
    assert!(!out.contains("usually"), "{out}");
}

/// A project with a library, in a folder of its name.
fn project(name: &str, code: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nreattempt = \"*\"\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(folder.join("src/lib.rs"), code).unwrap();
    folder
}

/// A name that `list` prints.
#[test]
fn an_operation_of_the_code() {
    let code = "#[reattempt::retry(max = 7, on(_))]\nfn fetch() -> Result<(), ()> { Ok(()) }\n";
    let folder = project("shop", code);
    for name in ["fetch", "shop::fetch"] {
        let output = command(&["explain", name])
            .current_dir(&folder)
            .output()
            .unwrap();
        let (code, out, err) = ended(&output);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("Up to 7 attempts"), "{out}");
    }
    let output = command(&["explain", "shop::send"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let (code, _, err) = ended(&output);
    assert!(
        code == 2 && err.contains("cargo retry list --format line"),
        "{err}"
    );
}

//! `cargo retry storm` as it is called: what it writes where, and how it ends.
#![expect(clippy::expect_used, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Short, so that it takes no time.
const SHORT: [&str; 6] = ["--at", "5s", "--outage", "5s", "--for", "1m"];

fn storm(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-retry"))
        .args(["retry", "storm"])
        .args(arguments)
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("it can be started")
}

fn short(arguments: &[&str]) -> Output {
    storm(&[arguments, &SHORT].concat())
}

/// Standard output of a run that was well.
#[track_caller]
fn shown(output: &Output) -> String {
    let fault = String::from_utf8_lossy(&output.stderr);
    // No bar either: it is no terminal.
    assert_eq!((output.status.code(), &*fault), (Some(0), ""));
    String::from_utf8(output.stdout.clone()).expect("it is text")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // There is none at first.
    _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn it_needs_no_arguments() {
    let text = shown(&storm(&[]));
    for word in [
        "Load on the server",
        "Goodput",
        "Amplification",
        "not in this run",
        "the goodput is back",
    ] {
        assert!(text.contains(word), "{word}\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert_eq!(text, shown(&storm(&["--seed", "1", "--outage", "10s"])));
}

#[test]
fn json_is_complete() {
    let text = shown(&short(&["max = 4, budget = 0.1", "--json", "--seed", "9"]));
    let json: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(json["scene"]["trigger"]["kind"], "outage");
    assert_eq!(json["scene"]["trigger"]["until"], 10.0);
    assert_eq!(json["scene"]["seed"], 9);
    assert_eq!(json["policy"]["budget_share"], 0.1);
    let runs = json["runs"].as_array().expect("a list");
    let names: Vec<_> = runs.iter().filter_map(|run| run["name"].as_str()).collect();
    assert_eq!(names, ["no retry", "3 immediate retries", "this policy"]);
    for run in runs {
        let seconds = run["seconds"].as_array().expect("a list");
        assert_eq!(seconds.len(), 60);
        let attempts: u64 = seconds
            .iter()
            .filter_map(|it| it["attempts"].as_u64())
            .sum();
        assert_eq!(run["summary"]["attempts"], attempts);
    }
    assert_eq!(runs[1]["summary"]["recovered_after"], Value::Null);
    assert!(!json["meaning"].as_array().expect("a list").is_empty());
}

#[test]
fn pictures_are_written() {
    let folder = folder("storm-pictures").join("in").join("deep");
    let path = folder.to_str().expect("it is text");
    let text = shown(&short(&["--svg", path]));
    for name in ["load.svg", "goodput.svg", "amplification.svg"] {
        let file = folder.join(name);
        assert!(text.contains(file.to_str().expect("it is text")), "{text}");
        let svg = fs::read_to_string(file).expect("it is there");
        assert!(svg.starts_with("<svg") && svg.contains("3 immediate retries"));
    }
    let json = shown(&short(&["--svg", path, "--json"]));
    assert!(serde_json::from_str::<Value>(&json).is_ok());

    let file = folder.join("load.svg").join("below");
    let output = short(&["--svg", file.to_str().expect("it is text")]);
    assert_eq!(output.status.code(), Some(2));
    let fault = String::from_utf8_lossy(&output.stderr);
    assert!(fault.starts_with("error: cannot write to `"), "{fault}");
    assert!(output.stdout.is_empty());
}

#[test]
fn names_come_from_a_file() {
    let folder = folder("storm-config");
    fs::create_dir_all(&folder).expect("it can be made");
    let file = folder.join("retry.toml");
    let text = "[policies.calm]\nmax = 4\nbudget = { per_success = 0.1, floor = 0.0 }\n\
                [policies.wild]\nmax = 4\nbudget = \"none\"\n[operations.\"shop.pay\"]\npolicy = \"calm\"\nmax = 2\n";
    fs::write(&file, text).expect("it can be written");
    let path = file.to_str().expect("it is text");
    let run = |name: &str| {
        let text = shown(&short(&[name, "--config", path, "--json"]));
        serde_json::from_str::<Value>(&text).expect("it is JSON")
    };
    let (calm, wild, pay) = (run("calm"), run("wild"), run("shop.pay"));
    let attempts = |json: &Value| json["runs"][2]["summary"]["amplification"].as_f64();
    assert!(attempts(&calm) < Some(1.2) && attempts(&wild) > Some(2.5));
    assert!(attempts(&pay) < Some(1.2));
    assert_eq!(calm["policy"]["has_budget"], true);
    assert_eq!(wild["policy"]["has_budget"], false);
    let explained = pay["policy"]["explanation"].as_str().unwrap_or_default();
    assert!(explained.starts_with("Up to 2 attempts"), "{explained}");

    let output = short(&["calmer", "--config", path]);
    assert_eq!(output.status.code(), Some(2));
    let fault = String::from_utf8_lossy(&output.stderr);
    assert!(fault.contains("it has policies `calm`, `wild`"), "{fault}");
}

#[test]
fn faults_end_with_2_and_write_nothing() {
    for (arguments, words) in [
        (&["--load", "0"][..], "error: a load of 0"),
        (&["strategy = mine"], "error: `strategy = mine` is code"),
        (&["--for", "35s"], "error: the outage ends at 40 s"),
        (&["--outage", "soon"], "invalid value 'soon'"),
        (&["--json", "--ascii"], "cannot be used with"),
        (&["--nonsense"], "unexpected argument"),
    ] {
        let output = storm(arguments);
        let fault = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{fault}");
        assert!(fault.contains(words), "{fault}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_policy_that_does_not_compile_ends_with_1() {
    let output = storm(&["max = 0, jitters = 1"]);
    let fault = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{fault}");
    for words in [
        "`max` counts the first attempt too",
        "did you mean `jitter`?",
        "^",
    ] {
        assert!(fault.contains(words), "{fault}");
    }
    assert!(output.stdout.is_empty());

    let output = storm(&["max = 0", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json["faults"][0]["rule"], "R1");
    assert_eq!(json["faults"][0]["written"], "0");

    let folder = folder("storm-faults");
    fs::create_dir_all(&folder).expect("it can be made");
    let file = folder.join("retry.toml");
    fs::write(&file, "[policies.bad]\nmax = 0\n").expect("it can be written");
    let output = storm(&["bad", "--config", file.to_str().expect("it is text")]);
    let fault = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{fault}");
    assert!(fault.contains("`max`"), "{fault}");
}

//! What reads configuration files, and what is said of their form.

use super::{command, ended, folder, run};

const FILE: &str = r#"
default = "storage"

[policies.storage]
max = 5
base = "250ms"

[operations."payments.charge"]
policy = "storage"
max = 2

[operations.report]
enabled = false
"#;

#[test]
fn a_name_is_looked_up_in_a_file() {
    let file = folder("names").join("retry.toml");
    std::fs::write(&file, FILE).unwrap();
    let path = file.to_str().unwrap();
    let explain = |name| run(&["explain", "--config", path, name]);
    for (name, words) in [
        ("storage", "Up to 5 attempts; delays of up to 250 ms"),
        ("default", "note: `default` has the policy `storage`"),
        ("payments.charge", "Up to 2 attempts"),
        ("report", "retries are switched off"),
    ] {
        let (code, out, err) = explain(name);
        assert_eq!((code, &*err), (0, ""), "{out}");
        assert!(out.contains(words), "{out}");
    }
    let (code, out, _) =
        explain("max = 4, name = \"payments.charge\", policy = \"storage\", jitter = \"none\"");
    assert_eq!(code, 0);
    assert!(out.contains("Up to 2 attempts; a delay of 250 ms"), "{out}");
    assert!(out.contains("note: `storage` of `"), "{out}");
    let (code, out, _) = explain("max = 4, policy = \"other\"");
    assert_eq!(code, 0);
    assert!(
        out.contains("Up to 4 attempts; delays of up to 100 ms"),
        "{out}"
    );
    assert!(out.contains("has no policy `other`"), "{out}");
    assert_eq!(explain("max = 4").0, 2);
    let (code, out, err) = explain("storag");
    assert_eq!((code, &*out), (2, ""));
    assert!(err.ends_with("has no policy and no operation `storag`; did you mean `storage`? it has policies `storage`; operations `payments.charge`, `report`\n"), "{err}");
    let (code, _, err) = run(&["explain", "--config", "nowhere.toml", "storage"]);
    assert_eq!(code, 2);
    assert!(err.contains("cannot read the file"), "{err}");
    std::fs::write(&file, "[policies.storage]\nbase = 250\n").unwrap();
    let (code, out, _) = explain("storage");
    assert_eq!(code, 1);
    assert!(
        out.contains("retry.toml:2:1: policies.storage.base: "),
        "{out}"
    );
}

#[test]
fn files_are_checked() {
    let folder = folder("check");
    std::fs::write(folder.join("retry.toml"), FILE).unwrap();
    std::fs::write(
        folder.join("bad.toml"),
        "[policies.a]\nbase = 250\nmaxx = 3\n",
    )
    .unwrap();
    let check = |arguments: &[&str]| {
        let arguments: Vec<_> = std::iter::once("check")
            .chain(arguments.iter().copied())
            .collect();
        ended(&command(&arguments).current_dir(&folder).output().unwrap())
    };
    let (code, out, _) = check(&[]);
    assert_eq!(code, 0);
    assert_eq!(
        out,
        "no file named: retry.toml of this folder\nretry.toml: good: 1 policy, 2 operations, default `storage`\n"
    );
    let (code, out, _) = check(&["bad.toml", "retry.toml"]);
    assert_eq!(code, 1);
    let lines: Vec<_> = out.lines().collect();
    assert!(
        lines[0].starts_with("bad.toml:2:1: policies.a.base: a bare number is not a duration"),
        "{out}"
    );
    assert!(lines[0].ends_with(" [R17]"), "{out}");
    assert!(
        lines[1].starts_with("bad.toml:3:1: policies.a.maxx: "),
        "{out}"
    );
    assert_eq!(lines[2], "bad.toml: 2 faults");
    assert!(lines[3].starts_with("retry.toml: good"), "{out}");
    assert_eq!(lines[4..], ["more of a rule: cargo retry explain R17"]);
    assert_eq!(check(&["nowhere.toml"]).0, 2);
    let (code, out, _) = check(&["--json", "bad.toml", "retry.toml"]);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    assert_eq!(value[0]["faults"][0]["line"], 2);
    assert_eq!(value[1]["policies"][0], "storage");
    std::fs::remove_file(folder.join("retry.toml")).unwrap();
    let (code, _, err) = check(&[]);
    assert_eq!(code, 2);
    assert!(
        err.contains("there is no `retry.toml` and no `Cargo.toml` in this folder"),
        "{err}"
    );
}

/// A rule about several keys is reported beside what is wrong with each, unless that decides whether it is broken.
#[test]
fn all_faults_of_a_file_are_told_at_once() {
    let file = folder("at_once").join("retry.toml");
    for (keys, wrong, told) in [
        (
            "max = \"three\"\nretries = 4\nbase = 250\nfactor = 1.0\ntimeout = \"10s\"\ndeadline = \"5s\"",
            4,
            "X3",
        ),
        (
            "max = -1\nbase = \"1s\"\ntimeout = \"5s\"\ndeadline = \"5s\"",
            1,
            "X3",
        ),
        ("backoff = \"expo\"\nbase = \"10s\"\ncap = \"1s\"", 1, "X1"),
        (
            "max = 3.5\njitter = \"most\"\nbase = \"10s\"\ndeadline = \"2s\"",
            2,
            "",
        ),
        (
            "jitter = \"most\"\nbase = \"10s\"\nfast_first = 1\nbackoff = \"none\"",
            1,
            "X8",
        ),
        ("deadline = 5\ntimeout = \"10s\"", 1, ""),
        ("max = \"many\"\ntimeout = \"5s\"\ndeadline = \"5s\"", 1, ""),
    ] {
        std::fs::write(&file, format!("[policies.a]\n{keys}\n")).unwrap();
        let (code, out, _) = run(&["check", file.to_str().unwrap()]);
        let rules: Vec<_> = out
            .lines()
            .filter_map(|it| it.rsplit_once(" [")?.1.strip_suffix(']'))
            .collect();
        let rules = || rules.iter().copied();
        let own = rules().filter(|it| it.starts_with('R')).count();
        let several: String = rules().filter(|it| it.starts_with('X')).collect();
        assert_eq!((code, own), (1, wrong), "{out}");
        assert_eq!(several, told, "{out}");
    }
}

#[test]
fn what_is_no_file_is_not_read() {
    let folder = folder("no_file");
    let big = folder.join("big.toml");
    let long = std::fs::File::create(&big).unwrap();
    long.set_len((16 << 20) + 1).unwrap();
    let big = big.to_str().unwrap();
    for (path, words) in [
        (folder.to_str().unwrap(), "this is a folder"),
        (big, "the file has 16 MiB"),
        #[cfg(unix)]
        ("/dev/zero", "this is not a regular file"),
    ] {
        let (code, out, _) = run(&["check", path]);
        assert_eq!(code, 2, "{out}");
        assert!(out.contains(words) && out.contains("[file]"), "{out}");
        let (code, _, err) = run(&["explain", "--config", path, "storage"]);
        assert_eq!(code, 2);
        assert!(err.contains(words), "{err}");
    }
    std::fs::remove_file(big).unwrap();
}

#[test]
fn a_terminal_gets_no_control_codes() {
    let file = folder("terminal").join("retry.toml");
    std::fs::write(
        &file,
        "[policies.\"a\\u001b[31m\\u009bb\"]\nmax = 3\nfoo = \"\\u001b]0;x\\u0007\"\n",
    )
    .unwrap();
    let path = file.to_str().unwrap();
    for arguments in [
        &["check", path][..],
        &["check", "--json", path],
        &["check", "\u{1b}[2J.toml"],
        &["explain", "--config", path, "a"],
        &["explain", "--config", path, "\u{1b}]0;x\u{7}"],
        &["explain", "max = 3, name = \"\u{1b}[8m\u{9b}b\""],
        &["explain", "policy = \u{9b}"],
        &["explain", "--json", "name = \"\u{7f}\u{9b}b\""],
        &["explain", "max = A /* \u{202e} \u{9b} \u{1b}[2J */ + 1"],
        &["storm", "max = 3, name = \"\u{1b}[8m\u{9b}b\""],
    ] {
        for forced in ["0", "1"] {
            let output = command(arguments)
                .env("CLICOLOR_FORCE", forced)
                .output()
                .unwrap();
            let (_, out, err) = ended(&output);
            let text = [out, err].concat();
            let colours = text.split('\u{1b}').skip(1).map(|rest| {
                let end = rest.find(|c: char| !c.is_ascii_digit() && !"[;".contains(c));
                end.and_then(|end| rest.get(end..=end))
            });
            assert!(colours.clone().all(|end| end == Some("m")), "{text:?}");
            assert!(!text.contains("\u{1b}[8m"), "{text:?}");
            let controls = |c: char| c.is_control() && c != '\n' && c != '\u{1b}';
            assert!(!text.contains(controls), "{arguments:?} {text:?}");
            assert!(!text.contains('\u{202e}'), "{text:?}");
        }
    }
    let json = run(&["explain", "--json", "name = \"\u{7f}\u{9b}b\""]).1;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["policy"], "name = \"\u{7f}\u{9b}b\"");
}

#[test]
fn what_is_nested_beyond_reading_is_refused() {
    let (before, after) = ("(".repeat(30_000), ")".repeat(30_000));
    for (text, code) in [
        (format!("max = {before}3{after}"), 1),
        (format!("max = {}3", "-".repeat(90_000)), 1),
        (format!("max = {}3{}", &before[..800], &after[..800]), 1),
        (format!("max = {}3", "-".repeat(9_900)), 1),
        (format!("on = {}x", "return ".repeat(1_400)), 0),
    ] {
        for program in ["explain", "storm"] {
            let (ended, out, err) = run(&[program, &text]);
            assert_eq!(ended, code, "{program} {out} {err}");
        }
    }
}

#[test]
fn the_schema_is_that_of_the_library() {
    let (code, out, _) = run(&["schema"]);
    assert_eq!((code, &*out), (0, reattempt_config::schema()));
    let file = folder("schema").join("retry.schema.json");
    let (code, out, _) = run(&["schema", "--output", file.to_str().unwrap()]);
    assert_eq!((code, &*out), (0, ""));
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        reattempt_config::schema()
    );
}

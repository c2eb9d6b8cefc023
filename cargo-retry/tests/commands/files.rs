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
        lines[0].starts_with("bad.toml:2:1: policies.a.base: a bare number is no duration"),
        "{out}"
    );
    assert!(lines[0].ends_with(" [R17]"), "{out}");
    assert!(
        lines[1].starts_with("bad.toml:3:1: policies.a.maxx: "),
        "{out}"
    );
    assert_eq!(lines[2], "bad.toml: 2 faults");
    assert!(lines[3].starts_with("retry.toml: good"), "{out}");
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
        err.contains("there is no `retry.toml` in this folder"),
        "{err}"
    );
}

#[test]
fn the_schema_is_that_of_the_library() {
    let (code, out, _) = run(&["schema"]);
    assert_eq!((code, &*out), (0, retry_runtime::config::schema()));
    let file = folder("schema").join("retry.schema.json");
    let (code, out, _) = run(&["schema", "--output", file.to_str().unwrap()]);
    assert_eq!((code, &*out), (0, ""));
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        retry_runtime::config::schema()
    );
}

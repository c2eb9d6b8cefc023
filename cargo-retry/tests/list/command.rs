//! Arguments, exit statuses, and what cannot be read.

use std::fs;
use std::path::Path;

use expect_test::expect;

use crate::forms::sound;
use crate::run::{ONE, json, list, project, texts, written};

#[test]
fn what_breaks_a_rule() {
    let folder = written(
        "faulty",
        &[(
            "src/lib.rs",
            "const MAX: u32 = 0;\n#[reattempt::retry(max = MAX, on(_))]\nfn constant() -> Result<(), ()> { Ok(()) }\n#[reattempt::retry(max = 5, cap = \"10ms\", base = \"1s\", on(_))]\nfn literal() -> Result<(), ()> { Ok(()) }\n",
        )],
    );
    let (code, out, err) = texts(&list(&folder, &[]));
    assert_eq!((code, err.as_str()), (1, ""));
    assert!(out.contains("error: src/lib.rs:2:"), "{out}");
    assert!(out.contains("error: src/lib.rs:4:"), "{out}");
    assert!(out.contains("2 would not compile"), "{out}");
}

#[test]
fn nothing_to_list() {
    let folder = written("nothing", &[("src/main.rs", "fn main() {}\n")]);
    let (code, out, err) = texts(&list(&folder, &[]));
    assert_eq!((code, err.as_str()), (0, ""));
    expect![
        "nothing here is retried: no `#[retry]` and no `retry_block!` of reattempt was found\n"
    ]
    .assert_eq(&out);
    assert_eq!(json(&folder, &[])["policies"], serde_json::json!([]));
    sound(&folder);
}

#[test]
fn files_that_cannot_be_read() {
    let folder = written(
        "unread",
        &[
            (
                "src/lib.rs",
                &format!(
                    "mod absent;\nmod broken;\nmod bytes;\n#[path = \"lib.rs\"] mod itself;\n#[cfg(windows)] mod windows;\n{ONE}"
                ),
            ),
            ("src/broken.rs", "fn (\n"),
        ],
    );
    fs::write(folder.join("src/bytes.rs"), [b'/', b'/', 0xff]).expect("a file");
    let (code, out, err) = texts(&list(&folder, &[]));
    assert_eq!(code, 0);
    assert!(
        out.contains("src/lib.rs:6") && out.contains("1 place retries"),
        "{out}"
    );
    expect![[r#"
        warning: src/lib.rs:1:5: the file of `mod absent;` is missing; it is expected at src/absent.rs; what is in it is not listed
        warning: src/broken.rs:1:4: brackets or quotes do not match; what is in it is not listed
        warning: src/bytes.rs:1:1: stream did not contain valid UTF-8; what is in it is not listed
        warning: src/lib.rs:1:1: this file is a module of itself; what is in it is not listed
    "#]].assert_eq(&err);
    assert_eq!(
        json(&folder, &[])["unread"].as_array().map(Vec::len),
        Some(4)
    );
    sound(&folder);
}

#[test]
fn what_cannot_be_begun() {
    let folder = written(
        "refused",
        &[
            ("src/lib.rs", ONE),
            ("broken/Cargo.toml", "[package\n"),
            ("retry.toml", "[policies.a]\nmax = 0\n"),
        ],
    );
    for (arguments, expected) in [
        (
            &["-p", "nobody"][..],
            expect![
                "error: retry.toml:2: policies.a.max: `max` counts the first attempt too, so 0 would never call at all; write `max = 1` for no retry or `max = 3` for two [R1] (https://docs.rs/reattempt/latest/reattempt/errors/#r1)"
            ],
        ),
        (
            &["--config", "absent.toml"],
            expect!["error: absent.toml cannot be read: No such file or directory (os error 2)"],
        ),
        (
            &["--manifest-path", "absent/Cargo.toml"],
            expect!["error: manifest path `absent/Cargo.toml` does not exist"],
        ),
    ] {
        let (code, out, err) = texts(&list(&folder, arguments));
        assert_eq!((code, out.as_str()), (2, ""));
        expected.assert_eq(err.trim_end());
    }
    let (code, _, err) = texts(&list(&folder, &["--manifest-path", "broken/Cargo.toml"]));
    assert!(
        code == 2 && err.starts_with("error: ") && err.contains("Cargo.toml"),
        "{err}"
    );
    fs::remove_file(folder.join("retry.toml")).expect("it is there");
    let (code, _, err) = texts(&list(&folder, &["-p", "nobody"]));
    assert_eq!(code, 2);
    expect!["error: no package `nobody` in this workspace; its packages are `refused`\n"]
        .assert_eq(&err);
}

/// From anywhere in the workspace the same list, which names files from its root.
#[test]
fn from_other_folders() {
    let project = project("shop");
    let whole = json(&project, &[]);
    assert_eq!(json(&project.join("clients/src/mail"), &[]), whole);
    let manifest = project.join("service/Cargo.toml");
    assert_eq!(
        json(
            Path::new("/"),
            &["--manifest-path", manifest.to_str().expect("a text")]
        ),
        whole
    );

    let service = json(&project, &["-p", "shop-service"]);
    let rows = service["policies"].as_array().expect("policies");
    assert!(rows.iter().all(|row| row["package"] == "shop-service"));
    // What they call in other packages is known.
    assert_eq!(rows[1]["calls"], whole["policies"][21]["calls"]);
    assert_eq!(rows[1]["operation"], "shop_service::orders::checkout");
}

#[test]
fn another_configuration() {
    let folder = written(
        "configured",
        &[
            (
                "src/lib.rs",
                "#[reattempt::retry(policy = \"a\", on(_))]\nfn one() -> Result<(), ()> { Ok(()) }\n",
            ),
            ("retry.toml", "[policies.a]\nmax = 2\n"),
            ("other.toml", "[policies.a]\nmax = 7\n"),
        ],
    );
    let attempts = |arguments: &[&str]| {
        json(&folder, arguments)["policies"][0]["schedule"]["attempts"].clone()
    };
    assert_eq!(attempts(&[]), 2);
    assert_eq!(attempts(&["--config", "other.toml"]), 7);
    fs::remove_file(folder.join("retry.toml")).expect("it is there");
    assert_eq!(attempts(&[]), "unknown");
}

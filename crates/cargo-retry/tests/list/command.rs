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
    let last = "more of a rule: cargo retry explain R1\n";
    assert_eq!(out.matches(last).count(), 1, "{out}");
}

#[test]
fn nothing_to_list() {
    let folder = written("nothing", &[("src/main.rs", "fn main() {}\n")]);
    let (code, out, err) = texts(&list(&folder, &[]));
    assert_eq!((code, err.as_str()), (0, ""));
    expect![
        "nothing here is retried: no `#[retry]`, no `retry_block!` and no policy of reattempt was found; `cargo retry suggest` finds other retries\n"
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
    assert_eq!(code, 1);
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
    let run = &sound(&folder)["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
}

/// What stands around an error is listed.
#[test]
fn a_file_with_an_error() {
    let folder = written(
        "partly",
        &[(
            "src/lib.rs",
            &format!(
                "fn a(x) -> {{ }}\n{ONE}struct ;\n{}",
                ONE.replace("one", "two")
            ),
        )],
    );
    let (code, out, err) = texts(&list(&folder, &[]));
    assert_eq!(code, 1);
    assert!(
        out.contains("partly::one") && out.contains("2 places"),
        "{out}"
    );
    expect![[r#"
        warning: src/lib.rs:1:7: expected `:`; what cannot be read is not listed
    "#]]
    .assert_eq(&err);
    fs::write(folder.join("src/lib.rs"), "fn a() }").expect("a file");
    assert_eq!(list(&folder, &[]).status.code(), Some(2));
}

/// Each file that a module may have is read, and says when.
#[test]
fn a_module_of_several_files() {
    let other = |name: &str| ONE.replace("one", name);
    let folder = written(
        "several",
        &[
            (
                "src/lib.rs",
                "#[cfg_attr(unix, path = \"unix.rs\")] #[cfg_attr(windows, path = \"windows.rs\")] mod imp;\n\
                 #[cfg(unix)] mod os { pub fn call() -> Result<(), ()> { crate::one::one() } }\n\
                 #[cfg(windows)] mod os { pub fn other() {} }\n\
                 pub mod one;\n\
                 #[reattempt::retry(on(_))] fn outer() -> Result<(), ()> { os::call() }\n",
            ),
            ("src/imp.rs", &other("usual")),
            ("src/unix.rs", &other("unix")),
            ("src/windows.rs", &other("windows")),
            ("src/one.rs", &ONE.replace("fn", "pub fn")),
        ],
    );
    let listing = json(&folder, &[]);
    let rows = listing["policies"].as_array().expect("policies");
    let reported = rows.iter().map(|row| {
        let conditions = row["conditions"].as_array().into_iter().flatten();
        let conditions: Vec<_> = conditions.filter_map(|it| it.as_str()).collect();
        format!("{}: {}.", row["operation"], conditions.join(" and "))
    });
    expect![[r#"
        "several::imp::usual": not(unix) and not(windows).
        "several::outer": .
        "several::one::one": .
        "several::imp::unix": unix.
        "several::imp::windows": windows."#]]
    .assert_eq(&reported.collect::<Vec<_>>().join("\n"));
    let outer = rows.iter().find(|row| row["operation"] == "several::outer");
    let calls = &outer.expect("it is listed")["calls"];
    assert_eq!(calls[0]["operation"], "several::one::one");
}

#[test]
fn what_has_no_end_and_what_a_terminal_obeys() {
    let code = "#[path = \"/dev/zero\"] mod endless;\n#[path = \"../long.rs\"] mod long;\n#[path = \"\u{1b}]0;x.rs\"] mod absent;\n#[cfg(feature = \"\u{1b}[2J\u{9b}\")]\n#[reattempt::retry(name = NAME /* \u{1b}[8m */, policy = \"\u{9b}a\", on(_))]\nfn one() -> Result<(), ()> { Ok(()) }\n";
    let folder = written("endless", &[("src/lib.rs", code)]);
    let long = fs::File::create(folder.join("long.rs")).expect("a file");
    long.set_len((16 << 20) + 1).expect("a length");
    for format in ["table", "json", "sarif"] {
        let (_, out, err) = texts(&list(&folder, &["--format", format]));
        let controls = |c: char| c.is_control() && c != '\n';
        assert!(!out.contains(controls), "{out:?}");
        assert!(!err.contains(controls), "{err:?}");
        #[cfg(unix)]
        assert!(err.contains("this is not a regular file"), "{err}");
        assert!(err.contains("the file has 16 MiB"), "{err}");
        assert!(err.contains("\\u{1b}]0;x.rs"), "{err}");
    }
    assert!(json(&folder, &[]).is_object());
}

#[test]
fn code_that_nests_without_brackets() {
    let folder = written("nesting", &[("src/lib.rs", ONE)]);
    for again in [
        "Box<",
        "*const ",
        "return ",
        "-",
        "1+",
        "|a, b| ",
        "a=",
        "if a {} else ",
    ] {
        let code = format!("{ONE}fn deep() {{ let x: {}1; }}\n", again.repeat(100_000));
        fs::write(folder.join("src/lib.rs"), code).expect("a file");
        let (code, _, err) = texts(&list(&folder, &[]));
        assert_eq!(code, 2, "{again}: {err}");
        assert!(err.contains("nested too deeply"), "{again}: {err}");
        // What is not refused is not too much for the stack.
        let code = format!(
            "{ONE}fn deep() {{ let x: u8 = {}1; }}\n",
            again.repeat(7_900)
        );
        fs::write(folder.join("src/lib.rs"), code).expect("a file");
        texts(&list(&folder, &[]));
    }
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
                "error: retry.toml:2: policies.a.max: `max` counts the first attempt too, so 0 would never call at all; write `max = 1` for no retry or `max = 3` for two [R1] (https://reattempt.github.io/reattempt/errors.html#r1)"
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
        // A configuration that breaks a rule is reported as a policy that does.
        let status = if err.contains("[R1]") { 1 } else { 2 };
        assert_eq!((code, out.as_str()), (status, ""));
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
    assert_eq!(
        rows[1]["operation"],
        "shop_service::orders::Orders::checkout"
    );
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

/// The budget that a policy of the configuration has.
#[test]
fn a_budget_of_the_configuration() {
    let folder = written(
        "budgeted",
        &[
            (
                "src/lib.rs",
                "#[reattempt::retry(policy = \"a\", on(_))]\nfn one() -> Result<(), ()> { Ok(()) }\n\
                 #[reattempt::retry(policy = \"b\", on(_))]\nfn two() -> Result<(), ()> { Ok(()) }\n",
            ),
            (
                "retry.toml",
                "[policies.a]\nbudget = 0.25\n[policies.b]\nbudget = { tokens = 100, cost = 2 }\n",
            ),
        ],
    );
    let listing = json(&folder, &[]);
    let rows = listing["policies"].as_array().expect("policies");
    assert_eq!(rows[0]["schedule"]["budget"], 0.25);
    assert_eq!(rows[1]["schedule"]["budget"], serde_json::Value::Null);
    let (_, out, _) = texts(&list(&folder, &[]));
    assert!(out.contains("its budget 0.25"), "{out}");
    assert_eq!(out.matches("its budget").count(), 2, "{out}");
}

/// What is only written down, for others.
#[test]
fn quoted_code() {
    let folder = written(
        "quoted",
        &[(
            "src/lib.rs",
            &format!(
                "fn a() {{ stringify! {{ {ONE} }}; quote::quote! {{ {} }}; }}\n",
                ONE.replace("one", "two")
            ),
        )],
    );
    let listing = json(&folder, &[]);
    let rows = listing["policies"].as_array().expect("policies");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["by_macro"], "quote");
    assert_eq!(rows[0]["operation"], "quoted::two");
}

/// Modules that import from each other, enums whose variants are imported, and names that lead to themselves.
#[test]
fn imports_in_circles() {
    let folder = written(
        "circles",
        &[
            (
                "src/lib.rs",
                "mod ffi { mod body; mod io; pub use body::*; pub use io::*; pub use absent::*; }\n\
                 mod kinds { use super::Kind::*; use super::*; #[reattempt::retry(on(_))] fn f() -> Result<(), ()> { Ok(()) } }\n\
                 enum Kind { One }\nuse kinds::x as y;\nuse y::z as kinds;\n",
            ),
            (
                "src/ffi/body.rs",
                &format!("use super::*;\nuse super::io::*;\n{ONE}"),
            ),
            (
                "src/ffi/io.rs",
                &format!("use super::*;\nuse super::body::*;\n{ONE}"),
            ),
        ],
    );
    let listing = json(&folder, &[]);
    assert_eq!(listing["policies"].as_array().map(Vec::len), Some(3));
}

/// A `*` whose module is itself known through a `*`, of a module that is read later.
#[test]
fn imports_through_imports() {
    let folder = written(
        "through_all",
        &[(
            "src/lib.rs",
            &format!(
                "mod a {{ use super::b::*; use inner::*; #[reattempt::retry(on(_))] fn outer() -> Result<(), ()> {{ one() }} }}\n\
                 mod b {{ pub use super::c::*; }}\nmod c {{ pub mod inner {{\n{}}} }}\n",
                ONE.replace("fn", "pub fn")
            ),
        )],
    );
    let listing = json(&folder, &[]);
    let call = &listing["policies"][0]["calls"][0];
    assert_eq!(call["operation"], "through_all::c::inner::one");
}

/// As deep and as long as only programs write it.
#[test]
fn generated_code() {
    use std::fmt::Write as _;

    let mut chain = String::from("#[reattempt::retry(on(_))] fn f() -> Result<(), ()> { g0() }\n");
    for number in 0..2000 {
        let _ = writeln!(
            chain,
            "fn g{number}() -> Result<(), ()> {{ g{}() }}",
            number + 1
        );
    }
    chain += "#[reattempt::retry(on(_))] fn g2000() -> Result<(), ()> { Ok(()) }\n";
    let deep = format!("fn d() {{ {}1{}; }}\n", "(".repeat(1000), ")".repeat(1000));
    let long = format!(
        "fn l() {{ x{}; 0{}; }}\n",
        ".a()".repeat(5000),
        " + 1".repeat(5000)
    );
    let refused = format!("fn r(x: {}u8) {{}}\n", "&".repeat(10_000));
    let folder = written(
        "generated",
        &[
            ("src/lib.rs", &format!("mod refused;\n{chain}{deep}{long}")),
            ("src/refused.rs", &refused),
        ],
    );
    let listing = json(&folder, &[]);
    let rows = listing["policies"].as_array().expect("policies");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["calls"][0]["attempts"], 3 + 2);
    assert_eq!(
        rows[0]["calls"][0]["through"].as_array().map(Vec::len),
        Some(2000)
    );
    assert_eq!(listing["unread"][0]["why"], "its code is nested too deeply");
}

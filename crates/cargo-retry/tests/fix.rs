//! `cargo retry fix` on every refused example of the error index: afterwards all of them compile, together.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use quote::ToTokens as _;
use syn::{File, Item};

const INDEX: &str = include_str!("../../../docs/errors.md");

/// Rules without a fix: which errors are retried, another signature or another part of the body is a decision.
const NOT_FIXED: [&str; 2] = ["s4", "s12"];

/// The code of the blocks with this fence.
fn blocks<'a>(section: &'a str, fence: &str) -> Vec<&'a str> {
    let fence = format!("\n```{fence}\n");
    let found = section.split(&fence).skip(1);
    found.filter_map(|it| it.split("\n```").next()).collect()
}

fn parsed(code: &str) -> File {
    let shown = code.lines().map(|it| it.strip_prefix("# ").unwrap_or(it));
    syn::parse_file(&shown.collect::<Vec<_>>().join("\n")).unwrap()
}

fn name(item: &Item) -> String {
    match item {
        Item::Fn(it) => it.sig.ident.to_string(),
        Item::Struct(it) => it.ident.to_string(),
        Item::Enum(it) => it.ident.to_string(),
        Item::Static(it) => it.ident.to_string(),
        Item::Const(it) => it.ident.to_string(),
        it => it.to_token_stream().to_string(),
    }
}

/// Each refused example as a module, with what only the accepted one beside it has.
fn examples() -> (usize, String) {
    let (mut all, mut code) = (0, "#![allow(unused)]\n".to_owned());
    for section in INDEX.split("\n## ").skip(1) {
        let id = section.lines().next().unwrap().to_lowercase();
        if NOT_FIXED.contains(&&*id) {
            continue;
        }
        let accepted = blocks(section, "rust").first().map(|it| parsed(it));
        for (number, refused) in blocks(section, "rust,ignore").into_iter().enumerate() {
            let known: Vec<_> = match syn::parse_file(refused) {
                Ok(file) => file.items.iter().map(name).collect(),
                Err(_) => Vec::new(),
            };
            let items = accepted.iter().flat_map(|it| &it.items);
            // What is below the fault is shown in the accepted one, too.
            let is_fetch = |it: &Item| refused.contains(&format!("fn {}", name(it)));
            let more = items.filter(|it| !known.contains(&name(it)) && !is_fetch(it));
            let more: Vec<_> = more.map(|it| it.to_token_stream().to_string()).collect();
            let more = more.join("\n");
            writeln!(code, "mod {id}_{number} {{\n{more}\n{refused}\n}}").unwrap();
            all += 1;
        }
    }
    (all, code)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A package of its own with this code. Its name is another one, too: cargo takes packages of one name for one.
fn project(name: &str, code: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("src")).unwrap();
    let root = root().canonicalize().unwrap();
    let root = root.display();
    let manifest = format!(
        r#"[package]
name = "{name}"
version = "0.1.0"
edition = "2024"
[dependencies]
reattempt = {{ path = "{root}" }}
reattempt-supervisor = {{ path = "{root}/crates/reattempt-supervisor" }}
tokio = {{ version = "1", features = ["fs"] }}
anyhow = "1"
[workspace]
"#
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), code).unwrap();
    fs::copy(format!("{root}/Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    folder
}

fn command(program: &str, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_NET_OFFLINE", "true")
        // Not that of the workspace, where it would wait until each other run of cargo has ended.
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixes"),
        )
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .output()
        .unwrap()
}

fn fix(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let all = [&["retry", "fix"], arguments].concat();
    let run = command(env!("CARGO_BIN_EXE_cargo-retry"), folder, &all);
    let said = [run.stdout, run.stderr].concat();
    (
        run.status.code(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn every_refused_example_compiles_afterwards() {
    let (all, code) = examples();
    assert!(all >= 56, "{all}");
    let folder = project("fix", &code);
    // Dry.
    let (status, said) = fix(&folder, &[]);
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(fs::read_to_string(folder.join("src/lib.rs")).unwrap(), code);
    // Not under the folder of another project that git knows.
    let (status, said) = fix(&folder, &["--write", "--allow-dirty"]);
    assert_eq!(status, Some(0), "{said}");
    let check = command("cargo", &folder, &["check"]);
    assert!(
        check.status.success(),
        "{}",
        String::from_utf8_lossy(&check.stderr)
    );
}

/// What stands there is meant, though it is written in the form of another key.
#[test]
fn a_key_in_another_form_is_kept() {
    let code = "use reattempt::retry;
pub enum Fault { Busy, Status(u16) }
#[retry(max(4), on = Fault::Busy | Fault::Status(503))]
pub fn one() -> Result<(), Fault> { Ok(()) }
#[retry(on(|fault| matches!(fault, Fault::Busy)), jitter)]
pub fn two() -> Result<(), Fault> { Ok(()) }
#[retry(on(Fault::Busy, Fault::Status(_)))]
pub fn three() -> Result<(), Fault> { Ok(()) }
#[retry(on(Fault::Busy), 5 times)]
pub fn four() -> Result<(), Fault> { Ok(()) }
#[retry({ on(Fault::Busy), max = 4 })]
pub fn five() -> Result<(), Fault> { Ok(()) }
#[retry(on(Fault::Busy), no_jitter, every = \"1s\", cap_ms = 5000)]
pub fn six() -> Result<(), Fault> { Ok(()) }
";
    let folder = project("fix-forms", code);
    let (status, said) = fix(&folder, &["--write", "--allow-dirty"]);
    assert_eq!(status, Some(0), "{said}");
    let fixed = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    for kept in [
        "(max = 4, on(Fault::Busy | Fault::Status(503)))",
        "(on = |fault| matches!(fault, Fault::Busy), jitter = 0.2)",
        "(on(Fault::Busy | Fault::Status(_)))",
        "(on(Fault::Busy), max = 6)",
        "(on(Fault::Busy), max = 4)",
        "(on(Fault::Busy), jitter = \"none\", base = \"1s\", cap = \"5000ms\")",
    ] {
        assert!(fixed.contains(kept), "{said}\n{fixed}");
    }
}

/// An error that may hold any other one gets `chain!`; which of its own errors a type retries, the fix leaves open.
#[test]
fn which_errors_are_retried_is_not_guessed() {
    let code = "use reattempt::retry;
#[retry]
pub fn one() -> anyhow::Result<()> { Ok(()) }
#[retry(max = 4)]
pub async fn two() -> Result<(), anyhow::Error> { Ok(()) }
#[retry()]
pub fn three() -> Result<(), Box<dyn std::error::Error + Send + Sync>> { Ok(()) }
";
    let folder = project("fix-chain", code);
    let (status, said) = fix(&folder, &["--write", "--allow-dirty"]);
    assert_eq!(status, Some(0), "{said}");
    let fixed = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    let chain = "on = reattempt::chain![std::io::Error]";
    assert_eq!(fixed.matches(chain).count(), 3, "{fixed}");
    assert!(
        fixed.contains(&format!("#[retry({chain}, max = 4)]")),
        "{fixed}"
    );
    for ty in ["String", "&'static str", "u8", "Busy"] {
        let code = format!(
            "use reattempt::retry;\npub struct Busy;\n#[retry]\npub fn one() -> Result<(), {ty}> {{ Ok(()) }}\n"
        );
        let folder = project("fix-left", &code);
        let (status, said) = fix(&folder, &["--write", "--allow-dirty"]);
        assert_eq!(status, Some(1), "{said}");
        let left = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        assert_eq!(left, code, "{said}");
        assert!(
            said.contains("1 for you") && said.contains("`on = |error| ...`"),
            "{said}"
        );
    }
}

#[test]
fn a_dirty_tree_is_refused() {
    let folder = project("fix-dirty", "fn main() {}\n");
    let git = |arguments: &[&str]| {
        let run = command("git", &folder, arguments);
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        );
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "--allow-empty",
        "--quiet",
        "--message",
        "first",
    ]);
    fs::write(folder.join("src/lib.rs"), "fn changed() {}\n").unwrap();
    let (status, said) = fix(&folder, &["--write"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("--allow-dirty"), "{said}");
}

/// A borrow in the body, where the message writes one, and what goes on where it stopped.
#[test]
fn a_moved_parameter_is_borrowed_where_that_is_enough() {
    let code = "use reattempt::retry;
use std::fs::File;
use std::io::{Read, Result};
use std::path::Path;
#[retry(max = 2, on(_))]
pub fn open<P: AsRef<Path>>(path: P) -> Result<File> { File::open(path) }
#[retry(max = 2, on(_))]
pub fn read(reader: impl Read) -> Result<String> { std::io::read_to_string(reader) }
#[retry(max = 2, on(_))]
pub fn again(reader: &mut impl Read) -> Result<String> { std::io::read_to_string(reader) }
";
    let folder = project("fix-borrowed", code);
    let (status, said) = fix(&folder, &["--write", "--allow-dirty"]);
    assert_eq!(status, Some(0), "{said}");
    let fixed = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    for borrowed in [
        "File::open(&path)",
        "(mut reader: impl Read)",
        "(&mut reader)",
        "(&mut *reader)",
    ] {
        assert!(fixed.contains(borrowed), "{said}\n{fixed}");
    }
}

/// `Encoder { &mut writer, level: 3 }` is no code.
#[test]
fn a_field_in_short_is_left_alone() {
    let code = "use reattempt::retry;
use std::io::{Result, Write};
pub struct Encoder<W> { pub writer: W, pub level: u8 }
#[retry(max = 2, on(_))]
pub fn short<W: Write>(writer: W) -> Result<u8> { Ok(Encoder { writer, level: 3 }.level) }
";
    let folder = project("fix-short", code);
    let (_, said) = fix(&folder, &["--write", "--allow-dirty"]);
    let left = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    assert_eq!(left, code, "{said}");
}

/// What is moved is cloned where the message says only that: not before a bound, and not twice.
#[test]
fn a_moved_parameter_is_cloned_if_nothing_else_changes() {
    let code = "use reattempt::retry;
#[retry(max = 2, on(_))]
pub fn two(one: String, other: String) -> Result<(String, String), u8> { Ok((one, other)) }
#[retry(max = 2, on(_), clone(one))]
pub fn three(one: String, other: String) -> Result<(String, String), u8> { Ok((one, other)) }
";
    let folder = project("fix-moved", code);
    let (status, said) = fix(&folder, &["--write", "--allow-dirty"]);
    assert_eq!(status, Some(0), "{said}");
    let fixed = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    assert_eq!(fixed.matches("clone(one, other)").count(), 2, "{fixed}");
    for code in [
        "pub fn generic<V: Send>(value: V) -> Result<V, u8> { Ok(value) }",
        "pub fn once(make: impl FnOnce() -> u8) -> Result<u8, u8> { Ok(make()) }",
    ] {
        let code = format!("use reattempt::retry;\n#[retry(max = 2, on(_))]\n{code}\n");
        let folder = project("fix-moved", &code);
        let (_, said) = fix(&folder, &["--write", "--allow-dirty"]);
        let left = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        assert_eq!(left, code, "{said}");
    }
}

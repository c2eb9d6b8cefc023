//! `cargo retry list` on whole projects: what stands in `tests/projects` of the repository, read by eye.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::{Expect, expect};
use serde_json::Value;

fn project(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/projects");
    let project = root.join(name);
    // The versions of the workspace, so that nothing is fetched.
    fs::copy(root.join("../../Cargo.lock"), project.join("Cargo.lock")).expect("a copy");
    project
}

fn list(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-retry"));
    command.args(["retry", "list"]).args(arguments);
    command.current_dir(folder).env("NO_COLOR", "1");
    command.output().expect("it runs")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = list(folder, &[&["--format", "json"], arguments].concat());
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// The word behind `//~` on the line above a place.
struct Markers(HashMap<String, Vec<String>>);

impl Markers {
    fn at(&mut self, folder: &Path, file: &str, line: u64) -> String {
        let lines = self.0.entry(file.to_owned()).or_insert_with(|| {
            let text = fs::read_to_string(folder.join(file)).expect("a file of the project");
            text.lines().map(|line| line.trim().to_owned()).collect()
        });
        let above = usize::try_from(line).expect("a line") - 2;
        let marker = lines[above].strip_prefix("//~ ");
        marker
            .unwrap_or_else(|| panic!("no marker above {file}:{line}"))
            .to_owned()
    }
}

/// Milliseconds; ranges from the least to the longest.
fn told(project: &Path, row: &Value, markers: &mut Markers) -> String {
    let ms = |value: &Value| value.as_f64().map(|nanos| nanos / 1e6);
    let place = |row: &Value| {
        (
            row["file"].as_str().expect("a file").to_owned(),
            row["line"].as_u64().expect("a line"),
        )
    };
    let (file, line) = place(row);
    let schedule = &row["schedule"];
    let mut text = format!(
        "{} {} {} x{}",
        markers.at(project, &file, line),
        row["operation"]
            .as_str()
            .expect("an operation")
            .replace(&format!(":{line}"), ":LINE"),
        count(&schedule["attempts"]),
        count(&schedule["load"]),
    );
    let delays = schedule["delays"].as_array().map(|delays| {
        let delays = delays.iter().map(|delay| {
            let (least, longest) = (ms(&delay["least_ns"]), ms(&delay["longest_ns"]));
            let (least, longest) = (least.expect("a time"), longest.expect("a time"));
            if least < longest {
                format!("{least}-{longest}")
            } else {
                least.to_string()
            }
        });
        let delays: Vec<_> = delays.collect();
        if delays.len() > 6 {
            format!("{} ...", delays[..3].join(" "))
        } else {
            delays.join(" ")
        }
    });
    let _ = write!(text, " [{}]", delays.unwrap_or_else(|| "?".to_owned()));
    for (key, word) in [
        ("sleeping_ns", "sleeps"),
        ("wall_ns", "lasts"),
        ("deadline_ns", "deadline"),
        ("timeout_ns", "timeout"),
    ] {
        if let Some(time) = ms(&schedule[key]) {
            let _ = write!(text, " {word} {time}");
        }
    }
    if let Some(share) = schedule["budget"].as_f64() {
        let _ = write!(text, " share {share}");
    }
    if let Some(policy) = row["policy"].as_str() {
        let _ = write!(text, " policy {policy}");
    }
    for limit in ["budget", "breaker", "throttle", "hedge"] {
        let written = row["written"].as_array().expect("keys").iter();
        for written in written.filter(|it| it["key"] == limit) {
            let _ = write!(
                text,
                " {limit} {}",
                written["value"].as_str().expect("a value")
            );
        }
    }
    for (key, word) in [("unknown", "unknown"), ("conditions", "if")] {
        if let Some(list) = row[key].as_array() {
            let list: Vec<_> = list.iter().filter_map(Value::as_str).collect();
            let _ = write!(text, " {word} {}", list.join(", "));
        }
    }
    if let Some(name) = row["by_macro"].as_str() {
        let _ = write!(text, " in {name}!");
    }
    if row["off"] == true {
        text += " off";
    }
    let targets: Vec<_> = row["targets"]
        .as_array()
        .expect("kinds")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let form = row["form"]
        .as_str()
        .expect("a form")
        .split(' ')
        .next()
        .expect("a word");
    let is_async = if row["async"] == true { "async " } else { "" };
    let _ = write!(
        text,
        "; {is_async}{form} of {} ({})",
        row["package"].as_str().expect("a package"),
        targets.join(", ")
    );
    for below in row["calls"].as_array().into_iter().flatten() {
        let (file, line) = place(below);
        let _ = write!(
            text,
            "\n  -> {} {}/{}",
            markers.at(project, &file, line),
            count(&below["attempts"]),
            count(&below["multiplied"])
        );
        if let Some(through) = below["through"].as_array() {
            let through: Vec<_> = through.iter().filter_map(Value::as_str).collect();
            let _ = write!(text, " through {}", through.join(", "));
        }
        for word in ["spawned", "recursive"] {
            if below[word] == true {
                let _ = write!(text, " {word}");
            }
        }
    }
    text
}

fn count(value: &Value) -> String {
    match value.as_str() {
        Some("unknown") => "?".to_owned(),
        None if value.is_null() => "?".to_owned(),
        Some(word) => word.to_owned(),
        None => value.to_string(),
    }
}

fn whole(name: &str, expected: &Expect) {
    let project = project(name);
    let listing = json(&project, &[]);
    assert_eq!(listing["unread"], serde_json::json!([]));
    let mut markers = Markers(HashMap::new());
    let rows = listing["policies"].as_array().expect("policies").iter();
    let rows: Vec<_> = rows
        .map(|row| {
            assert_eq!(row["faults"], Value::Null, "{row}");
            told(&project, row, &mut markers)
        })
        .collect();
    expected.assert_eq(&format!("{}\n", rows.join("\n")));
    assert_eq!(
        markers_of(&project),
        rows.len(),
        "each marker has its place, and each place a marker"
    );
}

/// How many there are below a folder.
fn markers_of(folder: &Path) -> usize {
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let counts = entries.map(|path| {
        if path.is_dir() {
            return markers_of(&path);
        }
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let text = if is_rust {
            fs::read_to_string(&path).expect("a text")
        } else {
            String::new()
        };
        text.lines()
            .filter(|line| line.trim().starts_with("//~ "))
            .count()
    });
    counts.sum()
}

#[test]
fn shop() {
    whole(
        "shop",
        &expect![[r#"
        prices prices::prices 3 x3 [0.001 0.002] sleeps 0.003; function of shop-clients (bench)
        one_order one_order:LINE 2 x2 [50] sleeps 50 policy shop_common::policies::QUICK; block of shop-clients (example)
          -> newsletter 2/2
        price shop_clients::catalogue::price 2 x6 [10] sleeps 10 throttle &PRICES hedge COPIES; async function of shop-clients (lib)
        names shop_clients::catalogue::names 3 x6 [1000 2000] sleeps 3000 lasts 7000 timeout 2000 hedge quantile(0.95); async function of shop-clients (lib)
        tree shop_clients::catalogue::tree 2 x2 [1000] sleeps 1000 lasts 30000 deadline 30000; function of shop-clients (lib)
          -> tree ?/? through branches recursive
        receipt shop.receipt 2 x2 [1000] sleeps 1000 policy mail; function of shop-clients (lib)
          -> put 5/8
        newsletter shop_clients::mail::newsletter 1 x1 [] sleeps 0 lasts 0 policy mail off; function of shop-clients (lib)
        absent shop_clients::mail::advertisement ? x? [?] policy "absent", which the file does not have; function of shop-clients (lib)
        letter shop_clients::mail::letter 2 x2 [0] sleeps 0; function of shop-clients (lib)
        letters shop_clients::mail::letters 3 x3 [0 0] sleeps 0; function of shop-clients (lib)
          -> letter 6/6 spawned
        put shop_clients::mail::queue::put 4 x4 [250 250 250] sleeps 750 lasts 10000 deadline 10000 policy storage; function of shop-clients (lib)
        refund shop_clients::payments::refund 2 x2 [0-100] sleeps 100; function of shop-clients (lib)
        balance shop_clients::payments::balance 3 x3 [0-500 0-1000] sleeps 1500 share 0.2 budget &SPENDING breaker &CARRIER; method of shop-clients (lib)
        transfer bank.transfer 2 x2 [0-100] sleeps 100; function of shop-clients (lib)
        charge shop_clients::payments::charge 3 x3 [0-20 0-40] sleeps 60 share 0.1 budget 0.1; function of shop-clients (lib)
          -> balance 5/9
        count shop_clients::stock::count 5 x5 [200 400 800 1600] sleeps 3000 policy PATIENT; function of shop-clients (lib)
        line shop_clients::stock::line 4 x4 [5-15 10-30 20-60] sleeps 105; function of shop-clients (lib)
        found shop_clients::stock::found 4 x4 [100 200 400] sleeps 700; function of shop-clients (lib)
        held shop_clients::stock:LINE 2 x2 [0-1] sleeps 1; block of shop-clients (lib)
        outage outage::nothing_is_reserved 2 x2 [0-1] sleeps 1; function of shop-clients (test)
        main shop:LINE 3 x3 [0-1000 0-2000] sleeps 3000 lasts 60000 deadline 60000; block of shop-service (bin)
          -> checkout 12/180
        checkout shop_service::orders::checkout 4 x4 [10 20 40] sleeps 70; function of shop-service (lib)
          -> reserve 10/60
          -> charge 8/36 through paid
        reserve shop_service::orders::reserve 3 x3 [50 100] sleeps 150 policy QUICK; function of shop-service (lib)
          -> count 7/15 through warehouse
        audit shop_service::orders::audit 3 x3 [10 20] sleeps 30; function of shop-service (lib)
          -> line 12/12
        ship shop_service::orders::ship 3 x3 [10 20] sleeps 30; function of shop-service (lib)
          -> found 12/12
        delivered shop_service::orders::delivered 4 x4 [10 20 40] sleeps 70; function of shop-service (lib)
          -> state 8/8
        state shop_service::orders::state 2 x2 [10] sleeps 10; function of shop-service (lib)
        quote shop_service::quotes::quote 3 x3 [10 20] sleeps 30; async function of shop-service (lib)
          -> price 12/18
    "#]],
    );
}

#[test]
fn fetcher() {
    whole(
        "fetcher",
        &expect![[r#"
        outer fetcher::feed:LINE 2 x2 [0] sleeps 0; block of fetcher (lib)
          -> inner 4/6
        inner fetcher::feed:LINE 3 x3 [0 0] sleeps 0; block of fetcher (lib)
        listed fetcher::feed:LINE 2 x2 [0-1] sleeps 1; block of fetcher (lib)
          -> one 8/48
        one fetcher::feed::one 3 x3 [0.5-1 1-2] sleeps 3; function of fetcher (lib)
          -> year 7/24
        closure fetcher::feed:LINE 2 x2 [3000] sleeps 3000; async block of fetcher (lib)
        year fetcher::feed::parse::dates::year 2 x2 [1000] sleeps 1000; function of fetcher (lib)
          -> digit 5/8 through digits
        digit fetcher::feed::parse::dates::digit 4 x4 [1000 1000 2000] sleeps 4000; function of fetcher (lib)
        month fetcher::feed::parse::dates::names::first 3 x3 [1000 3000] sleeps 4000; function of fetcher (lib)
        api fetcher::api::version 3 x3 [0-100 0-200] sleeps 300; function of fetcher (lib)
          -> token 4/6
        table fetcher::table 2 x2 [7] sleeps 7; function of fetcher (lib)
          -> api 5/12
        token fetcher::api::token::fresh 2 x2 [60000] sleeps 60000; function of fetcher (lib)
        tries fetcher::limits::counted ? x? [1000 2000 4000 ...] unknown max; function of fetcher (lib)
        generic fetcher::limits::generic ? x? [?] unknown max, base; function of fetcher (lib)
        small fetcher::limits::small 2 x2 [?] share 0.05 budget &ALL unknown base; function of fetcher (lib)
          -> generic ?/?
        own fetcher::limits::run_time ? x? [?] policy own(); function of fetcher (lib)
          -> small ?/?
        endless fetcher::limits::endless unlimited xunlimited [0-100 0-200 0-400 ...] sleeps 300000 lasts 300000 deadline 300000; function of fetcher (lib)
          -> own ?/?
        asks fetcher::macros::$name ? x? [?] in asks!; function of fetcher (lib)
        stubborn fetcher::macros::retry_block! 3 x3 [5 10] sleeps 15 in stubborn!; block of fetcher (lib)
        select fetcher:LINE 2 x2 [1000] sleeps 1000; async block of fetcher (bin)
          -> page 6/10
        join fetcher:LINE 4 x4 [50 100 150] sleeps 300; async block of fetcher (bin)
          -> page 8/20
        page fetcher::shared::page 5 x5 [1500-2500 1500-2500 1500-2500 1500-2500] sleeps 10000; async function of fetcher (bin, lib)
        disk fetcher::store::disk::load 6 x6 [1000 2000 3000 3000 3000] sleeps 12000; async function of fetcher (lib)
        cached fetcher::store::get 2 x2 [1] sleeps 1; async function of fetcher (lib)
          -> disk 7/12
        warm fetcher::store::warm 2 x2 [1] sleeps 1; async function of fetcher (lib)
          -> cached 8/24
        bounded fetcher::waits::bounded 3 x3 [1000 2000] sleeps 3000 lasts 5000 deadline 10000 timeout 1000; async function of fetcher (lib)
        fast fetcher::waits::fast 2 x2 [0] sleeps 0; function of fetcher (lib)
        strategy fetcher::waits::decided 20 x20 [?]; function of fetcher (lib)
        closure_delay fetcher::waits::shaped 4 x4 [?] unknown backoff; function of fetcher (lib)
        decorrelated fetcher::waits::decorrelated 3 x3 [100-300 100-900] sleeps 1200; function of fetcher (lib)
    "#]],
    );
}

#[test]
fn ledger() {
    whole(
        "ledger",
        &expect![[r#"
        read ledger::books::read 3 x3 [2000 4000] sleeps 6000 policy BOOKS; function of ledger (lib)
        write ledger::books::write ? x? [100 200 400 ...] unknown max; function of ledger (lib)
          -> read ?/?
        sent ledger::books::sent 4 x4 [2000 4000 8000] sleeps 14000 if feature = "remote"; function of ledger (lib)
          -> write ?/?
        fetched ledger::books::fetched 2 x2 [10000] sleeps 10000 if feature = "remote"; function of ledger (lib)
          -> read 4/6
        deep ledger::books::deep 2 x2 [3000] sleeps 3000 if unix, not(staging); function of ledger (lib)
          -> read 4/6
        shared ledger::books::shared 2 x2 [4000] sleeps 4000 if feature = "remote"; function of ledger (lib)
          -> local 6/18
        local ledger::books::local 3 x3 [0-100 0-200] sleeps 300 if feature = "remote", unix; function of ledger (lib)
          -> read 5/9
        raw ledger::imported::loop 2 x2 [5000] sleeps 5000; function of ledger (lib)
          -> extern 3/4
        extern ledger::imported::match 2 x2 [6000] sleeps 6000; function of ledger (lib)
        open ledger::open 3 x3 [1000 2000] sleeps 3000; function of ledger (bin)
          -> attempted 6/18
        attempted ledger:LINE 2 x2 [0-1] sleeps 1; block of ledger (bin)
          -> read 4/6
        sync ledger::platform::sync 2 x2 [9000] sleeps 9000; function of ledger (lib)
          -> read 4/6
        test ledger::tests::written 2 x2 [1] sleeps 1 if all(test, not(miri)); function of ledger (lib)
          -> raw 4/8
        on_unix ledger::wide::here 2 x2 [1000] sleeps 1000 if unix; function of ledger (lib)
          -> write ?/?
        on_windows ledger::wide::here 3 x3 [1000 2000] sleeps 3000 if not(unix), windows; function of ledger (lib)
        elsewhere ledger::wide::here 4 x4 [1000 2000 4000] sleeps 7000 if not(unix), not(windows); function of ledger (lib)
        case ledger::wide::all_of_them 2 x2 [0-100] sleeps 100 in cases!; function of ledger (lib)
    "#]],
    );
}

/// `service/tests/attempts.rs` of the shop has counted them.
#[test]
fn as_often_as_they_really_run() {
    let project = project("shop");
    let counted = fs::read_to_string(project.join("service/tests/attempts.rs")).expect("a text");
    let listing = json(&project, &[]);
    let rows = listing["policies"].as_array().expect("policies");
    for (name, operation) in [
        ("CHECKOUT", "shop_service::orders::checkout"),
        ("AUDIT", "shop_service::orders::audit"),
        ("SHIP", "shop_service::orders::ship"),
        ("DELIVERED", "shop_service::orders::delivered"),
        ("LETTERS", "shop_clients::mail::letters"),
        ("QUOTE", "shop_service::quotes::quote"),
    ] {
        let constant = format!("const {name}: usize = ");
        let (_, behind) = counted.split_once(&constant).expect("a constant");
        let (number, _) = behind.split_once(';').expect("its value");
        let row = rows.iter().find(|row| row["operation"] == operation);
        let calls = row.expect("a place")["calls"].as_array().expect("calls");
        assert_eq!(calls[0]["attempts"].to_string(), number, "{operation}");
    }
}

/// A project of its own below the folder of temporary files, made of paths and texts.
fn written(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("list")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nreattempt = \"*\"\n"
    );
    for (path, text) in [("Cargo.toml", manifest.as_str())].iter().chain(files) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn texts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("a text");
    (
        output.status.code().expect("an exit status"),
        text(&output.stdout),
        text(&output.stderr),
    )
}

const ONE: &str = "#[reattempt::retry(max = 2, on(_))]\nfn one() -> Result<(), ()> { Ok(()) }\n";

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

/// Its SARIF is what the schema of the standard asks for.
fn sound(folder: &Path) -> Value {
    let schema = include_str!("sarif-2.1.0.json");
    // A bracket too many in a pattern that nothing here uses.
    let schema = schema.replace("{2}]?$", "{2}$");
    let schema = serde_json::from_str(&schema).expect("a schema");
    let schema = jsonschema::draft7::new(&schema).expect("a schema");
    let output = list(folder, &["--format", "sarif"]);
    let log: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let errors: Vec<_> = schema
        .iter_errors(&log)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, Vec::<String>::new());
    log
}

#[test]
fn for_code_review() {
    for (name, warnings) in [("shop", 5), ("fetcher", 0), ("ledger", 0)] {
        let log = sound(&project(name));
        let results = log["runs"][0]["results"].as_array().expect("results");
        let levels = results.iter().filter(|result| result["level"] == "warning");
        assert_eq!(levels.count(), warnings, "{name}");
    }
}

#[test]
fn to_a_file() {
    let folder = written("kept", &[("src/lib.rs", ONE)]);
    let (code, out, err) = texts(&list(
        &folder,
        &["--format", "json", "--output", "list.json"],
    ));
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("list.json")).expect("a file"))
            .expect("JSON");
    assert_eq!(kept, json(&folder, &[]));
    let (code, _, err) = texts(&list(&folder, &["--output", "absent/list.json"]));
    assert_eq!(code, 2);
    expect!["error: absent/list.json cannot be written: No such file or directory (os error 2)\n"]
        .assert_eq(&err);
}

/// As people see it.
#[test]
fn in_a_terminal_of_120_columns() {
    let project = project("shop");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-retry"));
    command
        .args(["retry", "list", "-p", "shop-service"])
        .current_dir(&project);
    let output = command
        .env("COLUMNS", "120")
        .env("NO_COLOR", "1")
        .output()
        .expect("it runs");
    expect![[r#"
        ┌─────────────────────────────────┬──────────┬─────────────────────┬─────────────────────┬──────────────┬──────────────┐
        │ what and where                  ┆ attempts ┆ delays              ┆ time at most        ┆ load at most ┆ policy and   │
        │                                 ┆          ┆                     ┆                     ┆              ┆ limits       │
        ╞═════════════════════════════════╪══════════╪═════════════════════╪═════════════════════╪══════════════╪══════════════╡
        │ shop:8                          ┆ 3        ┆ 0-1 s, 0-2 s        ┆ 1 m + an attempt    ┆ x3           ┆              │
        │ service/src/main.rs:8           ┆          ┆                     ┆                     ┆ x12 below    ┆              │
        │ shop_service::orders::checkout  ┆ 4        ┆ 10 ms, 20 ms, 40 ms ┆ 70 ms + attempts    ┆ x4           ┆              │
        │ service/src/orders.rs:27        ┆          ┆                     ┆                     ┆ x10 below    ┆              │
        │ shop_service::orders::reserve   ┆ 3        ┆ 50 ms, 100 ms       ┆ 150 ms + attempts   ┆ x3           ┆ policy QUICK │
        │ service/src/orders.rs:34        ┆          ┆                     ┆                     ┆ x7 below     ┆              │
        │ shop_service::orders::audit     ┆ 3        ┆ 10 ms, 20 ms        ┆ 30 ms + attempts    ┆ x3           ┆              │
        │ service/src/orders.rs:40        ┆          ┆                     ┆                     ┆ x12 below    ┆              │
        │ shop_service::orders::ship      ┆ 3        ┆ 10 ms, 20 ms        ┆ 30 ms + attempts    ┆ x3           ┆              │
        │ service/src/orders.rs:46        ┆          ┆                     ┆                     ┆ x12 below    ┆              │
        │ shop_service::orders::delivered ┆ 4        ┆ 10 ms, 20 ms, 40 ms ┆ 70 ms + attempts    ┆ x4           ┆              │
        │ service/src/orders.rs:54        ┆          ┆                     ┆                     ┆ x8 below     ┆              │
        │ shop_service::orders::state     ┆ 2        ┆ 10 ms               ┆ 10 ms + attempts    ┆ x2           ┆              │
        │ service/src/orders.rs:60        ┆          ┆                     ┆                     ┆              ┆              │
        │ shop_service::quotes::quote     ┆ 3        ┆ 10 ms, 20 ms        ┆ 30 ms + attempts    ┆ x3           ┆              │
        │ service/src/quotes.rs:12        ┆          ┆                     ┆                     ┆ x12 below    ┆              │
        └─────────────────────────────────┴──────────┴─────────────────────┴─────────────────────┴──────────────┴──────────────┘

        ┌─────────────────────────────────┬────────────────────────────────┬────────────────┐
        │ what retries                    ┆ and calls what retries         ┆ attempts below │
        ╞═════════════════════════════════╪════════════════════════════════╪════════════════╡
        │ shop:8                          ┆ shop_service::orders::checkout ┆ 12, not 180    │
        │ shop_service::orders::checkout  ┆ shop_service::orders::reserve  ┆ 10, not 60     │
        │ shop_service::orders::checkout  ┆ shop_clients::payments::charge ┆ 8, not 36      │
        │                                 ┆ through paid                   ┆                │
        │ shop_service::orders::reserve   ┆ shop_clients::stock::count     ┆ 7, not 15      │
        │                                 ┆ through warehouse              ┆                │
        │ shop_service::orders::audit     ┆ shop_clients::stock::line      ┆ 12             │
        │ shop_service::orders::ship      ┆ shop_clients::stock::found     ┆ 12             │
        │ shop_service::orders::delivered ┆ shop_service::orders::state    ┆ 8              │
        │ shop_service::quotes::quote     ┆ shop_clients::catalogue::price ┆ 12, not 18     │
        └─────────────────────────────────┴────────────────────────────────┴────────────────┘
        attempts below: those of the innermost call, at most, for one call of what retries;
        a retry inside a retry makes one attempt, so they add up and do not multiply

        8 places retry in 1 package; 7 of them call what retries itself
    "#]].assert_eq(&texts(&output).1);
}

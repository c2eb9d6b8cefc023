//! The forms of the list.

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use serde_json::Value;

use crate::run::{ONE, json, list, project, texts, written};

/// Its SARIF is what the schema of the standard asks for.
pub(crate) fn sound(folder: &Path) -> Value {
    let schema = include_str!("../sarif-2.1.0.json");
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

/// What a program that compares two reports holds on to: each is another, and none moves with the lines.
#[test]
fn findings_have_names() {
    let text = "fn blocks() { reattempt::retry_block!(max = 0, { Ok::<(), ()>(()) }); reattempt::retry_block!(on(_), { one() }); }\n";
    let prints = |before: &str| {
        let text = format!("{before}#[path = \"../../outside.rs\"] mod outside;\n{text}{ONE}");
        let folder = written("prints", &[("src/lib.rs", &text), ("../outside.rs", ONE)]);
        let log = sound(&folder);
        let results = log["runs"][0]["results"].as_array().expect("results");
        let reported = results.iter().map(|it| {
            let print = it["partialFingerprints"]["operation/v1"].as_str();
            print.expect("a name").to_owned()
        });
        (reported.collect::<Vec<_>>(), log)
    };
    let (here, log) = prints("");
    assert_eq!(here, prints("\n\n// More.\n").0);
    let mut sorted = here.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), here.len(), "{here:?}");
    expect![[r#"
        R1:prints::blocks block
        nested:prints::blocks block -> prints::one
        policy:prints::blocks block
        policy:prints::blocks block#2
        policy:prints::one
        policy:prints::outside::one"#]]
    .assert_eq(&sorted.join("\n"));
    let log = log.to_string();
    assert!(log.contains("\"file:///"), "{log}");
    assert!(log.contains("\"The number of attempts\""), "{log}");
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
        ┌─────────────────────────────────────────┬──────────┬────────────────┬────────────────┬──────────────┬────────────────┐
        │ what and where                          ┆ attempts ┆ delays         ┆ time at most   ┆ load at most ┆ policy and     │
        │                                         ┆          ┆                ┆                ┆              ┆ limits         │
        ╞═════════════════════════════════════════╪══════════╪════════════════╪════════════════╪══════════════╪════════════════╡
        │ shop:8                                  ┆ 3        ┆ 0-1 s, 0-2 s   ┆ 1 m + an       ┆ x3           ┆ default budget │
        │ service/src/main.rs:8                   ┆          ┆                ┆ attempt        ┆ x12 below    ┆                │
        │ shop_service::orders::Orders::checkout  ┆ 4        ┆ 10 ms, 20 ms,  ┆ 70 ms +        ┆ x4           ┆ default budget │
        │ service/src/orders.rs:27                ┆          ┆ 40 ms          ┆ attempts       ┆ x10 below    ┆                │
        │ shop_service::orders::Orders::reserve   ┆ 3        ┆ 50 ms, 100 ms  ┆ 150 ms +       ┆ x3           ┆ policy QUICK   │
        │ service/src/orders.rs:34                ┆          ┆                ┆ attempts       ┆ x7 below     ┆ default budget │
        │ shop_service::orders::Orders::audit     ┆ 3        ┆ 10 ms, 20 ms   ┆ 30 ms +        ┆ x3           ┆ default budget │
        │ service/src/orders.rs:40                ┆          ┆                ┆ attempts       ┆ x12 below    ┆                │
        │ shop_service::orders::Orders::ship      ┆ 3        ┆ 10 ms, 20 ms   ┆ 30 ms +        ┆ x3           ┆ default budget │
        │ service/src/orders.rs:46                ┆          ┆                ┆ attempts       ┆ x12 below    ┆                │
        │ shop_service::orders::Orders::delivered ┆ 4        ┆ 10 ms, 20 ms,  ┆ 70 ms +        ┆ x4           ┆                │
        │ service/src/orders.rs:54                ┆          ┆ 40 ms          ┆ attempts       ┆ x8 below     ┆                │
        │ shop_service::orders::Orders::state     ┆ 2        ┆ 10 ms          ┆ 10 ms +        ┆ x2           ┆ default budget │
        │ service/src/orders.rs:60                ┆          ┆                ┆ attempts       ┆              ┆                │
        │ shop_service::quotes::Quotes::quote     ┆ 3        ┆ 10 ms, 20 ms   ┆ 30 ms +        ┆ x3           ┆ default budget │
        │ service/src/quotes.rs:12                ┆          ┆                ┆ attempts       ┆ x12 below    ┆                │
        └─────────────────────────────────────────┴──────────┴────────────────┴────────────────┴──────────────┴────────────────┘

        ┌─────────────────────────────────────────┬───────────────────────────────────────────┬────────────────┐
        │ what retries                            ┆ and calls what retries                    ┆ attempts below │
        ╞═════════════════════════════════════════╪═══════════════════════════════════════════╪════════════════╡
        │ shop:8                                  ┆ shop_service::orders::Orders::checkout    ┆ 12, not 180    │
        │ shop_service::orders::Orders::checkout  ┆ shop_service::orders::Orders::reserve     ┆ 10, not 60     │
        │ shop_service::orders::Orders::checkout  ┆ shop_clients::payments::Bank::charge      ┆ 8, not 36      │
        │                                         ┆ through paid                              ┆                │
        │ shop_service::orders::Orders::reserve   ┆ shop_clients::stock::Stock::count         ┆ 7, not 15      │
        │                                         ┆ through warehouse                         ┆                │
        │ shop_service::orders::Orders::audit     ┆ shop_clients::stock::Stock::line          ┆ 12             │
        │ shop_service::orders::Orders::ship      ┆ shop_clients::stock::Stock::found         ┆ 12             │
        │ shop_service::orders::Orders::delivered ┆ shop_service::orders::Orders::state       ┆ 8              │
        │ shop_service::quotes::Quotes::quote     ┆ shop_clients::catalogue::Catalogue::price ┆ 12, not 18     │
        └─────────────────────────────────────────┴───────────────────────────────────────────┴────────────────┘
        attempts below: those of the innermost call, at most, for one call of what retries;
        a retry inside a retry makes one attempt, so they add up and do not multiply

        times do not count delays that an error asks for (`Retry-After`), each up to `max_retry_after`

        8 places retry in 1 package; 7 of them call what retries itself
    "#]].assert_eq(&texts(&output).1);
}

/// Where there is no room for a table.
#[test]
fn in_a_terminal_of_60_columns() {
    let text = "#[reattempt::retry(max = 4, base = \"1s\", jitter = \"none\", on(_), budget = 0.1)]\n\
        #[cfg(unix)]\nfn two() -> Result<(), ()> { between() }\nfn between() -> Result<(), ()> { one() }\n";
    let folder = written("narrow", &[("src/lib.rs", &format!("{text}{ONE}"))]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-retry"));
    command.args(["retry", "list"]).current_dir(&folder);
    let output = command.env("COLUMNS", "60").env("NO_COLOR", "1").output();
    expect![[r#"
        narrow::two
          src/lib.rs:1
          if unix
          attempts 4
          delays   1 s, 2 s, 4 s
          at most  7 s + attempts; load x4, x1.1 on average, x5
                   below
          by       budget 0.1
          calls    narrow::one through between; attempts below: 5,
                   not 8

        narrow::one
          src/lib.rs:5
          attempts 2
          delays   0-100 ms
          at most  100 ms + attempts; load x2
          by       default budget

        times do not count delays that an error asks for (`Retry-After`), each up to `max_retry_after`

        2 places retry in 1 package; 1 of them calls what retries itself
    "#]]
    .assert_eq(&texts(&output.expect("it runs")).1);
}

#[test]
fn a_runner_is_listed_once_and_with_its_policy() {
    let text = r#"use reattempt::Policy;
const SLOW: Policy = Policy::new().max(7);
fn by_hand(judge: fn(&()) -> bool) {
    _ = SLOW.on(judge).run(fetch);
    _ = SLOW.max(6).on(judge).name("five").try_run(fetch);
    _ = Policy::new().max(4).runner().history().try_run_async(fetch_later);
    let kept = SLOW.max(5).on(judge);
    _ = kept.run(fetch);
}
struct Client { policy: Policy }
impl Client {
    fn fetch(&self, policy: &Policy) {
        _ = policy.run(fetch);
        _ = self.policy.on(judge).run(fetch);
    }
}
"#;
    let folder = written("runners", &[("src/lib.rs", text)]);
    let log = json(&folder, &[]);
    let all = log["policies"].as_array().expect("policies").iter();
    let attempts: Vec<_> = all.map(|it| it["schedule"]["attempts"].as_u64()).collect();
    let running = [None, None];
    assert_eq!(
        attempts,
        [[7, 6, 4, 5].map(Some).as_slice(), &running].concat()
    );
}

/// Policies without an attribute: those that an expression makes, and those of durable steps.
#[test]
fn policies_without_an_attribute() {
    let text = r#"use reattempt::{Policy, tower::RetryLayer};
use reattempt_supervisor::step;
use std::time::Duration;
const SLOW: Policy = Policy::new().max(7).base(Duration::from_secs(1));
struct Own;
impl Own { fn run(&self, _: u8) {} }
fn by_hand(own: &Own) {
    own.run(1);
    _ = Policy::new().max(4).run(|| fetch());
    _ = SLOW.run_async(|| fetch_later());
    let layer = RetryLayer::http(Policy::new().max(5));
}
#[step(name = "pay", retry(max = 6, on(_)))]
async fn pay() -> Result<(), ()> { Ok(()) }
#[reattempt::retry(on(_))]
fn fetch() -> Result<(), ()> { Ok(()) }
"#;
    let manifest = "[package]\nname = \"without\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nreattempt = \"*\"\nreattempt-supervisor = \"*\"\n";
    let folder = written("without", &[("src/lib.rs", text), ("Cargo.toml", manifest)]);
    let log = json(&folder, &[]);
    let found = |log: &Value| -> Vec<(String, u64)> {
        let all = log["policies"].as_array().expect("policies").iter();
        all.map(|it| {
            let form = it["form"].as_str().expect("a form").to_owned();
            (
                form,
                it["schedule"]["attempts"].as_u64().unwrap_or_default(),
            )
        })
        .collect()
    };
    let all = [
        ("`Policy::run`", 4),
        ("`Policy::run`", 7),
        ("layer", 5),
        ("durable step", 6),
        ("function", 3),
    ];
    let all = all.map(|(form, attempts)| (form.to_owned(), attempts));
    assert_eq!(found(&log), all);
    let worst = json(&folder, &["--worst", "2"]);
    assert_eq!(found(&worst), [all[1].clone(), all[3].clone()]);
    let (status, lines, _) = texts(&list(&folder, &["--format", "line", "--sort", "time"]));
    assert_eq!((status, lines.lines().count()), (0, 5), "{lines}");
    assert!(
        lines.starts_with("src/lib.rs:10: without:10: 7 attempts, "),
        "{lines}"
    );
}

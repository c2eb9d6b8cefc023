//! What stands in `tests/projects` of the repository: the whole list of each, as it was read from the sources by eye.

use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::reported::{Markers, reported};
use crate::run::{json, project};

fn whole(name: &str, expected: &Expect) {
    let project = project(name);
    let listing = json(&project, &[]);
    assert_eq!(listing["unread"], serde_json::json!([]));
    let mut markers = Markers::default();
    let rows = listing["policies"].as_array().expect("policies").iter();
    let rows: Vec<_> = rows
        .map(|row| {
            assert_eq!(row["faults"], Value::Null, "{row}");
            reported(&project, row, &mut markers)
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
            price shop_clients::catalogue::Catalogue::price 2 x6 [10] sleeps 10 throttle &PRICES hedge COPIES; async function of shop-clients (lib)
            names shop_clients::catalogue::Catalogue::names 3 x6 [1000 2000] sleeps 3000 lasts 7000 timeout 2000 hedge quantile(0.95); async function of shop-clients (lib)
            tree shop_clients::catalogue::Catalogue::tree 2 x2 [1000] sleeps 1000 lasts 30000 deadline 30000; function of shop-clients (lib)
              -> tree ?/? through branches recursive
            receipt shop.receipt 2 x2 [1000] sleeps 1000 policy mail; function of shop-clients (lib)
              -> put 5/8
            newsletter shop_clients::mail::newsletter 1 x1 [] sleeps 0 lasts 0 policy mail off; function of shop-clients (lib)
            absent shop_clients::mail::advertisement ? x? [?] policy "absent", which the file does not have; function of shop-clients (lib)
            letter shop_clients::mail::letter 2 x2 [0] sleeps 0; function of shop-clients (lib)
            letters shop_clients::mail::letters 3 x3 [0 0] sleeps 0; function of shop-clients (lib)
              -> letter 6/6 spawned
            put shop_clients::mail::queue::put 4 x4 [250 250 250] sleeps 750 lasts 10000 deadline 10000 policy storage; function of shop-clients (lib)
            refund shop_clients::payments::Charge::refund 2 x2 [0-100] sleeps 100; function of shop-clients (lib)
            balance shop_clients::payments::Bank::balance 3 x3 [0-500 0-1000] sleeps 1500 share 0.2 budget &SPENDING breaker &CARRIER; method of shop-clients (lib)
            transfer bank.transfer 2 x2 [0-100] sleeps 100; function of shop-clients (lib)
            charge shop_clients::payments::Bank::charge 3 x3 [0-20 0-40] sleeps 60 share 0.1 budget 0.1; function of shop-clients (lib)
              -> balance 5/9
            count shop_clients::stock::Stock::count 5 x5 [200 400 800 1600] sleeps 3000 policy PATIENT; function of shop-clients (lib)
            line shop_clients::stock::Stock::line 4 x4 [5-15 10-30 20-60] sleeps 105; function of shop-clients (lib)
            found shop_clients::stock::Stock::found 4 x4 [100 200 400] sleeps 700; function of shop-clients (lib)
            held shop_clients::stock:LINE 2 x2 [0-1] sleeps 1; block of shop-clients (lib)
            outage outage::nothing_is_reserved 2 x2 [0-1] sleeps 1; function of shop-clients (test)
            main shop:LINE 3 x3 [0-1000 0-2000] sleeps 3000 lasts 60000 deadline 60000; block of shop-service (bin)
              -> checkout 12/180
            checkout shop_service::orders::Orders::checkout 4 x4 [10 20 40] sleeps 70; function of shop-service (lib)
              -> reserve 10/60
              -> charge 8/36 through paid
            reserve shop_service::orders::Orders::reserve 3 x3 [50 100] sleeps 150 policy QUICK; function of shop-service (lib)
              -> count 7/15 through warehouse
            audit shop_service::orders::Orders::audit 3 x3 [10 20] sleeps 30; function of shop-service (lib)
              -> line 12/12
            ship shop_service::orders::Orders::ship 3 x3 [10 20] sleeps 30; function of shop-service (lib)
              -> found 12/12
            delivered shop_service::orders::Orders::delivered 4 x4 [10 20 40] sleeps 70; function of shop-service (lib)
              -> state 8/8
            state shop_service::orders::Orders::state 2 x2 [10] sleeps 10; function of shop-service (lib)
            quote shop_service::quotes::Quotes::quote 3 x3 [10 20] sleeps 30; async function of shop-service (lib)
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
            disk fetcher::store::disk::Disk::load 6 x6 [1000 2000 3000 3000 3000] sleeps 12000; async function of fetcher (lib)
            cached fetcher::store::Cached::get 2 x2 [1] sleeps 1; async function of fetcher (lib)
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
            shared ledger::books::Book::shared 2 x2 [4000] sleeps 4000 if feature = "remote"; function of ledger (lib)
              -> local 6/18
            local ledger::books::Book::local 3 x3 [0-100 0-200] sleeps 300 if feature = "remote", unix; function of ledger (lib)
              -> read 5/9
            raw ledger::imported::loop 2 x2 [5000] sleeps 5000; function of ledger (lib)
              -> extern 3/4
            extern ledger::imported::match 2 x2 [6000] sleeps 6000; function of ledger (lib)
            open ledger::open 3 x3 [1000 2000] sleeps 3000; function of ledger (bin)
              -> attempted 6/18
            attempted ledger:LINE 2 x2 [0-1] sleeps 1; block of ledger (bin)
              -> read 4/6
            sync ledger::platform::sync 2 x2 [9000] sleeps 9000 if unix; function of ledger (lib)
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
        ("CHECKOUT", "shop_service::orders::Orders::checkout"),
        ("AUDIT", "shop_service::orders::Orders::audit"),
        ("SHIP", "shop_service::orders::Orders::ship"),
        ("DELIVERED", "shop_service::orders::Orders::delivered"),
        ("LETTERS", "shop_clients::mail::letters"),
        ("QUOTE", "shop_service::quotes::Quotes::quote"),
    ] {
        let constant = format!("const {name}: usize = ");
        let (_, behind) = counted.split_once(&constant).expect("a constant");
        let (number, _) = behind.split_once(';').expect("its value");
        let row = rows.iter().find(|row| row["operation"] == operation);
        let calls = row.expect("a place")["calls"].as_array().expect("calls");
        assert_eq!(calls[0]["attempts"].to_string(), number, "{operation}");
    }
}

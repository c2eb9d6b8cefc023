//! A message says what is wrong first, then the fix.

use super::*;
use crate::storm::allowance::Allowance;
use crate::storm::{play, setting};

#[track_caller]
fn refused(line: &str, words: &[&str]) {
    let fault = typed(line).and_then(|arguments| played(&arguments).map(|_| ()));
    let fault = fault.expect_err(line);
    for word in words {
        assert!(fault.contains(word), "{line}: {fault}");
    }
}

#[test]
fn rates() {
    refused("--load 0", &["a load of 0 calls nothing", "--load 100"]);
    refused("--load -3", &["-3 is none", "--load 100"]);
    refused("--load NaN", &["NaN is none"]);
    refused("--load inf", &["inf is none"]);
    refused(
        "--capacity 0",
        &["a capacity of 0 serves nothing", "--capacity 120"],
    );
    refused("--capacity -0.5", &["-0.5 is none"]);
    refused("--load abc", &["a number of calls", "`--load 100`"]);
    refused("--capacity 1k", &["of requests", "`--capacity 120`"]);
    refused("--clients ten", &["at least 1", "`--clients 10`"]);
    refused("--budget 10%", &["for each success", "`--budget 0.1`"]);
    refused("--slowdown 9s --to half", &["`--to 0.2`"]);
    refused("--burst 9s --times 3x", &["`--times 3`"]);
}

#[test]
fn triggers() {
    refused("--outage 0s", &["no time", "--outage 10s"]);
    refused("--outage 10", &["a duration needs a unit"]);
    refused("--burst 0s", &["no time", "--burst 10s"]);
    refused("--slowdown 9s --to 0", &["is an outage", "`--outage`"]);
    refused(
        "--slowdown 9s --to 1",
        &["between 0 and 1, and 1 is none", "--to 0.2"],
    );
    refused("--slowdown 9s --to NaN", &["NaN is none"]);
    refused(
        "--burst 9s --times 1",
        &["a burst of 1 times the load is none", "--times 3"],
    );
    refused("--burst 9s --times inf", &["--times 3"]);
    refused("--to 0.5", &["--slowdown"]);
    refused("--times 3", &["--burst"]);
    refused("--outage 1s --burst 1s", &["cannot be used with"]);
}

#[test]
fn times() {
    refused(
        "--outage 5m",
        &[
            "the outage ends at 5 m 30 s, and the run at 4 m",
            "`--for 11m`",
        ],
    );
    refused(
        "--at 4m --burst 10s",
        &["the burst ends at 4 m 10 s", "`--for 8m20s`", "--at"],
    );
    refused("--for 40s", &["ends at 40 s, and the run at 40 s"]);
    refused("--for 0s", &["no time", "--for 4m"]);
    refused("--timeout 0ms", &["no time", "--timeout 1s"]);
    refused("--for 25h", &["24 hours"]);
}

#[test]
fn what_is_too_large() {
    refused(
        "--load 10000 --for 10m",
        &["6000000 calls", "at most 1000000", "divided by 6"],
    );
    refused("--burst 100s --times 1000", &["calls", "at most 1000000"]);
    refused("--clients 0", &["at least 1 process", "--clients 1"]);
    refused("--chain 0", &["1 to 8 services", "--chain 5"]);
    refused("--chain 9", &["1 to 8 services, and 9 are not"]);
    refused("--chain all", &["`--chain 5`"]);
    refused("--clients 10001", &["10001 clients", "--clients 10000"]);
}

fn contended(arguments: &Arguments) -> asked::Asked {
    let given = asked::given(arguments).expect("it is a policy");
    asked::policy(arguments, &given).expect("it can be played")
}

#[test]
fn what_becomes_too_large() {
    let play = |most| {
        let arguments = typed("'max = 4'").expect("it can be typed");
        let asked = contended(&arguments);
        let scene = setting::scene(&arguments).expect("it can be played");
        let callers = play::Callers {
            services: 1,
            clients: 1,
        };
        play::play_within(most, scene, callers, asked.contender)
    };
    let fault = play(50_000).expect_err("three immediate retries are more");
    for word in [
        "with `3 immediate retries`",
        "more than 50000 attempts after 2 m",
        "of 4 m",
        "divided by",
    ] {
        assert!(fault.contains(word), "{fault}");
    }
    assert!(play(100_000).is_ok());
}

#[test]
fn one_picture() {
    for path in ["-", "storms.svg", "a/b.SVG"] {
        refused(
            &format!("--svg {path}"),
            &["a folder: three files", "`--svg storms`"],
        );
    }
    assert!(typed("--svg storms").is_ok() && typed("--svg ./-").is_ok());
}

#[test]
fn policies() {
    refused(
        "max=4 base=200ms",
        &["`base=200ms` is another", "'max = 4, base = \"200ms\"'"],
    );
    refused(
        "'strategy = mine'",
        &["`strategy = mine` is code", "max = 4"],
    );
    refused("--budget 0", &["above 0.0 up to 1.0", "budget = 0.1"]);
    refused("--budget NaN", &["above 0.0"]);
    refused(
        "--config /does/not/exist storage",
        &["cannot read the file"],
    );
    refused("--config retry.toml", &["required"]);
}

#[test]
fn what_only_the_program_knows_is_noted() {
    let notes = |line: &str| {
        let asked = contended(&typed(line).expect("it can be typed"));
        (asked.notes.join("; "), asked.contender)
    };
    let (said, contender) = notes("'max = N, budget = &B, breaker = &X, throttle = &T'");
    for word in [
        "`max = N`",
        "`budget = 0.1`, which has a `floor`",
        "`Breaker::count_window(20)`",
        "`throttle` is not played",
    ] {
        assert!(said.contains(word), "{said}");
    }
    assert!(contender.breaker && contender.budget == Some(Allowance::new(0.1)));
    let (said, contender) = notes("'idempotent = false'");
    assert!(said.contains("retries none") && !contender.retries());
    let budget = |line| notes(line).1.budget;
    assert_eq!(budget("'budget = 0.3'"), Some(Allowance::new(0.3)));
    assert_eq!(
        budget("'budget = 0.3' --budget 0.2"),
        Some(Allowance::new(0.2))
    );
    let (said, contender) = notes("'budget = Budget::per_success(0.1).floor(0.0)'");
    let expected = Allowance::new(0.1).without_floor();
    assert_eq!((said.as_str(), contender.budget), ("", Some(expected)));
    assert_eq!(notes("'budget = &B' --budget 0.2").0, "");
    assert_eq!(notes("").0, "");
}

//! What is played is what was asked for.

use std::time::Duration;

use super::*;
use crate::storm::{charts, json};

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The default policy, as it is: with the budget that an operation has by default it comes back.
#[test]
fn with_nothing_at_all_it_shows_that_the_default_policy_comes_back() {
    let (play, notes) = played(&typed("").expect("nothing is typed")).expect("it can be played");
    assert_eq!(notes, [""; 0]);
    let [never, immediate, asked] =
        [&play.never, &play.rival, &play.asked].map(|it| it.summary.recovered);
    let (never, asked) = (never.expect("no retries"), asked.expect("the default"));
    assert!(
        immediate.is_none() && asked <= 2 * never + secs(5),
        "{never:?} {asked:?}"
    );
    assert!(play.fixes.is_empty());
}

#[test]
fn without_a_budget_it_shows_a_storm_and_its_fix() {
    let play = play("'budget = \"none\"'");
    let recovered = play.all().map(|it| it.summary.recovered);
    assert!(recovered[0].is_some() && recovered[1].is_none() && recovered[2].is_none());
    assert!((play.rival.summary.peak_amplification - 4.0).abs() < 1e-9);
    assert!((play.asked.summary.peak_amplification - 3.0).abs() < 1e-9);
    assert!(play.rival.summary.peak_load > 3.0 * play.scene.capacity);
    let fixed: Vec<_> = play
        .fixes
        .iter()
        .map(|it| (&*it.how, it.summary.recovered))
        .collect();
    assert_eq!(fixed.len(), 2);
    assert!(
        fixed.iter().all(|(_, recovered)| recovered.is_some()),
        "{fixed:?}"
    );
    assert_eq!(fixed[0].0, "budget = Budget::refunding(4)");
}

#[test]
fn every_trigger_is_a_storm_without_a_budget_and_none_with_a_breaker() {
    for trigger in [
        "--outage 5s",
        "--slowdown 6s",
        "--burst 4s",
        "--slowdown 5s --to 0.1",
    ] {
        let play = play(&format!("'max = 4, budget = \"none\"' {trigger}"));
        assert!(play.never.summary.recovered.is_some(), "{trigger}");
        assert_eq!(play.rival.summary.recovered, None, "{trigger}");
        assert_eq!(play.asked.summary.recovered, None, "{trigger}");
        let calm = self::play(&format!("'max = 4' --breaker --budget 0.1 {trigger}"));
        assert!(calm.asked.summary.recovered < Some(secs(15)), "{trigger}");
        assert!(calm.asked.summary.recovered.is_some(), "{trigger}");
    }
}

#[test]
fn a_budget_bounds_the_load() {
    let stormy = play("'max = 4, budget = \"none\"' --outage 5s")
        .asked
        .summary;
    for line in [
        "'max = 4, budget = 0.1' --clients 1 --outage 5s",
        "'max = 4' --budget 0.1 --clients 1 --outage 5s",
    ] {
        let play = play(line);
        let summary = play.asked.summary;
        assert!(summary.amplification < 1.1 && stormy.amplification > 3.0);
        assert!(summary.recovered.is_some() && stormy.recovered.is_none());
    }
}

#[test]
fn the_limits_of_the_policy_hold() {
    let short = play("'max = 4, deadline = \"1500ms\"'").asked.summary;
    assert!(short.p99 <= Duration::from_millis(1_500), "{:?}", short.p99);
    assert!(short.peak_amplification <= 2.0 + 1e-9);
    assert!(play("'max = 4, budget = \"none\"'").asked.summary.p99 > secs(4));
    // Those beside it have the same limit of an attempt.
    let timeout = play("'max = 4, timeout = \"250ms\"'");
    assert_eq!(timeout.never.summary.p99, Duration::from_millis(250));
    assert_eq!(timeout.rival.summary.p99, secs(1));
    assert_eq!(play("--timeout 2s").never.summary.p99, secs(2));
}

#[test]
fn stale_requests_can_be_dropped() {
    let dropped = play("'max = 2' --drop-stale");
    assert!(dropped.never.summary.recovered <= Some(secs(2)));
    assert!(dropped.never.summary.wasted < 0.05 && play("").never.summary.wasted > 0.2);
}

#[test]
fn the_same_arguments_are_the_same_bytes() {
    let shown = |line: &str| {
        let (play, notes) = played_with(line);
        let pictures = charts::all(&play).map(|(_, chart)| chart.svg());
        (
            text(&play),
            json::value(&play, &notes).to_string(),
            pictures,
        )
    };
    assert_eq!(shown("--seed 7"), shown("--seed 7"));
    assert_ne!(shown("--seed 7"), shown("--seed 8"));
}

#[test]
fn pictures_have_three_lines_and_the_trigger() {
    for (line, name) in [
        ("", "outage"),
        ("--slowdown 5s --to 0.25", "slowdown to 0.25"),
        ("--burst 5s", "burst, 3 times"),
        ("--failure 5s", "failure"),
    ] {
        let play = play(line);
        let text = text(&play);
        assert!(text.is_ascii());
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        for (_, chart) in charts::all(&play) {
            let svg = chart.svg();
            for word in [
                name,
                "no retry",
                "3 immediate retries",
                "this policy",
                &*chart.title,
            ] {
                assert!(svg.contains(word) && text.contains(word), "{word}");
            }
            for colour in ["--grey", "--vermilion", "--blue", "--outage"] {
                assert!(svg.contains(&format!(":var({colour})")), "{colour}");
            }
            assert!(chart.lines.iter().all(|line| line.points.len() == 45));
        }
    }
}

/// Three services of three attempts: 27 of the server for a call, or 7.
#[test]
fn a_chain_is_played_by_itself_and_with_the_protocol() {
    let line = "'max = 3, base = \"10ms\", budget = \"none\"' --load 20 --clients 2";
    let play = play(&format!("{line} --capacity 1000 --chain 3 --failure 20s"));
    let names = play.all().map(|it| it.contender.name);
    assert_eq!(names, ["no retry", "each by itself", "with the protocol"]);
    let attempts = play.all().map(|it| it.summary.peak_amplification);
    for (came_out, expected) in attempts.into_iter().zip([1.0, 27.0, 7.0]) {
        assert!((came_out - expected).abs() < 0.5, "{attempts:?}");
    }
    let shown = text(&play);
    let words = [
        "20 calls a second arrive at the first of 3 services of 2 processes each",
        "below the last",
        "Each by itself, the 3 services come to",
        "With the protocol the goodput is back",
    ];
    for word in words {
        assert!(shown.replace('\n', " ").contains(word), "{word}\n{shown}");
    }
    let json = json::value(&play, &[]);
    assert_eq!(json["scene"]["chain"], 3);
    let keeps = [0, 1, 2].map(|run| json["runs"][run]["keeps_protocol"].as_bool());
    assert_eq!(keeps, [Some(false), Some(false), Some(true)]);
}

/// The server knows until when it is waited for, and so it drops what is stale. A chain of one is no chain.
#[test]
fn a_chain_with_the_protocol_comes_back_where_it_would_not() {
    let play = play("'max = 3, budget = \"none\"' --load 10 --capacity 30 --chain 4");
    let [never, alone, together] = play.all().map(|it| it.summary.recovered);
    assert!(alone.is_none() && together.is_some(), "{together:?}");
    assert!(
        together <= never.map(|it| it + secs(5)),
        "{together:?} {never:?}"
    );
    let one = self::play("--chain 1");
    assert_eq!(one.rival.contender.name, "3 immediate retries");
}

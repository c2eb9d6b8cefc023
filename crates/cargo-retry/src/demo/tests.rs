use std::time::Duration;

use reattempt_storm::draw::Colour;

use super::runs::{self, Run};
use super::{picture, screen};
use crate::plot::Look;

const LOOK: Look = Look {
    width: 80,
    height: screen::HEIGHT,
    colours: false,
    ascii: false,
};

fn recovered(runs: &[Run]) -> Vec<Option<Duration>> {
    runs.iter().map(|run| run.summary.recovered).collect()
}

/// Not one lucky seed.
#[test]
fn the_three_policies_end_as_the_demo_says() {
    for seed in 1..=8 {
        let ends = recovered(&runs::all(seed));
        let [None, Some(late), Some(soon)] = ends[..] else {
            panic!("seed {seed}: {ends:?}");
        };
        assert!(
            late > Duration::from_secs(6),
            "seed {seed}: late after {late:?}"
        );
        assert!(
            soon <= Duration::from_secs(3),
            "seed {seed}: soon after {soon:?}"
        );
    }
}

/// What the picture says of the first row.
#[test]
fn the_compiler_refuses_the_policy_that_never_recovers() {
    for run in runs::all(1) {
        let is_refused = run.summary.recovered.is_none();
        assert_eq!(
            run.refused_by.is_some(),
            is_refused,
            "{}: {:?}",
            run.keys,
            run.refused_by
        );
    }
}

/// What the second row does not say: with as many retries as the others a backoff alone is not enough.
#[test]
fn a_backoff_alone_does_not_end_the_outage() {
    let run = runs::play(
        1,
        "",
        r#"max = 4, base = "1s", budget = "none""#,
        Colour::Grey,
    );
    assert_eq!(run.summary.recovered, None);
}

#[test]
fn a_frame_has_room_and_shows_what_has_happened_so_far() {
    let runs = runs::all(1);
    for width in [40, 80, 110] {
        let look = Look { width, ..LOOK };
        for second in [0, 1, 12, 40, runs::SECONDS] {
            let frame = screen::frame(&runs, second, look);
            assert_eq!(
                frame.lines().count(),
                usize::from(screen::HEIGHT),
                "{frame}"
            );
            let widest = frame.lines().map(|line| line.chars().count()).max();
            assert!(
                widest <= Some(usize::from(width).max(80)),
                "{widest:?}\n{frame}"
            );
        }
    }
    let before = screen::frame(&runs, 5, LOOK);
    assert!(
        !before.contains("no recovery") && before.contains("requests/s"),
        "{before}"
    );
    let ascii = Look {
        ascii: true,
        ..LOOK
    };
    assert!(screen::frame(&runs, runs::SECONDS, ascii).is_ascii());
}

#[test]
fn a_picture_is_the_same_for_the_same_seed_and_no_other() {
    let [one, again, other] = [3, 3, 4].map(|seed| picture::svg(&runs::all(seed)));
    assert_eq!(one, again);
    assert_ne!(one, other);
    assert!(
        !one.contains("NaN") && one.contains("prefers-color-scheme"),
        "{one}"
    );
}

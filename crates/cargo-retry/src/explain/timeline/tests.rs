use super::*;
use crate::plot::Look;
use crate::policy::from_text;

const LOOK: Look = Look {
    width: 60,
    height: 0,
    colours: false,
    ascii: true,
};

fn timeline(keys: &str) -> Timeline {
    let given = from_text(keys);
    Timeline::of(&Schedule::of(&given.policy)).unwrap_or_else(|| panic!("{keys}"))
}

/// The rows, each without its number.
fn drawn(keys: &str) -> Vec<String> {
    let text = text(&timeline(keys), LOOK);
    let rows = text.lines().filter_map(|line| line.split_once('|'));
    rows.map(|(_, row)| row.to_owned()).collect()
}

#[test]
fn attempts_follow_each_other_with_delays_between() {
    let rows = drawn(r#"max = 3, backoff = "fixed", base = "1s", jitter = "none", timeout = "1s""#);
    let [first, second, third] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert!(first.starts_with("###"), "{rows:?}");
    assert!(second.trim_start().starts_with("---") && second.ends_with("###"));
    let start = |row: &str| row.find('#').unwrap_or(99);
    let end = |row: &str| row.rfind('#').unwrap_or(99);
    assert_eq!(second.find('-'), Some(end(first)), "{rows:?}");
    assert_eq!(third.find('-'), Some(end(second)), "{rows:?}");
    // As long as each other, by a character.
    let length = |row: &str| end(row) - start(row);
    assert!(length(first).abs_diff(length(third)) <= 1, "{rows:?}");
    assert!(!rows.concat().contains('.'), "no jitter: {rows:?}");
}

#[test]
fn jitter_is_a_band_and_the_average_is_in_its_middle() {
    let rows = drawn(r#"max = 2, base = "1s", jitter = 0.2"#);
    let row = &rows[1];
    let (band, attempt) = (row.find('.'), row.find('#'));
    assert!(row.starts_with("---") && band < attempt, "{rows:?}");
    let [least, start, most] = ['.', '#', '~'].map(|sign| match sign {
        '~' => row.len() - 1,
        sign => row.find(sign).unwrap_or(99),
    });
    assert!((least + most).abs_diff(2 * start) <= 2, "{rows:?}");
}

#[test]
fn nothing_is_drawn_behind_the_deadline() {
    let all = timeline(r#"max = 10, base = "1s", deadline = "2s""#);
    let limit = 2000.0;
    assert_eq!(all.unit.1, "s");
    let Some(Deadline { at: Some(at), .. }) = all.deadline else {
        panic!("{all:?}");
    };
    assert!((at * 1000.0 - limit).abs() < 1e-9);
    for row in &all.rows {
        let ends = [Some(&row.delay), Some(&row.jitter), row.attempt.as_ref()];
        assert!(ends.into_iter().flatten().all(|it| it.end <= at), "{row:?}");
    }
    let starts = |row: &Row| row.attempt.is_some();
    assert_eq!(all.rows.iter().filter(|row| starts(row)).count(), 3);
    assert_eq!(
        all.notes,
        ["Attempts from 4 on start only if the delays before are short."]
    );
    // The last attempt is cut off.
    let cut = timeline(r#"max = 2, timeout = "10s", deadline = "12s", jitter = "none""#);
    assert_eq!(cut.rows[1].attempt.as_ref().map(|it| it.end), Some(12.0));
}

#[test]
fn a_deadline_that_is_far_away_does_not_squeeze_the_attempts() {
    let far = timeline(r#"max = 3, base = "100ms", deadline = "24h""#);
    assert!(far.deadline.as_ref().is_some_and(|it| it.at.is_none()));
    assert!(text(&far, LOOK).contains("deadline: 24 h, far to the right"));
    assert!(svg(&far).contains("deadline: 24 h →"));
    let near = timeline(r#"max = 3, base = "100ms", deadline = "1s""#);
    assert!(near.deadline.as_ref().is_some_and(|it| it.at.is_some()));
    assert!(svg(&near).contains("var(--vermilion);stroke-width"));
}

#[test]
fn only_the_first_attempts_are_drawn() {
    let many = timeline("max = 100");
    assert_eq!(many.rows.len(), DRAWN);
    assert!(text(&many, LOOK).contains("the first 12 attempts"));
    let svg = svg(&many);
    assert!(svg.contains("the first 12 attempts") && !svg.contains("NaN"));
}

use reattempt_storm::draw::{Band, Chart, Limit, Line};

use super::{Look, draw};

const LOOK: Look = Look {
    width: 60,
    height: 16,
    colours: false,
    ascii: false,
};

fn chart() -> Chart {
    Chart {
        title: "Delays".into(),
        across: "attempt".into(),
        upwards: "delay (s)".into(),
        band: Some(Band {
            name: "least to longest".into(),
            points: vec![(2.0, 0.0, 1.0), (3.0, 0.0, 2.0), (4.0, 0.0, 4.0)],
        }),
        limit: Some(Limit {
            name: "deadline".into(),
            at: 5.0,
        }),
        lines: vec![Line {
            name: "nominal".into(),
            points: vec![(2.0, 0.5), (3.0, 1.0), (4.0, 2.0)],
        }],
        counts: true,
        ..Chart::default()
    }
}

#[test]
fn everything_is_there_and_nothing_is_wider_or_higher_than_asked_for() {
    for look in [
        LOOK,
        Look {
            ascii: true,
            ..LOOK
        },
        Look { width: 40, ..LOOK },
        Look {
            width: 110,
            height: 24,
            ..LOOK
        },
    ] {
        let text = draw(&chart(), look);
        for word in [
            "Delays",
            "attempt",
            "delay (s)",
            "least to longest",
            "deadline",
            "nominal",
        ] {
            assert!(text.contains(word), "{word}\n{text}");
        }
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(
            widest <= Some(usize::from(look.width)),
            "{widest:?}\n{text}"
        );
        assert_eq!(text.lines().count(), usize::from(look.height), "{text}");
        assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
        assert!(!text.contains('\u{1b}'));
        assert_eq!(text.is_ascii(), look.ascii, "{text}");
    }
}

#[test]
fn what_is_higher_stands_higher() {
    let text = draw(
        &chart(),
        Look {
            ascii: true,
            ..LOOK
        },
    );
    let row_of = |sign| {
        text.lines()
            .position(|line| line.contains(sign))
            .unwrap_or(99)
    };
    assert!(row_of("-----") < row_of("*"), "{text}");
    assert!(row_of("*") < row_of("0.0+"), "{text}");
}

#[test]
fn lines_differ_without_colours() {
    let line = |name: &'static str, y| Line {
        name: name.into(),
        points: vec![(0.0, y), (10.0, y)],
    };
    let chart = Chart {
        lines: vec![line("one", 1.0), line("two", 2.0), line("three", 3.0)],
        outage: Some(2.0..4.0),
        ..Chart::default()
    };
    let text = draw(&chart, LOOK);
    for sign in ["** one", "++ two", "xx three", "░░ outage"] {
        assert!(text.contains(sign), "{sign}\n{text}");
    }
    let colours = draw(
        &chart,
        Look {
            colours: true,
            ..LOOK
        },
    );
    for colour in ["\u{1b}[38;5;245m", "\u{1b}[38;5;166m", "\u{1b}[38;5;214m"] {
        assert!(colours.contains(colour), "{colours:?}");
    }
}

#[test]
fn nothing_to_show_is_no_mistake() {
    for look in [
        LOOK,
        Look {
            width: 0,
            height: 0,
            ..LOOK
        },
    ] {
        assert!(!draw(&Chart::default(), look).is_empty());
    }
}

#[test]
fn lines_on_one_another_are_all_seen() {
    let line = |name: &'static str| Line {
        name: name.into(),
        points: vec![(0.0, 1.0), (10.0, 1.0)],
    };
    let layered = Chart {
        lines: vec![line("one"), line("two"), line("three")],
        layered: true,
        ..Chart::default()
    };
    let text = draw(&layered, LOOK);
    assert!(text.contains("*+x*+x*+x"), "{text}");
    let above = Chart {
        layered: false,
        ..layered
    };
    let text = draw(&above, LOOK);
    assert!(text.contains("xxxxxxxxx"), "{text}");
    assert!(!text.contains("+x*"), "{text}");
}

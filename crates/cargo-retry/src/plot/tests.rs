use reattempt_storm::draw::{Chart, Line};

use super::{Look, draw};

const LOOK: Look = Look {
    width: 60,
    height: 19,
    colours: false,
    ascii: false,
};

fn chart() -> Chart {
    let line = |name: &'static str, points: &[(f64, f64)]| Line {
        name: name.into(),
        points: points.to_vec(),
    };
    Chart {
        title: "Load".into(),
        across: "time (s)".into(),
        upwards: "attempts/s".into(),
        outage: Some(2.0..4.0),
        lines: vec![
            line("one", &[(0.0, 1.0), (10.0, 1.0)]),
            line("two", &[(0.0, 1.0), (10.0, 1.0)]),
            line("three", &[(0.0, 4.0), (10.0, 4.0)]),
        ],
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
            height: 25,
            ..LOOK
        },
    ] {
        let text = draw(&chart(), look);
        for word in [
            "Load (attempts/s)",
            "time (s)",
            " one\n",
            " two\n",
            " three\n",
            " outage ",
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
fn lines_on_one_another_are_all_seen() {
    let ascii = Look {
        ascii: true,
        ..LOOK
    };
    let text = draw(&chart(), ascii);
    let lines: Vec<_> = text.lines().collect();
    let panel = |name: &str| {
        let start = lines.iter().position(|line| line.trim() == name);
        lines
            .iter()
            .skip(start.unwrap_or(99))
            .skip(1)
            .take(4)
            .copied()
            .collect::<Vec<_>>()
    };
    assert_eq!(panel("one"), panel("two"), "{text}");
    assert!(
        panel("one").iter().any(|row| row.contains("****")),
        "{text}"
    );
    // One scale: what is higher stands higher.
    let height = |name| panel(name).iter().position(|row| row.contains("****"));
    assert!(height("three") < height("one"), "{text}");
    assert!(panel("two").iter().any(|row| row.contains(":::")), "{text}");
    let colours = draw(
        &chart(),
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
fn nothing_to_show_is_not_a_mistake() {
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

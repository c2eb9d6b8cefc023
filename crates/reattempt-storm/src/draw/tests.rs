use super::*;

#[test]
fn each_line_is_drawn_and_named() {
    let line = |name, y| Line {
        name: Cow::Borrowed(name),
        points: vec![(0.0, 0.0), (1.0, y)],
    };
    let chart = Chart {
        title: "a title".into(),
        across: "s".into(),
        upwards: "attempts/s".into(),
        outage: Some(0.2..0.4),
        lines: vec![line("one", 1.0), line("two", 2.0)],
        ..Chart::default()
    };
    let svg = chart.svg().expect("it can be drawn");
    for word in ["a title", "attempts/s", "one", "two", "#787878", "#D55E00"] {
        assert!(svg.contains(word), "{word}");
    }
    assert_eq!(svg, chart.svg().expect("it can be drawn"));
    let sizes = svg.matches("font-size=\"12.").count();
    assert!(sizes > 10, "{sizes} labels of 12 pixels");
}

#[test]
fn a_band_and_a_limit_are_within_the_picture_and_named() {
    let band = Band {
        name: "the band".into(),
        points: vec![(1.0, 0.0, 20.0), (2.0, 10.0, 40.0)],
    };
    let limit = Limit {
        name: "the limit".into(),
        at: 50.0,
    };
    let chart = Chart {
        band: Some(band),
        limit: Some(limit),
        counts: true,
        ..Chart::default()
    };
    assert_eq!(chart.extent(), (1.0..2.0, 52.5));
    let text = svg(&[chart.clone(), chart]).expect("it can be drawn");
    for word in ["the band", "the limit", "<polygon", "#BBE1F6"] {
        assert_eq!(text.matches(word).count() % 2, 0, "{word}");
        assert!(text.contains(word), "{word}");
    }
    assert!(text.lines().all(|line| line != "1.5"), "no half of a thing");
}

#[test]
fn a_picture_says_what_it_is() {
    let chart = |title: &'static str| Chart {
        title: title.into(),
        lines: vec![Line {
            name: "one".into(),
            points: vec![(0.0, 1.0), (1.0, 1.0)],
        }],
        ..Chart::default()
    };
    let text = svg(&[chart("a < b & c"), chart("d")]).expect("it can be drawn");
    let mut lines = text.lines();
    let first = lines.next().expect("there is one");
    assert!(first.starts_with("<svg role=\"img\" width="), "{first}");
    assert_eq!(lines.next(), Some("<title>a &lt; b &amp; c; d</title>"));
    assert_eq!(text.matches("<title>").count(), 1);
}

#[test]
fn lines_on_one_another_are_broader_below() {
    let line = |name| Line {
        name: Cow::Borrowed(name),
        points: vec![(0.0, 1.0), (1.0, 1.0)],
    };
    let chart = Chart {
        trigger: "slowdown".into(),
        outage: Some(0.2..0.4),
        lines: vec![line("one"), line("two"), line("three")],
        colours: vec![Colour::Grey, Colour::Vermilion, Colour::Blue],
        layered: true,
        ..Chart::default()
    };
    let text = chart.svg().expect("it can be drawn");
    assert!(text.contains("slowdown"));
    for (colour, width) in [("#787878", 6), ("#D55E00", 4), ("#0072B2", 2)] {
        let line = text.lines().find(|line| line.contains(colour));
        let width = format!("stroke-width=\"{width}\"");
        assert!(line.is_some_and(|line| line.contains(&width)), "{line:?}");
    }
}

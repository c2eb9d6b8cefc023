use super::*;

fn line(name: &'static str, points: &[(f64, f64)]) -> Line {
    Line {
        name: name.into(),
        points: points.to_vec(),
    }
}

fn chart() -> Chart {
    Chart {
        title: "a < b & c".into(),
        across: "time (s)".into(),
        upwards: "attempts/s".into(),
        outage: Some(0.2..0.4),
        lines: vec![
            line("one", &[(0.0, 100.0), (10.0, 100.0)]),
            line("two", &[(0.0, 100.0), (10.0, 100.0)]),
        ],
        ..Chart::default()
    }
}

#[test]
fn each_line_has_a_panel_of_its_own() {
    let svg = chart().svg();
    assert_eq!(svg, chart().svg());
    for word in ["attempts/s", "time (s)", ">one<", ">two<", "var(--grey)"] {
        assert!(svg.contains(word), "{word}\n{svg}");
    }
    assert!(svg.contains("<title>a &lt; b &amp; c</title>"), "{svg}");
    // The same points, and no line on the other.
    let lines: Vec<_> = svg
        .lines()
        .filter(|line| line.contains("fill:none"))
        .collect();
    let path = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    let [one, two] = lines[..] else {
        panic!("{lines:?}");
    };
    assert_ne!(path(one), path(two));
    // One scale, written beside each panel; the outage is behind both.
    assert_eq!(svg.matches(">100<").count(), 2, "{svg}");
    assert_eq!(svg.matches("fill:var(--outage)").count(), 2, "{svg}");
}

#[test]
fn a_chart_without_points_is_a_page_without_lines() {
    for chart in [
        Chart::default(),
        Chart {
            lines: vec![line("none", &[])],
            ..Chart::default()
        },
    ] {
        let svg = chart.svg();
        assert!(svg.ends_with("</svg>\n"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn numbers_along_an_axis_are_round() {
    let texts = |end, most| {
        let ticks = ticks(end, most).into_iter();
        ticks.map(|(_, text)| text).collect::<Vec<_>>()
    };
    assert_eq!(texts(240.0, 8.0), ["0", "50", "100", "150", "200"]);
    assert_eq!(texts(1.05, 2.0), ["0", "1"]);
    assert_eq!(texts(0.3, 3.0), ["0", "0.1", "0.2", "0.3"]);
    assert_eq!(texts(0.0, 3.0), ["0"]);
    assert_eq!(texts(f64::INFINITY, 3.0), ["0"]);
}

//! A [`Chart`] in the characters of a terminal: the picture that `Chart::svg` draws, for those who do not leave the
//! shell.

mod axis;
mod paint;
mod text;

use reattempt_storm::draw::Chart;

pub(crate) use self::axis::Axis;
pub(crate) use self::paint::indexed;
pub(crate) use self::text::{bold, ground, inked, row};

/// How a plot is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// In characters, axes and all.
    pub(crate) width: u16,
    /// In lines, axes, titles and legend included.
    pub(crate) height: u16,
    /// Whether lines have colours.
    pub(crate) colours: bool,
    /// Whether nothing but ASCII is written.
    pub(crate) ascii: bool,
}

impl Look {
    /// The narrowest and the widest plot that can be read.
    const WIDTHS: (u16, u16) = (40, 110);

    /// As fits to standard output, which is a terminal or none.
    pub(crate) fn of_stdout(height: u16) -> Self {
        let width =
            terminal_size::terminal_size_of(std::io::stdout()).map_or(80, |(width, _)| width.0);
        let (least, most) = Self::WIDTHS;
        Self {
            width: width.max(least).min(most),
            height,
            colours: crate::output::has_colours(),
            ascii: false,
        }
    }
}

/// Lines besides the panels: title, the axis, its numbers, its label.
const AROUND: u16 = 4;

/// The panels of the chart, one below the other, each line ended; with escape codes where `look` asks for colours.
pub(crate) fn draw(chart: &Chart, look: Look) -> String {
    let (across, top) = chart.extent();
    let panels = u16::try_from(chart.lines.len()).unwrap_or(u16::MAX).max(1);
    // The name of each line stands over its panel.
    let rows = (look.height.saturating_sub(AROUND) / panels)
        .saturating_sub(1)
        .max(4);
    let upwards = Axis::upwards(top, rows);
    let labels = upwards.labels();
    let margin = labels.iter().map(|label| label.text.len()).max();
    let margin = margin.unwrap_or_default().saturating_add(1);
    // A blank before the label, the axis behind it.
    let taken = u16::try_from(margin).unwrap_or(u16::MAX).saturating_add(1);
    let columns = look.width.saturating_sub(taken).max(8);
    let across = Axis::across(&across, columns);
    let (wall, tick) = if look.ascii {
        ('|', '+')
    } else {
        ('│', '┤')
    };
    let mut lines = vec![format!("{} ({})", bold(&chart.title, look), chart.upwards)];
    for (line, colour) in chart.lines.iter().zip(chart.colours()) {
        let name = inked(&line.name, indexed(colour), look);
        lines.push(format!("{:margin$} {name}", ""));
        let grid = paint::grid(chart, line, colour, look, &across, &upwards);
        for row in 0..rows {
            let height = rows.saturating_sub(row).saturating_sub(1);
            let label = labels.iter().find(|label| label.at == height);
            let (text, wall) = label.map_or(("", wall), |label| (&label.text, tick));
            lines.push(format!(
                "{text:>margin$}{wall}{}",
                text::row(&text::cells(&grid, row), look)
            ));
        }
    }
    lines.extend(ground(&across, margin, look));
    let legend = chart.outage.iter().map(|_| {
        let sign = paint::outage(look);
        format!("{sign}{sign} {}", chart.trigger())
    });
    let legend = format!("{:margin$} {}", "", legend.collect::<String>());
    let room = usize::from(columns).saturating_add(taken.into());
    let room = room.saturating_sub(legend.chars().count());
    lines.push(
        format!("{legend}{:>room$}", chart.across)
            .trim_end()
            .to_owned(),
    );
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests;

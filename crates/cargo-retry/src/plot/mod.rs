//! A [`Chart`] in the characters of a terminal: the picture that `Chart::svg` draws, for those who do not leave the
//! shell.

mod axis;
mod paint;
mod text;

use reattempt_storm::draw::Chart;

use self::axis::Axis;
pub(crate) use self::paint::indexed;

/// How a plot is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// In characters, axes and all.
    pub(crate) width: u16,
    /// In lines, axes, titles and legend included.
    pub(crate) height: u16,
    /// Whether colours distinguish lines; else their characters do.
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

/// The plot, each line ended; with escape codes where `look` asks for colours.
pub(crate) fn draw(chart: &Chart, look: Look) -> String {
    let (across, top) = chart.extent();
    let frame = text::Frame::new(chart, look);
    let upwards = Axis::upwards(top, frame.rows);
    let labels = upwards.labels();
    let margin = labels.iter().map(|label| label.text.len()).max();
    let margin = u16::try_from(margin.unwrap_or_default()).unwrap_or(u16::MAX);
    // A blank before the label, the axis behind it.
    let columns = look.width.saturating_sub(margin.saturating_add(2)).max(8);
    let across = Axis::across(&across, chart.counts, columns);
    let grid = paint::grid(chart, look, columns, frame.rows, &across, &upwards);
    frame.around(&grid, &across, &upwards, margin)
}

#[cfg(test)]
mod tests;

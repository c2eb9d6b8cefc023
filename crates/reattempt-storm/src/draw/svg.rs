//! A page of SVG that is read at 700 pixels, on a light page and on a dark one.

use std::fmt::{self, Write as _};

/// The colours of a light page and those of a dark one. The page of the reader decides.
const STYLE: &str = "<style>
svg{--page:#ffffff;--text:#1f2328;--soft:#59636e;--outage:#d8dee4;--jitter:#a5d8ff;\
--grey:#6e7781;--vermilion:#c2410c;--orange:#a16207;--blue:#0369a1;--green:#0f7a5a}
@media (prefers-color-scheme:dark){svg{--page:#0d1117;--text:#f0f6fc;--soft:#9da7b3;--outage:#2d333b;--jitter:#1f4b6e;\
--grey:#9da7b3;--vermilion:#f97316;--orange:#eab308;--blue:#38bdf8;--green:#34d399}}
text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:var(--text)}
.title{font-size:27px;font-weight:700}.soft{font-size:19px;fill:var(--soft)}
.name{font-size:20px;font-weight:600}.verdict{font-size:26px;font-weight:700}
.end{text-anchor:end}.middle{text-anchor:middle}
.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:16px;fill:var(--soft)}
</style>";

/// A picture of 900 units in width, in the colours of [`Colour`](super::Colour) by their names: `var(--green)`.
///
/// Besides them there are `--text`, `--soft`, `--outage` and `--jitter`, and the classes `title`, `name`, `verdict`,
/// `soft` and `code` of texts, which `middle` and `end` move to the left.
#[derive(Debug, Clone)]
pub struct Svg(String);

impl Svg {
    /// The width of each picture.
    pub const WIDTH: f64 = 900.0;

    /// Begins a picture. A screen reader says its `title`.
    pub fn new(height: f64, title: &str) -> Self {
        let mut svg = Self(String::new());
        svg.add(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {height:.0}" role="img">"#,
            Self::WIDTH
        ));
        svg.add(format_args!("<title>{}</title>", escaped(title)));
        svg.add(format_args!("{STYLE}"));
        svg.add(format_args!(
            r#"<rect width="100%" height="100%" rx="8" style="fill:var(--page)"/>"#
        ));
        svg
    }

    /// Adds a line of elements.
    pub fn add(&mut self, elements: fmt::Arguments<'_>) {
        // Writing to a `String` does not fail.
        _ = writeln!(self.0, "{elements}");
    }

    /// Adds a text of these classes.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{text}</text>"#
        ));
    }

    /// Adds a rectangle in the colour of that name, from corner to corner.
    pub fn field(&mut self, colour: &str, (left, top): (f64, f64), (right, bottom): (f64, f64)) {
        self.add(format_args!(
            r#"<rect x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}" style="fill:var(--{colour})"/>"#,
            right - left,
            bottom - top
        ));
    }

    /// Returns the picture as text.
    pub fn end(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// Returns `text` with nothing in it that is markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

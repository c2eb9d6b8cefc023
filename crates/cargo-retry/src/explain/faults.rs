//! Broken rules as the compiler shows them: the message, the text, and the value underlined.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::output;
use crate::plot::Look;
use crate::policy::{Broken, Given};

/// All of them, each ended by a blank line.
pub(crate) fn words(given: &Given, look: Look) -> String {
    let renderer = if look.colours {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let renderer = renderer
        .decor_style(DecorStyle::Ascii)
        .term_width(look.width.into());
    // The others are pictures in what is rendered; these are as long, so that places stay.
    let text = given.text.replace(is_upper_control, "\u{b7}");
    let shown = given.broken.iter().map(|broken| {
        let group = group(broken, &text);
        let mut shown = renderer.render(&[group]);
        shown.push_str("\n\n");
        shown
    });
    let mut shown: String = shown.collect();
    if given
        .broken
        .iter()
        .any(|broken| ["R17", "syntax"].contains(&broken.rule.as_str()))
        && !given.text.contains('"')
    {
        shown += "a shell takes double quotes away: put the whole policy into single quotes, 'max = 5, base = \"200ms\"'\n\n";
    }
    if let Some(first) = given.broken.first() {
        shown += "more of a rule: cargo retry explain ";
        shown += &first.rule;
        shown += "\n\n";
    }
    shown
}

fn is_upper_control(c: char) -> bool {
    ('\u{80}'..='\u{9f}').contains(&c)
}

fn group<'a>(broken: &'a Broken, text: &'a str) -> Group<'a> {
    let title = Level::ERROR.primary_title(output::shown(&broken.message));
    let title = title.id(&broken.rule);
    match broken.place.clone() {
        Some(place) => {
            let annotation = AnnotationKind::Primary.span(place);
            title.element(Snippet::source(text).annotation(annotation))
        }
        None => Group::with_title(title),
    }
}

mod faults;
mod meaning;
mod runs;

use clap::Parser;

use super::play::Play;
use super::{Arguments, asked, report};
use crate::plot::Look;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    arguments: Arguments,
}

/// What is typed, in the words of a shell that knows no quotes but `'`.
fn typed(line: &str) -> Result<Arguments, String> {
    let words = line.split('\'').enumerate().flat_map(|(place, part)| {
        if place % 2 == 0 {
            part.split_whitespace().collect()
        } else {
            vec![part]
        }
    });
    match Line::try_parse_from(["storm"].into_iter().chain(words)) {
        Ok(line) => Ok(line.arguments),
        Err(fault) => Err(fault.to_string()),
    }
}

fn played(arguments: &Arguments) -> Result<(Play, Vec<String>), String> {
    super::arguments::one_policy(arguments)?;
    let given = asked::given(arguments).map_err(|refused| refused.to_string())?;
    super::played(arguments, &given)
}

/// A minute and a half, with what happens in its tenth second.
const SHORT: &str = "--at 10s --for 90s";

fn played_with(line: &str) -> (Play, Vec<String>) {
    let arguments = typed(&format!("{SHORT} {line}")).expect("it can be typed");
    played(&arguments).expect("it can be played")
}

fn play(line: &str) -> Play {
    played_with(line).0
}

fn text(play: &Play) -> String {
    let look = Look {
        width: 80,
        height: report::HEIGHT,
        colours: false,
        ascii: true,
    };
    report::text(play, &[], &[], look)
}

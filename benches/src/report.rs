//! `--all`: every table in one run; with `--markdown` the document `BENCHMARKS.md`.

use std::error::Error;

use crate::peers::bounds::Asked;
use crate::{building, contended, peers, scale};

pub(crate) fn print(markdown: bool) -> Result<(), Box<dyn Error>> {
    let say = |words: &str| {
        if markdown {
            print!("{words}");
        }
    };
    say(include_str!("report/head.md"));
    peers::print("", markdown)?;
    say(include_str!("report/behind.md"));
    scale::print("", markdown)?;
    say(include_str!("report/bounds.md"));
    peers::bounds::print(Asked {
        word: "",
        is_quick: false,
        markdown,
    })?;
    say(include_str!("report/contended.md"));
    contended::print("", markdown)?;
    say(include_str!("report/building.md"));
    building::print("", markdown)
}

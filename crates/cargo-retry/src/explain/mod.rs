//! `cargo retry explain`.

pub(crate) mod faults;
mod page;
mod report;
mod rows;
mod schedule;
#[cfg(test)]
mod tests;
mod timeline;
mod worst;

pub(crate) use page::title;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ArgAction;

use crate::output;
use crate::plot::Look;
use crate::policy::{self, Given, Refused};
use report::Report;

/// Explains a policy: in words, as a table, as a timeline, with the rules that it breaks
///
/// Ends with 0 for a policy that breaks no rule, with 1 for one that does, with 2 when it was called wrongly.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The keys of `#[retry(...)]`, such as 'max = 5, jitter = 0.2'; with `--config` the name of a policy or of an
    /// operation, or keys with `policy = "name"`; or an operation of the code, as `list` prints it; or a rule, such as
    /// `X4`
    #[arg(value_name = "POLICY", required = true)]
    policy: Vec<String>,

    /// Reads the policy of that name from this file, and from the environment over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Writes the picture to this file; `-` is standard output, and then nothing else is written
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Writes JSON, all times in nanoseconds
    #[arg(long)]
    json: bool,

    /// Writes nothing but ASCII
    #[arg(long, action = ArgAction::SetTrue, conflicts_with = "json")]
    ascii: bool,
}

impl Arguments {
    /// With the keys of an operation in place of its name, if the code here has it.
    pub(crate) fn of_code(
        mut self,
        keys: impl FnOnce(&str) -> Result<Option<String>, Box<dyn Error>>,
    ) -> Result<Self, Box<dyn Error>> {
        let [policy] = self.policy.as_mut_slice() else {
            return Ok(self);
        };
        let is_name = !policy.is_empty()
            && policy
                .chars()
                .all(|it| it.is_alphanumeric() || "_:.-".contains(it));
        let is_known = policy::is_word(policy) || page::asked(policy).is_some();
        if self.config.is_some() || !is_name || is_known {
            return Ok(self);
        }
        match keys(policy) {
            Ok(Some(found)) => *policy = found,
            // Without a project here a lone word has a message of its own.
            Ok(None) | Err(_) if !policy.contains("::") => {}
            Ok(None) => {
                return Err(format!(
                    "no operation `{policy}` in this workspace; `cargo retry list --format line` prints them"
                )
                .into());
            }
            Err(fault) => return Err(fault),
        }
        Ok(self)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let [policy] = arguments.policy.as_slice() else {
        return Err("a policy is one argument; put all of it into single quotes: 'max = 5, base = \"200ms\"'".into());
    };
    if arguments.config.is_none()
        && let Some(page) = page::asked(policy)
    {
        output::print(&page?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let given = match &arguments.config {
        Some(path) => match read(path, policy) {
            Ok(given) => given,
            Err(Refused::Words(words)) => return Err(words.into()),
            Err(Refused::ConfigError(faults)) => {
                return crate::faults::refuse(&faults, arguments.json);
            }
        },
        None => policy::from_text(policy),
    };
    let is_svg_alone = arguments.svg.as_deref() == Some(Path::new("-"));
    if is_svg_alone && arguments.json {
        return Err(
            "`--json` and `--svg -` both write to standard output; name a file for one of them"
                .into(),
        );
    }
    let report = Report::of(&given);
    if let Some(path) = &arguments.svg
        && given.is_read
    {
        draw(&report, path)?;
    }
    if arguments.json {
        output::print_json(&report)?;
    } else if !is_svg_alone || !given.is_read {
        let look = Look {
            ascii: arguments.ascii,
            ..Look::of_stdout(18)
        };
        output::coloured(&report.text(look))?;
    }
    Ok(exit(&given))
}

/// A name in a file, or keys that name a policy of it.
fn read(path: &Path, policy: &str) -> Result<Given, Refused> {
    if policy.contains('=') {
        policy::over(path, policy::from_text(policy))
    } else {
        policy::from_file(path, policy)
    }
}

fn exit(given: &Given) -> ExitCode {
    if given.broken.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn draw(report: &Report<'_>, path: &Path) -> Result<(), Box<dyn Error>> {
    let Some(timeline) = report.timeline() else {
        return Err(
            "there is nothing to draw, as no delay is known; write `max = 3`, or leave `--svg` out"
                .into(),
        );
    };
    output::write_picture(path, &timeline::svg(&timeline))
}

//! Recorded histories against the code of today: a test in CI that finds changes that would park tasks.
//!
//! `reattempt-supervisor export` writes the histories of tasks, one JSON object a line. [`Replay`] runs
//! each of them with the workflows of your program. No step runs: a workflow gets its recorded results,
//! and goes as far as its record.
//!
//! ```
//! use reattempt_supervisor::replay::Replay;
//! use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};
//!
//! #[step]
//! async fn pay(_step: &Step, cents: u32) -> Result<u32, String> {
//!     Ok(cents)
//! }
//!
//! #[workflow]
//! async fn order(context: &WorkflowContext, cents: u32) -> Result<u32, StepError> {
//!     pay(context, cents).await
//! }
//!
//! # let histories = &b""[..]; // std::fs::File::open("tests/history.jsonl")?
//! let report = Replay::new().register(order).run(histories)?;
//! report.assert_unchanged();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [`Replay::command`] gives your own program the command `replay --from history.jsonl`.

// The floors, from the bottom: `history`, `report`; `pass`; `replay`.

mod history;
mod pass;
mod report;

use std::fmt;
use std::io::{self, BufRead, Read};
use std::process::ExitCode;

use crate::workflow::{Workflow, WorkflowFn, WorkflowRegistry};

pub use history::{History, export};
pub use report::{Divergence, Report};

/// Runs histories with the workflows that it knows.
#[derive(Default)]
pub struct Replay {
    workflows: WorkflowRegistry,
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Replay").field(&self.workflows).finish()
    }
}

impl Replay {
    /// Creates a replay without workflows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a workflow: the function with `#[workflow]`. Of two with the same name and version, the
    /// last counts.
    #[must_use]
    pub fn register<W: Workflow, Arguments>(mut self, _: impl WorkflowFn<W, Arguments>) -> Self {
        self.workflows.insert::<W>();
        self
    }

    /// Runs all histories: one JSON object a line, as `export` writes them.
    ///
    /// # Errors
    ///
    /// Fails if a line cannot be read, and names it.
    pub fn run(&self, histories: impl Read) -> io::Result<Report> {
        let mut report = Report::default();
        for (number, line) in io::BufReader::new(histories).lines().enumerate() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let history: History = serde_json::from_str(&line).map_err(|error| {
                let number = number.saturating_add(1);
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("line {number} is not a history of `export` ({error})"),
                )
            })?;
            report.add(&history, self.replay(&history));
        }
        Ok(report)
    }

    /// Runs one history. Returns why the code of today cannot continue it, if it cannot.
    pub fn replay(&self, history: &History) -> Option<String> {
        let (name, version) = (history.workflow(), history.version());
        let Some(registered) = self.workflows.get(name, version) else {
            return Some(format!(
                "the program has no workflow `{name}` of version {version}; register the old function beside the new one until its tasks have ended"
            ));
        };
        pass::forward(history, registered.run).or_else(|| pass::undoing(history, registered.run))
    }

    /// Carries out `replay --from FILE`, if these are the arguments of the program after its name, and
    /// returns the exit code: a failure if a task diverges or the file cannot be read. Returns `None`
    /// for other arguments.
    ///
    /// ```no_run
    /// # use std::process::ExitCode;
    /// # use reattempt_supervisor::replay::Replay;
    /// # use reattempt_supervisor::{StepError, WorkflowContext, workflow};
    /// # #[workflow]
    /// # async fn order(context: &WorkflowContext) -> Result<u32, StepError> { Ok(1) }
    /// fn main() -> ExitCode {
    ///     if let Some(code) = Replay::new().register(order).command(std::env::args().skip(1)) {
    ///         return code;
    ///     }
    ///     // The program.
    ///     ExitCode::SUCCESS
    /// }
    /// ```
    pub fn command(&self, arguments: impl IntoIterator<Item = String>) -> Option<ExitCode> {
        let mut arguments = arguments.into_iter();
        if arguments.next().as_deref() != Some("replay") {
            return None;
        }
        let rest: Vec<_> = arguments.collect();
        let [option, file] = &rest[..] else {
            return Some(misused());
        };
        if option != "--from" {
            return Some(misused());
        }
        let report = std::fs::File::open(file).and_then(|histories| self.run(histories));
        Some(match report {
            Ok(report) => {
                println!("{report}");
                if report.diverged().is_empty() {
                    ExitCode::SUCCESS
                } else {
                    ExitCode::FAILURE
                }
            }
            Err(error) => {
                eprintln!("error: {file}: {error}");
                ExitCode::FAILURE
            }
        })
    }
}

fn misused() -> ExitCode {
    eprintln!("error: write `replay --from history.jsonl`");
    ExitCode::FAILURE
}

//! `cargo retry fix`: what the compiler says of our attributes -> the fix that each message names -> a diff, or the
//! files.
//!
//! It asks the compiler, since half of the errors are of types or constants. The fix is read out of
//! the message where that is written as code, and `edits` has a function for each rule whose words
//! are not. Each pass compiles again, as one fix uncovers the next error.

mod compiler;
mod edits;
mod tokens;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::input;
use crate::output;
use compiler::Fault;

/// Applies the fix that an error of this library names
///
/// Compiles the workspace with `cargo check`, and prints what it would change; `--write` changes the files, and compiles
/// again until nothing is left to fix. Knows the rules of the error index, and `clone(x)` or `&x` for a parameter that the
/// body moves. A fix makes the code compile. Whether it is what you meant, only you know: look at the diff.
///
/// Exit status: 0 if no error of this library is left, 1 if one is, 2 if nothing could be done.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Writes the changes to the files
    #[arg(long)]
    write: bool,
    /// Writes even if git has changes that are not committed, or there is no git
    #[arg(long, requires = "write")]
    allow_dirty: bool,
    /// Only these packages
    #[arg(short, long = "package", value_name = "NAME")]
    packages: Vec<String>,
    /// The manifest of the workspace, or of a package in it
    #[arg(long, value_name = "FILE")]
    manifest_path: Option<PathBuf>,
}

/// A fix shows other errors, which have fixes of their own.
const PASSES: u32 = 10;

/// Bytes of a file, and what comes in their place.
pub(super) type Edit = (std::ops::Range<usize>, String);

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let check = compiler::Check::new(arguments.manifest_path.as_deref(), &arguments.packages)?;
    if arguments.write && !arguments.allow_dirty {
        is_clean(&check.root)?;
    }
    let mut fixed = 0_usize;
    for _ in 0..PASSES {
        let faults = check.faults()?;
        let (changes, unfixed) = changes(&faults);
        if changes.is_empty() {
            return report(fixed, &unfixed);
        }
        for change in &changes {
            output::print(&change.diff())?;
            if arguments.write {
                let path = &change.path;
                fs::write(path, &change.after)
                    .map_err(|error| format!("cannot write `{}` ({error})", path.display()))?;
            }
        }
        fixed += changes.iter().map(|it| it.edits).sum::<usize>();
        if !arguments.write {
            let words = match fixed {
                1 => "1 fix; `--write` applies it".to_owned(),
                fixed => format!("{fixed} fixes; `--write` applies them"),
            };
            output::print(&format!("{words}, and compiles again\n"))?;
            return Ok(ExitCode::FAILURE);
        }
    }
    Err(format!(
        "after {PASSES} passes there are still errors to fix; run `cargo check` to see them"
    )
    .into())
}

fn report(fixed: usize, unfixed: &[&Fault]) -> Result<ExitCode, Box<dyn Error>> {
    for fault in unfixed {
        let Fault {
            path, line, column, ..
        } = fault;
        let first = fault.message.lines().next().unwrap_or_default();
        output::print(&format!("{}:{line}:{column}: {first}\n", path.display()))?;
        for way in &fault.ways {
            output::print(&format!("    {way}\n"))?;
        }
    }
    output::print(&match (fixed, unfixed.len()) {
        (0, 0) => "no error of this library\n".to_owned(),
        (fixed, 0) => format!("{fixed} fixed\n"),
        (fixed, left) => format!("{fixed} fixed; {left} for you, above\n"),
    })?;
    Ok(if unfixed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What becomes of a file.
struct Change {
    path: PathBuf,
    before: String,
    after: String,
    edits: usize,
}

/// The files with the fixes of these faults, and the faults without one.
fn changes(faults: &[Fault]) -> (Vec<Change>, Vec<&Fault>) {
    let mut files: BTreeMap<&Path, (String, Vec<Edit>, usize)> = BTreeMap::new();
    let mut unfixed = Vec::new();
    for fault in faults {
        let (text, edits, number) = files.entry(&fault.path).or_insert_with(|| {
            let text = input::text(&fault.path).unwrap_or_default();
            (text, Vec::new(), 0)
        });
        let Some(fix) = edits::of(fault, text) else {
            unfixed.push(fault);
            continue;
        };
        // Two at one place wait for the next pass.
        let is_free = fix.iter().all(|(range, _)| {
            edits
                .iter()
                .all(|(known, _)| range.end < known.start || known.end < range.start)
        });
        if is_free {
            edits.extend(fix);
            *number += 1;
        }
    }
    let changed = files
        .into_iter()
        .filter(|(_, (_, edits, _))| !edits.is_empty());
    let change = |(path, (before, mut edits, number)): (&Path, (String, Vec<Edit>, usize))| {
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut after = before.clone();
        for (range, new) in edits {
            let (Some(head), Some(tail)) = (after.get(..range.start), after.get(range.end..))
            else {
                continue;
            };
            after = format!("{head}{new}{tail}");
        }
        Change {
            path: path.to_owned(),
            before,
            after,
            edits: number,
        }
    };
    (changed.map(change).collect(), unfixed)
}

impl Change {
    /// The lines that change, without those around.
    fn diff(&self) -> String {
        let mut out = format!("--- {}\n", self.path.display());
        let (before, after): (Vec<_>, Vec<_>) =
            (self.before.lines().collect(), self.after.lines().collect());
        let (mut old, mut new) = (0, 0);
        while old < before.len() || new < after.len() {
            if before.get(old) == after.get(new) {
                (old, new) = (old + 1, new + 1);
                continue;
            }
            // To the nearest lines that are the same again.
            let (gone, come) = rejoined(
                before.get(old..).unwrap_or_default(),
                after.get(new..).unwrap_or_default(),
            );
            // Writing to a `String` does not fail.
            _ = writeln!(out, "@@ line {} @@", old + 1);
            for line in before.iter().skip(old).take(gone) {
                _ = writeln!(out, "-{line}");
            }
            for line in after.iter().skip(new).take(come) {
                _ = writeln!(out, "+{line}");
            }
            (old, new) = (old + gone, new + come);
        }
        out.push('\n');
        out
    }
}

/// How many lines go, and how many come, before both are the same.
fn rejoined(before: &[&str], after: &[&str]) -> (usize, usize) {
    for sum in 1..=before.len().saturating_add(after.len()) {
        for gone in 0..=sum.min(before.len()) {
            let come = sum.saturating_sub(gone);
            let is_same = match (before.get(gone), after.get(come)) {
                (Some(old), Some(new)) => old == new,
                (None, None) => true,
                _ => false,
            };
            if is_same && come <= after.len() {
                return (gone, come);
            }
        }
    }
    (before.len(), after.len())
}

/// Whether git has everything, so that what is written can be taken back.
fn is_clean(root: &Path) -> Result<(), String> {
    let git = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["status", "--porcelain", "--untracked-files=no"])
        .output();
    let status = git.ok().filter(|it| it.status.success());
    let Some(status) = status else {
        return Err("there is no git here to take the changes back with; look at them without `--write`, or add `--allow-dirty`".to_owned());
    };
    if status.stdout.is_empty() {
        return Ok(());
    }
    Err(
        "git has changes that are not committed; commit or stash them, or add `--allow-dirty`"
            .to_owned(),
    )
}

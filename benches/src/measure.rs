//! Instructions of a case, counted by callgrind: this program runs itself under
//! valgrind for two numbers of calls, so that starting up cancels out.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};

const CALLS: [u64; 2] = [16_384, 24_576];
/// The same for many cases.
pub(crate) const FEWER: [u64; 2] = [4_096, 6_144];

const MISSING: &str = "`valgrind` is not installed; the instructions are counted with it
  Debian, Ubuntu: sudo apt install valgrind
  Fedora:         sudo dnf install valgrind
  Arch:           sudo pacman -S valgrind";

/// A case, and how often each call of it fails.
pub(crate) type Asked = (String, u32);

/// Instructions of one call that fails `failures` times.
pub(crate) fn instructions(case: &str, failures: u32) -> Result<f64, Box<dyn Error>> {
    let counted = instructions_over(CALLS, &[(case.to_owned(), failures)])?;
    counted.first().copied().ok_or_else(|| case.into())
}

/// The same of many cases, from two numbers of calls.
pub(crate) fn instructions_over(
    [few, many]: [u64; 2],
    cases: &[Asked],
) -> Result<Vec<f64>, Box<dyn Error>> {
    let calls = f64::from(u32::try_from(many - few)?);
    let mut words = vec!["--cases".to_owned()];
    // What goes from one process to the next is counted, too: it is all that nothing has. The first pair has more, the
    // search for functions of the system.
    let nothing = ("nothing".to_owned(), 0);
    for (case, failures) in [&nothing; 2].into_iter().chain(cases) {
        for calls in [few, many] {
            words.extend([case.clone(), failures.to_string(), calls.to_string()]);
        }
    }
    // All in one valgrind, which takes longer to start than most of them to run.
    let output = callgrind(Path::new("/dev/null"), &words)?;
    let report = String::from_utf8_lossy(&output.stderr);
    let collected: BTreeMap<_, f64> = report
        .lines()
        .filter_map(|line| {
            let (process, total) = line.split_once(" Collected : ")?;
            Some((process.trim_matches('='), total.trim().parse().ok()?))
        })
        .collect();
    let forks = String::from_utf8_lossy(&output.stdout);
    let counts: Option<Vec<_>> = forks
        .lines()
        .map(|process| collected.get(process).copied())
        .collect();
    let (counts, _) = counts.as_deref().unwrap_or_default().as_chunks();
    let more: Vec<_> = counts.iter().map(|[few, many]| many - few).collect();
    match more.as_slice() {
        [_, nothing, more @ ..] if more.len() == cases.len() => {
            Ok(more.iter().map(|more| (more - nothing) / calls).collect())
        }
        _ => Err(format!("valgrind does not say what it has collected:\n{report}").into()),
    }
}

/// In which functions the instructions of a sum of calls are, the most first. Of a call: its case,
/// how often it fails, how many times it counts.
pub(crate) fn functions(
    terms: &[(String, u32, f64)],
) -> Result<Vec<(String, f64)>, Box<dyn Error>> {
    let mut sum = BTreeMap::new();
    for (case, failures, times) in terms {
        let each = times / f64::from(u32::try_from(FEWER[1] - FEWER[0])?);
        for (calls, each) in [(FEWER[1], each), (FEWER[0], -each)] {
            let file = Scratch::new();
            let words = ["--case", case, &failures.to_string(), &calls.to_string()];
            callgrind(&file.0, &words.map(str::to_owned))?;
            let profile = fs::read_to_string(&file.0)?;
            for (function, count) in counted(&profile) {
                *sum.entry(function).or_insert(0.0) += count * each;
            }
        }
    }
    let mut sum: Vec<_> = sum
        .into_iter()
        .filter(|(_, count)| count.abs() >= 0.05)
        .collect();
    sum.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    Ok(sum)
}

/// The instructions of each function, without those of the functions that it calls.
fn counted(profile: &str) -> BTreeMap<String, f64> {
    // A name is written once, and then goes by its number.
    let (mut names, mut counts) = (BTreeMap::new(), BTreeMap::new());
    let (mut current, mut is_call) = (String::new(), false);
    for line in profile.lines() {
        let function = line.strip_prefix("fn=");
        if let Some(name) = function.or_else(|| line.strip_prefix("cfn=")) {
            let (number, name) = name.split_once(' ').unwrap_or((name, ""));
            let known = names.entry(number.to_owned()).or_insert(name.to_owned());
            if function.is_some() {
                current.clone_from(known);
            }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let count = line.split(' ').nth(1).and_then(|count| count.parse().ok());
            if !is_call && let Some(count) = count {
                let count: f64 = count;
                *counts.entry(current.clone()).or_insert(0.0) += count;
            }
            is_call = false;
        }
    }
    counts
}

/// A file that is there as long as this is.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        Self(env::temp_dir().join(format!("reattempt-callgrind-{}", process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Runs this program under callgrind.
fn callgrind(profile: &Path, words: &[String]) -> Result<Output, Box<dyn Error>> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=yes"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(env::current_exe()?)
        .args(words)
        .output()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => MISSING.to_owned(),
            _ => format!("`valgrind` cannot be run: {error}"),
        })?;
    if !output.status.success() {
        let report = String::from_utf8_lossy(&output.stderr);
        return Err(format!("a case failed under valgrind:\n{report}").into());
    }
    Ok(output)
}

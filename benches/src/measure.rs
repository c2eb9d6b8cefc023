//! Instructions of a case, counted by callgrind: this program runs itself under
//! valgrind for two numbers of calls, so that starting up cancels out.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};

/// As many digits in one as in the other: reading them costs the same.
const CALLS: [u64; 2] = [16_384, 24_576];
/// The same for many cases.
pub(crate) const FEWER: [u64; 2] = [4_096, 6_144];

const MISSING: &str = "`valgrind` is not installed; the instructions are counted with it
  Debian, Ubuntu: sudo apt install valgrind
  Fedora:         sudo dnf install valgrind
  Arch:           sudo pacman -S valgrind";

/// Instructions of one call that fails `failures` times.
pub(crate) fn instructions(case: &str, failures: u32) -> Result<f64, Box<dyn Error>> {
    instructions_over(CALLS, case, failures)
}

/// The same, from two numbers of calls.
pub(crate) fn instructions_over(
    [few, many]: [u64; 2],
    case: &str,
    failures: u32,
) -> Result<f64, Box<dyn Error>> {
    let calls = f64::from(u32::try_from(many - few)?);
    // At the same time: others do not change what is counted.
    let nowhere = Path::new("/dev/null");
    let [few, many] = [few, many].map(|calls| start(case, failures, calls, nowhere));
    let (few, many) = (few?, many?);
    let few = collected(case, few)?;
    Ok((collected(case, many)? - few) / calls)
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
            collected(case, start(case, *failures, calls, &file.0)?)?;
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

fn start(case: &str, failures: u32, calls: u64, profile: &Path) -> Result<Child, Box<dyn Error>> {
    Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=yes"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(env::current_exe()?)
        .args(["--case", case, &failures.to_string(), &calls.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => MISSING.into(),
            _ => format!("`valgrind` cannot be run: {error}").into(),
        })
}

fn collected(case: &str, counting: Child) -> Result<f64, Box<dyn Error>> {
    let output = counting.wait_with_output()?;
    let report = String::from_utf8_lossy(&output.stderr);
    let total = report
        .lines()
        .find_map(|line| line.split_once("Collected : "))
        .filter(|_| output.status.success());
    match total {
        Some((_, total)) => Ok(total.trim().parse()?),
        None => Err(format!("`{case}` failed under valgrind:\n{report}").into()),
    }
}

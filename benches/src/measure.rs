//! Instructions of a case, counted by callgrind: this program runs itself under
//! valgrind for two numbers of calls, so that starting up cancels out.

use std::env;
use std::error::Error;
use std::io::ErrorKind;
use std::process::{Child, Command, Stdio};

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
    let (few, many) = (start(case, failures, few)?, start(case, failures, many)?);
    let few = collected(case, few)?;
    Ok((collected(case, many)? - few) / calls)
}

fn start(case: &str, failures: u32, calls: u64) -> Result<Child, Box<dyn Error>> {
    Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=yes"])
        .arg("--callgrind-out-file=/dev/null")
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

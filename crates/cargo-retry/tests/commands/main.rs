//! The program from outside: what it prints, and with which code it ends.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod explain;
mod files;
mod questions;
mod top;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-retry"));
    command.arg("retry").args(arguments);
    for variable in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR"] {
        command.env_remove(variable);
    }
    command
}

/// The code, standard output and standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    ended(&command(arguments).output().unwrap())
}

fn ended(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let code = output.status.code().unwrap();
    (code, text(&output.stdout), text(&output.stderr))
}

#[test]
fn wrong_calls_end_with_two() {
    for arguments in [
        &["explain"][..],
        &["explain", "--svg"],
        &["explain", "max = 2", "--json", "--svg", "-"],
        &["check", "--nothing"],
        &["explian"],
    ] {
        assert_eq!(run(arguments).0, 2, "{arguments:?}");
    }
}

/// `cargo retry explain ... | head -1`
#[test]
fn a_reader_who_leaves_is_no_fault() {
    for arguments in [
        &["explain", "max = 5"][..],
        &["schema"],
        &[
            "explain",
            "--json",
            "max = \"unlimited\", deadline = \"1h\"",
        ],
    ] {
        let mut child = command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut err)
            .unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), &*err),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

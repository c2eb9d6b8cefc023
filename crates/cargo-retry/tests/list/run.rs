//! The command, and what it is run on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) fn project(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/projects");
    let project = root.join(name);
    // The versions of the workspace, so that nothing is fetched.
    fs::copy(root.join("../../Cargo.lock"), project.join("Cargo.lock")).expect("a copy");
    project
}

pub(crate) fn list(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-retry"));
    command.args(["retry", "list"]).args(arguments);
    command.current_dir(folder).env("NO_COLOR", "1");
    command.output().expect("it runs")
}

pub(crate) fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = list(folder, &[&["--format", "json"], arguments].concat());
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// A project of its own below the folder of temporary files, made of paths and texts.
pub(crate) fn written(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("list")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nreattempt = \"*\"\n"
    );
    for (path, text) in [("Cargo.toml", manifest.as_str())].iter().chain(files) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

pub(crate) fn texts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("a text");
    (
        output.status.code().expect("an exit status"),
        text(&output.stdout),
        text(&output.stderr),
    )
}

pub(crate) const ONE: &str =
    "#[reattempt::retry(max = 2, on(_))]\nfn one() -> Result<(), ()> { Ok(()) }\n";

//! What the guide shows of this program is what it prints. `UPDATE_EXPECT=1 cargo test -p cargo-retry --test guide` takes it over.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands as the guide has them, the file with their output, and the exit status.
const SHOWN: [(&str, &str, i32); 5] = [
    ("cargo retry list", "list.txt", 0),
    (
        "cargo retry explain 'max = 5, base = \"200ms\", deadline = \"10s\"'",
        "explain.txt",
        0,
    ),
    (
        "cargo retry explain 'max = 5, base = \"200ms\", deadline = \"10s\"' --svg -",
        "explain.svg",
        0,
    ),
    (
        "cargo retry explain 'max = 5, base = \"1s\", deadline = \"800ms\"'",
        "refused.txt",
        1,
    ),
    ("cargo retry check bad.toml", "check.txt", 1),
];

fn guide(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../guide")
        .join(path)
}

/// The words of a command; a text between single quotes is one.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('\'').enumerate();
    let words = parts.flat_map(|(number, part)| {
        if number % 2 == 1 {
            vec![part]
        } else {
            part.split_whitespace().collect()
        }
    });
    words.collect()
}

#[test]
fn the_guide_shows_what_is_printed() {
    let chapter = fs::read_to_string(guide("src/cargo-retry.md")).unwrap();
    for (command, file, status) in SHOWN {
        assert!(
            chapter.contains(&format!("{command}\n")),
            "the guide does not have `{command}`"
        );
        assert!(
            chapter.contains(&format!("commands/{file}")),
            "the guide does not show {file}"
        );

        let run = Command::new(env!("CARGO_BIN_EXE_cargo-retry"))
            .args(&words(command)[1..])
            .current_dir(guide("tests/shop"))
            .output()
            .unwrap();
        let printed =
            String::from_utf8(run.stdout).unwrap() + &String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(status), "{command}: {printed}");

        let shown = guide("src/commands").join(file);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&shown, &printed).unwrap();
        }
        let shown = fs::read_to_string(&shown)
            .unwrap_or_default()
            .replace("\r\n", "\n");
        assert!(
            shown == printed,
            "the guide shows of `{command}`\n{shown}\nand it prints\n{printed}"
        );
    }
}

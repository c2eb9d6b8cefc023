//! What the guide shows of this program is what it prints. `UPDATE_EXPECT=1 cargo test -p cargo-retry --test guide` takes it over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which part of an output the guide shows.
enum Part {
    All,
    /// From the first line that begins so.
    From(&'static str),
    /// Before the first line that begins so.
    Until(&'static str),
}

/// Commands as the guide has them, the file with their output, what of it, and the exit status.
const SHOWN: [(&str, &str, Part, i32); 8] = [
    ("cargo retry suggest", "suggest.txt", Part::All, 0),
    ("cargo retry demo", "demo.txt", Part::All, 0),
    ("cargo retry list", "list.txt", Part::All, 0),
    (
        r#"cargo retry explain 'max = 5, base = "200ms", deadline = "10s"'"#,
        "explain.txt",
        Part::Until("starts:"),
        0,
    ),
    (
        r#"cargo retry explain 'max = 5, base = "200ms", deadline = "10s"' --svg -"#,
        "explain.svg",
        Part::All,
        0,
    ),
    (
        r#"cargo retry explain 'max = 5, base = "1s", jitter = "none", deadline = "800ms"'"#,
        "refused.txt",
        Part::From("error"),
        1,
    ),
    ("cargo retry check bad.toml", "check.txt", Part::All, 1),
    (
        r#"cargo retry storm 'max = 4, timeout = "1s", budget = 0.1'"#,
        "storm.txt",
        Part::From("┌"),
        0,
    ),
];

impl Part {
    fn of(&self, text: &str) -> String {
        let lines = text.split_inclusive('\n');
        match self {
            Self::All => text.to_owned(),
            Self::From(mark) => lines.skip_while(|line| !line.starts_with(mark)).collect(),
            Self::Until(mark) => lines.take_while(|line| !line.starts_with(mark)).collect(),
        }
    }
}

fn guide(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/guide")
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

/// What the page has room for.
const COLUMNS: &str = "100";

/// What a command prints, and how it ends.
fn printed(command: &str) -> io::Result<(String, Option<i32>)> {
    let run = Command::new(env!("CARGO_BIN_EXE_cargo-retry"))
        .args(&words(command)[1..])
        .current_dir(guide(if command.ends_with("suggest") {
            "tests/others"
        } else {
            "tests/shop"
        }))
        .env("COLUMNS", COLUMNS)
        .output()?;
    let said = [run.stdout, run.stderr].concat();
    Ok((
        String::from_utf8_lossy(&said).into_owned(),
        run.status.code(),
    ))
}

/// What the guide shows; with `UPDATE_EXPECT` that is what is printed.
fn shown(file: &str, printed: &str) -> io::Result<String> {
    let file = guide("src/commands").join(file);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, printed)?;
    }
    fs::read_to_string(&file)
}

#[test]
fn the_guide_shows_what_is_printed() {
    let chapter = fs::read_to_string(guide("src/cargo-retry.md")).unwrap_or_default();
    for (command, file, part, status) in SHOWN {
        for named in [format!("{command}\n"), format!("commands/{file}")] {
            assert!(
                chapter.contains(&named),
                "the guide does not have `{named}`"
            );
        }
        let (printed, ended) =
            printed(command).unwrap_or_else(|fault| panic!("{command}: {fault}"));
        assert_eq!(ended, Some(status), "{command}: {printed}");
        let printed = part.of(&printed);
        let shown = shown(file, &printed).unwrap_or_default();
        assert!(
            shown == printed,
            "of `{command}` the guide shows\n{shown}\nand it prints\n{printed}"
        );
    }
}

/// `cargo retry demo --svg docs/hero.svg` draws it anew.
#[test]
fn the_picture_of_the_readme_is_drawn_from_a_run() {
    let (drawn, status) = printed("cargo retry demo --svg -").unwrap_or_default();
    assert_eq!(status, Some(0), "{drawn}");
    let kept = fs::read_to_string(guide("../hero.svg")).unwrap_or_default();
    assert!(
        kept == drawn,
        "docs/hero.svg is not what `cargo retry demo --svg -` draws"
    );
}

/// How much later a service near its capacity is back with retries.
#[test]
fn the_price_near_capacity_is_a_run() {
    let page = fs::read_to_string(guide("src/overload.md")).unwrap_or_default();
    let near = "--load 280 --capacity 300 --clients 10 --outage 10s --for 5m --json";
    let (text, status) =
        printed(&format!("cargo retry storm 'max = 5' {near}")).unwrap_or_default();
    assert_eq!(status, Some(0), "{text}");
    let storm: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let back = |run: usize| {
        let seconds = storm["runs"][run]["summary"]["recovered_after"].as_f64();
        let seconds = seconds.unwrap_or_default();
        format!("{} m {} s later", (seconds / 60.0).floor(), seconds % 60.0)
    };
    for said in [
        format!("{} with `max = 5`", back(2)),
        format!("{} without", back(0)),
    ] {
        assert!(page.contains(&said), "overload.md does not have `{said}`");
    }
}

/// The outage of the picture, in the figures of the README, and how many calls fail in a short fault.
#[test]
fn the_outage_of_the_readme_is_a_run() {
    let readme = fs::read_to_string(guide("../../README.md")).unwrap_or_default();
    for policy in ["max = 5", "max = 5, budget = \"none\""] {
        let run = |fault: &str| {
            let run = format!("--load 52 --capacity 120 --clients 10 {fault}");
            let (text, status) =
                printed(&format!("cargo retry storm '{policy}' {run}")).unwrap_or_default();
            assert_eq!(status, Some(0), "{text}");
            text
        };
        let table = run("--outage 5s");
        let fault: serde_json::Value =
            serde_json::from_str(&run("--failure 300ms --json")).unwrap_or_default();
        let failed = |column: usize| {
            let seconds = fault["runs"][column]["seconds"].as_array();
            let failed = seconds.into_iter().flatten();
            let failed = failed.filter_map(|second| second["failed"].as_u64());
            match failed.sum() {
                0_u64 => "0".to_owned(),
                calls => format!("{calls} calls fail"),
            }
        };
        let cell = |row: &str, column: usize| {
            let line = table.lines().find(|line| line.contains(row));
            let mut cells = line.unwrap_or_default().split(['│', '┆']).skip(2);
            cells.nth(column).unwrap_or_default().trim().to_owned()
        };
        for (column, name) in [(0, "no retries".to_owned()), (2, format!("`{policy}`"))] {
            let row = format!(
                "| {name} | {} | {} | {} | {} |\n",
                cell("attempts/s, worst 10 s", column),
                cell("back after the outage", column),
                cell("calls that succeeded", column),
                failed(column),
            );
            assert!(readme.contains(&row), "README.md does not have `{row}`");
        }
    }
}

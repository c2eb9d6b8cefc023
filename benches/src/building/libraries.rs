//! Each library as the only dependency of an empty program.

use std::collections::BTreeSet;
use std::error::Error;

use super::crates::{Crate, Folder};
use crate::matrix::Matrix;
use crate::median::median;

const ROUNDS: usize = 3;

/// As users of tokio add them.
const LIBRARIES: &[(&str, &str)] = &[
    ("ours", r#"reattempt = { path = "ROOT" }"#),
    (
        "ours, only std",
        r#"reattempt = { path = "ROOT", default-features = false, features = ["macros", "std"] }"#,
    ),
    (
        "backon",
        r#"backon = { version = "1", default-features = false, features = ["std", "tokio-sleep"] }"#,
    ),
    (
        "backon, macros",
        r#"
backon = { version = "1", default-features = false, features = ["std", "tokio-sleep"] }
backon-macros = "1""#,
    ),
    (
        "tokio-retry2",
        r#"tokio-retry2 = { version = "0.9", features = ["jitter"] }"#,
    ),
    ("tokio-retry", r#"tokio-retry = "0.3""#),
    ("retry", r#"retry = "2""#),
    ("tryhard", r#"tryhard = "0.5""#),
    (
        "backoff",
        r#"backoff = { version = "0.4", features = ["tokio"] }"#,
    ),
    (
        "retrying",
        r#"retrying = { version = "0.1", features = ["tokio"] }"#,
    ),
    (
        "retry-if",
        r#"retry-if = { version = "0.3", default-features = false }"#,
    ),
    ("retry-block", r#"retry-block = "1""#),
    (
        "tower",
        r#"tower = { version = "0.5", features = ["retry"] }"#,
    ),
    (
        "(tokio, its timer alone)",
        r#"tokio = { version = "1", features = ["time"] }"#,
    ),
];

pub(super) fn matrix(folder: &Folder) -> Result<Matrix, Box<dyn Error>> {
    let add = |(number, (_, line)): (usize, &(&str, &str))| {
        let name = format!("library-{number}");
        folder.add(
            &name,
            &format!("target-{number}"),
            line,
            "fn main() {}\n".into(),
        )
    };
    let crates: Result<Vec<_>, _> = LIBRARIES.iter().enumerate().map(add).collect();
    let crates = crates?;
    let mut seconds = vec![Vec::new(); crates.len()];
    for _ in 0..ROUNDS {
        for (built, seconds) in crates.iter().zip(&mut seconds) {
            seconds.push(built.cleaned(&["build"])?);
        }
    }
    let mut matrix = Matrix::new("alone in a program", &["clean build, s", "crates"]);
    for (((library, _), built), seconds) in LIBRARIES.iter().zip(&crates).zip(seconds) {
        let numbers = vec![Some(median(seconds)), Some(compiled(built)?)];
        matrix.row(*library, numbers);
    }
    Ok(matrix)
}

/// How many crates are compiled besides the program.
fn compiled(built: &Crate) -> Result<f64, Box<dyn Error>> {
    let tree = built.asked(&[
        "tree",
        "--edges=normal,build",
        "--prefix=none",
        "--no-dedupe",
    ])?;
    let versioned = |line: &'_ str| {
        line.split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let crates: BTreeSet<_> = tree.lines().map(versioned).collect();
    Ok(f64::from(u32::try_from(crates.len().saturating_sub(1))?))
}

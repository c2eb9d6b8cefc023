//! What the compiler does not see of the guide: that each chapter is in the list that it compiles, and that the other
//! blocks - files, commands, Python - are good, too.

mod blocks;
/// What `cargo retry` is shown on: it compiles.
#[path = "shop/src/main.rs"]
#[expect(dead_code, reason = "a program of its own")]
mod shop;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use blocks::Block;

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

/// The files that the table of contents names.
fn chapters() -> BTreeSet<String> {
    let summary = read(&source("SUMMARY.md"));
    let links = summary
        .lines()
        .filter_map(|line| line.rsplit_once("](")?.1.strip_suffix(')'));
    links.map(str::to_owned).collect()
}

fn all_blocks() -> Vec<Block> {
    let chapters = chapters();
    let blocks = chapters.iter().flat_map(|chapter| {
        let text = read(&source(chapter));
        blocks::of(chapter, &text)
    });
    blocks.collect()
}

#[test]
fn each_chapter_is_compiled() {
    let list = include_str!("../lib.rs");
    let (_, list) = list.split_once("chapters! {").unwrap_or_default();
    let compiled: BTreeSet<_> = list
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    assert_eq!(
        chapters(),
        compiled,
        "`SUMMARY.md`, and the list in `lib.rs`"
    );
}

#[test]
fn each_file_is_a_chapter() {
    let files = fs::read_dir(source("")).into_iter().flatten();
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let markdown = names.filter(|name| Path::new(name).extension().is_some_and(|it| it == "md"));
    let chapters = chapters();
    let missing: Vec<_> = markdown
        .filter(|name| name != "SUMMARY.md" && !chapters.contains(name))
        .collect();
    assert!(missing.is_empty(), "not in `SUMMARY.md`: {missing:?}");
}

#[test]
fn a_chapter_is_read_in_one_sitting() {
    for chapter in chapters() {
        let lines = read(&source(&chapter)).lines().count();
        assert!(lines < 230, "{chapter} has {lines} lines");
    }
}

#[test]
fn each_block_is_checked() {
    let blocks = all_blocks();
    assert!(blocks.len() > 60, "{} blocks", blocks.len());
    let faults: Vec<_> = blocks
        .iter()
        .filter_map(|block| Some(format!("{}: {}", block.place(), block.fault()?)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is wrong with a chapter of one block.
fn fault_of(block: &str) -> Option<String> {
    let found = blocks::of("planted", block);
    assert_eq!(found.len(), 1, "{block}");
    found[0].fault()
}

#[test]
fn a_bad_block_is_found() {
    let planted = [
        ("```\nlet x = 1;\n```", "language"),
        ("```json\n{}\n```", "language"),
        ("```rust,ignore\nlet x = 1;\n```", "ignore"),
        ("```toml\n[policies.a]\nbase = 250\n```", "R17"),
        (
            "```toml,refused\n[policies.a]\nmax = 2\n```",
            "nothing is wrong",
        ),
        ("```toml,manifest\n[features]\n```", "no dependencies"),
        (
            "```toml,manifest\n[dependencies]\nreattempt-core = { version = \"7.1\" }\n```",
            "7.1",
        ),
        ("```sh\nif true\n```", "syntax"),
        (
            "```sh\ncargo add reattempt --features nowhere\n```",
            "nowhere",
        ),
        ("```sh\ncargo run --example nowhere\n```", "nowhere"),
        ("```sh\ncargo run -p nowhere\n```", "nowhere"),
        ("```sh\ncargo retry nowhere\n```", "nowhere"),
        ("```sh\ncargo retry list --nowhere\n```", "nowhere"),
        ("```sh\nREATTEMPT_POLICIES_A_MAX=1 service\n```", "R15"),
        ("```python\ndef f(:\n```", "python"),
        (
            "```promql\nretry_nowhere_total > 0\n```",
            "retry_nowhere_total",
        ),
        ("```text\n{{#include nowhere.txt}}\n```", "nowhere"),
        (
            "```text\n{{#include first.md:700:900}}\n```",
            "nothing in it",
        ),
    ];
    for (block, expected) in planted {
        let fault = fault_of(block).unwrap_or_default();
        assert!(fault.contains(expected), "{block}: {fault}");
    }
}

#[test]
fn a_good_block_has_no_fault() {
    let good = [
        "```rust\nlet x = 1;\n```",
        "```rust,no_run\nlet x = 1;\n```",
        "```text\nanything\n```",
        "```toml\n[policies.a]\nbase = \"250ms\"\n```",
        "```sh\ncargo add --dev reattempt --features test-util,config\n```",
        "```sh\ncargo run --release -p reattempt-storm\n```",
        "```python\ndef f():\n    pass\n```",
        "```promql\nretry_enabled == 0\n```",
    ];
    for block in good {
        assert_eq!(fault_of(block), None, "{block}");
    }
}

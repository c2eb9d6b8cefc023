//! What people write for a value or in a whole item, and what is said of it: each line of `slips.txt`, and below it the
//! messages. Where there are none, the compiler has the last word. `UPDATE_EXPECT=1` writes them; without the compiler tokens have no source, so
//! that a space may be too many.

use std::fmt::Write as _;
use std::{env, fs};

use super::errors::of_classify;
use super::index::{collect, expansions};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/slips.txt");

fn said(line: &str) -> String {
    let item = "async fn fetch(&self, x: u32) -> Result<u32, Shop> { self.get(x).await }";
    let item = if line.starts_with("#[") || line.starts_with("fn ") {
        line.to_owned()
    } else {
        format!("#[retry({line})] {item}")
    };
    let expanded = expansions(&item, of_classify).unwrap_or_else(|error| panic!("{error}: {line}"));
    let mut messages = Vec::new();
    for expanded in expanded {
        collect(expanded, &mut messages);
    }
    messages
        .iter()
        .flat_map(|message| message.lines())
        .fold(String::new(), |mut all, line| {
            // The address of the rule is that of its name.
            let line = line.split(": https://").next().unwrap_or_default();
            writeln!(all, "    {line}").expect("a string");
            all
        })
}

#[test]
fn of_each_value_is_said_what_is_written_below_it() {
    let text = fs::read_to_string(FILE).expect("slips.txt");
    let lines = text.lines().filter(|line| !line.starts_with(' '));
    let now = lines.fold(String::new(), |mut all, line| {
        write!(all, "{line}\n{}", said(line)).expect("a string");
        all
    });
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(FILE, &now).expect("slips.txt");
    } else if let Some((now, then)) = now.lines().zip(text.lines()).find(|(a, b)| a != b) {
        panic!("now: {now}\nwritten down: {then}");
    } else {
        assert_eq!(now.len(), text.len());
    }
}

//! Every mistake has its line, its key, its rule and its fix; and the nearest file without it is accepted.

use reattempt::config::Config;
use reattempt::policy::rules::Rule;

/// The blocks of a table: what comes before it in each, and how many there are at least.
#[track_caller]
fn table(table: &str, above: &str, path: &str, least: usize) {
    let blocks = table.split("\n\n").map(|block| Block::read(block, above));
    let mut seen = 0;
    for block in blocks {
        block.check(path);
        seen += block.faults.len();
    }
    assert!(seen >= least, "{seen}");
}

#[derive(Default)]
pub(crate) struct Block {
    pub(crate) bad: String,
    pub(crate) good: String,
    /// Line, key and rule; a part of the message.
    pub(crate) faults: Vec<(String, String)>,
}

impl Block {
    pub(crate) fn read(text: &str, above: &str) -> Self {
        let mut block = Self::default();
        for line in text.lines().filter(|line| !line.starts_with("//")) {
            if let Some(fault) = line.strip_prefix("! ") {
                let (place, part) = fault.split_once("] ").expect(fault);
                block.faults.push((format!("{place}]"), part.to_owned()));
            } else if let Some(good) = line.strip_prefix('+') {
                block.good.extend([good.trim_start(), "\n"]);
            } else {
                block.bad.extend([line, "\n"]);
            }
        }
        block.bad.insert_str(0, above);
        block.good.insert_str(0, above);
        block
    }

    fn check(&self, path: &str) {
        let found = match Config::from_toml(&self.bad) {
            Ok(_) => Vec::new(),
            Err(faults) => faults.iter().cloned().collect(),
        };
        let places = found.iter().map(|fault| {
            let line = fault.line().unwrap_or(0);
            let key = fault.key().strip_prefix(path).unwrap_or(fault.key());
            let key = if key.is_empty() { "-" } else { key };
            format!("{line} {key} [{}]", fault.rule())
        });
        let wanted: Vec<_> = self.faults.iter().map(|(place, _)| place.clone()).collect();
        assert_eq!(
            places.collect::<Vec<_>>(),
            wanted,
            "\n{}\n{found:#?}",
            self.bad
        );
        for (fault, (_, part)) in found.iter().zip(&self.faults) {
            assert!(fault.message().contains(part), "{part}\n{fault}");
            assert!(fault.message().contains([';', '?']), "no fix: {fault}");
        }
        if let Err(faults) = Config::from_toml(&self.good) {
            panic!("{}\n{faults}", self.good);
        }
    }
}

#[test]
fn values() {
    let above = "[policies.standard]\n";
    table(include_str!("values.txt"), above, "policies.standard.", 75);
}

#[test]
fn every_rule_has_a_mistake() {
    let tables = concat!(include_str!("values.txt"), include_str!("files.txt"));
    for rule in Rule::ALL {
        let mark = format!(" [{}] ", rule.id());
        let mut faults = tables.lines().filter(|line| line.starts_with("! "));
        assert!(faults.any(|line| line.contains(&mark)), "{rule:?}");
    }
}

#[test]
fn files() {
    table(include_str!("files.txt"), "", "", 70);
}

/// What a `main` shows that returns them, and below them where their rules are explained.
#[test]
fn debug_has_a_line_for_each_fault() {
    let faults = Config::from_toml("[policies.a]\nmax = 0\nbase = 5\n").unwrap_err();
    let shown = format!("{faults:?}");
    assert_eq!(shown, faults.to_string());
    assert_eq!(shown.lines().count(), 3, "{shown}");
    let index = "https://reattempt.github.io/reattempt/errors.html";
    assert_eq!(shown.lines().last(), Some(&*format!("rules: {index}")));
    let alone = Config::from_toml("[policies.a]\nmax = 0\n").unwrap_err();
    assert_eq!(
        alone.to_string(),
        format!("{} ({index}#r1)", alone.iter().next().unwrap())
    );
    for (fault, line) in faults.iter().zip(shown.lines()) {
        assert_eq!(format!("{fault:?}"), line);
    }
}

#[test]
fn what_is_only_code_is_kept_out_of_mends() {
    let text = "[policies.a]\nbackoff = \"wavy\"\nfast_first = 1\nbudget = true\n";
    let faults = Config::from_toml(text).unwrap_err().to_string();
    for code in ["BackoffFn`", "alone", "static"] {
        assert!(!faults.contains(code), "{faults}");
    }
}

#[test]
fn every_key_of_code_alone_is_refused_as_such() {
    let keys = "on except until fallback map_err cut_off verify before_retry on_retry retry_after breaker throttle \
        hedge context clone timer strategy name crate";
    for key in keys.split_whitespace() {
        let faults = Config::from_toml(&format!("[policies.a]\n{key} = 1\n")).unwrap_err();
        let found: Vec<_> = faults
            .iter()
            .map(|fault| (fault.key(), fault.rule().as_str()))
            .collect();
        assert_eq!(found, [(&*format!("policies.a.{key}"), "X15")]);
        assert!(
            faults
                .to_string()
                .contains("in the code alone; drop it here"),
            "{faults}"
        );
    }
}

/// Every way to write a key has its line.
#[test]
fn lines_of_every_form() {
    for (text, line, column) in [
        ("policies.a.max = 0\n", 1, 12),
        ("policies = { a = { base = \"1s\", max = 0 } }\n", 1, 33),
        ("[policies]\na.max = 0\n", 2, 3),
        ("\u{feff}[policies]\r\n\r\na = { max = 0 }\r\n", 3, 7),
        ("# é\n[policies.a]\n  max = 0 # é\n", 3, 3),
        ("[policies.\"é\"]\nmax = 0\n", 2, 1),
    ] {
        let faults = Config::from_toml(text).expect_err(text);
        let places: Vec<_> = faults
            .iter()
            .map(|fault| (fault.line(), fault.column()))
            .collect();
        assert_eq!(places, [(Some(line), Some(column))], "{text}\n{faults}");
    }
}

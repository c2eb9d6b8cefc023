//! Policies at random, as the keys of an attribute.

use retry_runtime::Policy;
use retry_syntax::faults::Faults;
use retry_syntax::{args, check};

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[usize::try_from(self.below(words.len() as u64)).unwrap()]
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Short ones as often as long ones.
    fn duration(&mut self, units: &[&str]) -> String {
        let end = [10, 100, 1000][usize::try_from(self.below(3)).unwrap()];
        let number = self.below(end);
        let unit = self.one_of(units);
        match self.below(4) {
            0 => format!("\"{number}.{}{unit}\"", self.below(1000)),
            1 if number > 60 => format!("\"1m {number}{unit}\""),
            _ => format!("\"{number}{unit}\""),
        }
    }

    fn max(&mut self) -> String {
        match self.below(20) {
            0 => "\"unlimited\"".to_owned(),
            1 => self.below(300).to_string(),
            2 => self.below(100_000).to_string(),
            3 => "1".to_owned(),
            _ => (2 + self.below(7)).to_string(),
        }
    }

    fn text(&mut self) -> String {
        let mut keys = Vec::new();
        let mut add = |is: bool, key: &str, value: String| {
            if is {
                keys.push(format!("{key} = {value}"));
            }
        };
        let shapes = [
            "none",
            "fixed",
            "linear",
            "exp",
            "fibonacci",
            "decorrelated",
        ];
        let shape = self.one_of(&shapes);
        let is_plain = self.is(10);
        add(!is_plain, "backoff", format!("\"{shape}\""));
        let (is, value) = (self.is(80), self.max());
        add(is, "max", value);
        // Most that the shape does not read would be refused.
        let reads = |key: &str| match (shape, key) {
            _ if is_plain => true,
            ("none", _) | ("decorrelated", "jitter" | "first" | "factor") => false,
            (shape, "factor") => shape == "exp",
            _ => true,
        };
        add(
            reads("base") && self.is(70),
            "base",
            self.duration(&["us", "ms", "ms", "s"]),
        );
        add(
            reads("first") && self.is(25),
            "first",
            self.duration(&["ns", "ms", "s"]),
        );
        add(
            reads("factor") && self.is(40),
            "factor",
            format!("{}.{}", 1 + self.below(4), 1 + self.below(9)),
        );
        add(
            reads("cap") && self.is(40),
            "cap",
            self.duration(&["ms", "s", "s", "m"]),
        );
        let ratio = format!("{}", self.below(101) as f64 / 100.0);
        let jitter = self
            .one_of(&["\"none\"", "\"full\"", "\"equal\"", &ratio, &ratio])
            .to_owned();
        let (is, value) = (reads("jitter") && self.is(80), jitter);
        add(is, "jitter", value);
        add(
            self.is(20),
            "fast_first",
            self.one_of(&["true", "true", "false"]).to_owned(),
        );
        add(
            self.is(45),
            "deadline",
            self.duration(&["ms", "s", "s", "m"]),
        );
        let (is, value) = (self.is(40), self.duration(&["ms", "ms", "s"]));
        add(is, "timeout", value);
        let (is, value) = (self.is(10), self.duration(&["s"]));
        add(is, "patience", value);
        let (is, value) = (self.is(15), "0.1".to_owned());
        add(is, "budget", value);
        let text = keys.join(", ");
        if self.is(20) {
            format!("#[retry({text})]")
        } else {
            text
        }
    }
}

/// As many as asked for that break no rule, with what the parser of the macros makes of them.
pub(crate) fn policies(count: usize) -> Vec<(String, Policy)> {
    let mut random = Random(2_718_281_828);
    let mut policies = Vec::new();
    while policies.len() < count {
        let text = random.text();
        let inner = text
            .strip_prefix("#[retry(")
            .and_then(|rest| rest.strip_suffix(")]"));
        let tokens = inner.unwrap_or(&text).parse().expect("tokens");
        let mut faults = Faults::default();
        let args = args::parse(tokens, &mut faults);
        let model = check::block(args, true, None, &mut faults);
        if faults.is_empty() {
            policies.push((text, model.known));
        }
    }
    policies
}

//! Policies at random, as the keys of an attribute.

use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::{args, check};
use retry_runtime::Policy;

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
        words[self.below(words.len() as u64) as usize]
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Short ones as often as long ones.
    fn duration(&mut self, units: &[&str]) -> String {
        let end = [10, 100, 1000][self.below(3) as usize];
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
        let shape = self.one_of(SHAPES);
        let is_plain = self.is(10);
        // Most that the shape does not read would be refused.
        let reads = |key: &str| match (shape, key) {
            ("none", "base" | "first" | "factor" | "cap" | "jitter")
            | ("decorrelated", "first" | "factor" | "jitter") => false,
            (shape, "factor") => shape == "exp",
            _ => true,
        };
        let (number, unit) = (1 + self.below(999), self.one_of(&["us", "ms", "ms", "s"]));
        // Often one that comes between the attempts.
        let near = format!("\"{}{unit}\"", number * (2 + self.below(30)));
        let far = self.duration(&["ms", "s", "s", "m"]);
        let deadline = if self.is(70) { near } else { far };
        let ratio = format!("{}", self.below(101) as f64 / 100.0);
        let jitters = ["\"none\"", "\"full\"", "\"equal\"", &ratio, &ratio];
        let factor = format!("{}.{}", 1 + self.below(4), 1 + self.below(9));
        let keys = [
            (80, "max", self.max()),
            (100, "backoff", format!("\"{shape}\"")),
            (70, "base", format!("\"{number}{unit}\"")),
            (25, "first", self.duration(&["ns", "ms", "s"])),
            (40, "factor", factor),
            (40, "cap", self.duration(&["ms", "s", "s", "m"])),
            (80, "jitter", self.one_of(&jitters).to_owned()),
            (
                20,
                "fast_first",
                self.one_of(&["true", "true", "false"]).to_owned(),
            ),
            (60, "deadline", deadline),
            (40, "timeout", self.duration(&["ms", "ms", "s"])),
            (10, "max_retry_after", self.duration(&["s"])),
            (15, "budget", "0.1".to_owned()),
        ];
        let given = keys.into_iter().filter(|(percent, key, _)| {
            self.is(*percent)
                && if is_plain {
                    *key != "backoff"
                } else {
                    reads(key)
                }
        });
        let given = given.map(|(_, key, value)| format!("{key} = {value}"));
        let text = given.collect::<Vec<_>>().join(", ");
        if self.is(20) {
            format!("#[retry({text})]")
        } else {
            text
        }
    }
}

const SHAPES: &[&str] = &[
    "none",
    "fixed",
    "linear",
    "exp",
    "fibonacci",
    "decorrelated",
];

/// Where two numbers are the same, which chance would not draw.
const EDGES: &[&str] = &[
    "",
    "max = 1, timeout = \"1s\", deadline = \"1s\"",
    "max = \"unlimited\", backoff = \"fixed\", base = \"1s\", jitter = \"none\", deadline = \"5s\"",
    "max = \"unlimited\", backoff = \"fixed\", base = \"20ms\", jitter = \"none\", deadline = \"6s\"",
    "max = \"unlimited\", base = \"1s\", jitter = 0.0, deadline = \"15s\"",
    "max = \"unlimited\", base = \"1s\", jitter = \"equal\", deadline = \"7.5s\"",
    "max = \"unlimited\", backoff = \"decorrelated\", base = \"1s\", deadline = \"4s\"",
    "max = 3, base = \"1s\", cap = \"1s\", jitter = 1.0, deadline = \"2s\", timeout = \"1s\"",
    "max = 2, deadline = \"1s\", fast_first = true",
    "max = 257, base = \"10ms\", cap = \"10ms\", jitter = \"none\", deadline = \"2570ms\"",
    "max = 290, backoff = \"fixed\", base = \"10ms\", jitter = \"none\", deadline = \"24h\"",
    "max = 290, backoff = \"linear\", base = \"1ms\", jitter = 0.2, deadline = \"24h\"",
    "max = 4294967294, base = \"1ms\", deadline = \"24h\"",
];

/// Those, and as many as asked for that break no rule, with what the parser of the macros makes of them.
pub(crate) fn policies(count: usize) -> Vec<(String, Policy)> {
    let mut random = Random(2_718_281_828);
    let mut policies = Vec::new();
    let mut edges = EDGES.iter().map(|text| (*text).to_owned());
    while policies.len() < count + EDGES.len() {
        let text = edges.next().unwrap_or_else(|| random.text());
        let inner = text
            .strip_prefix("#[retry(")
            .and_then(|rest| rest.strip_suffix(")]"));
        let tokens = inner.unwrap_or(&text).parse().expect("tokens");
        let mut faults = Diagnostics::default();
        let args = args::parse(tokens, &mut faults);
        let model = check::block(args, true, None, &mut faults);
        let is_edge = policies.len() < EDGES.len();
        let words: Vec<_> = faults.as_slice().iter().map(ToString::to_string).collect();
        assert!(!is_edge || words.is_empty(), "{text}: {words:?}");
        if faults.is_empty() {
            policies.push((text, Policy::of(model.known)));
        }
    }
    policies
}

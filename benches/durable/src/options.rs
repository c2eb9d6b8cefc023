//! The command line.

/// How much is measured.
pub struct Options {
    pub rounds: usize,
    pub seconds: f64,
    /// Finished tasks that are in the store beforehand, where that is what is measured.
    pub grown: Option<u64>,
    /// Whether the feed of ends is what is measured.
    pub feed: bool,
    /// Only those whose name has one of these in it.
    pub only: Vec<String>,
}

const USAGE: &str =
    "usage: [--rounds 5] [--seconds 2] [--only NAME]... [--grown [1000000]] [--feed]";

impl Options {
    pub fn of(arguments: &[&str]) -> Self {
        let mut options = Self {
            rounds: 5,
            seconds: 2.0,
            grown: None,
            feed: false,
            only: Vec::new(),
        };
        let mut arguments = arguments.iter().copied().peekable();
        while let Some(argument) = arguments.next() {
            match argument {
                "--rounds" => options.rounds = number(arguments.next()),
                "--seconds" => options.seconds = number(arguments.next()),
                "--only" => options.only.push(arguments.next().expect(USAGE).to_owned()),
                "--feed" => options.feed = true,
                "--grown" => {
                    let tasks = arguments.next_if(|next| !next.starts_with("--"));
                    options.grown = Some(tasks.map_or(1_000_000, |tasks| number(Some(tasks))));
                }
                _ => panic!("{USAGE}"),
            }
        }
        options
    }

    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| name.contains(only))
    }
}

fn number<T: std::str::FromStr>(text: Option<&str>) -> T {
    text.and_then(|text| text.parse().ok()).expect(USAGE)
}

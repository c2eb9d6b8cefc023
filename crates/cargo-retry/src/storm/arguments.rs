//! What is typed after `cargo retry storm`, and what holds where nothing is.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PathBufValueParser, TypedValueParser as _};
use retry_runtime::duration;

/// Plays an outage with a policy: load, goodput and amplification, beside no retry and 3 immediate retries
///
/// A queue, a server, and many calls in virtual time, around the policy, the budget and the breaker as they run in
/// production. The same arguments give the same run.
///
/// Ends with 0 however the policy does, with 1 for a policy that breaks a rule, with 2 when it was called wrongly.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct Arguments {
    /// The keys of `#[retry(...)]`, such as 'max = 4, jitter = "full"'; with `--config` the name of a policy or an
    /// operation in that file. Left out, it is the default policy
    #[arg(value_name = "POLICY")]
    pub(super) policy: Option<String>,

    /// What a shell makes of a policy without quotes
    #[arg(hide = true)]
    pub(super) beside: Vec<String>,

    /// A file of policies
    #[arg(long, value_name = "FILE", requires = "policy")]
    pub(super) config: Option<PathBuf>,

    /// Calls that arrive in a second
    #[arg(long,
        value_name = "CALLS",
        default_value = "100",
        allow_negative_numbers = true, value_parser = calls)]
    pub(super) load: f64,

    /// Requests that the server can serve in a second
    #[arg(long,
        value_name = "REQUESTS",
        default_value = "120",
        allow_negative_numbers = true, value_parser = requests)]
    pub(super) capacity: f64,

    /// The server stands still for so long [default: 10s, where nothing else happens]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, group = "trigger")]
    pub(super) outage: Option<Duration>,

    /// The server is slower for so long, by `--to`
    #[arg(long, value_name = "TIME", value_parser = duration::parse, group = "trigger")]
    pub(super) slowdown: Option<Duration>,

    /// The part of its capacity that a slowdown leaves [default: 0.2]
    #[arg(long,
        value_name = "PART",
        requires = "slowdown",
        allow_negative_numbers = true, value_parser = part)]
    pub(super) to: Option<f64>,

    /// More calls arrive for so long, by `--times`
    #[arg(long, value_name = "TIME", value_parser = duration::parse, group = "trigger")]
    pub(super) burst: Option<Duration>,

    /// How many times as many calls a burst brings [default: 3]
    #[arg(long,
        value_name = "FACTOR",
        requires = "burst",
        allow_negative_numbers = true, value_parser = factor)]
    pub(super) times: Option<f64>,

    /// The server returns an error at once for so long
    #[arg(long, value_name = "TIME", value_parser = duration::parse, group = "trigger")]
    pub(super) failure: Option<Duration>,

    /// When that begins
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "30s")]
    pub(super) at: Duration,

    /// How long the run is
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse, default_value = "4m")]
    pub(super) length: Duration,

    /// The limit of each attempt, where the policy has no `timeout`
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "1s")]
    pub(super) timeout: Duration,

    /// The server throws away what it cannot answer in time: requests carry their deadline
    #[arg(long)]
    pub(super) drop_stale: bool,

    /// Processes of each service that calls, each with a budget and a breaker of its own
    #[arg(long, value_name = "NUMBER", default_value = "10", value_parser = processes)]
    pub(super) clients: u32,

    /// So many services in a row have the policy, and the last calls the server: played without retries, each by itself,
    /// and with the retry protocol
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = services)]
    pub(super) chain: u32,

    /// The policy has this budget, whatever else it says: retries for each success
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = share)]
    pub(super) budget: Option<f64>,

    /// The policy has a breaker: open when half of the last 20 calls failed
    #[arg(long)]
    pub(super) breaker: bool,

    /// Of the random numbers
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub(super) seed: u64,

    /// Writes load.svg, goodput.svg and amplification.svg into this folder
    #[arg(long, value_name = "FOLDER", value_parser = PathBufValueParser::new().try_map(folder))]
    pub(super) svg: Option<PathBuf>,

    /// Writes JSON, second by second, all times in seconds
    #[arg(long)]
    pub(super) json: bool,

    /// Writes nothing but ASCII
    #[arg(long, conflicts_with = "json")]
    pub(super) ascii: bool,
}

/// A policy without quotes is several words to a shell.
pub(super) fn one_policy(asked: &Arguments) -> Result<(), String> {
    match asked.beside.first() {
        None => Ok(()),
        Some(word) => Err(format!(
            "a policy is one argument, and `{word}` is another; put the whole policy into single quotes: 'max = 4, base = \"200ms\"'"
        )),
    }
}

fn number<T: FromStr>(text: &str, expected: &str) -> Result<T, String> {
    text.parse().map_err(|_| expected.to_owned())
}

fn calls(text: &str) -> Result<f64, String> {
    number(text, "a number of calls a second; write `--load 100`")
}

fn requests(text: &str) -> Result<f64, String> {
    number(
        text,
        "a number of requests a second; write `--capacity 120`",
    )
}

fn part(text: &str) -> Result<f64, String> {
    number(text, "a part between 0 and 1; write `--to 0.2`")
}

fn factor(text: &str) -> Result<f64, String> {
    number(text, "a number of times, above 1; write `--times 3`")
}

fn share(text: &str) -> Result<f64, String> {
    number(
        text,
        "retries for each success, from 0 to 1; write `--budget 0.1`",
    )
}

fn processes(text: &str) -> Result<u32, String> {
    number(
        text,
        "a number of processes, at least 1; write `--clients 10`",
    )
}

fn services(text: &str) -> Result<u32, String> {
    number(text, "a number of services, from 1 to 8; write `--chain 5`")
}

/// Not a file, and not standard output: three pictures are written.
fn folder(path: PathBuf) -> Result<PathBuf, &'static str> {
    let is_picture = path
        .extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("svg"));
    if is_picture || path.as_os_str() == "-" {
        return Err("a folder: three files go into it; write `--svg storms`");
    }
    Ok(path)
}

const EXAMPLES: &str = "Examples:
  cargo retry storm
  cargo retry storm 'max = 4, budget = 0.1'
  cargo retry storm 'max = 4' --slowdown 20s --to 0.3 --breaker
  cargo retry storm 'max = 3' --chain 5 --failure 10s
  cargo retry storm --config retry.toml storage --load 280 --capacity 300 --svg storms";

//! All who are measured, in rounds.

use std::path::Path;
use std::process::Command;

use crate::options::Options;
use crate::place::{Kind, Places};
use crate::table;

/// Who, on what, and what of its durability must be known to compare it.
const SIDES: [(&str, Kind, &str); 7] = [
    ("ours", Kind::Sqlite, "WAL, synchronous = FULL"),
    ("durare", Kind::Sqlite, "WAL, synchronous = NORMAL"),
    ("apalis", Kind::Sqlite, "WAL, synchronous = OFF"),
    ("ours", Kind::Postgres, "synchronous_commit = on"),
    ("dbos", Kind::Postgres, "synchronous_commit = on"),
    ("durare", Kind::Postgres, "synchronous_commit = on"),
    ("apalis", Kind::Postgres, "synchronous_commit = on"),
];

pub const IN_FLIGHT: [usize; 2] = [1, 64];

/// What one measurement came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Measured {
    pub rate: f64,
    /// The median and the 99th percentile of submit to start, in seconds.
    pub started: Option<(f64, f64)>,
}

pub struct Row {
    pub name: &'static str,
    pub kind: Kind,
    pub durability: &'static str,
    pub in_flight: usize,
    pub measured: Vec<Measured>,
}

pub async fn run(options: &Options) {
    build_durare();
    let mut places = Places::new();
    let mut rows = Vec::new();
    for (name, kind, durability) in SIDES {
        for in_flight in IN_FLIGHT {
            let is_wanted = options.wants(name) || options.wants(kind.name());
            if is_wanted && places.has(kind) {
                rows.push(Row {
                    name,
                    kind,
                    durability,
                    in_flight,
                    measured: Vec::new(),
                });
            }
        }
    }
    for round in 1..=options.rounds {
        for row in &mut rows {
            let place = places.make(row.kind).await;
            let measured = measure(row.name, &place.url, row.in_flight, options.seconds);
            eprintln!(
                "round {round}: {} on {}, {} in flight: {:.0}/s",
                row.name,
                row.kind.name(),
                row.in_flight,
                measured.rate
            );
            row.measured.push(measured);
            places.remove(place).await;
        }
    }
    table::print(&rows);
}

/// In a process of its own, which leaves nothing behind for the next one.
pub fn measure(name: &str, url: &str, in_flight: usize, seconds: f64) -> Measured {
    let mut command = if name == "durare" {
        let mut command = durare("run");
        command.arg("--").arg(url);
        command
    } else {
        let own = std::env::current_exe().expect("the path of this program");
        let mut command = Command::new(own);
        command.args(["measure", name, url]);
        command
    };
    let command = command.arg(in_flight.to_string()).arg(seconds.to_string());
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.expect("a process");
    assert!(output.status.success(), "{name} on {url} failed");
    let text = String::from_utf8(output.stdout).expect("numbers");
    let line = text.lines().last().unwrap_or_default();
    let mut numbers = line
        .split(' ')
        .map(|number| number.parse().expect("a number"));
    Measured {
        rate: numbers.next().expect("a rate"),
        started: numbers.next().zip(numbers.next()),
    }
}

fn build_durare() {
    let built = durare("build").status().expect("cargo");
    assert!(built.success(), "durare does not build");
}

/// It is in a workspace of its own.
fn durare(what: &str) -> Command {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("durare/Cargo.toml");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args([what, "--quiet", "--release", "--manifest-path"]);
    cargo.arg(manifest);
    cargo
}

//! All who are measured, in rounds.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::load::{Load, Work};
use crate::options::Options;
use crate::place::{Kind, Places};

/// Who, on what, and what of its durability must be known to compare it.
const SIDES: [(&str, Kind, &str); 8] = [
    ("ours", Kind::Postgres, "synchronous_commit = on"),
    ("dbos", Kind::Postgres, "synchronous_commit = on"),
    ("durare", Kind::Postgres, "synchronous_commit = on"),
    ("apalis", Kind::Postgres, "synchronous_commit = on"),
    ("ours", Kind::Sqlite, "WAL, synchronous = FULL"),
    ("ours, NORMAL", Kind::Sqlite, "WAL, synchronous = NORMAL"),
    ("durare", Kind::Sqlite, "WAL, synchronous = NORMAL"),
    ("apalis", Kind::Sqlite, "WAL, synchronous = OFF"),
];

pub const IN_FLIGHT: [usize; 2] = [1, 64];

/// How many are in flight, and the connections that a peer has for them.
pub const LOADS: [(usize, u32); 3] = [(1, 32), (64, 32), (64, 64)];

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
    pub work: Work,
    /// For each of `LOADS`, one for each round. Without a pool, and for ours, the last stays empty.
    pub measured: [Vec<Measured>; LOADS.len()],
}

impl Row {
    /// Whether it is measured with the second pool, too.
    fn has_pool(&self) -> bool {
        self.kind == Kind::Postgres && !self.is_ours()
    }

    pub fn is_ours(&self) -> bool {
        self.name.starts_with("ours")
    }
}

pub async fn run(options: &Options) -> Vec<Row> {
    build_durare();
    let mut places = Places::new();
    let mut rows = Vec::new();
    for kind in [Kind::Postgres, Kind::Sqlite] {
        for work in Work::ALL {
            for (name, of, durability) in SIDES {
                let is_wanted = options.wants(name) || options.wants(kind.name());
                if of == kind && is_wanted && places.has(kind) {
                    rows.push(Row {
                        name,
                        kind,
                        durability,
                        work,
                        measured: Default::default(),
                    });
                }
            }
        }
    }
    let time = Duration::from_secs_f64(options.seconds);
    for round in 1..=options.rounds {
        for (index, (in_flight, pool)) in LOADS.into_iter().enumerate() {
            for row in &mut rows {
                if index + 1 == LOADS.len() && !row.has_pool() {
                    continue;
                }
                let load = Load {
                    work: row.work,
                    in_flight,
                    pool,
                    time,
                };
                let place = places.make(row.kind).await;
                let measured = measure(row.name, &place.url, load);
                eprintln!(
                    "round {round}: {} on {}, {}, {in_flight} in flight, pool of {pool}: {:.0}/s",
                    row.name,
                    row.kind.name(),
                    row.work.name(),
                    measured.rate
                );
                row.measured[index].push(measured);
                places.remove(place).await;
            }
        }
    }
    rows
}

/// In a process of its own, which leaves nothing behind for the next one.
pub fn measure(name: &str, url: &str, load: Load) -> Measured {
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
    let output = command
        .args(load.to_arguments())
        .stderr(std::process::Stdio::inherit())
        .output();
    let output = output.expect("a process");
    if !output.status.success() {
        eprintln!("{name} on {url} failed");
        return Measured::default();
    }
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

//! The pictures of the documentation: their names, and what they show.

use std::borrow::Cow;
use std::time::Duration;

use retry_runtime::{Breaker, Budget, Jitter, Nested, Policy};

use crate::client::Client;
use crate::draw::{Chart, Line};
use crate::load::{run, run_chain};
use crate::record::{Record, Second, amplification};
use crate::scenarios::{contention, metastable, tiers};
use crate::scene::{Arrivals, Kind, Scene, Service, Trigger};
use crate::server::Stale;

/// A picture and the name of its file.
pub type Picture = (&'static str, Chart);

/// All of them; `measured` is what `examples/services/outage.rs` has printed.
pub fn all(measured: &str) -> Vec<Picture> {
    let mut pictures = side_by_side();
    pictures.push(("goodput-1.svg", goodput("Goodput of 1 process", 1)));
    pictures.push(("goodput-100.svg", goodput("Goodput of 100 processes", 100)));
    pictures.push(("recovery.svg", recovery()));
    pictures.push(("contention.svg", contention()));
    pictures.push(("tiers.svg", tiers()));
    pictures.push(("chain.svg", chain()));
    pictures.push(("measured.svg", real(measured)));
    pictures
}

/// An outage of an HTTP server that is not simulated.
fn real(measured: &str) -> Chart {
    let mut rows = measured.lines();
    let names = rows.next().unwrap_or_default().split("  ").skip(1);
    let mut lines: Vec<Line> = names
        .map(|name| Line {
            name: Cow::Owned(name.to_owned()),
            points: Vec::new(),
        })
        .collect();
    // Sentences follow the numbers.
    let numbers = rows.map_while(|row| {
        let cells = row.split_whitespace().map(str::parse);
        cells.collect::<Result<Vec<f64>, _>>().ok()
    });
    for row in numbers {
        let Some((second, percents)) = row.split_first() else {
            break;
        };
        for (line, percent) in lines.iter_mut().zip(percents) {
            line.points.push((*second, *percent));
        }
    }
    Chart {
        title: "An HTTP server that hangs for 5 s".into(),
        across: TIME.into(),
        upwards: "calls that succeed, %".into(),
        outage: Some(10.0..15.0),
        lines,
        ..Chart::default()
    }
}

const TIME: &str = "time (s)";
const SUCCESSES: &str = "successes/s";

/// Processes that call the server, each with a budget and a breaker of its own.
const PROCESSES: usize = 10;

/// The outage of five policies.
fn scene() -> Scene {
    Scene {
        trigger: Trigger::outage(30..40),
        end: Duration::from_secs(240),
        ..metastable::scene(Stale::Served, Arrivals::Poisson)
    }
}

/// What came of it for so many processes.
fn records(processes: usize) -> [(&'static str, Record); 5] {
    let scene = scene();
    let exponential = Policy::new().max(4).base(Duration::from_millis(100));
    let policies: [(&'static str, &dyn Fn() -> Client); 5] = [
        ("no retry", &|| Client::new(Policy::new().max(1))),
        ("#[retry(max = 4)], as it is", &|| Client::new(exponential)),
        ("the same, budget = \"none\"", &|| {
            Client::new(exponential.without_budget())
        }),
        ("retries and budget 10 %", &|| {
            Client::new(exponential.without_budget()).budget(Budget::per_success(0.1).floor(0.0))
        }),
        ("retries and breaker", &|| {
            Client::new(exponential.without_budget()).breaker(Breaker::count_window(20))
        }),
    ];
    policies.map(|(name, client)| {
        let clients: Vec<Client> = (0..processes).map(|_| client()).collect();
        (name, run(&scene, &clients))
    })
}

/// The successes of fewer or more processes.
fn goodput(title: &'static str, processes: usize) -> Chart {
    Chart {
        title: title.into(),
        across: TIME.into(),
        upwards: SUCCESSES.into(),
        outage: Some(outage(&scene())),
        lines: lines(&records(processes), |it| it.succeeded.into()),
        ..Chart::default()
    }
}

/// Load, goodput, amplification.
fn side_by_side() -> Vec<Picture> {
    let records = records(PROCESSES);
    let chart = |title: &'static str, upwards: &'static str, value: fn(&Second) -> f64| Chart {
        title: title.into(),
        across: TIME.into(),
        upwards: upwards.into(),
        outage: Some(outage(&scene())),
        lines: lines(&records, value),
        ..Chart::default()
    };
    vec![
        (
            "load.svg",
            chart("Load on the server", "attempts/s", |it| it.attempts.into()),
        ),
        (
            "goodput.svg",
            chart("Goodput", SUCCESSES, |it| it.succeeded.into()),
        ),
        (
            "amplification.svg",
            chart("Amplification", "attempts for each call", amplification),
        ),
    ]
}

/// Q9 as a picture.
fn recovery() -> Chart {
    let with = metastable::client;
    let ratio = || with(Some(metastable::successes_only()));
    let cases = [
        ("1 retry, no budget", Stale::Served, with(None)),
        (
            "the default budget",
            Stale::Served,
            Client::new(metastable::one_retry()),
        ),
        ("budget 10 %", Stale::Served, ratio()),
        ("budget 10 %, stale dropped", Stale::Dropped, ratio()),
    ];
    let scene = |stale| Scene {
        end: Duration::from_secs(270),
        ..metastable::scene(stale, Arrivals::Regular)
    };
    let records = cases.map(|(name, stale, client)| (name, run(&scene(stale), &[client])));
    Chart {
        title: "After an outage of 10 s: goodput".into(),
        across: TIME.into(),
        upwards: SUCCESSES.into(),
        outage: Some(outage(&scene(Stale::Served))),
        lines: lines(&records, |it| it.succeeded.into()),
        ..Chart::default()
    }
}

/// Q8 as a picture: one run each.
fn contention() -> Chart {
    let line = |name, jitter| {
        let run = contention::run(100, contention::policy(jitter), 1);
        let mut left = 100.0;
        let mut points = vec![(0.0, left)];
        for done in run.done {
            let now = done.as_secs_f64();
            points.push((now, left));
            left -= 1.0;
            points.push((now, left));
        }
        Line {
            name: Cow::Borrowed(name),
            points,
        }
    };
    Chart {
        title: "100 clients contend for one row".into(),
        across: TIME.into(),
        upwards: "clients that are not done".into(),
        lines: vec![
            line("exp, no jitter", Jitter::None),
            line("exp, full jitter", Jitter::Full),
        ],
        ..Chart::default()
    }
}

/// Q5 as a picture.
fn tiers() -> Chart {
    let line = |name, nested| {
        let all = [true; 5];
        let tiers = (1..=all.len()).filter_map(|tiers| all.get(..tiers));
        let attempts = tiers.map(|tiers| tiers::attempts_below(tiers, 3, nested));
        let numbers = (1_u32..).map(f64::from);
        Line {
            name: Cow::Borrowed(name),
            points: numbers.zip(attempts.map(f64::from)).collect(),
        }
    };
    Chart {
        title: "Tiers that make 3 attempts each".into(),
        across: "tiers".into(),
        upwards: "attempts at the bottom".into(),
        lines: vec![
            line("nested = \"multiply\"", Nested::Multiply),
            line("nested = \"collapse\"", Nested::Collapse),
        ],
        ..Chart::default()
    }
}

fn outage(scene: &Scene) -> std::ops::Range<f64> {
    let time = &scene.trigger.time;
    time.start.as_secs_f64()..time.end.as_secs_f64()
}

/// A line for each record: the mean of every two seconds.
fn lines(records: &[(&'static str, Record)], value: fn(&Second) -> f64) -> Vec<Line> {
    let line = |(name, record): &(&'static str, Record)| Line {
        name: Cow::Borrowed(name),
        points: record.means(2, value),
    };
    records.iter().map(line).collect()
}

/// Five services of three attempts each, ten processes of each service, above a server that returns errors for 10 s.
fn chain() -> Chart {
    let scene = Scene {
        calls: 20.0,
        capacity: 60.0,
        trigger: Trigger::between(Kind::Errors, 30..40),
        end: Duration::from_secs(120),
        ..metastable::scene(Stale::Served, Arrivals::Poisson)
    };
    let budgeted = Policy::new();
    let cases = [
        ("no retry", Policy::new().max(1), false),
        (
            "each by itself, budget = \"none\"",
            budgeted.without_budget(),
            false,
        ),
        (
            "with the protocol, budget = \"none\"",
            budgeted.without_budget(),
            true,
        ),
        ("each by itself", budgeted, false),
        ("with the protocol", budgeted, true),
    ];
    let records = cases.map(|(name, policy, keeps_protocol)| {
        let processes = || (0..PROCESSES).map(|_| Client::new(policy)).collect();
        let services: [Vec<Client>; 5] = std::array::from_fn(|_| processes());
        let chain = services.each_ref().map(|clients| Service {
            clients,
            keeps_protocol,
        });
        (name, run_chain(&scene, &chain))
    });
    Chart {
        title: "A chain of five services: load at its bottom".into(),
        across: TIME.into(),
        upwards: "attempts/s".into(),
        outage: Some(outage(&scene)),
        trigger: "errors".into(),
        lines: lines(&records, |it| it.attempts.into()),
        ..Chart::default()
    }
}

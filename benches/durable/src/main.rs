//! Durable tasks beside their peers: workflows of ten steps, each measurement in a process and a store of its own, in
//! rounds, so that what the machine does besides happens to all.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark ends where it cannot go on"
)]

mod apalis;
mod dbos;
mod feed;
mod flood;
mod grown;
mod load;
mod options;
mod ours;
mod place;
mod rounds;
mod table;

use load::Load;
use options::Options;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["measure", who, place, ref load @ ..] = arguments[..] {
        let load = Load::of(load.try_into().expect("the load"));
        return measure(who, place, load).await;
    }
    let options = Options::of(&arguments);
    if let Some(tasks) = options.grown {
        grown::run(&options, tasks).await;
    } else if options.feed {
        feed::run(&options).await;
    } else {
        table::print(&rounds::run(&options).await);
    }
}

/// What the process of one measurement does.
async fn measure(who: &str, place: &str, load: Load) {
    let rate = match who {
        "ours" => return ours::measure(ours::open(place).await, load).await,
        "ours, NORMAL" => return ours::measure(ours::open_normal(place).await, load).await,
        "dbos" => dbos::measure(place, load).await,
        "apalis" if place.starts_with("sqlite:") => apalis::measure_sqlite(place, load).await,
        "apalis" => apalis::measure_postgres(place, load).await,
        _ => panic!("nobody is called `{who}`"),
    };
    println!("{rate}");
}

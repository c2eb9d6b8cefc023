//! Durable tasks beside their peers: workflows of ten steps, each measurement in a process and a store of its own, in
//! rounds, so that what the machine does besides happens to all.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark ends where it cannot go on"
)]

mod apalis;
mod dbos;
mod flood;
mod grown;
mod options;
mod ours;
mod place;
mod rounds;
mod table;

use std::time::Duration;

use options::Options;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["measure", who, place, in_flight, seconds] = arguments[..] {
        let in_flight = in_flight.parse().expect("a number");
        let time = Duration::from_secs_f64(seconds.parse().expect("seconds"));
        return measure(who, place, in_flight, time).await;
    }
    let options = Options::of(&arguments);
    if let Some(tasks) = options.grown {
        grown::run(&options, tasks).await;
    } else {
        rounds::run(&options).await;
    }
}

/// What the process of one measurement does.
async fn measure(who: &str, place: &str, in_flight: usize, time: Duration) {
    let rate = match who {
        "ours" => {
            let (rate, median, late) = ours::measure(place, in_flight, time).await;
            println!("{rate} {} {}", median.as_secs_f64(), late.as_secs_f64());
            return;
        }
        "dbos" => dbos::measure(place, in_flight, time).await,
        "apalis" if place.starts_with("sqlite:") => {
            apalis::measure_sqlite(place, in_flight, time).await
        }
        "apalis" => apalis::measure_postgres(place, in_flight, time).await,
        _ => panic!("nobody is called `{who}`"),
    };
    println!("{rate}");
}

//! What the feed of ends costs: PostgreSQL beside PostgreSQL without the lines that its trigger writes.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use crate::load::{Load, Work};
use crate::options::Options;
use crate::place::{Kind, Places};
use crate::rounds::{IN_FLIGHT, measure};
use crate::{ours, table};

pub async fn run(options: &Options) {
    let mut places = Places::new();
    assert!(places.has(Kind::Postgres), "PostgreSQL is not installed");
    for in_flight in IN_FLIGHT {
        let load = Load {
            work: Work::Nothing,
            in_flight,
            pool: 0,
            time: Duration::from_secs_f64(options.seconds),
        };
        let mut ratios = Vec::new();
        for round in 0..options.rounds {
            let mut rates = [0.0; 2];
            // Each is the first one in every second round.
            for turn in 0..2 {
                let has_feed = (round + turn) % 2 == 0;
                let place = places.make(Kind::Postgres).await;
                ours::migrate(&place.url).await;
                if !has_feed {
                    leave_out(&place.url).await;
                }
                rates[usize::from(has_feed)] = measure("ours", &place.url, load).rate;
                places.remove(place).await;
            }
            let [without, with] = rates;
            eprintln!(
                "{in_flight} in flight: {with:.0}/s with the feed, {without:.0}/s without it"
            );
            ratios.push(with / without);
        }
        let median = table::median(ratios.into_iter());
        println!("{in_flight} in flight: {median:.3} of the workflows a second without the feed");
    }
}

/// Replaces the trigger by one without lines of the feed.
async fn leave_out(url: &str) {
    let connection = PgConnection::connect(url).await;
    let mut connection = connection.expect("the server");
    let sql = "SELECT pg_get_functiondef('retry_follow'::regproc)";
    let row = sqlx::query(sql).fetch_one(&mut connection).await;
    let with: String = row.expect("the function").get(0);
    let without = with.replace("has.ends AND", "FALSE AND");
    assert_ne!(with, without, "the feed is written elsewhere");
    let done = sqlx::raw_sql(AssertSqlSafe(without)).execute(&mut connection);
    done.await.expect("a function");
}

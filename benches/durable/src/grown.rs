//! What it costs that a store has many tasks in it that ended long ago.

use std::time::Duration;

use rusqlite::Connection;

use crate::load::{Load, Work};
use crate::options::Options;
use crate::place::{Kind, Places};
use crate::rounds::{IN_FLIGHT, measure};
use crate::{ours, table};

/// Tasks, and the ten steps of each, as the measured workflow leaves them behind.
const FINISHED: [&str; 2] = [
    "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, fence, failures, max_failures, cancel_asked,
         input, output, created_at, updated_at)
     SELECT 'ten', 1, 'default', 0, n, 3, 0, n, 1, 0, 3, FALSE, '[7]', '10', n, n FROM numbers",
    "INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, at, fence)
     SELECT n, seq, 1, seq, 'one', 0, seq, n, 1 FROM numbers, steps",
];

pub async fn run(options: &Options, tasks: u64) {
    let mut places = Places::new();
    let mut rows = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        if !places.has(kind) || !options.wants(kind.name()) {
            continue;
        }
        eprintln!("{tasks} tasks into {}", kind.name());
        let full = places.make(kind).await;
        ours::migrate(&full.url).await;
        match kind {
            Kind::Sqlite => fill_sqlite(&full.url, tasks),
            Kind::Postgres => fill_postgres(&full.url, tasks).await,
        }
        for in_flight in IN_FLIGHT {
            let load = Load {
                work: Work::Nothing,
                in_flight,
                pool: 0,
                time: Duration::from_secs_f64(options.seconds),
            };
            let mut rates = (Vec::new(), Vec::new());
            for _ in 0..options.rounds {
                let empty = places.make(kind).await;
                let one = measure("ours", &empty.url, load).rate;
                let other = measure("ours", &full.url, load).rate;
                eprintln!("{} {in_flight}: {one:.0}/s, {other:.0}/s", kind.name());
                rates.0.push(one);
                rates.1.push(other);
                places.remove(empty).await;
            }
            rows.push((
                kind,
                in_flight,
                table::median(rates.0.into_iter()),
                table::median(rates.1.into_iter()),
            ));
        }
        places.remove(full).await;
    }
    table::print_grown(tasks, &rows);
}

fn fill_sqlite(url: &str, tasks: u64) {
    let path = url.trim_start_matches("sqlite://");
    let connection = Connection::open(path).expect("the file");
    connection
        .pragma_update(None, "synchronous", "off")
        .expect("a setting");
    let numbers = |up_to: u64, name: &str, column: &str, from: u64| {
        format!(
            "{name}({column}) AS (VALUES ({from}) UNION ALL SELECT {column} + 1 FROM {name} WHERE {column} < {up_to})"
        )
    };
    let numbers = numbers(tasks, "numbers", "n", 1);
    for sql in FINISHED {
        let steps = "steps(seq) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
        let (into, select) = sql.split_once("SELECT").expect("two parts");
        let sql = format!("WITH RECURSIVE {numbers}, {steps} {into} SELECT {select}");
        connection.execute(&sql, []).expect("rows");
    }
    let end = "PRAGMA wal_checkpoint(TRUNCATE); ANALYZE";
    connection.execute_batch(end).expect("a checkpoint");
}

async fn fill_postgres(url: &str, tasks: u64) {
    use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
    let connection = PgConnection::connect(url).await;
    let mut connection = connection.expect("the server");
    let tables = format!(
        "CREATE TEMP VIEW numbers AS SELECT n FROM generate_series(1, {tasks}) AS n;
         CREATE TEMP VIEW steps AS SELECT seq FROM generate_series(0, 9) AS seq"
    );
    let ends = ["VACUUM ANALYZE", "CHECKPOINT"].map(str::to_owned);
    let fills = FINISHED.map(str::to_owned);
    for sql in [tables].into_iter().chain(fills).chain(ends) {
        let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection);
        done.await.expect("rows");
    }
}

//! When each task was claimed and when it left its worker, as triggers of the store have written it.

use std::collections::BTreeMap;
use std::time::Duration;

use reattempt_supervisor::Time;

use crate::Stay;

/// A connection without this library.
pub(crate) enum Ledger {
    Sqlite(rusqlite::Connection),
    #[cfg(feature = "postgres")]
    Postgres(tokio_postgres::Client),
}

const SQLITE: &str = "CREATE TABLE ledger (id INTEGER PRIMARY KEY, task INTEGER, lane TEXT, is_claim INTEGER, at INTEGER);
    CREATE TRIGGER keep AFTER UPDATE OF state ON retry_run WHEN (NEW.state = 1) <> (OLD.state = 1)
    BEGIN INSERT INTO ledger (task, lane, is_claim, at) VALUES (NEW.id, NEW.lane, NEW.state = 1, NEW.updated_at); END";

#[cfg(feature = "postgres")]
const POSTGRES: &str = "CREATE TABLE ledger (id BIGSERIAL, task BIGINT, lane TEXT, is_claim BOOLEAN, at BIGINT);
    CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
        INSERT INTO ledger (task, lane, is_claim, at) VALUES (NEW.id, NEW.lane, NEW.state = 1, NEW.updated_at); RETURN NEW; END';
    CREATE TRIGGER keep AFTER UPDATE ON retry_run FOR EACH ROW WHEN ((NEW.state = 1) <> (OLD.state = 1)) EXECUTE FUNCTION keep()";

const LINES: &str = "SELECT task, lane, is_claim, at FROM ledger ORDER BY task, id";

impl Ledger {
    pub(crate) async fn new(kind: &str, name: &str) -> Self {
        #[cfg(feature = "postgres")]
        if kind == "postgres" {
            let connecting = tokio_postgres::connect(name, tokio_postgres::NoTls);
            let (client, connection) = connecting.await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(POSTGRES).await.unwrap();
            return Self::Postgres(client);
        }
        let connection = rusqlite::Connection::open(name).unwrap();
        connection.busy_timeout(Duration::from_secs(60)).unwrap();
        connection.execute_batch(SQLITE).unwrap();
        Self::Sqlite(connection)
    }

    /// Returns how long workers have held tasks. A task that one holds at the end is held for ever.
    pub(crate) async fn stays(&self) -> Vec<Stay> {
        let lines: Vec<(i64, String, bool, i64)> = match self {
            Self::Sqlite(connection) => {
                let mut rows = connection.prepare(LINES).unwrap();
                let rows = rows.query_map([], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                });
                rows.unwrap().map(Result::unwrap).collect()
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(client) => {
                let rows = client.query(LINES, &[]).await.unwrap();
                let line =
                    |row: &tokio_postgres::Row| (row.get(0), row.get(1), row.get(2), row.get(3));
                rows.iter().map(line).collect()
            }
        };
        let mut stays = Vec::new();
        for (nth, (task, lane, is_claim, at)) in lines.iter().enumerate() {
            if !is_claim {
                continue;
            }
            let end = lines.get(nth + 1).filter(|next| next.0 == *task);
            assert!(
                end.is_none_or(|end| !end.2),
                "task {task} was claimed twice"
            );
            stays.push(Stay {
                lane: lane.clone(),
                from: Time::from_micros(*at),
                until: end.map_or(Time::NEVER, |end| Time::from_micros(end.3)),
                is_first: nth == 0 || lines[nth - 1].0 != *task,
            });
        }
        assert!(!stays.is_empty(), "nothing was claimed");
        stays
    }
}

/// Returns the stays of each lane.
pub(crate) fn by_lane(stays: &[Stay]) -> BTreeMap<&str, Vec<Stay>> {
    let mut lanes: BTreeMap<&str, Vec<Stay>> = BTreeMap::new();
    for stay in stays {
        lanes.entry(&stay.lane).or_default().push(stay.clone());
    }
    lanes
}

/// Returns how many tasks were held at once. A task that has left makes room at that moment.
pub(crate) fn most_at_once(stays: &[Stay]) -> u32 {
    let mut changes: BTreeMap<Time, i32> = BTreeMap::new();
    for stay in stays {
        *changes.entry(stay.from).or_default() += 1;
        *changes.entry(stay.until).or_default() -= 1;
    }
    let sums = changes.values().scan(0, |sum, change| {
        *sum += change;
        Some(*sum)
    });
    u32::try_from(sums.max().unwrap_or_default()).unwrap()
}

/// Returns how many tasks were claimed in a second, whenever it begins.
pub(crate) fn most_in_a_second(stays: &[Stay]) -> u32 {
    let mut times: Vec<_> = stays.iter().map(|stay| stay.from).collect();
    times.sort_unstable();
    let within = |(nth, first): (usize, &Time)| {
        let end = first.after(Duration::from_secs(1));
        times.partition_point(|time| *time < end) - nth
    };
    let most = times.iter().enumerate().map(within).max();
    u32::try_from(most.unwrap_or_default()).unwrap()
}

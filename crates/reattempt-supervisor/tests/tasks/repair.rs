//! Small tables that differ from the tasks, because tasks were written while triggers were off.
#![cfg(feature = "postgres")]

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use crate::kit;
use crate::servers::Server;
use reattempt_supervisor::store::{Change, Store as _, Write, WriteResult};
use reattempt_supervisor::{Client, Lease, Postgres, State, WorkerId};

/// Adds 8,000 tasks in all states, half of them with a `complete_by`.
const TASKS: &str = "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, complete_by, fence,
        failures, max_failures, cancel_asked, input, created_at, updated_at, owner)
    SELECT 'plain', 1, 'default', nth % 3, nth, CASE nth % 1000 WHEN 199 THEN 8 ELSE nth % 8 END, 0, nth, CASE nth % 2 WHEN 0 THEN 9000000000000000 + nth % 7 END, 0,
        0, 3, false, 'null', 0, nth % 5, CASE nth % 8 WHEN 1 THEN 'one' END
    FROM generate_series(1, 8000) AS nth";

/// Changes tasks and lines in each way, without triggers: 8 tasks for each of the 29 numbers below.
const DRIFT: &str = "SET session_replication_role = replica;
    UPDATE retry_run SET state = 3, updated_at = 7 WHERE id % 1000 = 170;
    UPDATE retry_run SET state = 0, owner = NULL WHERE id % 1000 IN (171, 173, 175);
    UPDATE retry_run SET state = 1, owner = 'two' WHERE id % 1000 IN (172, 177);
    UPDATE retry_run SET priority = 9, wake_at = 3, deaths = 2 WHERE id % 1000 IN (176, 178);
    UPDATE retry_run SET updated_at = 99 WHERE id % 1000 IN (174, 179);
    UPDATE retry_run SET complete_by = complete_by + 1 WHERE id % 1000 = 194;
    UPDATE retry_run SET complete_by = NULL WHERE id % 1000 = 200;
    UPDATE retry_run SET direction = 1 WHERE id % 1000 = 184;
    UPDATE retry_run SET owner = 'three' WHERE id % 1000 = 185;
    UPDATE retry_run SET step_by = 5 WHERE id % 1000 = 193;
    DELETE FROM retry_run WHERE id % 1000 IN (186, 187, 188, 189, 199);
    DELETE FROM retry_ready WHERE run_id % 1000 = 192;
    DELETE FROM retry_held WHERE run_id % 1000 = 201;
    DELETE FROM retry_ended WHERE run_id % 1000 IN (195, 196);
    DELETE FROM retry_limited WHERE run_id % 1000 = 202;
    UPDATE retry_ended SET state = 6 WHERE run_id % 1000 = 197;
    INSERT INTO retry_ready SELECT id, queue, workflow, version, priority, wake_at, false, 0 FROM retry_run WHERE id % 1000 = 191;
    INSERT INTO retry_held SELECT id, 'ghost' FROM retry_run WHERE id % 1000 = 198;
    INSERT INTO retry_limited SELECT id, 5 FROM retry_run WHERE id % 1000 = 190;
    SET session_replication_role = origin";

/// The tasks and lines that have not changed, with the transactions that wrote them.
const OTHERS: &str = "WITH rows (place, id, written) AS (
        SELECT 'run', id, xmin FROM retry_run UNION ALL SELECT 'ready', run_id, xmin FROM retry_ready
        UNION ALL SELECT 'held', run_id, xmin FROM retry_held UNION ALL SELECT 'limited', run_id, xmin FROM retry_limited
        UNION ALL SELECT 'ended', run_id, xmin FROM retry_ended
    )
    SELECT place || id, written::text FROM rows WHERE id % 1000 NOT BETWEEN 170 AND 202";

async fn others(admin: &tokio_postgres::Client) -> BTreeMap<String, String> {
    let rows = admin.query(OTHERS, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn fits(admin: &tokio_postgres::Client) -> bool {
    let fits = admin.query_one(kit::SMALL_TABLES_FIT, &[]).await;
    fits.unwrap().get(0)
}

#[tokio::test]
async fn lines_that_differ_are_rebuilt_and_nothing_else() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let client = Client::new(Postgres::connect(&server.url()).await.unwrap());
    admin.batch_execute(TASKS).await.unwrap();
    assert_eq!(client.repair().await.unwrap(), 0);
    let before = others(&admin).await;
    admin.batch_execute(DRIFT).await.unwrap();
    assert!(!fits(&admin).await);
    let repaired = client.repair().await.unwrap();
    assert!(fits(&admin).await);
    assert_eq!(repaired, 232);
    assert_eq!(others(&admin).await, before);
    let program = || {
        let mut program = Command::new(env!("CARGO_BIN_EXE_reattempt-supervisor"));
        let output = program.args(["--store", &server.url(), "repair"]).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert_eq!(program(), "all tasks are in the right places\n");
    admin
        .batch_execute("DELETE FROM retry_ready WHERE run_id = 8")
        .await
        .unwrap();
    let wanted = "1 task was not in its right place, and is there now\n";
    assert_eq!(program(), wanted);
    assert!(fits(&admin).await);
}

#[tokio::test]
async fn workers_run_beside_a_repair() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let store = Postgres::connect(&server.url()).await.unwrap();
    let client = Client::new(Postgres::connect(&server.url()).await.unwrap());
    admin.batch_execute(TASKS).await.unwrap();
    admin.batch_execute(DRIFT).await.unwrap();
    let work = tokio::spawn(async move {
        for group in 0..40 {
            let submit = |nth| Write::Submit(Box::new(kit::plain(&format!("{group} {nth}"))));
            let mut writes: Vec<_> = (0..20).map(submit).collect();
            writes.push(Write::Claim(kit::claim("one", "plain", 20)));
            let results = written(&store, writes).await;
            let Some(WriteResult::Claimed(claimed, _)) = results.last() else {
                panic!("{results:?}");
            };
            let ends = claimed.iter().map(|one| {
                let lease = Lease {
                    task: one.task.id,
                    fence: one.task.fence,
                };
                Write::Change(lease, Box::new(processed()))
            });
            written(&store, ends.collect()).await;
        }
    });
    let mut repaired = 0;
    while !work.is_finished() {
        repaired += client.repair().await.unwrap();
    }
    work.await.unwrap();
    assert!(repaired > 0);
    assert!(fits(&admin).await);
}

/// Writes, as a worker does: again where a task is locked for long.
async fn written(store: &Postgres, writes: Vec<Write>) -> Vec<WriteResult> {
    loop {
        match store.write(writes.clone().into()).await {
            Err(error) if error.is_passing() => {}
            result => return result.unwrap(),
        }
    }
}

fn processed() -> Change {
    Change {
        output: Some("null".to_owned()),
        ..kit::change_to(State::Processed)
    }
}

/// A client, beside tables that have drifted and a lease so short that a statement may take half a second, and wait half as
/// long for a lock.
async fn drifted(server: &Server) -> (tokio_postgres::Client, Client) {
    let admin = kit::session(&server.url()).await;
    let client = Client::new(Postgres::connect(&server.url()).await.unwrap());
    admin.batch_execute(TASKS).await.unwrap();
    admin.batch_execute(DRIFT).await.unwrap();
    let worker = WorkerId("one".to_owned());
    let lease = Duration::from_secs(2);
    client.store().heartbeat(worker, lease, None).await.unwrap();
    (admin, client)
}

#[tokio::test]
async fn a_repair_waits_again_and_again_for_a_task_that_somebody_has_locked() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (admin, client) = drifted(&server).await;
    let lock = "BEGIN; SELECT FROM retry_run WHERE id = 5170 FOR UPDATE";
    admin.batch_execute(lock).await.unwrap();
    let repair = tokio::spawn(async move { client.repair().await });
    let other = kit::session(&server.url()).await;
    for waits in [true, false, true] {
        let waiting = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        while other
            .query_one(waiting, &[])
            .await
            .unwrap()
            .get::<_, bool>(0)
            != waits
        {
            assert!(!repair.is_finished(), "it has given up");
            tokio::task::yield_now().await;
        }
    }
    admin.batch_execute("COMMIT").await.unwrap();
    assert_eq!(repair.await.unwrap().unwrap(), 232);
    assert!(fits(&admin).await);
}

#[tokio::test]
async fn a_repair_repeats_what_takes_longer_than_a_statement_may() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (admin, client) = drifted(&server).await;
    let slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.6); RETURN NULL; END';
        CREATE TRIGGER slow BEFORE UPDATE ON retry_run EXECUTE FUNCTION slow()";
    admin.batch_execute(slow).await.unwrap();
    assert_eq!(client.repair().await.unwrap(), 232);
    assert!(fits(&admin).await);
}

/// The connection is lost, and the next ones are refused for a while.
#[tokio::test]
async fn a_repair_connects_again_and_again() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (admin, client) = drifted(&server).await;
    let lock = "BEGIN; SELECT FROM retry_run WHERE id = 5170 FOR UPDATE";
    admin.batch_execute(lock).await.unwrap();
    let other = kit::session(&server.url()).await;
    let repair = tokio::spawn(async move { client.repair().await });
    let allow = "UPDATE pg_database SET datallowconn = $1 WHERE datname = current_database()";
    for sql in [
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
    ] {
        while other.query(sql, &[]).await.unwrap().is_empty() {
            assert!(!repair.is_finished(), "it has given up");
        }
        other.execute(allow, &[&false]).await.unwrap();
    }
    // A refused connection is counted nowhere, and the next one comes within half a second. Where it comes later, the
    // test sees less, and still passes.
    other.batch_execute("SELECT pg_sleep(1)").await.unwrap();
    assert!(!repair.is_finished(), "it has given up");
    other.execute(allow, &[&true]).await.unwrap();
    admin.batch_execute("COMMIT").await.unwrap();
    assert_eq!(repair.await.unwrap().unwrap(), 232);
    assert!(fits(&admin).await);
}

/// A commit waits for a standby that is not there, and then its connection is lost: the tasks are repaired, and nobody
/// has said so.
#[tokio::test]
async fn a_repair_counts_what_it_has_committed_unheard() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (admin, client) = drifted(&server).await;
    let drop_all =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let standby = |names: &str| format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'");
    let reload = "SELECT pg_reload_conf()";
    admin.batch_execute(&standby("nobody")).await.unwrap();
    admin.batch_execute(reload).await.unwrap();
    // The server takes the setting when it likes: it has when somebody waits.
    let writer = kit::session(&server.url()).await;
    let probe = tokio::spawn(async move {
        let write = "CREATE TABLE seen (); DROP TABLE seen";
        while writer.batch_execute(write).await.is_ok() {}
    });
    while !probe.is_finished() {
        admin.query(drop_all, &[]).await.unwrap();
    }
    let repair = tokio::spawn(async move { client.repair().await });
    // A commit waits for half a second. Where this looks later, the test sees less, and still passes.
    while !repair.is_finished() && admin.query(drop_all, &[]).await.unwrap().is_empty() {}
    admin.batch_execute(&standby("")).await.unwrap();
    admin.batch_execute(reload).await.unwrap();
    assert_eq!(repair.await.unwrap().unwrap(), 232);
    assert!(fits(&admin).await);
}

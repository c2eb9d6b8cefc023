//! Lanes on PostgreSQL: beside transactions of an application, after a repair, and with several schedulers.
//!
//! `cargo test -p reattempt-supervisor --test tasks -- lanes:: --ignored --nocapture` takes 10,000 tasks of one lane, and prints how
//! long others wait beside them.
#![cfg(feature = "postgres")]

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kit;
use crate::servers::Server;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt::Policy;
use reattempt_supervisor::store::{Change, Filter, Store, Sweep, Write, WriteResult};
use reattempt_supervisor::{
    Client, Lease, NewTask, Postgres, RecordKind, Scheduler, State, Step, StepError, Task,
    TaskLimit, WorkflowContext, step, workflow,
};

/// What is beside quiet lanes: nothing, a lane with as many tasks as it may have, and one with more.
const KINDS: [&str; 3] = ["alone", "busy", "full"];

/// How often each is measured.
const ROUNDS: usize = 12;

#[step(retry(idempotent = false))]
async fn work(_step: &Step, millis: u64) -> Result<(), std::io::Error> {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    Ok(())
}

#[workflow]
async fn plain(context: &WorkflowContext, millis: u64) -> Result<(), StepError> {
    work(context, millis).await
}

fn in_lane(lane: &str, key: &str) -> NewTask {
    NewTask {
        lane: Some(lane.to_owned()),
        ..kit::plain(key)
    }
}

async fn submit(store: &Postgres, new: NewTask) {
    let results = store.write([Write::Submit(Box::new(new))].into()).await;
    assert!(matches!(results.unwrap()[..], [WriteResult::Submitted(_)]));
}

async fn claim(store: &Postgres) -> Vec<Task> {
    let claim = Write::Claim(kit::claim("one", "plain", 100));
    let mut results = store.write([claim].into()).await.unwrap();
    match results.pop() {
        Some(WriteResult::Claimed(claimed, _)) => claimed.into_iter().map(|one| one.task).collect(),
        result => panic!("{result:?}"),
    }
}

async fn end(store: &Postgres, task: &Task) {
    let lease = Lease {
        task: task.id,
        fence: task.fence,
    };
    let change = Change {
        output: Some("null".to_owned()),
        ..kit::change_to(State::Processed)
    };
    let end = store.write([Write::Change(lease, Box::new(change))].into());
    let results = tokio::time::timeout(Duration::from_secs(20), end).await;
    assert!(matches!(
        results.unwrap().unwrap()[..],
        [WriteResult::Written(_)]
    ));
}

/// Returns the keys of tasks.
fn keys(tasks: &[Task]) -> Vec<&str> {
    tasks.iter().map(|task| task.key.as_str()).collect()
}

#[tokio::test]
async fn an_open_transaction_of_an_application_delays_no_lane() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let store = Postgres::connect(&server.url()).await.unwrap();
    let client = Client::new(Postgres::connect(&server.url()).await.unwrap());
    let mut application = kit::session(&server.url()).await;
    for is_over in [true, false] {
        let key = |name: &str| format!("{name} {is_over}");
        submit(&store, in_lane("l", &key("first"))).await;
        submit(&store, in_lane("l", &key("second"))).await;
        let first = claim(&store).await;
        assert_eq!(keys(&first), [key("first")]);
        let mut transaction = application.transaction().await.unwrap();
        let third = plain(0).lane("l").key(key("third"));
        client.submit_in(&mut transaction, third).await.unwrap();
        // The end of a task does not wait for the transaction, whether others wait in the lane or
        // not.
        end(&store, &first[0]).await;
        let second = claim(&store).await;
        assert_eq!(keys(&second), [key("second")]);
        if is_over {
            end(&store, &second[0]).await;
            transaction.commit().await.unwrap();
        } else {
            transaction.commit().await.unwrap();
            assert_eq!(keys(&claim(&store).await), [""; 0]);
            end(&store, &second[0]).await;
        }
        // On a machine where all this takes long, the third is found by a look at everything.
        let third = async {
            loop {
                let third = claim(&store).await;
                if !third.is_empty() {
                    break third;
                }
                tokio::task::yield_now().await;
            }
        };
        let third = tokio::time::timeout(Duration::from_secs(20), third).await;
        let third = third.expect("a look at everything");
        assert_eq!(keys(&third), [key("third")]);
        end(&store, &third[0]).await;
    }
}

#[tokio::test]
async fn transactions_of_applications_that_submit_to_the_same_lanes_do_not_deadlock() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let client = Client::new(Postgres::connect(&server.url()).await.unwrap());
    let (mut one, mut other) = (
        kit::session(&server.url()).await,
        kit::session(&server.url()).await,
    );
    for round in 0..5 {
        let lanes: Vec<_> = (0..50).map(|nth| format!("{round} {nth}")).collect();
        let mut one = one.transaction().await.unwrap();
        let mut other = other.transaction().await.unwrap();
        for (forth, back) in lanes.iter().zip(lanes.iter().rev()) {
            let (forth, back) = (plain(0).lane(forth), plain(0).lane(back));
            client.submit_in(&mut one, forth).await.unwrap();
            client.submit_in(&mut other, back).await.unwrap();
        }
        let (one, other) = tokio::join!(one.commit(), other.commit());
        one.unwrap();
        other.unwrap();
    }
    let admin = kit::session(&server.url()).await;
    let turns = "SELECT (SELECT count(*) FROM retry_lane_turn), (SELECT count(*) FROM retry_lane_waiting), (SELECT count(*) FROM retry_lane_entering)";
    let turns = admin.query_one(turns, &[]).await.unwrap();
    let turns: [i64; 3] = [turns.get(0), turns.get(1), turns.get(2)];
    assert_eq!(turns, [250, 250, 0]);
}

/// Changes tasks and lines without triggers, each in a lane of its own with three tasks.
const DRIFT: &str = "SET session_replication_role = replica;
    UPDATE retry_run SET state = 3 WHERE lane = 'ended' AND id = (SELECT run_id FROM retry_lane_turn WHERE lane = 'ended');
    DELETE FROM retry_run WHERE id = (SELECT run_id FROM retry_lane_turn WHERE lane = 'gone');
    DELETE FROM retry_lane_turn WHERE lane IN ('no turn', 'held');
    DELETE FROM retry_lane_waiting WHERE lane = 'no wait';
    UPDATE retry_run SET wake_at = 0 WHERE lane = 'awake';
    UPDATE retry_run SET lane = 'moved' WHERE lane = 'from';
    INSERT INTO retry_lane_turn VALUES (999999, 'ghost', 0, NULL);
    INSERT INTO retry_lane_waiting VALUES (999998, 'ghost', 0);
    TRUNCATE retry_ready;
    SET session_replication_role = origin";

#[tokio::test]
async fn lanes_that_differ_are_rebuilt() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let store = Postgres::connect(&server.url()).await.unwrap();
    submit(&store, in_lane("held", "held")).await;
    assert_eq!(claim(&store).await.len(), 1);
    let lanes = [
        "ended", "gone", "no turn", "held", "no wait", "awake", "from", "right",
    ];
    for (nth, lane) in (0..3).flat_map(|nth| lanes.map(|lane| (nth, lane))) {
        submit(&store, in_lane(lane, &format!("{lane} {nth}"))).await;
    }
    assert_eq!(store.repair().await.unwrap(), 0);
    admin.batch_execute(DRIFT).await.unwrap();
    assert!(store.repair().await.unwrap() > 0);
    assert_eq!(store.repair().await.unwrap(), 0);
    let fits = admin.query_one(kit::SMALL_TABLES_FIT, &[]).await.unwrap();
    assert!(fits.get::<_, bool>(0));
    let held = store
        .list(Filter {
            key: Some("held".to_owned()),
            ..Filter::default()
        })
        .await
        .unwrap();
    end(&store, &held[0]).await;
    // All others run, one of each lane at a time.
    let mut ended = 0;
    loop {
        let claimed = claim(&store).await;
        let mut lanes: Vec<_> = claimed
            .iter()
            .filter_map(|task| task.lane.as_deref())
            .collect();
        lanes.sort_unstable();
        let count = lanes.len();
        lanes.dedup();
        assert_eq!(lanes.len(), count, "{lanes:?}");
        for task in &claimed {
            end(&store, task).await;
        }
        ended += claimed.len();
        if claimed.is_empty() {
            break;
        }
    }
    assert_eq!(ended, lanes.len() * 3 - 2);
    let left =
        "SELECT (SELECT count(*) FROM retry_lane_turn) + (SELECT count(*) FROM retry_lane_waiting)";
    assert_eq!(
        admin.query_one(left, &[]).await.unwrap().get::<_, i64>(0),
        0
    );
}

/// When the store says that the step of a task began and ended, and how long the task had waited.
async fn times(store: &dyn Store, task: &Task) -> (i64, i64, i64) {
    let history = store.history(task.id).await.unwrap();
    let at = |kind| {
        history
            .iter()
            .find(|record| record.kind == kind)
            .unwrap()
            .at
            .as_micros()
    };
    let begun = at(RecordKind::Begun);
    (
        begun,
        at(RecordKind::Done),
        begun - task.created_at.as_micros(),
    )
}

/// Runs tasks of some lanes by several schedulers, each with a store of its own, as so many processes would.
/// Returns the part of the time in which a lane was used.
async fn run_lanes(server: &Server, lanes: u64, tasks: u64, millis: u64) -> Vec<f64> {
    let client = Client::new(Postgres::connect(&server.url()).await.unwrap());
    let mut schedulers = Vec::new();
    for _ in 0..3 {
        let own = Client::new(Postgres::connect(&server.url()).await.unwrap());
        schedulers.push(
            Scheduler::new(&own)
                .register(plain)
                .at_once(8)
                .start()
                .unwrap(),
        );
    }
    let list = (0..lanes * tasks).map(|nth| plain(millis).lane(format!("lane {}", nth % lanes)));
    for task in client.submit_many(list).await.unwrap() {
        task.unwrap().wait().await.unwrap();
    }
    for scheduler in schedulers {
        scheduler.stop(Duration::from_secs(5)).await;
    }
    let store = Postgres::connect(&server.url()).await.unwrap();
    let all = store
        .list(Filter {
            limit: u32::MAX,
            ..Filter::default()
        })
        .await
        .unwrap();
    let mut runs: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for task in all {
        if let Some(lane) = &task.lane {
            let (begun, done, _) = times(&store, &task).await;
            runs.entry(lane.clone()).or_default().push((begun, done));
        }
    }
    let used = runs.values_mut().map(|runs| {
        runs.sort_unstable();
        for pair in runs.windows(2) {
            assert!(
                pair[0].1 <= pair[1].0,
                "two of one lane at a time: {pair:?}"
            );
        }
        let busy: i64 = runs.iter().map(|(begun, done)| done - begun).sum();
        let whole = runs[runs.len() - 1].1 - runs[0].0;
        (busy as f64) / (whole as f64)
    });
    used.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_schedulers_run_one_task_of_a_lane_at_a_time() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let used = run_lanes(&server, 4, 12, 5).await;
    assert_eq!(used.len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_task_waits_for_ever_while_limits_change() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let client = Client::new(Postgres::connect(&server.url()).await.unwrap());
    let limiting = Client::new(Postgres::connect(&server.url()).await.unwrap());
    let mut schedulers = Vec::new();
    for _ in 0..3 {
        let own = Client::new(Postgres::connect(&server.url()).await.unwrap());
        let scheduler = Scheduler::new(&own).register(plain).at_once(8);
        schedulers.push(scheduler.start().unwrap());
    }
    let submitting = async {
        let mut tasks = Vec::new();
        for nth in 0..240 {
            let task = plain(1).lane(format!("lane {}", nth % 4));
            tasks.push(client.submit(task).await.unwrap());
        }
        tasks
    };
    let changing = async {
        for nth in 0..30 {
            let limit = TaskLimit::new().concurrency(nth % 4);
            let limit = limit.rate(5, Duration::from_millis(100));
            limiting.limit_lanes("lane *", limit).await.unwrap();
        }
        // The last word, while tasks still come.
        let many = TaskLimit::new().concurrency(4);
        limiting.limit_lanes("lane *", many).await.unwrap();
    };
    let (tasks, ()) = tokio::join!(submitting, changing);
    for task in tasks {
        let ended = tokio::time::timeout(Duration::from_secs(60), task.wait()).await;
        ended.expect("it waits for ever").unwrap();
    }
    for scheduler in schedulers {
        scheduler.stop(Duration::from_secs(5)).await;
    }
    assert_eq!(client.repair().await.unwrap(), 0);
}

#[tokio::test]
async fn begins_that_no_longer_count_are_forgotten() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let store = Postgres::connect(&server.url()).await.unwrap();
    let admin = kit::session(&server.url()).await;
    let now = "(extract(epoch FROM now()) * 1000000)::bigint";
    let insert = format!(
        "INSERT INTO retry_lane_begun VALUES ('old', 0, 1, 1), ('new', {now}, 2, {now} + 1000000)"
    );
    admin.batch_execute(&insert).await.unwrap();
    let sweep = Sweep {
        limit: 10,
        every: Duration::from_secs(1),
        delays: Policy::new(),
        in_turn: false,
    };
    assert_eq!(store.sweep(sweep).await.unwrap(), []);
    let left = admin
        .query("SELECT lane FROM retry_lane_begun", &[])
        .await
        .unwrap();
    let left: Vec<&str> = left.iter().map(|row| row.get(0)).collect();
    assert_eq!(left, ["new"]);
}

/// Returns how long tasks wait, in microseconds, that have a lane each, alone or beside as many tasks of one lane.
async fn waits(client: &Client, tasks: usize, is_busy: bool) -> Vec<i64> {
    let mut handles = Vec::new();
    for nth in 0..tasks {
        if is_busy {
            client.submit(plain(10).lane("busy")).await.unwrap();
        }
        let task = plain(10).lane(format!("own {nth}"));
        handles.push(client.submit(task).await.unwrap());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut waits = Vec::new();
    for handle in handles {
        handle.wait().await.unwrap();
        let task = client.store().task(handle.id()).await.unwrap().unwrap();
        waits.push(times(client.store(), &task).await.2);
    }
    waits
}

/// Returns the time that so many of 100 wait at most.
fn of_100(part: usize, rounds: &[Vec<i64>]) -> f64 {
    let mut waits = rounds.concat();
    waits.sort_unstable();
    waits[waits.len() * part / 100] as f64
}

/// Returns the bounds between which 90 of 100 draws of rounds have the time of 99 in 100 tasks, as a multiple of that of
/// tasks which are alone.
fn interval(waits: &[Vec<i64>], alone: &[Vec<i64>]) -> [f64; 2] {
    let mut random = StdRng::from_rng(&mut rand::rng());
    let mut ratios: Vec<f64> = (0..1_000)
        .map(|_| {
            let drawn: Vec<usize> = (0..ROUNDS)
                .map(|_| random.random_range(0..ROUNDS))
                .collect();
            let of = |all: &[Vec<i64>]| {
                let some: Vec<Vec<i64>> = drawn.iter().map(|nth| all[*nth].clone()).collect();
                of_100(99, &some)
            };
            of(waits) / of(alone)
        })
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    [ratios[50], ratios[950]]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures, and takes minutes"]
async fn a_lane_with_many_tasks_delays_no_other_task() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let used = run_lanes(&server, 4, 50, 100).await;
    println!("one at a time: used {used:.2?} of the time");
    assert!(used.iter().all(|used| *used >= 0.8), "{used:?}");
    // What the machine does besides happens to all.
    let mut worlds = Vec::new();
    for name in KINDS {
        let admin = kit::session(&server.url()).await;
        let create = format!("CREATE DATABASE \"{name}\"");
        admin.batch_execute(&create).await.unwrap();
        let url = format!("{}{name}", server.url().strip_suffix("postgres").unwrap());
        let client = Client::new(Postgres::connect(&url).await.unwrap());
        let limit = TaskLimit::new().concurrency(3);
        let limit = limit.rate(50, Duration::from_secs(1));
        client.limit_lanes("*", limit).await.unwrap();
        worlds.push((url, client));
    }
    for _ in 0..10 {
        let many = (0..1_000).map(|_| plain(10).lane("many"));
        worlds[2].1.submit_many(many).await.unwrap();
    }
    let mut all = [const { Vec::new() }; KINDS.len()];
    for round in 0..ROUNDS {
        for turn in 0..KINDS.len() {
            let nth = (round + turn) % KINDS.len();
            let (url, client) = &worlds[nth];
            let mut schedulers = Vec::new();
            for _ in 0..3 {
                let own = Client::new(Postgres::connect(url).await.unwrap());
                let scheduler = Scheduler::new(&own).register(plain).at_once(8);
                schedulers.push(scheduler.start().unwrap());
            }
            // Connections and statements are there.
            waits(client, 20, false).await;
            all[nth].push(waits(client, 250, KINDS[nth] == "busy").await);
            for scheduler in schedulers {
                scheduler.stop(Duration::from_secs(5)).await;
            }
        }
    }
    for (name, waits) in KINDS.iter().zip(&all) {
        let [half, most, nearly_all] = [50, 90, 99].map(|part| of_100(part, waits));
        let between = interval(waits, &all[0]);
        println!(
            "{name}: 50, 90, 99 in 100 wait {half}, {most}, {nearly_all} us; 99: {between:.2?} of alone"
        );
    }
    let [alone, _, full] = all.map(|waits| of_100(99, &waits));
    assert!(full <= alone * 2.0, "{full} us instead of {alone} us");
}

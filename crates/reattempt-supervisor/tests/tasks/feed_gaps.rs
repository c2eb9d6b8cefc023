//! The feed of ends on PostgreSQL, whose transactions end in another order than that of their numbers.
#![cfg(feature = "postgres")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::kit;
use crate::servers::Server;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::store::{AdminCommand, FeedPage, Store as _, Write};
use reattempt_supervisor::{Client, Postgres, TaskId};

/// Ends a task in a transaction of another program.
pub(crate) fn ending(task: TaskId) -> String {
    let id = task.0;
    format!("UPDATE retry_run SET state = 3, updated_at = updated_at + 1 WHERE id = {id}")
}

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) store: Postgres,
    kills: AtomicUsize,
}

impl World {
    async fn new() -> Option<Self> {
        Some(Self::of(Server::postgres()?).await)
    }

    pub(crate) async fn of(server: Server) -> Self {
        let store = Postgres::connect(&server.url()).await.unwrap();
        Self {
            server,
            store,
            kills: AtomicUsize::new(0),
        }
    }

    /// How many writers of the random tests have been killed.
    pub(crate) fn kills(&self) -> usize {
        self.kills.load(Ordering::SeqCst)
    }

    pub(crate) async fn session(&self) -> tokio_postgres::Client {
        kit::session(&self.server.url()).await
    }

    pub(crate) async fn tasks<const N: usize>(&self) -> [TaskId; N] {
        let mut tasks = [TaskId(0); N];
        for task in &mut tasks {
            let key = format!("{:x}", rand::random::<u64>());
            *task = kit::submit(&self.store, kit::plain(&key)).await;
        }
        tasks
    }

    async fn page(&self, old_gaps: bool) -> FeedPage {
        let page = self.store.read_feed("billing".to_owned(), 10_000, old_gaps);
        page.await.unwrap()
    }

    /// Reads the tasks of the next lines, and moves the reader past them.
    async fn next(&self, old_gaps: bool) -> Vec<TaskId> {
        let page = self.page(old_gaps).await;
        let tasks = page.endings.iter().map(|end| end.task).collect();
        let moved = self.store.move_reader("billing".to_owned(), page.next, 0);
        assert!(moved.await.unwrap());
        tasks
    }
}

#[tokio::test]
async fn an_end_that_is_committed_late_comes_late_and_holds_up_none() {
    let Some(world) = World::new().await else {
        return;
    };
    let (slow, quick) = (world.session().await, world.session().await);
    let [first, late, other, last] = world.tasks().await;
    assert_eq!(world.next(true).await, []);
    quick.batch_execute(&ending(first)).await.unwrap();
    slow.batch_execute(&format!("BEGIN; {}", ending(late)))
        .await
        .unwrap();
    quick.batch_execute(&ending(other)).await.unwrap();
    assert_eq!(world.next(true).await, [first, other]);
    assert_eq!(world.page(true).await.cursor.gaps.len(), 1);
    for _ in 0..3 {
        assert_eq!(world.next(true).await, []);
    }
    quick.batch_execute(&ending(last)).await.unwrap();
    assert_eq!(world.next(true).await, [last]);
    slow.batch_execute("COMMIT").await.unwrap();
    assert_eq!(world.next(true).await, [late]);
    assert_eq!(world.next(true).await, []);
    assert_eq!(world.page(true).await.cursor.gaps, []);
}

#[tokio::test]
async fn the_number_of_a_rolled_back_end_is_forgotten_after_the_transactions_of_its_time() {
    let Some(world) = World::new().await else {
        return;
    };
    let [bystander, slow, quick] = [
        world.session().await,
        world.session().await,
        world.session().await,
    ];
    let [lost, other] = world.tasks().await;
    assert_eq!(world.next(true).await, []);
    slow.batch_execute(&format!("BEGIN; {}", ending(lost)))
        .await
        .unwrap();
    quick.batch_execute(&ending(other)).await.unwrap();
    // The store cannot know that this one has no end.
    bystander
        .batch_execute("BEGIN; SELECT pg_current_xact_id()")
        .await
        .unwrap();
    assert_eq!(world.next(true).await, [other]);
    slow.batch_execute("ROLLBACK").await.unwrap();
    for _ in 0..3 {
        assert_eq!(world.next(true).await, []);
        assert_eq!(world.page(true).await.cursor.gaps.len(), 1);
    }
    bystander.batch_execute("COMMIT").await.unwrap();
    assert_eq!(world.next(true).await, []);
    assert_eq!(world.page(true).await.cursor.gaps, []);
}

/// Looks do not ask for old gaps each time, but a later end must not come before an earlier one.
#[tokio::test]
async fn the_ends_of_a_task_come_in_their_order_out_of_an_old_gap() {
    let Some(world) = World::new().await else {
        return;
    };
    let (slow, quick) = (world.session().await, world.session().await);
    let [late] = world.tasks().await;
    assert_eq!(world.next(true).await, []);
    let park = |fence: u32| {
        format!(
            "UPDATE retry_run SET state = 7, fence = {fence} WHERE id = {}",
            late.0
        )
    };
    slow.batch_execute(&format!("BEGIN; {}", park(1)))
        .await
        .unwrap();
    // More than a look without new lines asks for.
    let many = "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, fence,
             failures, max_failures, cancel_asked, input, created_at, updated_at)
         SELECT 'plain', 1, 'default', 0, 'many ' || nth, 0, 0, 0, 0, 0, 3, false, '[]', 1, 1 FROM generate_series(1, 1100) AS nth;
         UPDATE retry_run SET state = 3 WHERE idem_key LIKE 'many %'";
    quick.batch_execute(many).await.unwrap();
    assert_eq!(world.next(false).await.len(), 1_100);
    slow.batch_execute("COMMIT").await.unwrap();
    assert_eq!(world.next(false).await, [], "it asks seldom");
    let resubmit = Write::Admin(late, AdminCommand::Resubmit);
    world.store.write([resubmit].into()).await.unwrap();
    quick.batch_execute(&park(9)).await.unwrap();
    assert_eq!(world.next(false).await, [late, late]);
    assert_eq!(world.next(true).await, []);
}

#[tokio::test]
async fn a_task_that_has_ended_before_has_no_line_of_its_own_change() {
    let Some(world) = World::new().await else {
        return;
    };
    let quick = world.session().await;
    let [first, second] = world.tasks().await;
    assert_eq!(world.next(true).await, []);
    quick.batch_execute(&ending(first)).await.unwrap();
    // As a repair writes it, beside one that ends.
    let both = "UPDATE retry_run SET state = 3, error = 'late'";
    quick.batch_execute(both).await.unwrap();
    quick.batch_execute(both).await.unwrap();
    assert_eq!(world.next(true).await, [first, second]);
}

/// A reader that looks once a day would not hear of it in time otherwise.
#[tokio::test]
async fn a_reader_in_another_process_is_notified() {
    let Some(world) = World::new().await else {
        return;
    };
    let other = Postgres::connect(&world.server.url()).await.unwrap();
    let day = Duration::from_secs(86_400);
    let mut ends = Client::new(other).ends("billing").every(day);
    let reading = tokio::spawn(async move {
        for _ in 0..20 {
            ends.next().await.unwrap();
            ends.acknowledge().await.unwrap();
        }
    });
    let ending = async {
        loop {
            let [task] = world.tasks().await;
            let cancel = Write::Admin(task, AdminCommand::Cancel);
            world.store.write([cancel].into()).await.unwrap();
        }
    };
    tokio::select! {
        read = reading => read.unwrap(),
        () = ending => {}
        () = tokio::time::sleep(Duration::from_secs(60)) => panic!("it was not notified"),
    }
}

/// A writer of the random tests. Returns how often it has ended each task.
pub(crate) async fn write(
    world: &World,
    mut random: StdRng,
    tasks: Vec<TaskId>,
) -> BTreeMap<TaskId, i64> {
    let mut ends = BTreeMap::new();
    let mut session = world.session().await;
    for _ in 0..60 {
        let few: BTreeSet<_> = (0..random.random_range(1..4))
            .map(|_| tasks[random.random_range(0..tasks.len())])
            .collect();
        let few: Vec<_> = few.iter().map(|task| task.0.to_string()).collect();
        let few = few.join(",");
        // Each end has a number of its own, so that the order of a task can be checked.
        let end = format!(
            "BEGIN; SELECT FROM retry_run WHERE id IN ({few}) ORDER BY id FOR NO KEY UPDATE;
             UPDATE retry_run SET state = 0 WHERE id IN ({few});
             UPDATE retry_run SET state = 7, fence = fence + 1, error = fence + 1 WHERE id IN ({few})"
        );
        let open = session.batch_execute(&end).await;
        // It stays open while others end tasks and readers look.
        let most = [5, 5, 5, 150][random.random_range(0..4)];
        for _ in 0..random.random_range(0..most) {
            session.batch_execute("SELECT").await.unwrap();
        }
        let is_committed = match random.random_range(0..10) {
            0 => {
                // Its backend ends with it.
                let pid = session.query_one("SELECT pg_backend_pid()", &[]).await;
                let pid: i32 = pid.unwrap().get(0);
                let kill = format!("SELECT pg_terminate_backend({pid})");
                world.session().await.batch_execute(&kill).await.unwrap();
                world.kills.fetch_add(1, Ordering::SeqCst);
                session = world.session().await;
                false
            }
            1 => {
                session.batch_execute("ROLLBACK").await.unwrap();
                false
            }
            _ => session.batch_execute("COMMIT").await.is_ok(),
        };
        open.unwrap();
        if is_committed {
            for task in few.split(',') {
                *ends.entry(TaskId(task.parse().unwrap())).or_default() += 1;
            }
        }
    }
    ends
}

/// Reads until nothing is left after the writers are over. Sometimes it is killed before it acknowledges. Returns the
/// ends of each task, in the order in which it got them first.
async fn read(
    world: &World,
    name: &str,
    mut random: StdRng,
    is_over: &AtomicBool,
) -> BTreeMap<TaskId, Vec<i64>> {
    let mut got: BTreeMap<TaskId, Vec<i64>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    loop {
        let is_last = is_over.load(Ordering::SeqCst);
        let limit = random.random_range(1..20);
        let page = world
            .store
            .read_feed(name.to_owned(), limit, random.random());
        let page = page.await.unwrap();
        for end in &page.endings {
            if seen.insert(end.number) {
                let nth = end.error.as_ref().unwrap().parse().unwrap();
                got.entry(end.task).or_default().push(nth);
            }
        }
        if random.random_range(0..4) > 0 || is_last {
            let moved = world.store.move_reader(name.to_owned(), page.next, 0);
            assert!(moved.await.unwrap());
        }
        if is_last && page.endings.is_empty() {
            return got;
        }
        tokio::task::yield_now().await;
    }
}

/// Writers roll back, stay open or die at random, and so do readers before they acknowledge: each gets each end, and
/// those of a task in their order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_get_every_end_whatever_dies() {
    let Some(world) = World::new().await else {
        return;
    };
    let seed = std::env::var("FEED_SEED").ok();
    let seed: u64 = seed.map_or_else(rand::random, |seed| seed.parse().unwrap());
    println!("FEED_SEED={seed}");
    let random = |nth: u64| StdRng::seed_from_u64(seed ^ nth);
    let tasks = world.tasks::<40>().await.to_vec();
    for reader in ["one", "two", "three"] {
        let known = world.store.read_feed(reader.to_owned(), 1, true);
        known.await.unwrap();
    }
    let is_over = AtomicBool::new(false);
    let writing = async {
        let written = tokio::join!(
            write(&world, random(1), tasks.clone()),
            write(&world, random(2), tasks.clone()),
            write(&world, random(3), tasks.clone()),
            write(&world, random(4), tasks.clone()),
        );
        is_over.store(true, Ordering::SeqCst);
        let mut ends: BTreeMap<TaskId, i64> = BTreeMap::new();
        for one in [written.0, written.1, written.2, written.3] {
            for (task, count) in one {
                *ends.entry(task).or_default() += count;
            }
        }
        ends
    };
    let (ends, one, two, three) = tokio::join!(
        writing,
        read(&world, "one", random(5), &is_over),
        read(&world, "two", random(6), &is_over),
        read(&world, "three", random(7), &is_over),
    );
    // The fence counts the committed ends of a task.
    let wanted: BTreeMap<_, Vec<_>> = ends
        .into_iter()
        .map(|(task, count)| (task, (1..=count).collect()))
        .collect();
    for got in [one, two, three] {
        assert_eq!(got, wanted, "FEED_SEED={seed}");
    }
}

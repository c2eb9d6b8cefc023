//! Chaos on PostgreSQL: three workers behind proxies are killed, suspended and cut off while the
//! server restarts. The judge reads the store, and a service that refuses old fences.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::store::{Filter, Write, WriteResult};
use reattempt_supervisor::{Client, Fence, Lease, State, SubmitError, TaskId};

use crate::killer::{self, Worker};
use crate::ledger::Ledger;
use crate::proxy::{Cut, Hits, Proxy};
use crate::stores::Place;
use crate::{judge, kit, stopped, work};

/// How much of everything there is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) duration: Duration,
    pub(crate) tasks: u32,
    pub(crate) kills: u32,
    pub(crate) cuts: u32,
    pub(crate) stops: u32,
    pub(crate) restarts: u32,
}

impl Extent {
    /// Returns what four minutes have, for as many seconds.
    pub(crate) fn of(seconds: u32) -> Self {
        let share = |of_four_minutes: u32| (of_four_minutes * seconds).div_ceil(240);
        Self {
            duration: Duration::from_secs(seconds.into()),
            tasks: share(2_000),
            kills: share(150),
            cuts: share(60),
            stops: share(8),
            restarts: share(3),
        }
    }
}

/// What happens at one time.
#[derive(Debug, Clone, Copy)]
enum Blow {
    Kill,
    Cut(Cut),
    Stop,
    Restart,
}

/// How long a worker is suspended: longer than its lease.
pub(crate) const STOP: Duration = Duration::from_millis(2_500);

/// A worker, and the proxy that stays when it is killed.
struct Seat {
    proxy: Proxy,
    url: String,
    worker: Worker,
}

pub(crate) async fn run(place: &mut Place, extent: Extent, seed: u64) {
    println!("chaos with seed {seed}: {extent:?}");
    let began = Instant::now();
    let mut chance = StdRng::seed_from_u64(seed);
    let ledger = Ledger::start_slow(seed).await;
    let client = place.client().await;
    let user = place.create_user_without_termination().await;
    let hits = Arc::new(Hits::default());
    let mut seats = Vec::new();
    for _ in 0..3 {
        let proxy = Proxy::start(place.port(), Arc::clone(&hits)).await;
        let url = format!("postgres://{user}@127.0.0.1:{}/postgres", proxy.port);
        let worker = Worker::spawn_at((&place.kind, &url), &ledger).await;
        seats.push(Seat { proxy, url, worker });
    }
    let submitting = tokio::spawn(submit_all(client.clone(), extent, seed));
    let impostor = Arc::new(Impostor::default());
    let writing = tokio::spawn(Arc::clone(&impostor).write(client.clone()));
    let blows = plan(extent, &mut chance);
    let step = extent.duration / u32::try_from(blows.len()).unwrap();
    let mut stops = 0;
    let mut failures = Vec::new();
    for (nth, blow) in (1_u32..).zip(blows) {
        let at = began + step * nth;
        tokio::time::sleep(at.saturating_duration_since(Instant::now())).await;
        let seat = chance.random_range(0..seats.len());
        let seat = &mut seats[seat];
        match blow {
            Blow::Kill => {
                seat.proxy.change_process();
                let new = Worker::spawn_at((&place.kind, &seat.url), &ledger).await;
                failures.extend(std::mem::replace(&mut seat.worker, new).kill().await);
            }
            Blow::Cut(cut) => {
                let free = seats.iter_mut().find(|seat| !seat.proxy.is_armed());
                if let Some(seat) = free {
                    seat.proxy.cut(cut);
                }
            }
            Blow::Stop => {
                stopped::signal(&seat.worker, "-STOP");
                tokio::time::sleep(STOP).await;
                stopped::signal(&seat.worker, "-CONT");
                stops += 1;
            }
            Blow::Restart => place.restart(),
        }
    }
    let orders = submitting.await.unwrap();
    killer::wait_for_all(&client, &orders).await;
    writing.abort();
    for seat in seats {
        failures.extend(seat.worker.kill().await);
    }
    let found = judge::all(&client, &ledger, &orders).await;
    place.check_small_tables().await;
    let number = |hits: &AtomicU32| hits.load(Ordering::SeqCst);
    let cuts = [
        ("before the send", number(&hits.before_the_send)),
        ("late", number(&hits.late)),
        ("answer lost", number(&hits.answer_lost)),
        ("black hole", number(&hits.black_hole)),
    ];
    let late = number(&hits.late_and_rolled_back);
    let committed = hits.late_and_committed.lock().unwrap().clone();
    println!(
        "{} tasks, {} kills, {stops} stops, {} restarts, cuts {cuts:?}; {late} late transactions rolled back and {} committed, \
         {} late effects and {} writes under old fences refused; {found}; {:?}",
        orders.len(),
        extent.kills,
        extent.restarts,
        committed.len(),
        ledger.refused(),
        number(&impostor.refused),
        began.elapsed()
    );
    // What happens to workers and to the store is no failure of a task.
    judge::nobody_failed(&client, &orders).await;
    assert!(failures.is_empty(), "{failures:?}");
    let wanted = extent.cuts / 6;
    for (kind, hits) in cuts {
        assert!(
            hits >= wanted,
            "{hits} cuts `{kind}`, and {wanted} are wanted"
        );
    }
    assert!(
        committed.is_empty(),
        "late transactions took place: {committed:?}"
    );
    impostor.check();
    // Otherwise it proves nothing.
    assert!(late > 0, "no late transaction was found");
    assert!(ledger.refused() > 0, "no late effect was found");
    assert!(found.repeated() > 0, "no unknown outcome was found");
}

/// Writes for workers that have lost their tasks and do not know it: those drop their tasks in time
/// nearly always, so that their own late writes are rare.
#[derive(Default)]
struct Impostor {
    refused: AtomicU32,
    taken: Mutex<Vec<TaskId>>,
}

impl Impostor {
    fn check(&self) {
        let taken = self.taken.lock().unwrap().clone();
        assert!(
            taken.is_empty(),
            "writes under old fences took place: {taken:?}"
        );
        let refused = self.refused.load(Ordering::SeqCst);
        assert!(refused > 0, "nothing was written under an old fence");
    }

    /// Writes records under the fences before those of the tasks that run; never returns.
    async fn write(self: Arc<Self>, client: Client) {
        loop {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let filter = Filter {
                state: Some(State::Processing),
                ..Filter::default()
            };
            // The server may be down.
            let running = client.store().list(filter).await.unwrap_or_default();
            for task in running {
                let lease = Lease {
                    task: task.id,
                    fence: Fence(task.fence.0 - 1),
                };
                let late: Arc<[Write]> = Arc::new([kit::done(lease, 99, None)]);
                match client.store().write(late).await.as_deref() {
                    Ok([WriteResult::Lost]) => {
                        self.refused.fetch_add(1, Ordering::SeqCst);
                    }
                    Ok(_) => self.taken.lock().unwrap().push(task.id),
                    Err(_) => {}
                }
            }
        }
    }
}

/// Returns all blows in a random order.
fn plan(extent: Extent, chance: &mut StdRng) -> Vec<Blow> {
    let kinds = [
        Cut::BeforeTheSend,
        Cut::Late(Duration::from_secs(2)),
        Cut::AnswerLost,
        Cut::BlackHole,
    ];
    let cuts = kinds
        .iter()
        .cycle()
        .take(usize::try_from(extent.cuts).unwrap());
    let mut blows: Vec<Blow> = cuts.map(|cut| Blow::Cut(*cut)).collect();
    for (blow, count) in [
        (Blow::Kill, extent.kills),
        (Blow::Stop, extent.stops),
        (Blow::Restart, extent.restarts),
    ] {
        blows.extend((0..count).map(|_| blow));
    }
    blows.shuffle(chance);
    blows
}

/// Submits a task. It may be submitted again.
pub(crate) async fn submit(client: &Client, order: u32) -> Result<TaskId, SubmitError> {
    let key = format!("chaos {order}");
    Ok(if order % 20 == 19 {
        client.submit(work::late(order).key(key)).await?.id()
    } else if order % 50 == 18 {
        client.submit(work::slow(order).key(key)).await?.id()
    } else if is_trip(order) {
        client.submit(work::trip(order).key(key)).await?.id()
    } else {
        client.submit(work::order(order).key(key)).await?.id()
    })
}

/// Returns whether the task waits for a signal.
pub(crate) const fn is_trip(order: u32) -> bool {
    order % 2 == 1 && order % 20 != 19
}

/// Submits the tasks, and sends each trip its signal.
async fn submit_all(client: Client, extent: Extent, seed: u64) -> Vec<TaskId> {
    let mut chance = StdRng::seed_from_u64(seed ^ 1);
    let mut orders = Vec::new();
    let pause = extent.duration * 8 / 10 / extent.tasks;
    let mut signals = Vec::new();
    for order in 0..extent.tasks {
        let id = submit(&client, order).await.unwrap();
        if is_trip(order) {
            signals.push(id);
        }
        orders.push(id);
        if !signals.is_empty() && chance.random_bool(0.7) {
            let nth = chance.random_range(0..signals.len());
            let id = signals.swap_remove(nth);
            client.signal(id, "go", &order).await.unwrap();
        }
        tokio::time::sleep(pause).await;
    }
    for id in signals {
        client.signal(id, "go", &0).await.unwrap();
    }
    orders
}

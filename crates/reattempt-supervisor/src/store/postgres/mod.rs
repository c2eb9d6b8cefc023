//! A store that several machines share: PostgreSQL. It uses the time of the server.

mod bell;
mod calls;
mod columns;
mod commands;
mod connection;
mod feed;
mod forks;
mod gaps;
mod generations;
mod lane_limits;
mod lines;
mod link;
mod pipeline;
mod places;
mod plan;
mod prepared;
mod queue_limits;
mod queues;
mod repair;
mod results;
mod rows;
mod schedules;
mod schema;
mod sql;
mod sqlstate;
mod statement;
mod sweep;
mod whole;
mod write;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_postgres::tls::{MakeTlsConnect, NoTls, TlsConnect};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Socket};

use super::{
    AgentCall, CallStatus, Claim, ErrorKind, FeedCursor, FeedPage, Filter, HeldTask, NextOffer,
    Page, QueueStatus, Reclaimed, Salt, Schedules, Store, StoreError, StoreFuture, Submitted,
    Sweep, TaskLimit, UnknownWorkflow, Wake, Write, WriteResult, page,
};
use crate::store::limits::Limits;
use crate::store::rows::{Row as _, read};
use crate::store::tables;
use crate::task::{
    FailingStep, Lease, OperatorNote, Record, RecordKind, RunningStep, Signal, State, Task, TaskId,
    WorkerId,
};
use crate::time::Time;
use bell::Bell;
use columns::Columns as _;
use columns::micros;
use connection::{Connector, Live, costs_the_connection};
use lines::Lines;
use link::{InUse, Link, Need, Shared, UNUSED};
use pipeline::Sent;
use places::{Level, Place, Places};
use queue_limits::LimitedQueues;
pub(crate) use sqlstate::error_of_state;
use sqlstate::store_error;

/// How often a process looks for connections that nothing needs.
const RESTED_EVERY: Duration = Duration::from_secs(2);

/// The bytes and the items of a page, and the bytes of an item besides its texts.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_wrap,
    reason = "small numbers, in a constant"
)]
const PAGE: [i64; 3] = [
    page::BYTES as i64,
    page::ITEMS as i64,
    page::OVERHEAD as i64,
];

/// Tasks in a PostgreSQL database.
///
/// The names of its tables start with `retry_`. They are in the first schema of the `search_path`,
/// so your application can have tables of its own in the same database: see
/// [`transaction`](crate::transaction).
///
/// It has one connection as long as there is nothing to do, on which it also hears of other processes. With work it
/// opens up to seven more: for writes of workers, for writes that may wait, for heartbeats, for reads, for lists of
/// tasks, and two for supervisors; with agents one more. It closes those that nothing needs for 10 s. It replaces a connection that is
/// lost, or on which an answer does not come within a quarter of the shortest lease in this process, at most 2.5 s.
#[derive(Debug)]
pub struct Postgres {
    links: Arc<Links>,
    connector: Connector,
    limits: Arc<Limits>,
    sweeper: Mutex<Sweeper>,
    bell: Bell,
    salt: Salt,
    /// Whether this process has claimed a task that is in a lane.
    has_lanes: AtomicBool,
    lines: Lines,
    limited: LimitedQueues,
    /// Whether lanes may have rates, as far as this process knows.
    has_lane_rates: AtomicBool,
    places: Arc<Places>,
    /// Whether this process has seen in its last sweep that the time of a schedule has come.
    has_due: AtomicBool,
    _resting: JoinSet<()>,
}

/// The connections of a process, by purpose.
#[derive(Debug)]
struct Links {
    writer: Link,
    /// For writes that may wait for an application or an operator.
    patient_writer: Link,
    beats: Link,
    reader: Arc<Link>,
    /// For reads of operators, which may take long.
    lister: Link,
    /// For what supervisors look at.
    looks: Link,
    /// For calls of agents, whose locks nothing else should wait for.
    calls: Link,
}

impl Links {
    /// Closes those that nothing needs, again and again.
    async fn rest(self: Arc<Self>) {
        loop {
            tokio::time::sleep(RESTED_EVERY).await;
            for link in [
                &self.writer,
                &self.patient_writer,
                &self.beats,
                &self.reader,
                &self.lister,
                &self.looks,
                &self.calls,
            ] {
                link.rest();
            }
        }
    }
}

impl Postgres {
    /// Connects without TLS, to a URL such as `postgres://user:password@host/database`, and creates
    /// the tables if they are missing. Any number of processes may do so at the same time.
    ///
    /// # Errors
    ///
    /// Fails if the URL is invalid, if the server cannot be reached or refuses the user, or if the
    /// tables come from a newer release, or from a development version before the first one.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let config: Config = url.parse().map_err(store_error)?;
        Self::connect_with(config, NoTls).await
    }

    /// Connects with TLS: `tls` is a connector, for example that of `postgres-native-tls` or
    /// `tokio-postgres-rustls`.
    ///
    /// # Errors
    ///
    /// Fails as [`connect`](Self::connect) does, or if TLS fails.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub async fn connect_with<T>(config: Config, tls: T) -> Result<Self, StoreError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connector = Connector::new(config, tls);
        let limits = Arc::new(Limits::new());
        let mut first = Live::open(&connector, &limits, &[]).await?;
        let salt = schema::create(&mut first.client).await?;
        let shared = Shared::default();
        let link = |statements: &[_]| Link::new(&connector, &limits, &shared, statements.to_vec());
        let writes = [prepared::WRITES, &commands::statements()].concat();
        let links = Arc::new(Links {
            writer: link(&writes).of_a_writer(),
            patient_writer: link(&writes).of_a_writer(),
            beats: link(prepared::BEATS),
            reader: Arc::new(link(prepared::READS)),
            lister: link(&[]),
            looks: link(sweep::LOOKS),
            calls: link(calls::STATEMENTS),
        });
        let places = Arc::new(Places::default());
        let bell = Bell::new(&connector, &limits, (&shared, &links.reader), &places);
        let mut resting = JoinSet::new();
        resting.spawn(Arc::clone(&links).rest());
        Ok(Self {
            links,
            sweeper: Mutex::default(),
            bell,
            connector,
            limits,
            salt,
            has_lanes: AtomicBool::new(false),
            lines: Lines::default(),
            limited: LimitedQueues::default(),
            has_lane_rates: AtomicBool::new(false),
            places,
            has_due: AtomicBool::new(false),
            _resting: resting,
        })
    }
}

impl Postgres {
    /// Carries out writes on a connection, and waits for locks at most so long.
    async fn write_on(
        &self,
        link: &Link,
        writes: &[Write],
        lock_limit: Duration,
    ) -> Result<Vec<WriteResult>, StoreError> {
        let is_look = writes.iter().all(|write| matches!(write, Write::Claim(_)));
        // A process without work sends nothing but claims, and needs no second connection for them.
        let need = if is_look { Need::Look } else { Need::Work };
        let live = link.live(need).await?;
        let has_lanes = self.has_lanes.load(Ordering::Relaxed);
        for write in writes {
            // Already now: the plain claim leaves queues with limits out, so this process would
            // take nothing from the queue until its next heartbeat.
            match write {
                Write::LimitQueue(queue, _) => self.limited.add(queue),
                Write::LimitLanes(..) => self.has_lane_rates.store(true, Ordering::Relaxed),
                _ => {}
            }
        }
        self.lines.follow(writes);
        let lines = self.lines.ended_by(writes);
        let known = write::Known {
            has_lanes,
            ended: &lines,
            limited: &self.limited,
            places: &self.places,
        };
        let writing = write::write_all(&live, writes, known, lock_limit);
        let written = match link.limited(&live, writing).await {
            Err(error) if error.kind() == ErrorKind::Locked => {
                // Asked only now, because `NOWAIT` would fail too often: workers that end children
                // of one parent meet at its lock all the time, and briefly.
                let tasks = link
                    .limited(&live, write::locked_tasks(&live, writes))
                    .await;
                return Err(error.with_locked(tasks?));
            }
            Err(error) if costs_the_connection(&error) => {
                // It may have stored something.
                self.places.take_back(Time::default());
                return Err(error);
            }
            written => written?,
        };
        let results = written.results;
        if !has_lanes && results.iter().any(has_claimed_from_a_lane) {
            self.has_lanes.store(true, Ordering::Relaxed);
        }
        // Not before: a write of unknown outcome is repeated, and must remove the lines then.
        self.lines.remove(&lines);
        if let Some(is_held_back) = is_held_back(&results) {
            self.bell.set_held_back(is_held_back);
        }
        let pairs = results.iter().zip(writes);
        let ended = pairs.flat_map(|(result, write)| write.ended(result));
        self.bell.ring_ends(ended);
        if let Some(began) = written.began {
            let since = earliest(began, writes);
            if written.ends_child || writes.iter().any(Write::may_add_work) {
                self.places.take_back(since);
            }
            // A notification costs a commit, so what this transaction has claimed itself is not
            // reported.
            let mut pairs = results.iter().zip(writes);
            let adds_work = pairs.any(|pair| adds_work(pair) && !is_taken(pair.0, &results));
            if written.ends_child || adds_work {
                self.bell.ring(since);
            }
        }
        // The trigger does not notify: a notification in the transaction lets commits wait for each
        // other.
        if written.ends_child {
            self.bell.ring_here();
        }
        self.open_lanes((link, &live), &results).await;
        Ok(results)
    }

    /// Gives the next turns of lanes with a rate of which tasks were claimed.
    async fn open_lanes(&self, (link, live): (&Link, &InUse), results: &[WriteResult]) {
        let lanes = lane_limits::of_claims(results);
        if lanes.is_empty() || !self.has_lane_rates.load(Ordering::Relaxed) {
            return;
        }
        let values: [&(dyn ToSql + Sync); 1] = [&lanes];
        // On the connection of the claim: the shared one may be busy.
        let opening = link.limited(live, async {
            let opened = live.alone(Box::pin(live.query(lane_limits::OPEN, &values)));
            opened.await.map_err(store_error)
        });
        // After an error the next turns come when tasks of the lanes end.
        let Ok(rows) = opening.await else { return };
        if let Some(at) = lane_limits::given_at(&rows) {
            self.places.take_back(at);
            self.bell.ring_here();
        }
    }

    /// Reclaims expired tasks.
    async fn reclaim(
        &self,
        sweeper: &mut Sweeper,
        sweep: &Sweep,
    ) -> Result<Vec<Reclaimed>, StoreError> {
        let mut live = match sweeper.live.take().filter(|live| !live.is_over()) {
            Some(live) => live,
            None => Live::open(&self.connector, &self.limits, sweep::SWEEPS).await?,
        };
        let reclaiming = sweep::reclaim_all(&mut live, sweep);
        let reclaimed = self.limits.limited(reclaiming).await;
        match &reclaimed {
            Err(error) if costs_the_connection(error) => live.close(),
            _ => {
                sweeper.live = Some(live);
                sweeper.used = Some(Instant::now());
            }
        }
        let (began, reclaimed) = reclaimed?;
        let parked = reclaimed.iter().filter(|task| task.state.is_final());
        self.bell.ring_ends(parked.map(|reclaimed| reclaimed.task));
        if !reclaimed.is_empty() {
            self.places.take_back(began);
            self.bell.ring(began);
        }
        Ok(reclaimed)
    }

    /// Looks at calls of agents that are due, if there are any.
    async fn look_at_calls(&self, has_calls: bool) -> Result<(), StoreError> {
        if has_calls && let Some(began) = calls::look(&self.links.calls).await? {
            self.places.take_back(began);
            self.bell.ring(began);
            self.bell.ring_here();
        }
        Ok(())
    }

    /// Reports the first tasks that a look with this pause behind it has found. Without such a look, looks for them
    /// if it is time.
    async fn report_first(
        &self,
        rhythm: &mut whole::Rhythm,
        found: Option<(Vec<(Level, Place)>, Duration)>,
        every: Duration,
    ) -> Result<(), StoreError> {
        let (first, pause) = match found {
            Some(found) => found,
            None if rhythm.is_due() => {
                let began = Instant::now();
                let first = whole::look(&self.links.looks).await;
                let pause = rhythm.note(began);
                (first?, pause)
            }
            None => return Ok(()),
        };
        let own = (&*self.places, self.bell.name());
        if whole::report(rhythm, &self.links.looks, own, &first, pause.max(every)).await? {
            self.bell.ring_here();
        }
        Ok(())
    }
}

impl Store for Postgres {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        Box::pin(async move {
            // On the connection of heartbeats: the records of these steps may wait in the writer,
            // and the supervisors must learn meanwhile that the steps have ended.
            if let [Write::Running { started, ended }] = &*writes
                && started.is_empty()
            {
                self.lines.follow(&writes);
                let ended = columns::Ended::of(ended);
                self.links
                    .beats
                    .query(Need::Work, sql::ENDED, &ended.values())
                    .await?;
                return Ok(vec![WriteResult::Done]);
            }
            // No write of a worker is among them, so they may wait where none waits with them.
            if writes.iter().all(Write::may_wait_for_others) {
                return self.write_apart(writes).await;
            }
            self.write_on(&self.links.writer, &writes, write::LOCK_LIMIT)
                .await
        })
    }

    fn write_apart(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        Box::pin(async move {
            self.write_on(&self.links.patient_writer, &writes, write::PATIENCE)
                .await
        })
    }

    fn settle(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.links.writer.settle().await?;
            self.links.patient_writer.settle().await
        })
    }

    fn heartbeat(
        &self,
        worker: WorkerId,
        lease: Duration,
        known: Option<Vec<TaskId>>,
    ) -> StoreFuture<'_, Vec<HeldTask>> {
        Box::pin(async move {
            self.limits.set_lease(lease);
            let runs = known.as_ref().is_some_and(|known| !known.is_empty());
            // A heartbeat of a worker with tasks must not wait for the shared connection.
            let need = if runs { Need::Work } else { Need::Look };
            let known = known.map(|known| known.iter().map(|task| task.0).collect::<Vec<_>>());
            let values: [&(dyn ToSql + Sync); 3] = [&worker.0, &micros(lease), &known];
            let rows = self.links.beats.query(need, sql::BEAT, &values).await?;
            let Some((last, held)) = rows.split_last() else {
                return Ok(Vec::new());
            };
            self.limited.set(last.get("limited"));
            self.has_lane_rates
                .store(last.get("has_lane_rates"), Ordering::Relaxed);
            Ok(held.iter().map(rows::held_of).collect())
        })
    }

    fn sweep(&self, sweep: Sweep) -> StoreFuture<'_, Vec<Reclaimed>> {
        Box::pin(async move {
            let mut sweeper = self.sweeper.lock().await;
            let began = Instant::now();
            sweeper.rest();
            // One statement for both, unless the whole look is slow: it would delay what has
            // expired.
            let with_first = sweeper.rhythm.is_due() && sweeper.rhythm.is_quick();
            let seen = sweep::look(&self.links.looks, &sweep, with_first).await;
            // Also if it came too late: then the next one leaves the first tasks out.
            let has_looked = with_first && !matches!(seen, Ok(None));
            let pause = has_looked.then(|| sweeper.rhythm.note(began));
            let seen = seen?;
            self.has_due.store(
                seen.as_ref().is_some_and(|seen| seen.has_due),
                Ordering::Relaxed,
            );
            let Some(seen) = seen else {
                return Ok(Vec::new());
            };
            let mut reclaimed = Vec::new();
            if seen.has_work {
                reclaimed = self.reclaim(&mut sweeper, &sweep).await?;
            }
            // Later: a row that an agent has spoilt, or holds, keeps no task from another worker.
            let looked = self.look_at_calls(seen.has_calls).await;
            let reported = self
                .report_first(&mut sweeper.rhythm, seen.first.zip(pause), sweep.every)
                .await;
            // What it has reclaimed counts, also if the store fails from there on.
            match looked.and(reported) {
                Err(error) if reclaimed.is_empty() => Err(error),
                _ => Ok(reclaimed),
            }
        })
    }

    fn task(&self, id: TaskId) -> StoreFuture<'_, Option<Task>> {
        Box::pin(async move {
            let rows = self
                .links
                .reader
                .query(Need::Work, sql::RUN, &[&id.0])
                .await?;
            rows.first().map(rows::task_of).transpose()
        })
    }

    fn history(&self, id: TaskId) -> StoreFuture<'_, Vec<Record>> {
        Box::pin(async move {
            let rows = self
                .links
                .reader
                .query(Need::Work, sql::HISTORY, &[&id.0])
                .await?;
            rows.iter().map(read).collect()
        })
    }

    fn failures(&self, id: TaskId) -> StoreFuture<'_, Vec<FailingStep>> {
        Box::pin(async move {
            let rows = self
                .links
                .reader
                .query(Need::Work, sql::FAILURES, &[&id.0])
                .await?;
            rows.iter().map(read).collect()
        })
    }

    fn running(&self, id: TaskId) -> StoreFuture<'_, Vec<RunningStep>> {
        Box::pin(async move {
            let rows = self
                .links
                .reader
                .query(Need::Work, sql::RUNNING_STEPS, &[&id.0])
                .await?;
            rows.iter().map(read).collect()
        })
    }

    fn notes(&self, id: TaskId) -> StoreFuture<'_, Vec<OperatorNote>> {
        Box::pin(async move {
            let rows = self
                .links
                .reader
                .query(Need::Work, sql::NOTES, &[&id.0])
                .await?;
            rows.iter().map(read).collect()
        })
    }

    fn signals(&self, id: TaskId) -> StoreFuture<'_, Vec<Signal>> {
        Box::pin(async move {
            let rows = self
                .links
                .reader
                .query(Need::Work, sql::SIGNALS, &[&id.0])
                .await?;
            rows.iter().map(read).collect()
        })
    }

    fn history_page(
        &self,
        id: TaskId,
        after: Option<(i32, RecordKind)>,
    ) -> StoreFuture<'_, Option<Page<Record>>> {
        Box::pin(async move {
            let (seq, kind) = after.map_or((i32::MIN, 0), |(seq, kind)| (seq, kind.number()));
            let [bytes, items, overhead] = PAGE;
            let values: [&(dyn ToSql + Sync); 6] = [&id.0, &seq, &kind, &bytes, &items, &overhead];
            let rows = self
                .links
                .reader
                .query(Need::Work, sql::HISTORY_PAGE, &values)
                .await?;
            rows::page_of(&rows)
        })
    }

    fn signals_page(&self, id: TaskId, after: i64) -> StoreFuture<'_, Option<Page<Signal>>> {
        Box::pin(async move {
            let [bytes, items, overhead] = PAGE;
            let values: [&(dyn ToSql + Sync); 5] = [&id.0, &after, &bytes, &items, &overhead];
            let rows = self
                .links
                .reader
                .query(Need::Work, sql::SIGNALS_PAGE, &values)
                .await?;
            rows::page_of(&rows)
        })
    }

    fn list(&self, filter: Filter) -> StoreFuture<'_, Vec<Task>> {
        Box::pin(async move {
            let live = self.links.lister.live(Need::Work).await?;
            let before = filter.before.map_or(i64::MAX, |before| before.0);
            let limit = i64::from(filter.bound());
            let sql = rows::list_sql(&filter);
            let header = filter.header.as_ref();
            let header =
                header.map(|(name, value)| (rows::header_text(name), rows::header_text(value)));
            let (name, value) = header.unzip();
            let since = filter.since.map(Time::as_micros);
            let until = filter.until.map(Time::as_micros);
            let ended_since = filter.ended_since.map(Time::as_micros);
            let ended_until = filter.ended_until.map(Time::as_micros);
            let values: [&(dyn ToSql + Sync); 12] = [
                &before,
                &filter.workflow,
                &filter.queue,
                &limit,
                &filter.key,
                &name,
                &value,
                &filter.error,
                &since,
                &until,
                &ended_since,
                &ended_until,
            ];
            let listing = async {
                // The text has the state, without which the planner does not use the index of the
                // small table. So there is no statement that could be prepared before.
                let statement = live.client.prepare(&sql).await.map_err(store_error)?;
                let list: Sent<'_> = Box::pin(live.client.query(&statement, &values));
                live.alone(list).await.map_err(store_error)
            };
            let rows = self.links.lister.limited(&live, listing).await?;
            rows.iter().map(rows::task_of).collect()
        })
    }

    fn counts(&self) -> StoreFuture<'_, Vec<(State, u64)>> {
        Box::pin(async move {
            let rows = self
                .links
                .reader
                .query(Need::Work, queues::COUNTS, &[])
                .await?;
            let count = |row: &tokio_postgres::Row| {
                Ok((row.cell(0)?, row.get::<_, i64>(1).cast_unsigned()))
            };
            rows.iter().map(count).collect()
        })
    }

    fn queues(&self) -> StoreFuture<'_, Vec<QueueStatus>> {
        Box::pin(async move {
            let rows = self
                .links
                .reader
                .query(Need::Look, queues::QUEUES, &[])
                .await?;
            Ok(rows.iter().map(queues::status_of).collect())
        })
    }

    fn lane_limits(&self) -> StoreFuture<'_, BTreeMap<String, TaskLimit>> {
        Box::pin(async move {
            let reading = self.links.reader.query(Need::Work, lane_limits::ALL, &[]);
            Ok(lane_limits::of_rows(&reading.await?))
        })
    }

    fn oldest_snapshot(&self) -> StoreFuture<'_, Option<Duration>> {
        Box::pin(async move {
            let oldest = self
                .links
                .reader
                .query(Need::Look, queues::OLDEST_SNAPSHOT, &[]);
            let rows = oldest.await?;
            let micros = rows.first().map_or(0, |row| row.get(0));
            Ok(Some(Time::from_micros(micros).since(Time::default())))
        })
    }

    fn unknown_workflows(
        &self,
        queues: Vec<String>,
        known: Vec<(String, i32)>,
        waited: Duration,
    ) -> StoreFuture<'_, Vec<UnknownWorkflow>> {
        Box::pin(async move {
            let (workflows, versions) = columns::of_workflows(&known);
            let waited = micros(waited);
            let values: [&(dyn ToSql + Sync); 4] = [&queues, &workflows, &versions, &waited];
            let rows = self
                .links
                .reader
                .query(Need::Look, sql::UNKNOWN, &values)
                .await?;
            Ok(rows.iter().map(rows::unknown_of).collect())
        })
    }

    fn schedules(&self, due: Option<u32>) -> StoreFuture<'_, Schedules> {
        Box::pin(async move {
            let rows = match due {
                None => {
                    self.links
                        .reader
                        .query(Need::Work, schedules::ALL, &[])
                        .await?
                }
                Some(limit) => {
                    let limit = i64::from(limit);
                    self.links
                        .reader
                        .query(Need::Look, schedules::DUE, &[&limit])
                        .await?
                }
            };
            schedules::schedules_of(&rows)
        })
    }

    fn read_feed(&self, reader: String, limit: u32, old_gaps: bool) -> StoreFuture<'_, FeedPage> {
        Box::pin(async move { feed::read(&self.links.reader, &reader, limit, old_gaps).await })
    }

    fn move_reader(&self, reader: String, to: FeedCursor, reported: u64) -> StoreFuture<'_, bool> {
        Box::pin(async move { feed::move_reader(&self.links.reader, &reader, &to, reported).await })
    }

    fn wait_for_ends(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.bell.wait_for_ends())
    }

    fn repair(&self) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            // A slow repair must not double the limits of the other connections.
            let limits = Arc::new(self.limits.of_another_connection());
            let repaired = repair::repair_all(&self.connector, &limits).await?;
            // The tasks may have been ready for long.
            if repaired > 0 {
                self.places.take_back(Time::default());
                self.bell.ring(Time::default());
            }
            Ok(repaired)
        })
    }

    fn renew(&self) -> StoreFuture<'_, bool> {
        Box::pin(async {
            let live = self.links.lister.live(Need::Work).await?;
            let renewal = tables::renewal(Salt::random(), sql::now!());
            let renewed = live.client.execute(&renewal, &[]).await;
            renewed.map(|rows| rows > 0).map_err(store_error)
        })
    }

    fn offer_call(&self, call: AgentCall) -> StoreFuture<'_, Option<CallStatus>> {
        Box::pin(async move { calls::offer(&self.links.calls, &call).await })
    }

    fn raise_attempt(
        &self,
        lease: Lease,
        seq: i32,
        seen: CallStatus,
        next: NextOffer,
    ) -> StoreFuture<'_, bool> {
        Box::pin(async move { calls::raise(&self.links.calls, lease, seq, &seen, next).await })
    }

    fn withdraw_calls(&self, lease: Lease) -> StoreFuture<'_, ()> {
        Box::pin(async move { calls::withdraw(&self.links.calls, lease).await })
    }

    fn quiet_until(&self, claim: &Claim) -> Option<Instant> {
        self.places.quiet_until(claim)
    }

    fn may_have_due_schedules(&self) -> bool {
        self.has_due.load(Ordering::Relaxed)
    }

    fn may_have_suspects(&self) -> bool {
        self.places.may_have_suspects()
    }

    fn wait_for_work(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.bell.wait())
    }

    fn wait_for_end(&self, task: TaskId) -> Option<Pin<Box<dyn Future<Output = ()> + Send + '_>>> {
        let can_hear = self.places.can_hear();
        // Without notifications the caller looks at short intervals instead.
        can_hear.then(|| -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
            Box::pin(self.bell.wait_for_end(task))
        })
    }

    fn salt(&self) -> Salt {
        self.salt
    }
}

/// What sweeps share.
#[derive(Debug, Default)]
struct Sweeper {
    /// The connection with which tasks are reclaimed.
    live: Option<Live>,
    used: Option<Instant>,
    rhythm: whole::Rhythm,
}

impl Sweeper {
    /// Closes the connection if nothing has needed it for a while.
    fn rest(&mut self) {
        let is_needed = self.used.is_some_and(|used| used.elapsed() < UNUSED);
        self.live = self.live.take().filter(|_| is_needed);
    }
}

/// Returns when the first of the tasks wakes up that a transaction may have stored.
fn earliest(began: Time, writes: &[Write]) -> Time {
    let times = writes.iter().filter_map(|write| match write {
        Write::Change(_, change) => match change.wake {
            Wake::At(at, _) | Wake::Children { at, .. } => Some(at),
            Wake::In(_) => None,
        },
        _ => None,
    });
    times.min().map_or(began, |time| time.min(began))
}

fn has_claimed_from_a_lane(result: &WriteResult) -> bool {
    match result {
        WriteResult::Claimed(claimed, _) => claimed.iter().any(|one| one.task.lane.is_some()),
        _ => false,
    }
}

/// Returns whether the limit of a queue has held back a claim; `None` if there was no claim.
fn is_held_back(results: &[WriteResult]) -> Option<bool> {
    let claims = results.iter().filter_map(|result| match result {
        WriteResult::Claimed(_, again) => Some(again.is_some()),
        _ => None,
    });
    claims.max()
}

/// Returns whether other processes may find something to claim after a write.
fn adds_work((result, write): (&WriteResult, &Write)) -> bool {
    match (write, result) {
        (
            _,
            WriteResult::Lost
            | WriteResult::QueueFull
            | WriteResult::KeyTaken(_)
            | WriteResult::Scheduled(false)
            | WriteResult::Submitted(Submitted { is_new: false, .. }),
        ) => false,
        (Write::Change(_, change), _) => change.state == State::Pending,
        _ => write.may_add_work(),
    }
}

/// Returns whether a claim of the same transaction has taken a submitted task: a notification costs
/// a commit.
fn is_taken(result: &WriteResult, results: &[WriteResult]) -> bool {
    let WriteResult::Submitted(Submitted { id, .. }) = result else {
        return false;
    };
    let mut others = results.iter();
    others.any(|other| match other {
        WriteResult::Claimed(claimed, _) => claimed.iter().any(|claimed| claimed.task.id == *id),
        _ => false,
    })
}

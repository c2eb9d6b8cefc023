//! A store whose payloads are encrypted or compressed.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use tokio::time::Instant;

use super::{
    AdminCommand, Claim, FeedCursor, FeedPage, Filter, HeldTask, Page, QueueStatus, Reclaimed,
    Resolution, Salt, ScheduleWrite, Schedules, Store, StoreError, StoreFuture, Submitted, Sweep,
    TaskLimit, UnknownWorkflow, Verdict, Write, WriteResult, panic_text,
};
use crate::task::{
    FailingStep, Lease, NewTask, OperatorNote, Record, RecordKind, RunningStep, Signal, State,
    Task, TaskId, WorkerId,
};

/// The first character of an encoded text. No JSON starts with it, so what was stored before there was
/// a codec is read as it is.
const MARK: char = '~';

/// Encodes payloads before they are stored: encryption, compression, or both.
///
/// Arguments, results and signals are payloads. Names, keys, headers, times, and the texts of errors
/// are not: operators read them, and search in them.
///
/// # Examples
///
/// ```
/// use reattempt_supervisor::store::{Encoded, PayloadCodec};
/// use reattempt_supervisor::{Client, Memory};
///
/// /// Hides nothing; `examples/services/encryption.rs` encrypts.
/// struct Reversed;
///
/// impl PayloadCodec for Reversed {
///     fn encode(&self, json: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
///         Ok(json.iter().rev().copied().collect())
///     }
///
///     fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
///         self.encode(bytes)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let client = Client::new(Encoded::new(Memory::new(), Reversed));
/// # drop(client);
/// # }
/// ```
pub trait PayloadCodec: Send + Sync + 'static {
    /// Encodes a payload. Two results for one payload may differ.
    ///
    /// # Errors
    ///
    /// If it fails or panics, the payload is not stored: submitting fails, or the task is parked.
    fn encode(&self, json: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>>;

    /// Decodes a payload that this codec has encoded, perhaps years ago: keep old keys.
    ///
    /// # Errors
    ///
    /// If it fails or panics, the payload stays as it is, so a task that needs it is parked.
    fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>>;
}

type CodecResult = Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>>;

/// The codec of a store, for what is stored in transactions of the application.
#[derive(Clone)]
pub struct SharedCodec(Arc<dyn PayloadCodec>);

impl fmt::Debug for SharedCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedCodec")
    }
}

impl SharedCodec {
    /// Returns the text that the store keeps.
    pub(crate) fn encode(&self, json: &str) -> Result<String, StoreError> {
        let bytes = caught(|| self.0.encode(json.as_bytes())).map_err(|error| {
            StoreError::lasting("the codec cannot encode a payload").because(error)
        })?;
        Ok(format!("{MARK}{}", STANDARD_NO_PAD.encode(bytes)))
    }

    /// Returns the JSON of a stored text.
    pub(crate) fn decode(&self, text: String) -> String {
        let decoded = text.strip_prefix(MARK).and_then(|encoded| {
            let bytes = STANDARD_NO_PAD.decode(encoded).ok()?;
            String::from_utf8(caught(|| self.0.decode(&bytes)).ok()?).ok()
        });
        // A text that cannot be decoded stays as it is: a list is not lost because of one row, and
        // a task that needs the value is parked.
        decoded.unwrap_or(text)
    }

    fn encode_optional(&self, json: Option<&String>) -> Result<Option<String>, StoreError> {
        json.map(|json| self.encode(json)).transpose()
    }

    pub(crate) fn encode_task(&self, new: &NewTask) -> Result<NewTask, StoreError> {
        Ok(NewTask {
            input: self.encode(&new.input)?,
            ..new.clone()
        })
    }

    pub(crate) fn encode_record(&self, record: &Record) -> Result<Record, StoreError> {
        Ok(Record {
            result: self.encode_optional(record.result.as_ref())?,
            args: self.encode_optional(record.args.as_ref())?,
            ..record.clone()
        })
    }

    fn encode_command(&self, command: &AdminCommand) -> Result<AdminCommand, StoreError> {
        Ok(match command {
            AdminCommand::Resolve(resolution) => AdminCommand::Resolve(Resolution {
                verdict: match resolution.verdict.result() {
                    Some(result) => Verdict::Done(self.encode(result)?),
                    None => resolution.verdict.clone(),
                },
                ..resolution.clone()
            }),
            AdminCommand::Signed { command, by, why } => AdminCommand::Signed {
                command: Box::new(self.encode_command(command)?),
                by: by.clone(),
                why: why.clone(),
            },
            other => other.clone(),
        })
    }

    fn encode_write(&self, write: &Write) -> Result<Write, StoreError> {
        Ok(match write {
            Write::Submit(new) => Write::Submit(Box::new(self.encode_task(new)?)),
            Write::Fork(fork) => {
                let mut fork = fork.clone();
                fork.new = self.encode_task(&fork.new)?;
                Write::Fork(fork)
            }
            Write::Record(lease, record) => {
                Write::Record(*lease, Box::new(self.encode_record(record)?))
            }
            Write::Start(lease, record, new) => Write::Start(
                *lease,
                Box::new(self.encode_record(record)?),
                Box::new(self.encode_task(new)?),
            ),
            Write::Signal {
                task,
                name,
                payload,
                nonce,
            } => Write::Signal {
                task: *task,
                name: name.clone(),
                payload: self.encode(payload)?,
                nonce: *nonce,
            },
            Write::Schedule(write) => {
                let mut schedule = write.schedule.clone();
                // The template has the arguments of all tasks of the schedule.
                schedule.task = self.encode(&schedule.task)?;
                let tasks = write.tasks.iter().map(|new| self.encode_task(new));
                let tasks = tasks.collect::<Result<_, _>>()?;
                Write::Schedule(Box::new(ScheduleWrite { schedule, tasks }))
            }
            Write::Admin(task, command) => Write::Admin(*task, self.encode_command(command)?),
            Write::Continue(lease, next) => {
                let mut next = next.clone();
                next.input = self.encode(&next.input)?;
                Write::Continue(*lease, next)
            }
            other => other.clone(),
        })
    }

    fn decode_task(&self, mut task: Task) -> Task {
        task.input = self.decode(task.input);
        task.output = task.output.map(|text| self.decode(text));
        task
    }

    fn decode_record(&self, mut record: Record) -> Record {
        record.result = record.result.map(|text| self.decode(text));
        record.args = record.args.map(|text| self.decode(text));
        record
    }

    fn decode_signal(&self, mut signal: Signal) -> Signal {
        signal.payload = self.decode(signal.payload);
        signal
    }
}

/// Runs code of a codec. A panic counts as an error: it must not end the writer, whose other writes
/// would never be carried out.
fn caught(run: impl FnOnce() -> CodecResult) -> CodecResult {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|panic| Err(format!("it panicked: {}", panic_text(&*panic)).into()))
}

/// A store that keeps payloads encoded. What was stored without a codec is read as it is, so a store
/// may get one while it is in use; all processes of the store need it then.
#[derive(Debug)]
pub struct Encoded<S> {
    store: S,
    codec: SharedCodec,
    /// The results of workflows whose change has no answer yet, and their encodings: a store knows a
    /// repeated change by its text.
    unanswered: Mutex<HashMap<Lease, (String, String)>>,
}

impl<S: Store> Encoded<S> {
    /// Puts a codec before a store.
    pub fn new(store: S, codec: impl PayloadCodec) -> Self {
        Self {
            store,
            codec: SharedCodec(Arc::new(codec)),
            unanswered: Mutex::default(),
        }
    }

    fn unanswered(&self) -> MutexGuard<'_, HashMap<Lease, (String, String)>> {
        self.unanswered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn encode(&self, write: &Write) -> Result<Write, StoreError> {
        let Write::Change(lease, change) = write else {
            return self.codec.encode_write(write);
        };
        let mut change = change.clone();
        if let Some(output) = &change.output {
            let mut unanswered = self.unanswered();
            // Two encodings of one value may differ, and the store takes a repeated change for
            // another one if its text differs.
            let known = unanswered.get(lease).filter(|(plain, _)| plain == output);
            let encoded = match known {
                Some((_, encoded)) => encoded.clone(),
                None => self.codec.encode(output)?,
            };
            unanswered.insert(*lease, (output.clone(), encoded.clone()));
            change.output = Some(encoded);
        }
        Ok(Write::Change(*lease, change))
    }

    /// Compares the arguments of a submission with those of the task that was there before: two
    /// encodings of the same may differ.
    async fn compare(&self, earlier: Submitted, new: &NewTask) -> Result<Submitted, StoreError> {
        match self.store.task(earlier.id).await? {
            Some(old) => {
                let version = old.version_of_input();
                let input = self.codec.decode(old.input);
                Ok(Submitted::earlier(earlier.id, version, &input, new))
            }
            None => Ok(earlier),
        }
    }

    /// Carries out writes with encoded payloads.
    fn write_by<'a>(
        &'a self,
        writes: Arc<[Write]>,
        write: impl FnOnce(&'a S, Arc<[Write]>) -> StoreFuture<'a, Vec<WriteResult>> + Send + 'a,
    ) -> StoreFuture<'a, Vec<WriteResult>> {
        Box::pin(async move {
            // Nothing is written if one payload cannot be encoded: the writer then carries out each
            // write alone.
            let encoded: Result<Vec<_>, _> =
                writes.iter().map(|write| self.encode(write)).collect();
            let result = write(&self.store, encoded?.into()).await;
            // After a passing error the writer repeats the change, and needs the same encoding
            // then.
            if !matches!(&result, Err(error) if error.is_passing()) {
                let mut unanswered = self.unanswered();
                for write in &*writes {
                    if let Write::Change(lease, _) = write {
                        unanswered.remove(lease);
                    }
                }
            }
            let mut results = result?;
            for (result, write) in results.iter_mut().zip(&*writes) {
                match (result, write) {
                    (WriteResult::Claimed(claimed, _), _) => {
                        for claimed in claimed {
                            claimed.task = self.codec.decode_task(claimed.task.clone());
                        }
                    }
                    (WriteResult::Submitted(submitted), Write::Submit(new))
                        if submitted.same_arguments == Some(false) =>
                    {
                        *submitted = self.compare(*submitted, new).await?;
                    }
                    _ => {}
                }
            }
            Ok(results)
        })
    }
}

impl<S: Store> Store for Encoded<S> {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        self.write_by(writes, |store, encoded| store.write(encoded))
    }

    fn write_apart(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        self.write_by(writes, |store, encoded| store.write_apart(encoded))
    }

    fn settle(&self) -> StoreFuture<'_, ()> {
        self.store.settle()
    }

    fn heartbeat(
        &self,
        worker: WorkerId,
        lease: Duration,
        known: Option<Vec<TaskId>>,
    ) -> StoreFuture<'_, Vec<HeldTask>> {
        self.store.heartbeat(worker, lease, known)
    }

    fn sweep(&self, sweep: Sweep) -> StoreFuture<'_, Vec<Reclaimed>> {
        self.store.sweep(sweep)
    }

    fn task(&self, id: TaskId) -> StoreFuture<'_, Option<Task>> {
        Box::pin(async move {
            let task = self.store.task(id).await?;
            Ok(task.map(|task| self.codec.decode_task(task)))
        })
    }

    fn history(&self, id: TaskId) -> StoreFuture<'_, Vec<Record>> {
        Box::pin(async move {
            let history = self.store.history(id).await?.into_iter();
            let decode = |record| self.codec.decode_record(record);
            Ok(history.map(decode).collect())
        })
    }

    fn failures(&self, id: TaskId) -> StoreFuture<'_, Vec<FailingStep>> {
        self.store.failures(id)
    }

    fn running(&self, id: TaskId) -> StoreFuture<'_, Vec<RunningStep>> {
        self.store.running(id)
    }

    fn notes(&self, id: TaskId) -> StoreFuture<'_, Vec<OperatorNote>> {
        self.store.notes(id)
    }

    fn signals(&self, id: TaskId) -> StoreFuture<'_, Vec<Signal>> {
        Box::pin(async move {
            let signals = self.store.signals(id).await?.into_iter();
            let decode = |signal| self.codec.decode_signal(signal);
            Ok(signals.map(decode).collect())
        })
    }

    fn history_page(
        &self,
        id: TaskId,
        after: Option<(i32, RecordKind)>,
    ) -> StoreFuture<'_, Option<Page<Record>>> {
        Box::pin(async move {
            let page = self.store.history_page(id, after).await?;
            Ok(page.map(|page| page.map(|record| self.codec.decode_record(record))))
        })
    }

    fn signals_page(&self, id: TaskId, after: i64) -> StoreFuture<'_, Option<Page<Signal>>> {
        Box::pin(async move {
            let page = self.store.signals_page(id, after).await?;
            Ok(page.map(|page| page.map(|signal| self.codec.decode_signal(signal))))
        })
    }

    fn list(&self, filter: Filter) -> StoreFuture<'_, Vec<Task>> {
        Box::pin(async move {
            let tasks = self.store.list(filter).await?.into_iter();
            Ok(tasks.map(|task| self.codec.decode_task(task)).collect())
        })
    }

    fn counts(&self) -> StoreFuture<'_, Vec<(State, u64)>> {
        self.store.counts()
    }

    fn queues(&self) -> StoreFuture<'_, Vec<QueueStatus>> {
        self.store.queues()
    }

    fn lane_limits(&self) -> StoreFuture<'_, BTreeMap<String, TaskLimit>> {
        self.store.lane_limits()
    }

    fn unknown_workflows(
        &self,
        queues: Vec<String>,
        known: Vec<(String, i32)>,
        waited: Duration,
    ) -> StoreFuture<'_, Vec<UnknownWorkflow>> {
        self.store.unknown_workflows(queues, known, waited)
    }

    fn schedules(&self, due: Option<u32>) -> StoreFuture<'_, Schedules> {
        Box::pin(async move {
            let mut schedules = self.store.schedules(due).await?;
            for schedule in &mut schedules.all {
                schedule.task = self.codec.decode(std::mem::take(&mut schedule.task));
            }
            Ok(schedules)
        })
    }

    fn read_feed(&self, reader: String, limit: u32, old_gaps: bool) -> StoreFuture<'_, FeedPage> {
        self.store.read_feed(reader, limit, old_gaps)
    }

    fn move_reader(&self, reader: String, to: FeedCursor, reported: u64) -> StoreFuture<'_, bool> {
        self.store.move_reader(reader, to, reported)
    }

    fn wait_for_ends(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.store.wait_for_ends()
    }

    fn repair(&self) -> StoreFuture<'_, u64> {
        self.store.repair()
    }

    fn renew(&self) -> StoreFuture<'_, bool> {
        self.store.renew()
    }

    fn wait_for_work(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.store.wait_for_work()
    }

    fn oldest_snapshot(&self) -> StoreFuture<'_, Option<Duration>> {
        self.store.oldest_snapshot()
    }

    fn quiet_until(&self, claim: &Claim) -> Option<Instant> {
        self.store.quiet_until(claim)
    }

    fn may_have_due_schedules(&self) -> bool {
        self.store.may_have_due_schedules()
    }

    fn may_have_suspects(&self) -> bool {
        self.store.may_have_suspects()
    }

    fn wait_for_end(&self, task: TaskId) -> Option<Pin<Box<dyn Future<Output = ()> + Send + '_>>> {
        self.store.wait_for_end(task)
    }

    fn salt(&self) -> Salt {
        self.store.salt()
    }

    fn codec(&self) -> Option<SharedCodec> {
        Some(self.codec.clone())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;
    use crate::store::{Change, Counts, Wake, memory::Memory};
    use crate::task::{Direction, Fence};

    struct Salted(AtomicU8);

    impl PayloadCodec for Salted {
        fn encode(&self, json: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
            Ok([&[self.0.fetch_add(1, Ordering::SeqCst)], json].concat())
        }

        fn decode(
            &self,
            bytes: &[u8],
        ) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
            Ok(bytes.iter().skip(1).copied().collect())
        }
    }

    #[tokio::test]
    async fn a_change_is_repeated_with_the_same_text_until_it_has_an_answer() {
        let store = Encoded::new(Memory::new(), Salted(AtomicU8::new(0)));
        let lease = Lease {
            task: TaskId(1),
            fence: Fence(1),
        };
        let change = Change {
            state: State::Processed,
            direction: Direction::Forward,
            counts: Counts::NONE,
            failing_step: None,
            wake: Wake::In(Duration::ZERO),
            output: Some("7".to_owned()),
            error: None,
            failed_seq: None,
        };
        let write = Write::Change(lease, Box::new(change));
        let first = store.encode(&write).unwrap();
        assert_eq!(store.encode(&write).unwrap(), first);
        store.write([write.clone()].into()).await.unwrap();
        assert_ne!(store.encode(&write).unwrap(), first);
    }
}

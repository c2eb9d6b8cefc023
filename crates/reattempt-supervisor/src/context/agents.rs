//! A step that agents run: other programs, which take its call from the store. The task waits without a worker, and its
//! policy decides what their answers mean.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use super::agent_timer::Answer;
use super::arguments::StepArguments;
use super::body::{StepOutcome, outcome_of};
use super::call::{Call, UndoFn, ambiguous, collect_undo, key_of, oversized, value_of};
use super::failure::{StepError, StepFailure};
use super::journal::{Lookup, Stop, other_arguments};
use super::spec::StepSpec;
use super::step::Step;
use super::wait::Waiting;
use super::workflow_context::{Place, WorkflowContext, stop_of};
use crate::payload::{Codec, storable, too_large};
use crate::store::{
    AgentCall, AgentFailure, CallState, CallStatus, Counts, Expiry, Failure, NextOffer, NextState,
};
use crate::task::{AGENT_ANSWERED, Record, RecordKind, State};

/// Lets agents run a step, or returns its recorded result. `body` is the policy of the step around what agents say. Not
/// an `async fn`, so that steps are numbered in the order of their calls.
pub(crate) fn call_agent<T, F>(
    context: &WorkflowContext,
    (spec, queue): (StepSpec, &'static str),
    codec: Codec<T>,
    arguments: serde_json::Result<StepArguments>,
    body: impl Fn(Arc<Step>) -> F + Send + Sync,
    undo: Option<impl UndoFn<T>>,
) -> impl Future<Output = Result<T, StepError>> + Send
where
    T: Send + Sync,
    F: Future<Output = Result<T, StepFailure>> + Send,
{
    let place = Place::new(context);
    let key = key_of(context, spec, &arguments);
    async move {
        let place = place; // all of it
        let call = Call::new(context, (place.seq, spec, false), key, arguments).await;
        if context.is_compensation() || context.inner.engine_calls().is_some() {
            context.stop(Stop::Refused(misplaced(&call))).await;
        }
        if context.is_undoing() {
            context.inner.note_agents();
            if let Err(stop) = collect_undo(context, &call, codec, undo) {
                context.stop(stop).await;
            }
        }
        let hash = call.arguments.hash.as_deref();
        let record = match context.look_up(call.seq, spec.name, hash).await {
            Lookup::Ended(record) => record,
            lookup => {
                let begun = match lookup {
                    Lookup::New(begun) => begun,
                    Lookup::Ended(_) | Lookup::Wait => None,
                };
                let record = Offer::new(context, &call, queue, begun)
                    .wait_for_end(codec, &body)
                    .await;
                context.finish(record).await
            }
        };
        value_of(context, record, codec).await
    }
}

/// A call that agents run.
struct Offer<'c> {
    context: &'c WorkflowContext,
    call: &'c Call,
    queue: &'static str,
    /// The record of an earlier run that the step has begun.
    begun: Option<Record>,
}

impl<'c> Offer<'c> {
    const fn new(
        context: &'c WorkflowContext,
        call: &'c Call,
        queue: &'static str,
        begun: Option<Record>,
    ) -> Self {
        Self {
            context,
            call,
            queue,
            begun,
        }
    }

    /// Waits until the step has ended, and returns its record.
    async fn wait_for_end<T, F>(
        &self,
        codec: Codec<T>,
        body: &(impl Fn(Arc<Step>) -> F + Sync),
    ) -> Record
    where
        T: Send + Sync,
        F: Future<Output = Result<T, StepFailure>> + Send,
    {
        let (context, Call { seq, spec, .. }) = (self.context, self.call);
        self.begin().await;
        loop {
            // What comes after the look is newer than this.
            let seen = context.inner.newest_signal();
            let status = self.look().await;
            let next: Result<NextOffer, Stop> = match &status.state {
                CallState::Open => {
                    self.wait_for_answer(seen).await;
                    continue;
                }
                CallState::Finished(result) => match self.checked(result, codec) {
                    Ok(()) => return self.done(status.failures, result.clone()),
                    // It is there for an operator, who knows what the agent has done.
                    Err(reason) if !spec.idempotent => {
                        let message = format!(
                            "{reason}; an agent has run the step, and `idempotent = false` says that it must not run twice: `resolve` step {seq} as done with its result, or undo it"
                        );
                        context.stop(Stop::Ambiguous(*seq, message)).await
                    }
                    // Nothing of it is kept: after a resubmission an agent runs the step again.
                    Err(reason) => Err(Stop::Refused(format!(
                        "{reason}; correct it, then resubmit the task, which runs the step again"
                    ))),
                },
                CallState::Failed(failure) => {
                    match self.judge(failure, status.failures, codec, body).await {
                        Next::Offer(next) => Ok(next),
                        Next::End(record) => return *record,
                        Next::Stop(stop) => Err(stop),
                    }
                }
                CallState::Silent | CallState::Overdue | CallState::Withdrawn
                    if !spec.idempotent =>
                {
                    Err(ambiguous(*seq, spec.name))
                }
                CallState::Silent => self.after_death(&status),
                CallState::Overdue => {
                    let message = format!(
                        "the agent of step `{}` was not done by its `complete_by`",
                        spec.name
                    );
                    Err(Stop::Failed(Some(*seq), message))
                }
                CallState::Withdrawn => Ok(NextOffer::Anew),
            };
            // If an agent has said something since, the next look sees it.
            match next {
                Ok(next) => {
                    self.raise(status, next).await;
                }
                Err(stop) => self.withdraw(status, stop).await,
            }
        }
    }

    /// Checks the arguments, and records the start of a step whose outcome may be unknown later.
    async fn begin(&self) {
        let (context, call) = (self.context, self.call);
        let (size, limit) = (call.arguments.json.len(), context.inner.limits.max_payload);
        if size > limit {
            let stop = oversized("arguments", call.seq, call.spec.name, (size, limit));
            context.stop(stop).await;
        }
        if call.spec.records_start() && self.begun.is_none() {
            let begun = call.record(context, RecordKind::Begun, call.spec.undo_unknown);
            context.inner.journal().note_undoable(&begun);
            if context.write(begun).await.is_none() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Offers the call, unless it is there, and returns what agents have said.
    async fn look(&self) -> CallStatus {
        let (context, call) = (self.context, self.call);
        let _active = context.active();
        let spec = call.spec;
        let offered = AgentCall {
            lease: context.inner.lease,
            seq: call.seq,
            queue: self.queue.to_owned(),
            step: spec.name.to_owned(),
            key: context.step(call.key.clone()).key().to_owned(),
            input: call.arguments.json.clone(),
            args_hash: call.arguments.hash.clone(),
            headers: context.headers().map(str::to_owned),
            limit: spec.complete_by.or(context.inner.limits.step_complete_by),
        };
        let Some(store) = &context.inner.store else {
            context.stop(Stop::Unavailable).await;
        };
        let status = match store.offer_call(offered).await {
            Ok(Some(status)) => status,
            Ok(None) => context.stop(Stop::Lost).await,
            Err(error) => context.stop(stop_of(&error)).await,
        };
        if status.step != spec.name || status.args_hash != call.arguments.hash {
            let message = other_arguments(call.seq, spec.name);
            context.stop(Stop::Diverged(message)).await;
        }
        status
    }

    /// Waits until a supervisor says that an agent has answered.
    async fn wait_for_answer(&self, seen: i64) {
        let inner = &self.context.inner;
        let _waiting = Waiting::new(self.context, self.call.seq, None);
        let seq = self.call.seq.to_string();
        loop {
            let mut changed = pin!(inner.changed.notified());
            changed.as_mut().enable();
            let mut new = inner.signals().clone().into_iter().rev();
            if new.any(|one| one.id > seen && one.name == AGENT_ANSWERED && one.payload == seq) {
                return;
            }
            changed.await;
        }
    }

    /// Tests whether this may be the result of the step, and says why not.
    fn checked<T>(&self, result: &str, codec: Codec<T>) -> Result<(), String> {
        let Call { seq, spec, .. } = self.call;
        let what = format!("the result of step {seq} `{}`", spec.name);
        let limit = self.context.inner.limits.max_payload;
        if let Some(reason) = too_large(&what, result.len(), limit, "") {
            return Err(reason);
        }
        let read = codec.read(result).map(|_| ());
        read.map_err(|error| format!("{what} is no value of its type: {error}"))
    }

    /// Returns the record of a step with this result, after so many failures.
    fn done(&self, failures: i32, result: String) -> Record {
        Record {
            attempts: failures.saturating_add(1),
            result: Some(result),
            ..(self.call).record(self.context, RecordKind::Done, self.call.spec.undo)
        }
    }

    /// Asks the policy of the step what follows this failure, after so many earlier ones.
    async fn judge<T, F>(
        &self,
        failure: &AgentFailure,
        earlier: i32,
        codec: Codec<T>,
        body: &(impl Fn(Arc<Step>) -> F + Sync),
    ) -> Next
    where
        T: Send + Sync,
        F: Future<Output = Result<T, StepFailure>> + Send,
    {
        let (context, call) = (self.context, self.call);
        let answer = Answer::new(failure, earlier.unsigned_abs());
        let step = Step {
            answer: Some(Arc::clone(&answer)),
            ..context.step(call.key.clone())
        };
        let mut judging = pin!(body(Arc::new(step)));
        let judged = poll_fn(|cx| Poll::Ready(judging.as_mut().poll(cx))).await;
        let failure = match judged {
            Poll::Pending => {
                return Next::Offer(NextOffer::In(answer.delay().unwrap_or_default()));
            }
            // Its `fallback`.
            Poll::Ready(Ok(value)) => {
                let written = codec.write(&value).map_err(|error| error.to_string());
                let checked = written.and_then(|json| self.checked(&json, codec).map(|()| json));
                return match checked {
                    Ok(json) => Next::End(Box::new(self.done(earlier, json))),
                    Err(reason) => Next::Stop(Stop::Refused(reason)),
                };
            }
            Poll::Ready(Err(failure)) => failure,
        };
        match outcome_of::<()>(call.spec, Err(failure)) {
            StepOutcome::Failed(message, attempts) => Next::End(Box::new(Record {
                attempts: i32::try_from(attempts).unwrap_or(i32::MAX),
                error: Some(storable(&message)),
                ..call.record(context, RecordKind::Failed, None)
            })),
            StepOutcome::Again(message) => Next::Stop(Stop::Failed(Some(call.seq), message)),
            StepOutcome::Stopped(reason) => Next::Stop(reason),
            StepOutcome::Done(..) => Next::Offer(NextOffer::Anew),
        }
    }

    /// Returns when the call is offered again after its agent has gone, as a task is after the death of its worker.
    fn after_death(&self, status: &CallStatus) -> Result<NextOffer, Stop> {
        let inner = &self.context.inner;
        let failure = Failure {
            counts: Counts {
                deaths: status.deaths,
                ..Counts::NONE
            },
            step_failures: None,
        };
        let next = NextState::after_expiry(
            &inner.task,
            Expiry::Owner,
            failure,
            &inner.limits.delays,
            rand::random(),
        );
        if next.state == State::Parked {
            return Err(Stop::Refused(format!(
                "{} agents in a row have taken step {} `{}` and said nothing by the end of their time: see what ends them, then resubmit the task",
                next.counts.deaths, self.call.seq, self.call.spec.name
            )));
        }
        Ok(NextOffer::In(next.delay))
    }

    /// Takes the call from its agent, and stops the task. Returns only if the agent has said something meanwhile.
    async fn withdraw(&self, status: CallStatus, stop: Stop) {
        if status.state == CallState::Withdrawn || self.raise(status, NextOffer::Never).await {
            self.context.stop(stop).await;
        }
    }

    /// Raises the attempt, unless an agent has said something since.
    async fn raise(&self, status: CallStatus, next: NextOffer) -> bool {
        let context = self.context;
        let _active = context.active();
        let Some(store) = &context.inner.store else {
            context.stop(Stop::Unavailable).await;
        };
        let (lease, seq) = (context.inner.lease, self.call.seq);
        match store.raise_attempt(lease, seq, status, next).await {
            Ok(is_raised) => is_raised,
            Err(error) => context.stop(stop_of(&error)).await,
        }
    }
}

/// What follows a failure.
enum Next {
    Offer(NextOffer),
    /// The step has failed for good.
    End(Box<Record>),
    /// The task stops, and the step runs again later.
    Stop(Stop),
}

/// Returns why agents cannot run a call here.
fn misplaced(call: &Call) -> String {
    let Call { seq, spec, .. } = call;
    format!(
        "step {seq} `{}` has a `queue`, and neither compensations nor tasks of an engine wait for agents: use a step without `queue` here",
        spec.name
    )
}

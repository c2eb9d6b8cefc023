//! Who is beside a case: a neighbour that has its turn wherever the calls of the case leave the thread to others.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{LazyLock, mpsc};
use std::task::{Context, Poll, Waker};

use reattempt::{Backoff, Policy, deadline, testing};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, LocalSet};

use crate::case::Case;
use crate::clock::{self, Driven, Time};
use crate::drivers::Call;
use crate::noise::{self, Neighbour};
use crate::random::Random;
use crate::spec;
use crate::world::World;

/// Where the neighbour is polled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Nowhere.
    Alone,
    /// In the same task, or by the same thread.
    SameTask,
    /// In a task of its own on the same thread.
    OtherTask,
    /// On the same thread, in a runtime of its own.
    OtherRuntime,
    /// In turn on the same thread and on those of a pool.
    MovingTask,
    /// On the threads of a pool.
    OtherThread,
}

pub(crate) const KINDS: [Kind; 5] = [
    Kind::SameTask,
    Kind::OtherTask,
    Kind::OtherRuntime,
    Kind::MovingTask,
    Kind::OtherThread,
];

/// A case and the driver of its calls.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) case: Case,
    pub(crate) call: Call,
    pub(crate) is_async: bool,
}

pub(crate) struct Company {
    kind: Kind,
    random: Random,
    scenario: Scenario,
    neighbour: Option<Neighbour>,
    task: Option<Task>,
    /// Whether what is around a call has yet to be put around its future.
    is_bare: bool,
}

thread_local! {
    static COMPANY: RefCell<Option<Company>> = const { RefCell::new(None) };
    static OTHER: Runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
}

static POOL: LazyLock<Runtime> = LazyLock::new(|| {
    let mut pool = Builder::new_multi_thread();
    let pool = pool.worker_threads(2).enable_time().build();
    pool.expect("a pool")
});

/// Runs the calls of a case beside a neighbour.
pub(crate) fn run<R>(scenario: Scenario, kind: Kind, seed: u64, calls: impl FnOnce() -> R) -> R {
    COMPANY.set(Some(Company {
        kind,
        random: Random(seed),
        scenario,
        neighbour: None,
        task: None,
        is_bare: false,
    }));
    let answer = calls();
    COMPANY.take();
    answer
}

/// What `f` does with the company; meanwhile there is none.
fn without<R>(f: impl FnOnce(&mut Company) -> R) -> Option<R> {
    let mut company = COMPANY.take()?;
    let answer = f(&mut company);
    COMPANY.set(Some(company));
    Some(answer)
}

/// The neighbour has its turn. Inside of anything it would be no neighbour.
pub(crate) fn turn() {
    if deadline::attempt() == 1 && deadline::current().is_none() {
        without(Company::turn);
    }
}

/// A neighbour that is another task has its turn inside of the attempt of an outer call, which drives both. So its
/// deadlines would be around it, but what it gives up is not given up during the call.
pub(crate) fn turn_inside() {
    if deadline::current().is_none() {
        without(|company| {
            if company.kind == Kind::OtherTask {
                company.turn();
            }
        });
    }
}

/// Whether the future of the next call is put into what is around the case, so that nothing else is.
pub(crate) fn surrounds() -> bool {
    let surrounds = without(|company| {
        company.is_bare = company.scenario.is_async;
        company.is_bare
    });
    surrounds == Some(true)
}

impl Company {
    fn turn(&mut self) {
        if self.kind == Kind::Alone {
            return;
        }
        if self.random.percent(10) {
            (self.neighbour, self.task) = (None, None);
        }
        let polls = self.random.below(6);
        let moves = self.kind == Kind::MovingTask;
        let another = || noise::neighbour(self.random.next(), &self.scenario, moves);
        let mut neighbour = self.neighbour.take().unwrap_or_else(another);
        let _uncounted = clock::uncounted();
        match self.kind {
            Kind::OtherTask => {
                let task = self.task.get_or_insert_with(|| Task::new(neighbour));
                return task.poll(polls);
            }
            Kind::OtherRuntime => OTHER.with(|other| {
                if self.scenario.case.tokio {
                    // One runtime does not run inside of the other.
                    let _inside = other.enter();
                    poll(&mut neighbour, polls);
                } else {
                    other.block_on(async { poll(&mut neighbour, polls) });
                }
            }),
            Kind::MovingTask if self.random.percent(50) => neighbour = elsewhere(neighbour, polls),
            Kind::OtherThread => neighbour = elsewhere(neighbour, polls),
            Kind::Alone | Kind::SameTask | Kind::MovingTask => poll(&mut neighbour, polls),
        }
        self.neighbour = Some(neighbour);
    }
}

fn poll(neighbour: &mut Neighbour, polls: u64) {
    for _ in 0..polls {
        let polled = neighbour
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "a neighbour stays");
    }
}

/// Polls the neighbour on a thread of the pool.
fn elsewhere(mut neighbour: Neighbour, polls: u64) -> Neighbour {
    let (sender, receiver) = mpsc::channel();
    POOL.spawn(async move {
        {
            let _time = testing::virtual_time();
            poll(&mut neighbour, polls);
        }
        let _sent = sender.send(neighbour);
    });
    receiver.recv().expect("the neighbour has panicked")
}

/// The neighbour as a task of this thread.
struct Task {
    tasks: LocalSet,
    handle: JoinHandle<()>,
    next: Rc<RefCell<(u64, Option<Waker>)>>,
}

impl Task {
    fn new(mut neighbour: Neighbour) -> Self {
        let next = Rc::new(RefCell::new((0, None)));
        let turns = Rc::clone(&next);
        let tasks = LocalSet::new();
        let handle = tasks.spawn_local(poll_fn(move |cx| {
            let polls = turns.replace((0, Some(cx.waker().clone()))).0;
            poll(&mut neighbour, polls);
            Poll::Pending
        }));
        Self {
            tasks,
            handle,
            next,
        }
    }

    fn poll(&mut self, polls: u64) {
        if let Some(waker) = self.next.replace((polls, None)).1 {
            waker.wake();
        }
        let tasks = Pin::new(&mut self.tasks);
        let _pending = tasks.poll(&mut Context::from_waker(Waker::noop()));
        assert!(!self.handle.is_finished(), "the neighbour has panicked");
    }
}

/// The future of a call in what is around the case, beside the neighbour: both are polled alternately, now and then
/// although nothing has woken them.
pub(crate) async fn beside(future: Driven<'_>) {
    let mut call = pin!(surrounded(future));
    poll_fn(|cx| {
        turn();
        let polled = call.as_mut().poll(cx);
        if polled.is_pending() {
            turn();
            if without(|company| company.random.percent(30)) == Some(true) {
                cx.waker().wake_by_ref();
            }
        }
        polled
    })
    .await;
}

/// Whether a future has company.
pub(crate) fn is_here() -> bool {
    without(|_| ()).is_some()
}

/// What `world::around` is for calls that block.
async fn surrounded(future: Driven<'_>) {
    const OUTER: Policy = Policy::new().max(2).backoff(Backoff::None);
    let bare = without(|company| {
        let is_bare = std::mem::take(&mut company.is_bare);
        is_bare.then(|| company.scenario.clone())
    });
    let Some(Scenario { case, call, .. }) = bare.flatten() else {
        return future.await;
    };
    let outer_deadline = case.outer_deadline;
    let nested = async {
        if !case.nested {
            return future.await;
        }
        let (mut is_first, mut future) = (true, Some(future));
        let outer = OUTER.on(|(): &()| true).name(noise::OUTER).timer(Time);
        let second = outer.try_run_async(|| {
            let future = if is_first { None } else { future.take() };
            is_first = false;
            let case = &case;
            async move {
                if let Some(future) = future {
                    future.await;
                    return Ok(());
                }
                if !case.is_fresh && !spec::multiplies(&case.spec) {
                    without(|_| World::use_up(case, call));
                }
                turn_inside();
                noise::pause().await;
                Err(())
            }
        });
        second.await.expect("a second attempt");
    };
    match outer_deadline {
        Some(outer_deadline) => deadline::within(outer_deadline, nested).await,
        None => nested.await,
    }
}

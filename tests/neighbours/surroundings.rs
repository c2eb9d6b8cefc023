//! Where a call stands beside unrelated ones, whose operation gives up again and again.

use std::cell::Cell;
use std::pin::pin;

use futures::{StreamExt as _, stream};
use tokio::task::spawn_local;

use crate::clock::{Local, at_most, ms, on_executor, on_tokio, pass};
use crate::operations::{ELSEWHERE, ON_TOKIO, Operations};
use crate::service::{Health, Operation, Service, Stack, When};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surroundings {
    Nothing,
    TasksOfTokio,
    /// A branch of the same `join!`.
    Join,
    /// Other futures of the same `buffer_unordered`.
    Buffered,
    /// The other branch of the same `select!`, in a loop.
    Select,
    /// Tasks of the same `LocalExecutor`.
    TasksOfExecutor,
}

pub(crate) const ALL: [Surroundings; 6] = [
    Surroundings::Nothing,
    Surroundings::TasksOfTokio,
    Surroundings::Join,
    Surroundings::Buffered,
    Surroundings::Select,
    Surroundings::TasksOfExecutor,
];

/// How the neighbours use up the retries of their operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    /// All of its attempts fail.
    GivesUp,
    /// An attempt around it times out while it is being retried.
    IsDropped,
}

pub(crate) const NOISES: [Noise; 2] = [Noise::GivesUp, Noise::IsDropped];

/// Makes calls that give up, each for a service of its own.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    noise: Noise,
    operation: Operation,
    impatient: Operation,
}

impl Neighbour {
    async fn once(self) {
        let answer = match self.noise {
            Noise::GivesUp => {
                let dead = Service::new(Health::Dead(When::Later));
                Stack::call(&dead, &[self.operation]).await
            }
            Noise::IsDropped => {
                let hangs = Service::new(Health::Hangs);
                Stack::call(&hangs, &[self.impatient, self.operation]).await
            }
        };
        assert!(answer.is_err(), "{answer:?}");
        pass(at_most(ms(2))).await;
    }

    async fn for_ever(self) {
        self.until(&Cell::new(false)).await;
    }

    async fn until(self, is_over: &Cell<bool>) {
        while !is_over.get() {
            self.once().await;
        }
    }
}

impl Surroundings {
    /// The operations that can wait here.
    pub(crate) fn operations(self) -> Operations {
        match self {
            Self::TasksOfExecutor => ELSEWHERE,
            _ => ON_TOKIO,
        }
    }

    /// Runs a call beside calls of this operation.
    pub(crate) fn run<T: 'static>(self, noise: Noise, operation: Operation, call: Local<T>) -> T {
        let impatient = self.operations().impatient;
        let neighbour = Neighbour {
            noise,
            operation,
            impatient,
        };
        match self {
            Self::Nothing => on_tokio(call),
            Self::TasksOfTokio => on_tokio(async move {
                spawn_local(neighbour.for_ever());
                spawn_local(call).await.expect("no panic")
            }),
            Self::Join => on_tokio(joined(call, neighbour)),
            Self::Buffered => on_tokio(buffered(call, neighbour)),
            Self::Select => on_tokio(selected(call, neighbour)),
            Self::TasksOfExecutor => on_executor(|executor| {
                executor.spawn(neighbour.for_ever()).detach();
                call
            }),
        }
    }
}

async fn joined<T>(call: Local<T>, neighbour: Neighbour) -> T {
    let is_over = Cell::new(false);
    let call = async {
        let answer = call.await;
        is_over.set(true);
        answer
    };
    tokio::join!(call, neighbour.until(&is_over)).0
}

async fn buffered<T: 'static>(call: Local<T>, neighbour: Neighbour) -> T {
    let once = move || -> Local<Option<T>> {
        Box::pin(async move {
            neighbour.once().await;
            None
        })
    };
    let call: Local<Option<T>> = Box::pin(async { Some(call.await) });
    let calls = stream::iter(
        [once(), once(), call]
            .into_iter()
            .chain(std::iter::repeat_with(once)),
    );
    let mut answers = pin!(calls.buffer_unordered(4).filter_map(std::future::ready));
    answers.next().await.expect("there is always one more call")
}

async fn selected<T>(mut call: Local<T>, neighbour: Neighbour) -> T {
    let mut is_first = false;
    loop {
        // Each of them is polled first by turns.
        is_first = !is_first;
        if is_first {
            tokio::select! { biased;
                answer = &mut call => break answer,
                () = neighbour.once() => {}
            }
        } else {
            tokio::select! { biased;
                () = neighbour.once() => {}
                answer = &mut call => break answer,
            }
        }
    }
}

//! The warning of a sync function that is about to block an async runtime.

use std::fmt;
use std::sync::{Arc, Mutex};

use reattempt::{Policy, retry, retry_block};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::capture::capture;
use crate::support::Still;

/// Keeps the messages of events.
#[derive(Debug, Default, Clone)]
struct Messages(Arc<Mutex<Vec<String>>>);

impl Messages {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no panic"))
    }
}

impl Visit for Messages {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().expect("no panic").push(format!("{value:?}"));
        }
    }
}

impl Subscriber for Messages {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        // Not the lines about retries, which have the name of their operation.
        let is_about_call = metadata.fields().field("operation").is_some();
        if metadata.target() == "reattempt" && !is_about_call {
            assert_eq!(*metadata.level(), Level::WARN);
            event.record(&mut self.clone());
            // As one that sends its events somewhere else.
            assert_eq!(shipped(), Err(1));
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[retry(max = 2, on(_), timer = Still)]
fn shipped() -> Result<(), u32> {
    Err(1)
}

/// Runs `task` in a runtime of one thread, and answers with what it warned of.
fn warnings<F: Future>(task: F) -> Vec<String> {
    let messages = Messages::default();
    let _captured = capture(messages.clone());
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().expect("a runtime");
    runtime.block_on(task);
    messages.take()
}

fn once_each(warnings: &[String], sites: usize) {
    assert_eq!(warnings.len(), sites, "{warnings:#?}");
    for (index, warning) in warnings.iter().enumerate() {
        assert!(warning.contains(file!()), "{warning}");
        assert!(!warnings[..index].contains(warning), "{warning}");
    }
}

#[test]
fn once_for_each_call_site() {
    #[retry(on(_), timer = Still)]
    fn plain() -> Result<u32, u32> {
        Err(1)
    }
    #[retry(backoff = "fixed", deadline = "1h", on(_), timer = Still)]
    fn general() -> Result<u32, u32> {
        Err(1)
    }
    #[retry(on(_), timer = Still, on_retry = |_| ())]
    fn watched() -> Result<u32, u32> {
        Err(1)
    }
    fn block() -> Result<u32, u32> {
        retry_block!(on(_), timer = Still, { Err(1) })
    }
    let warned = warnings(async {
        for _ in 0..3 {
            let _ = (plain(), general(), watched(), block());
        }
        tokio::task::yield_now().await;
        let _ = tokio::spawn(async { plain() }).await;
    });
    once_each(&warned, 4);
    assert_eq!(warnings(async { plain() }), [""; 0]);
}

#[test]
fn of_the_builder_too() {
    let warned = warnings(async {
        for _ in 0..2 {
            let policy = Policy::new();
            let _ = policy
                .on(|_: &u32| true)
                .timer(Still)
                .run(|| Err::<u32, u32>(1));
        }
    });
    once_each(&warned, 1);
}

/// Blocking is what such a thread is for.
#[test]
fn not_where_blocking_is_fine() {
    #[retry(on(_), timer = Still)]
    fn fetch() -> Result<u32, u32> {
        Err(1)
    }
    let messages = Messages::default();
    let captured = capture(messages.clone());
    assert_eq!(fetch(), Err(1));
    drop(captured);
    assert_eq!(messages.take(), [""; 0]);
    let dispatched = messages.clone();
    let warned = warnings(async {
        let on_its_thread = move || {
            let _captured = capture(dispatched);
            fetch()
        };
        assert_eq!(
            tokio::task::spawn_blocking(on_its_thread)
                .await
                .expect("no panic"),
            Err(1)
        );
    });
    assert_eq!(warned, [""; 0]);
    assert_eq!(messages.take(), [""; 0]);
    let in_place = Messages::default();
    let captured = capture(in_place.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(1).build().expect("a runtime");
    let answer = runtime.block_on(async { tokio::task::block_in_place(fetch) });
    assert_eq!(answer, Err(1));
    drop(captured);
    assert_eq!(in_place.take(), [""; 0]);
    // The same call site in a task.
    once_each(&warnings(async { fetch() }), 1);
}

/// What does not wait blocks nobody.
#[test]
fn not_without_a_delay() {
    #[retry(backoff = "none", on(_))]
    fn fetch() -> Result<u32, u32> {
        Err(1)
    }
    #[retry(on(_), timer = Still)]
    async fn asynchronous() -> Result<u32, u32> {
        Err(1)
    }
    assert_eq!(
        warnings(async {
            let _ = (fetch(), asynchronous().await);
        }),
        [""; 0]
    );
}

/// The budget that tells tasks from threads is given back.
#[test]
fn the_budget_of_the_task_is_kept() {
    #[retry(on(_), timer = Still)]
    fn fetch() -> Result<u32, u32> {
        Err(1)
    }
    warnings(async {
        let budget = || {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let mut spent = vec![];
            while let std::task::Poll::Ready(one) = tokio::task::coop::poll_proceed(&mut context) {
                spent.push(one);
            }
            let budget = spent.len();
            while spent.pop().is_some() {}
            budget
        };
        tokio::task::yield_now().await;
        let before = budget();
        let _ = fetch();
        assert_eq!(budget(), before);
    });
}

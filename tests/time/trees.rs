//! Trees of retried calls over a dead service: how often it is called, and that an operation keeps its retries until it
//! has used them up.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::future::{Ready, poll_fn, ready};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::{iter, thread};

use futures::future::{join_all, try_join_all};
use proptest::prelude::*;
use reattempt::{Backoff, Budget, GiveUpReason, Jitter, Policy, RetryError, retry};

use crate::bombs::yield_once;
use crate::support::{Still, assert_nothing_is_left, drive};

type Answer = Result<(), u32>;

/// The session of a client that reconnects: one failed connect does not take the retries of its requests.
#[test]
fn a_session_that_reconnects() {
    struct Service {
        connects: Cell<u32>,
        requests: Cell<u32>,
    }
    #[retry(max = 20, on(_), timer = Still)]
    fn session(service: &Service) -> Answer {
        service.connects.set(service.connects.get() + 1);
        if service.connects.get() == 1 {
            return Err(0);
        }
        (0..10).try_for_each(|_| request(service))
    }
    // Each second one fails.
    #[retry(max = 5, on(_), timer = Still)]
    fn request(service: &Service) -> Answer {
        service.requests.set(service.requests.get() + 1);
        if service.requests.get() % 2 == 1 {
            Err(1)
        } else {
            Ok(())
        }
    }
    let service = Service {
        connects: Cell::new(0),
        requests: Cell::new(0),
    };
    assert_eq!(session(&service), Ok(()));
    assert_eq!((service.connects.get(), service.requests.get()), (2, 20));
}

/// A failure that the outer call would not retry is retried by the inner one, also inside a retry.
#[test]
fn an_inner_call_keeps_its_retries() {
    #[retry(max = 5, on(0), timer = Still)]
    fn outer(connects: &Cell<u32>, loads: &Cell<u32>) -> Answer {
        connects.set(connects.get() + 1);
        if connects.get() == 1 {
            Err(0)
        } else {
            load(loads).map_err(|_| 9)
        }
    }
    #[retry(max = 5, on(_), timer = Still)]
    fn load(loads: &Cell<u32>) -> Answer {
        loads.set(loads.get() + 1);
        if loads.get() == 1 { Err(1) } else { Ok(()) }
    }
    assert_eq!(outer(&Cell::new(0), &Cell::new(0)), Ok(()));
    assert_eq!(outer(&Cell::new(1), &Cell::new(0)), Ok(()));
}

/// What the innermost layer calls.
#[derive(Default)]
struct Leaf {
    dead: Cell<u32>,
    healthy_first: bool,
}

impl Leaf {
    fn call(&self, is_dead: bool) -> Answer {
        self.dead.set(self.dead.get() + u32::from(is_dead));
        if is_dead { Err(0) } else { Ok(()) }
    }
}

macro_rules! layers {
    ($($name:ident, $sync:ident over $inner:ident, $inner_sync:ident;)*) => { $(
        #[retry(max = 5, on(_), timer = Still)]
        async fn $name(leaf: &Leaf, is_dead: bool) -> Answer {
            if leaf.healthy_first {
                $inner(leaf, false).await?;
            }
            $inner(leaf, is_dead).await
        }
        #[retry(max = 5, on(_), timer = Still)]
        fn $sync(leaf: &Leaf, is_dead: bool) -> Answer {
            if leaf.healthy_first {
                $inner_sync(leaf, false)?;
            }
            $inner_sync(leaf, is_dead)
        }
    )* };
}

async fn leaf(leaf: &Leaf, is_dead: bool) -> Answer {
    yield_once().await;
    leaf.call(is_dead)
}

fn leaf_sync(leaf: &Leaf, is_dead: bool) -> Answer {
    leaf.call(is_dead)
}

layers! {
    first, first_sync over leaf, leaf_sync;
    second, second_sync over first, first_sync;
    third, third_sync over second, second_sync;
    fourth, fourth_sync over third, third_sync;
    fifth, fifth_sync over fourth, fourth_sync;
}

/// Five attempts on each of two to five layers.
const CALLS: [u32; 4] = [9, 13, 17, 21];

#[test]
fn chains_and_healthy_siblings() {
    for healthy_first in [false, true] {
        let calls = |run: &dyn Fn(&Leaf) -> Answer| {
            let leaf = Leaf {
                dead: Cell::new(0),
                healthy_first,
            };
            assert_eq!(run(&leaf), Err(0));
            assert_nothing_is_left();
            leaf.dead.get()
        };
        let asynchronous = [
            calls(&|leaf| drive(second(leaf, true))),
            calls(&|leaf| drive(third(leaf, true))),
            calls(&|leaf| drive(fourth(leaf, true))),
            calls(&|leaf| drive(fifth(leaf, true))),
        ];
        assert_eq!(asynchronous, CALLS, "healthy first: {healthy_first}");
        let sync = [
            calls(&|leaf| second_sync(leaf, true)),
            calls(&|leaf| third_sync(leaf, true)),
            calls(&|leaf| fourth_sync(leaf, true)),
            calls(&|leaf| fifth_sync(leaf, true)),
        ];
        assert_eq!(sync, CALLS, "healthy first: {healthy_first}");
    }
}

/// Each poll is on another thread, and each layer goes on for one more poll: a call takes over at each what its attempt has
/// used up.
#[test]
fn marks_of_a_call_that_moves() {
    macro_rules! layers {
        ($($name:ident over $inner:ident;)*) => { $(
            #[retry(max = 5, on(_), timer = Still)]
            async fn $name(dead: &AtomicU32) -> Answer {
                let answer = $inner(dead).await;
                yield_once().await;
                answer
            }
        )* };
    }
    fn leaf(dead: &AtomicU32) -> Ready<Answer> {
        dead.fetch_add(1, Ordering::Relaxed);
        ready(Err(0))
    }
    layers! {
        first over leaf;
        second over first;
        third over second;
        fourth over third;
        fifth over fourth;
    }
    fn calls<F: Future<Output = Answer> + Send>(run: impl FnOnce(&'static AtomicU32) -> F) -> u32 {
        let dead: &AtomicU32 = Box::leak(Box::default());
        let mut future = Box::pin(run(dead));
        let mut polls = iter::from_fn(|| {
            let poll = || {
                future
                    .as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()))
            };
            Some(thread::scope(|scope| scope.spawn(poll).join().unwrap()))
        });
        assert!(polls.any(|poll| poll == Poll::Ready(Err(0))));
        dead.load(Ordering::Relaxed)
    }
    let calls = [calls(second), calls(third), calls(fourth), calls(fifth)];
    assert_eq!(calls, CALLS);
}

/// One of ten shards is dead, and all are asked at once.
#[test]
fn a_dead_shard() {
    #[retry(max = 5, on(_), timer = Still)]
    async fn shard(leaf: &Leaf, number: u32) -> Answer {
        yield_once().await;
        leaf.call(number == 3)
    }
    #[retry(max = 5, on(_), timer = Still)]
    async fn all(leaf: &Leaf) -> Answer {
        let shards = (0..10).map(|number| shard(leaf, number));
        join_all(shards).await.into_iter().collect()
    }
    #[retry(max = 5, on(_), timer = Still)]
    async fn first_to_fail(leaf: &Leaf) -> Answer {
        try_join_all((0..10).map(|number| shard(leaf, number)))
            .await
            .map(|_| ())
    }
    #[retry(max = 5, on(_), timer = Still)]
    async fn page(leaf: &Leaf) -> Answer {
        all(leaf).await
    }
    #[retry(max = 5, on(_), timer = Still)]
    async fn site(leaf: &Leaf) -> Answer {
        page(leaf).await
    }
    #[retry(max = 5, on(_), timer = Still)]
    async fn user(leaf: &Leaf) -> Answer {
        site(leaf).await
    }
    let [one, two, three, four, other] = <[Leaf; 5]>::default();
    let answers = [
        drive(all(&one)),
        drive(page(&two)),
        drive(site(&three)),
        drive(user(&four)),
        drive(first_to_fail(&other)),
    ];
    assert_eq!(answers, [Err(0); 5]);
    let calls = [&one, &two, &three, &four].map(|leaf| leaf.dead.get());
    assert_eq!(calls, CALLS);
    assert_eq!(other.dead.get(), 9);
}

/// Each layer cuts the one below off before that has used up its attempts.
#[tokio::test(start_paused = true)]
async fn layers_that_cut_off() {
    #[retry(max = 5, backoff = "fixed", base = "1s", jitter = "none", on(()))]
    async fn inner(leaf: &Leaf) -> Result<(), ()> {
        leaf.call(true).map_err(|_| ())
    }
    #[retry(
        max = 5,
        backoff = "fixed",
        base = "1s",
        jitter = "none",
        timeout = "3500ms",
        on(())
    )]
    async fn two(leaf: &Leaf) -> Result<(), RetryError<()>> {
        inner(leaf).await
    }
    #[retry(
        max = 5,
        backoff = "fixed",
        base = "1s",
        jitter = "none",
        timeout = "6s",
        on(())
    )]
    async fn three(leaf: &Leaf) -> Result<(), RetryError<()>> {
        two(leaf).await.map_err(|_| ())
    }
    #[retry(
        max = 5,
        backoff = "fixed",
        base = "1s",
        jitter = "none",
        timeout = "8s",
        on(())
    )]
    async fn four(leaf: &Leaf) -> Result<(), RetryError<()>> {
        three(leaf).await.map_err(|_| ())
    }
    #[retry(
        max = 5,
        backoff = "fixed",
        base = "1s",
        jitter = "none",
        timeout = "10s",
        on(())
    )]
    async fn five(leaf: &Leaf) -> Result<(), RetryError<()>> {
        four(leaf).await.map_err(|_| ())
    }
    let leaves: [Leaf; 4] = Default::default();
    assert!(two(&leaves[0]).await.is_err());
    assert!(three(&leaves[1]).await.is_err());
    assert!(four(&leaves[2]).await.is_err());
    assert!(five(&leaves[3]).await.is_err());
    for (leaf, most) in leaves.iter().zip(CALLS) {
        assert!(leaf.dead.get() <= most, "{} of {most}", leaf.dead.get());
        // The layers have made their retries.
        assert!(leaf.dead.get() >= 7, "{}", leaf.dead.get());
    }
}

/// A call of a random tree.
#[derive(Debug, Clone)]
struct Node {
    operation: usize,
    /// How many attempts fail before one succeeds.
    failures: u32,
    children: Vec<Node>,
    joins: bool,
    /// After so many polls it is dropped.
    dropped: Option<u32>,
}

const NAMES: [&str; 5] = ["one", "two", "three", "four", "five"];

const POLICY: Policy = Policy::new()
    .max(3)
    .backoff(Backoff::None)
    .jitter(Jitter::None);

fn trees() -> impl Strategy<Value = Node> {
    let failures = || prop_oneof![Just(0), Just(1), Just(u32::MAX)];
    let dropped = || prop_oneof![3 => Just(None), 1 => (1_u32..5).prop_map(Some)];
    let leaf = (0..NAMES.len(), failures(), dropped());
    let leaf = leaf.prop_map(|(operation, failures, dropped)| Node {
        operation,
        failures,
        children: Vec::new(),
        joins: false,
        dropped,
    });
    leaf.prop_recursive(4, 24, 3, move |inner| {
        let children = prop::collection::vec(inner, 1..4);
        let node = (
            0..NAMES.len(),
            failures(),
            children,
            any::<bool>(),
            dropped(),
        );
        node.prop_map(|(operation, failures, children, joins, dropped)| Node {
            operation,
            failures,
            children,
            joins,
            dropped,
        })
    })
}

/// What the test knows of a call that runs.
#[derive(Default)]
struct Running {
    attempt: Cell<u32>,
    /// The operations that have used up their retries in it.
    marked: RefCell<BTreeSet<usize>>,
    /// Those of them that have done so in a retry, which sees it at once.
    marked_in_retries: RefCell<BTreeSet<usize>>,
}

#[derive(Clone, Default)]
struct Above(Vec<Rc<Running>>);

impl Above {
    fn is_marked(&self, operation: usize) -> bool {
        let retries = self.0.iter().filter(|call| call.attempt.get() > 1);
        retries
            .into_iter()
            .any(|call| call.marked.borrow().contains(&operation))
    }

    fn is_surely_marked(&self, operation: usize) -> bool {
        let retries = self.0.iter().filter(|call| call.attempt.get() > 1);
        retries
            .into_iter()
            .any(|call| call.marked_in_retries.borrow().contains(&operation))
    }

    fn mark(&self, operation: usize) {
        for call in &self.0 {
            call.marked.borrow_mut().insert(operation);
            if call.attempt.get() > 1 {
                call.marked_in_retries.borrow_mut().insert(operation);
            }
        }
    }
}

/// Notes that a call was dropped after a failure.
struct Dropping<'a> {
    above: &'a Above,
    operation: usize,
    failed: Rc<Cell<bool>>,
}

impl Drop for Dropping<'_> {
    fn drop(&mut self) {
        if self.failed.get() {
            self.above.mark(self.operation);
        }
    }
}

fn call<'a>(node: &'a Node, above: Above) -> Pin<Box<dyn Future<Output = Answer> + 'a>> {
    Box::pin(async move {
        let call = attempts(node, &above);
        let Some(polls) = node.dropped else {
            return call.await;
        };
        let (mut call, mut left) = (Box::pin(call), polls);
        let answer = poll_fn(|cx| match call.as_mut().poll(cx) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending if left == 1 => Poll::Ready(None),
            Poll::Pending => {
                left -= 1;
                Poll::Pending
            }
        });
        answer.await.unwrap_or(Err(7))
    })
}

async fn attempts(node: &Node, above: &Above) -> Answer {
    let this = Rc::<Running>::default();
    let was_surely_marked = above.is_surely_marked(node.operation);
    let failed = Rc::<Cell<bool>>::default();
    let dropping = Dropping {
        above,
        operation: node.operation,
        failed: Rc::clone(&failed),
    };
    let runner = POLICY
        .on(|_: &u32| true)
        .name(NAMES[node.operation])
        .timer(Still);
    let answer = runner
        .try_run_async(async || {
            this.attempt.set(this.attempt.get() + 1);
            let answer = attempt(node, above, &this).await;
            failed.set(answer.is_err());
            answer
        })
        .await;
    failed.set(false);
    drop(dropping);
    let Err(error) = answer else { return Ok(()) };
    match error.reason() {
        GiveUpReason::Attempts => {
            assert_eq!(error.attempts(), 3);
            assert!(
                !was_surely_marked,
                "{} is marked and has all its attempts",
                node.operation
            );
            above.mark(node.operation);
        }
        GiveUpReason::Nested => {
            assert!(
                above.is_marked(node.operation),
                "{} is not marked",
                node.operation
            );
        }
        reason => panic!("{reason:?}"),
    }
    Err(error.into_last().unwrap_or(8))
}

async fn attempt(node: &Node, above: &Above, this: &Rc<Running>) -> Answer {
    let mut inside = above.clone();
    inside.0.push(Rc::clone(this));
    yield_once().await;
    if node.joins {
        let children = node
            .children
            .iter()
            .map(|child| call(child, inside.clone()));
        try_join_all(children).await?;
    } else {
        for child in &node.children {
            call(child, inside.clone()).await?;
        }
    }
    if this.attempt.get() <= node.failures {
        Err(1)
    } else {
        Ok(())
    }
}

proptest! {
    /// An operation has all its attempts until it has used them up, and a single one in the retries that know of it.
    #[test]
    fn random_trees(tree in trees()) {
        let _answer = drive(call(&tree, Above::default()));
        assert_nothing_is_left();
    }
}

/// An operation whose budget is empty has used up its retries.
#[test]
fn an_empty_budget() {
    static BUDGET: Budget = Budget::tokens(11);

    #[retry(max = 5, budget = &BUDGET, on(_), timer = Still)]
    fn inner(leaf: &Leaf) -> Answer {
        leaf.call(true)
    }
    #[retry(max = 3, on(_), timer = Still)]
    fn outer(leaf: &Leaf) -> Answer {
        BUDGET.reset();
        inner(leaf)
    }
    let leaf = Leaf::default();
    assert_eq!(outer(&leaf), Err(0));
    // Two retries are paid, and the third is not.
    assert_eq!(leaf.dead.get(), 3 + 1 + 1);
}

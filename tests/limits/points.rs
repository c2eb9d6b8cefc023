//! Each point at which a call may end: after any poll, and at any step that a bomb hits.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::support::World;

/// Drops what `call` makes after 0, 1, 2, ... polls until it comes to an end, and lets a bomb go off at each of its
/// steps, with waits of different lengths; answers with the number of polls where each wait takes one.
pub(crate) fn at_each_point(
    begin: impl Fn(u32) -> World,
    call: &impl AsyncFn(&World),
    check: impl Fn(&World),
) -> usize {
    let polls = [1, 3, 50].map(|pending| {
        at_each_step(|| {
            let world = begin(pending);
            (catch(|| poll(call(&world), 10_000)), world)
        })
        .for_each(|world| check(&world));
        let ends_after = |polls: &usize| {
            let world = begin(pending);
            let ended = poll(call(&world), *polls).is_some();
            check(&world);
            ended
        };
        (0..10_000).find(ends_after).expect("it never ends")
    });
    polls[0]
}

/// Runs it with a bomb at step 0, 1, 2, ... until none goes off.
pub(crate) fn at_each_step<R>(
    mut run: impl FnMut() -> (Result<R, Boom>, World),
) -> impl Iterator<Item = World> {
    let mut steps = 0..10_000;
    let mut is_over = false;
    std::iter::from_fn(move || {
        if std::mem::replace(&mut is_over, true) {
            return None;
        }
        explode_after(steps.next().expect("it never ends"));
        let (end, world) = run();
        is_over = !has_exploded();
        assert_eq!(end.is_ok(), is_over);
        Some(world)
    })
}

/// A bomb, and nothing else, is caught.
pub(crate) fn catch<R>(run: impl FnOnce() -> R) -> Result<R, Boom> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        *panic
            .downcast::<Boom>()
            .unwrap_or_else(|other| resume_unwind(other))
    })
}

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// What a bomb throws.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Boom;

/// From now on, step number `steps` of this thread, from 0, panics.
pub(crate) fn explode_after(steps: usize) {
    STEPS.set(steps);
}

/// Whether it has; then there is no bomb any more.
pub(crate) fn has_exploded() -> bool {
    STEPS.replace(usize::MAX) == usize::MAX
}

/// A place where a bomb may go off.
pub(crate) fn step() {
    match STEPS.get() {
        usize::MAX => {}
        0 => {
            STEPS.set(usize::MAX);
            // Without a word of the panic hook, for there are many.
            resume_unwind(Box::new(Boom));
        }
        steps => STEPS.set(steps - 1),
    }
}

pub(crate) async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        step();
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls at most so often, and drops it; whether it came to an end.
pub(crate) fn poll<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..polls).find_map(|_| match future.as_mut().poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

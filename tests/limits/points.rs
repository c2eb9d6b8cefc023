//! Each point at which a call may end: after any poll, and at any step that a bomb hits.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::bombs::{Boom, catch, explode_after, has_exploded};
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

/// Polls at most so often, and drops it; whether it came to an end.
pub(crate) fn poll<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..polls).find_map(|_| match future.as_mut().poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

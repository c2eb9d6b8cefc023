//! They do what they say. Nothing has to wait, so one poll is enough.

use std::cell::Cell;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hostile_bare::{Fault, Hand};

fn run<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a hand never keeps anybody waiting"),
    }
}

#[test]
fn sync() {
    let (hand, calls) = (Hand::default(), Cell::new(0));
    assert_eq!(hostile_bare::plain(&hand, &calls), Err(Fault::Busy));
    assert_eq!(calls.get(), 3);
    assert_eq!(hand.slept(), Duration::from_millis(30));
    calls.set(0);
    assert_eq!(hostile_bare::every_key(&hand, &calls, [1; 3]), Ok(3));
    assert_eq!(calls.get(), 2);
    assert_eq!(hostile_bare::block(&hand), Ok(3));
    assert_eq!(hostile_bare::verified(&hand), Ok(5));
    assert_eq!(hostile_bare::global(), Err(Fault::Busy));
}

#[test]
fn asynchronous() {
    let (hand, calls) = (Hand::default(), Cell::new(0));
    assert_eq!(
        run(hostile_bare::every_async_key(&hand, &calls, [1; 3])),
        Ok(3)
    );
    assert_eq!(calls.get(), 2);
    let hand = Hand::default();
    assert_eq!(run(hostile_bare::returned(&hand)), Err(Fault::Busy));
    assert_eq!(hand.slept(), Duration::from_millis(70));
    assert_eq!(run(hostile_bare::async_block(&hand)), Ok(3));
    let cut_off = run(hostile_bare::stuck(&hand)).map_err(|e| (e.attempts(), e.last().copied()));
    assert_eq!(cut_off, Err((1, None)));
}

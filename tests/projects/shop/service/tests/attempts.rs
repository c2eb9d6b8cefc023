//! How often the innermost function really runs when everything fails. `cargo retry list` says the same numbers:
//! `crates/cargo-retry/tests/list.rs` reads them here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reattempt::testing;
use shop_clients::catalogue::{self, Catalogue, Slow};
use shop_clients::mail;
use shop_service::orders::Orders;
use shop_service::quotes::Quotes;

const CHECKOUT: usize = 10;
const AUDIT: usize = 12;
const SHIP: usize = 12;
const DELIVERED: usize = 8;
const LETTERS: usize = 6;
const QUOTE: usize = 12;

#[test]
fn retries_in_retries_in_retries() {
    let _time = testing::virtual_time();
    let orders = Orders::new();
    assert!(orders.checkout(1).is_err());
    assert_eq!(orders.stock.asked.load(Ordering::Relaxed), CHECKOUT);
}

#[test]
fn who_multiplies() {
    let _time = testing::virtual_time();
    let orders = Orders::new();
    assert!(orders.audit().is_err());
    assert_eq!(orders.stock.asked.load(Ordering::Relaxed), AUDIT);
}

#[test]
fn polls_in_a_retry() {
    let _time = testing::virtual_time();
    let orders = Orders::new();
    assert!(orders.ship().is_err());
    assert_eq!(orders.stock.asked.load(Ordering::Relaxed), SHIP);
}

#[test]
fn retries_in_a_poll() {
    let _time = testing::virtual_time();
    let orders = Orders::new();
    assert!(orders.delivered().is_err());
    assert_eq!(orders.polled.load(Ordering::Relaxed), DELIVERED);
}

#[test]
fn other_threads() {
    assert!(mail::letters().is_err());
    assert_eq!(mail::SENT.load(Ordering::Relaxed), LETTERS);
}

#[tokio::test(start_paused = true)]
async fn copies_of_attempts() {
    let slow = || -> Slow { Box::pin(tokio::time::sleep(Duration::from_millis(500))) };
    assert!(catalogue::SLOW.set(slow).is_ok());
    let asked = Arc::new(AtomicUsize::new(0));
    let catalogue = Catalogue {
        asked: Arc::clone(&asked),
    };
    assert!(Quotes { catalogue }.quote(1).await.is_err());
    assert_eq!(asked.load(Ordering::Relaxed), QUOTE);
}

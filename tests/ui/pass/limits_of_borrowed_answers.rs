//! Limits of async functions whose answers borrow by a lifetime without a name.

use std::borrow::Cow;
use std::io::Error;
use std::sync::{Mutex, MutexGuard};

use reattempt::{RetryError, retry};

#[retry(timeout = "1s")]
async fn a_text(text: &str) -> Result<Cow<'_, str>, RetryError<Error>> {
    Ok(text.into())
}

#[retry(deadline = "9s")]
async fn a_guard(mutex: &Mutex<u32>) -> Result<MutexGuard<'_, u32>, RetryError<Error>> {
    Ok(mutex.lock().unwrap())
}

#[retry(deadline = "9s", timeout = "1s")]
async fn a_closure(text: &str) -> Result<Box<dyn Fn() -> usize + '_>, RetryError<Error>> {
    Ok(Box::new(|| text.len()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(a_text("a").await.unwrap(), "a");
    assert_eq!(*a_guard(&Mutex::new(3)).await.unwrap(), 3);
    assert_eq!(a_closure("abc").await.unwrap()(), 3);
}

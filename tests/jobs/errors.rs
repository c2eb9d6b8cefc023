//! Errors of one's own, and errors that hide what they hold.

use std::io::{self, ErrorKind};

use anyhow::Context;
use reattempt::{Classify, chain, retry, testing};
use thiserror::Error;

#[derive(Debug, Error, Classify)]
enum StoreError {
    #[error("the store does not answer")]
    #[retry(inherit)]
    Io(#[from] io::Error),
    #[error("the store is busy")]
    #[retry(transient)]
    Busy,
    #[error("there is no `{key}`")]
    #[retry(permanent)]
    NoSuchKey { key: String },
}

/// Fails with the same error each time.
fn fail(calls: &mut u32, kind: ErrorKind) -> io::Result<u32> {
    *calls += 1;
    Err(kind.into())
}

#[retry]
fn stock(calls: &mut u32, key: &str) -> Result<u32, StoreError> {
    match key {
        "tea" => Ok(fail(calls, ErrorKind::TimedOut)?),
        "busy" => {
            *calls += 1;
            Err(StoreError::Busy)
        }
        _ => {
            *calls += 1;
            Err(StoreError::NoSuchKey {
                key: key.to_owned(),
            })
        }
    }
}

#[test]
fn enum_of_thiserror() {
    let _time = testing::virtual_time();
    for (key, attempts) in [("tea", 3), ("busy", 3), ("none", 1)] {
        let mut calls = 0;
        assert!(stock(&mut calls, key).is_err());
        assert_eq!(calls, attempts);
    }
}

#[retry(on = chain![io::Error])]
fn by_anyhow(calls: &mut u32, kind: ErrorKind) -> anyhow::Result<u32> {
    fail(calls, kind).context("reading the stock")
}

#[retry(on = chain![io::Error])]
fn by_eyre(calls: &mut u32, kind: ErrorKind) -> eyre::Result<u32> {
    eyre::WrapErr::wrap_err(fail(calls, kind), "reading the stock")
}

#[retry(on = chain![io::Error])]
fn by_box(calls: &mut u32, kind: ErrorKind) -> Result<u32, Box<dyn std::error::Error>> {
    Ok(fail(calls, kind)?)
}

#[retry(on = chain![io::Error])]
fn by_box_of_threads(
    calls: &mut u32,
    kind: ErrorKind,
) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    Ok(fail(calls, kind)?)
}

#[test]
fn errors_that_hide_their_type() {
    let _time = testing::virtual_time();
    for (kind, attempts) in [(ErrorKind::TimedOut, 3), (ErrorKind::PermissionDenied, 1)] {
        let mut calls = 0;
        assert!(by_anyhow(&mut calls, kind).is_err());
        assert_eq!(calls, attempts);
        assert!(by_eyre(&mut calls, kind).is_err());
        assert_eq!(calls, 2 * attempts);
        assert!(by_box(&mut calls, kind).is_err());
        assert_eq!(calls, 3 * attempts);
        assert!(by_box_of_threads(&mut calls, kind).is_err());
        assert_eq!(calls, 4 * attempts);
    }
}

#[retry(on = chain![StoreError])]
fn own_enum(calls: &mut u32) -> anyhow::Result<u32> {
    fail(calls, ErrorKind::TimedOut)
        .map_err(StoreError::Io)
        .context("reading the stock")
}

#[retry(on = chain![io::Error])]
fn what_the_enum_holds(calls: &mut u32) -> anyhow::Result<u32> {
    fail(calls, ErrorKind::TimedOut)
        .map_err(StoreError::from)
        .context("reading the stock")
}

#[derive(Debug, Error, Classify)]
#[error(transparent)]
enum Transparent {
    #[retry(inherit)]
    Io(#[from] io::Error),
}

#[retry(on = chain![Transparent])]
fn transparent_enum(calls: &mut u32) -> anyhow::Result<u32> {
    fail(calls, ErrorKind::TimedOut)
        .map_err(Transparent::from)
        .context("reading the stock")
}

/// A context has no verdict: the error below it decides.
#[retry(on = chain![StoreError, io::Error])]
fn enum_as_context(calls: &mut u32) -> anyhow::Result<u32> {
    let key = "tea".to_owned();
    fail(calls, ErrorKind::TimedOut).context(StoreError::NoSuchKey { key })
}

#[test]
fn own_enum_behind_a_context() {
    let _time = testing::virtual_time();
    for function in [
        own_enum,
        what_the_enum_holds,
        transparent_enum,
        enum_as_context,
    ] {
        let mut calls = 0;
        assert!(function(&mut calls).is_err());
        assert_eq!(calls, 3);
    }
}

//! Private functions, which more lints look at, and attributes that must still
//! mean what they say.

use reattempt::retry;

use crate::support::{Fault, seen};

/// Attributes below.
///
/// # Errors
///
/// For the lints.
#[retry(max = 2, on(_), on_retry = seen)]
#[must_use = "it may have failed"]
#[inline]
#[expect(unused_variables, reason = "the expectation has to be met")]
fn below(value: u32) -> Result<(), Fault> {
    Err(Fault::Busy)
}

/// Attributes above.
///
/// # Errors
///
/// For the lints.
#[cold]
#[expect(clippy::unwrap_used, reason = "the expectation has to be met")]
#[retry(max = 2, on(_), on_retry = seen)]
fn above(value: Option<u32>) -> Result<u32, Fault> {
    Ok(value.unwrap())
}

/// By value, and moved; `mut`, and mutated.
///
/// # Errors
///
/// For the lints.
#[retry(max = 2, on(_), clone(text, list))]
fn values(text: String, mut list: Vec<String>, mut count: u32) -> Result<Vec<String>, Fault> {
    count = count.wrapping_add(1);
    list.push(text);
    if count > 3 {
        Ok(list)
    } else {
        Err(Fault::Busy)
    }
}

/// References of every kind.
///
/// # Errors
///
/// For the lints.
#[retry(max = 2, on(_))]
fn references(list: &mut Vec<u32>, other: &str, value: u32) -> Result<usize, Fault> {
    list.push(value);
    if list.len() > 3 {
        Ok(other.len())
    } else {
        Err(Fault::Busy)
    }
}

/// References of every kind, async.
///
/// # Errors
///
/// For the lints.
#[retry(max = 2, on(_), deadline = "3s")]
async fn async_references(list: &mut Vec<u32>, other: &str, value: u32) -> Result<usize, Fault> {
    core::future::ready(()).await;
    list.push(value);
    if list.len() > 3 {
        Ok(other.len())
    } else {
        Err(Fault::Busy)
    }
}

/// Patterns as parameters.
///
/// # Errors
///
/// For the lints.
#[retry(max = 2, on(_))]
fn patterns((left, right): (u32, u32), [first, ..]: [u32; 3], _: u8) -> Result<u32, Fault> {
    if left > right {
        Ok(first)
    } else {
        Err(Fault::Busy)
    }
}

/// Ends by `return`, never falls off the end.
///
/// # Errors
///
/// For the lints.
#[retry(max = 2, on(_))]
fn returning(value: u32) -> Result<u32, Fault> {
    if value > 3 {
        return Ok(value);
    }
    return Err(Fault::Busy);
}

/// Ends in no way at all.
///
/// # Errors
///
/// For the lints.
#[retry(max = 2, on(_))]
fn diverging(value: u32) -> Result<u32, Fault> {
    loop {
        if value > 3 {
            return Err(Fault::Busy);
        }
    }
}

/// As complex as `cognitive_complexity` allows without the attribute.
///
/// # Errors
///
/// For the lints.
#[retry(max = 2, on(_), on_retry = seen, before_retry = seen, fallback = |_| 7, deadline = "3s", context = attempt)]
fn complex(value: u32) -> Result<u32, Fault> {
    let mut count = attempt.number();
    if value > 1 {
        count = count.wrapping_add(1);
    }
    if value > 2 {
        count = count.wrapping_add(1);
    }
    if value > 3 {
        count = count.wrapping_add(1);
    }
    if value > 4 {
        count = count.wrapping_add(1);
    }
    if value > 5 {
        count = count.wrapping_add(1);
    }
    if value > 6 {
        count = count.wrapping_add(1);
    }
    if value > 7 {
        count = count.wrapping_add(1);
    }
    if value > 8 {
        count = count.wrapping_add(1);
    }
    if value > 9 {
        count = count.wrapping_add(1);
    }
    if value > 10 {
        count = count.wrapping_add(1);
    }
    if value > 11 {
        count = count.wrapping_add(1);
    }
    if value > 12 {
        count = count.wrapping_add(1);
    }
    if value > 13 {
        count = count.wrapping_add(1);
    }
    if value > 14 {
        count = count.wrapping_add(1);
    }
    if value > 15 {
        count = count.wrapping_add(1);
    }
    if value > 16 {
        count = count.wrapping_add(1);
    }
    if value > 17 {
        count = count.wrapping_add(1);
    }
    if value > 18 {
        count = count.wrapping_add(1);
    }
    if value > 19 {
        count = count.wrapping_add(1);
    }
    if value > 20 {
        count = count.wrapping_add(1);
    }
    if value > 21 {
        count = count.wrapping_add(1);
    }
    if value > 22 {
        count = count.wrapping_add(1);
    }
    if count > 23 {
        Ok(count)
    } else {
        Err(Fault::Busy)
    }
}

/// The same, async.
///
/// # Errors
///
/// For the lints.
#[retry(max = 2, on(_), on_retry = seen, before_retry = seen, fallback = |_| 7, deadline = "3s", context = attempt)]
async fn async_complex(value: u32) -> Result<u32, Fault> {
    core::future::ready(()).await;
    let mut count = attempt.number();
    if value > 1 {
        count = count.wrapping_add(1);
    }
    if value > 2 {
        count = count.wrapping_add(1);
    }
    if value > 3 {
        count = count.wrapping_add(1);
    }
    if value > 4 {
        count = count.wrapping_add(1);
    }
    if value > 5 {
        count = count.wrapping_add(1);
    }
    if value > 6 {
        count = count.wrapping_add(1);
    }
    if value > 7 {
        count = count.wrapping_add(1);
    }
    if value > 8 {
        count = count.wrapping_add(1);
    }
    if value > 9 {
        count = count.wrapping_add(1);
    }
    if value > 10 {
        count = count.wrapping_add(1);
    }
    if value > 11 {
        count = count.wrapping_add(1);
    }
    if value > 12 {
        count = count.wrapping_add(1);
    }
    if value > 13 {
        count = count.wrapping_add(1);
    }
    if value > 14 {
        count = count.wrapping_add(1);
    }
    if value > 15 {
        count = count.wrapping_add(1);
    }
    if value > 16 {
        count = count.wrapping_add(1);
    }
    if value > 17 {
        count = count.wrapping_add(1);
    }
    if value > 18 {
        count = count.wrapping_add(1);
    }
    if value > 19 {
        count = count.wrapping_add(1);
    }
    if value > 20 {
        count = count.wrapping_add(1);
    }
    if count > 23 {
        Ok(count)
    } else {
        Err(Fault::Busy)
    }
}

/// Calls them all.
///
/// # Errors
///
/// For the lints.
pub(crate) async fn all() -> Result<u32, Fault> {
    below(1)?;
    let value = above(Some(1))?;
    let list = values(String::new(), Vec::new(), value)?;
    let mut numbers = Vec::new();
    let length = references(&mut numbers, "other", value)?;
    let other = async_references(&mut numbers, "other", value).await?;
    let first = patterns((value, value), [value, value, value], 0)?;
    let sum = returning(first)?
        .wrapping_add(diverging(first)?)
        .wrapping_add(complex(first)?);
    let sum = sum.wrapping_add(async_complex(first).await?);
    if list.len() > length.wrapping_add(other) {
        Ok(sum)
    } else {
        Err(Fault::Busy)
    }
}

//! Whether an error of a transaction is worth another run: its body is rolled back, so a lost connection always is.
//!
//! The expansion of a step knows the type of its error, and asks what it implements, best first: the method is
//! found with the fewest references.

use std::error::Error;
use std::io;

use reattempt::Classify;

/// An error of a step with `transaction`.
#[derive(Debug)]
pub struct Lost<'e, E>(pub &'e E);

/// An error that says what it means.
pub trait LostByVerdict {
    /// Returns whether another run may succeed.
    fn is_lost(&self) -> bool;
}

impl<E: Classify> LostByVerdict for &&&Lost<'_, E> {
    fn is_lost(&self) -> bool {
        is_worth_it(self.0)
    }
}

/// An error such as that of `anyhow`, with others in it.
pub trait LostByContent {
    /// Returns whether another run may succeed.
    fn is_lost(&self) -> bool;
}

impl<E: AsRef<dyn Error + Send + Sync>> LostByContent for &&Lost<'_, E> {
    fn is_lost(&self) -> bool {
        in_chain(self.0.as_ref())
    }
}

/// An error with a source.
pub trait LostBySource {
    /// Returns whether another run may succeed.
    fn is_lost(&self) -> bool;
}

impl<E: Error + 'static> LostBySource for &Lost<'_, E> {
    fn is_lost(&self) -> bool {
        in_chain(self.0)
    }
}

/// Any other error: whether another run may succeed is unknown.
pub trait LostByNothing {
    /// Returns `false`.
    fn is_lost(&self) -> bool;
}

impl<E> LostByNothing for Lost<'_, E> {
    fn is_lost(&self) -> bool {
        false
    }
}

fn is_worth_it(error: &impl Classify) -> bool {
    error.classify().is_retryable()
}

/// Looks for the error of a connection among an error and its sources.
fn in_chain(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return is_worth_it(error);
        }
        #[cfg(feature = "postgres")]
        if let Some(error) = error.downcast_ref::<tokio_postgres::Error>() {
            return is_worth_it(error);
        }
        #[cfg(feature = "sqlx09")]
        if let Some(error) = error.downcast_ref::<sqlx::Error>() {
            return is_worth_it(error);
        }
        next = error.source();
    }
    false
}

//! Sends several statements before the first result arrives.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio_postgres::{Client, Error, Row};

/// The future of a statement, which is sent when the future is polled first.
pub(super) type Sent<'a, T = Vec<Row>> =
    Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Carries out statements in one transaction and one round trip. Returns the first error: the
/// errors after it only say that the transaction is over.
///
/// # Cancel safety
///
/// The first poll sends all of it, including the end.
pub(super) async fn transaction<'a>(
    client: &'a Client,
    statements: Vec<Sent<'a>>,
) -> Result<Vec<Vec<Row>>, Error> {
    let mut begin = Pending::new(command(client, "BEGIN ISOLATION LEVEL READ COMMITTED"));
    let mut statements: Vec<_> = statements.into_iter().map(Pending::new).collect();
    let mut end = None;
    poll_fn(|cx| {
        let mut is_over = begin.poll(cx);
        for statement in &mut statements {
            // Without an early end: the first poll of a statement sends it, and all must be sent
            // before the end.
            is_over &= statement.poll(cx);
        }
        // The server does not know about statements that could not be sent, so it must not commit.
        let end = end.get_or_insert_with(|| {
            let has_failed = begin.has_failed() || statements.iter().any(Pending::has_failed);
            let last = if has_failed { "ROLLBACK" } else { "COMMIT" };
            Pending::new(command(client, last))
        });
        is_over &= end.poll(cx);
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    begin.into_result()?;
    let rows = statements.into_iter().map(Pending::into_result);
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    if let Some(end) = end {
        end.into_result()?;
    }
    Ok(rows)
}

/// Carries out statements in one round trip.
pub(super) async fn together<T>(sent: Vec<Sent<'_, T>>) -> Result<Vec<T>, Error> {
    let mut all: Vec<_> = sent.into_iter().map(Pending::new).collect();
    poll_fn(|cx| {
        let mut is_over = true;
        for one in &mut all {
            is_over &= one.poll(cx);
        }
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    all.into_iter().map(Pending::into_result).collect()
}

fn command<'a>(client: &'a Client, command: &'static str) -> Sent<'a> {
    Box::pin(async move { client.batch_execute(command).await.map(|()| Vec::new()) })
}

/// A statement, and its result when it is done.
enum Pending<'a, T> {
    Sent(Sent<'a, T>),
    Done(Result<T, Error>),
}

impl<'a, T> Pending<'a, T> {
    fn new(sent: Sent<'a, T>) -> Self {
        Self::Sent(sent)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        if let Self::Sent(sent) = self {
            match sent.as_mut().poll(cx) {
                Poll::Ready(result) => *self = Self::Done(result),
                Poll::Pending => return false,
            }
        }
        true
    }

    fn has_failed(&self) -> bool {
        matches!(self, Self::Done(Err(_)))
    }

    /// Returns the result. Call it only after all statements are done.
    #[expect(clippy::unreachable, reason = "all statements are done")]
    fn into_result(self) -> Result<T, Error> {
        match self {
            Self::Done(result) => result,
            Self::Sent(_) => unreachable!("polled until it was done"),
        }
    }
}

//! Statements that are sent before the first of them is answered.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio_postgres::{Client, Error, Row};

/// A statement on its way. It is sent when it is polled first.
pub(super) type Sent<'a, T = Vec<Row>> =
    Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Carries out statements in one transaction and one round trip. What the first one that failed says counts: those after it
/// only say that the transaction is over.
///
/// # Cancel safety
///
/// All of it is sent when this is polled first, the end too.
pub(super) async fn transaction<'a>(
    client: &'a Client,
    statements: Vec<Sent<'a>>,
) -> Result<Vec<Vec<Row>>, Error> {
    let mut begun = Waiting::new(command(client, "BEGIN"));
    let mut statements: Vec<_> = statements.into_iter().map(Waiting::new).collect();
    let mut end = None;
    poll_fn(|context| {
        let mut is_over = begun.poll(context);
        for statement in &mut statements {
            is_over &= statement.poll(context);
        }
        // What could not be sent at all has not told the server that it must not commit.
        let end = end.get_or_insert_with(|| {
            let has_failed = begun.has_failed() || statements.iter().any(Waiting::has_failed);
            let last = if has_failed { "ROLLBACK" } else { "COMMIT" };
            Waiting::new(command(client, last))
        });
        is_over &= end.poll(context);
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    begun.answer()?;
    let rows = statements.into_iter().map(Waiting::answer);
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    if let Some(end) = end {
        end.answer()?;
    }
    Ok(rows)
}

/// All of them, in one round trip.
pub(super) async fn together<T>(sent: Vec<Sent<'_, T>>) -> Result<Vec<T>, Error> {
    let mut all: Vec<_> = sent.into_iter().map(Waiting::new).collect();
    poll_fn(|context| {
        let mut is_over = true;
        for one in &mut all {
            is_over &= one.poll(context);
        }
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    all.into_iter().map(Waiting::answer).collect()
}

fn command<'a>(client: &'a Client, command: &'static str) -> Sent<'a> {
    Box::pin(async move { client.batch_execute(command).await.map(|()| Vec::new()) })
}

enum Waiting<'a, T> {
    Sent(Sent<'a, T>),
    Answered(Result<T, Error>),
}

impl<'a, T> Waiting<'a, T> {
    fn new(sent: Sent<'a, T>) -> Self {
        Self::Sent(sent)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> bool {
        if let Self::Sent(sent) = self {
            match sent.as_mut().poll(context) {
                Poll::Ready(answer) => *self = Self::Answered(answer),
                Poll::Pending => return false,
            }
        }
        true
    }

    fn has_failed(&self) -> bool {
        matches!(self, Self::Answered(Err(_)))
    }

    /// Only after all were answered.
    #[expect(clippy::unreachable, reason = "the flight is over")]
    fn answer(self) -> Result<T, Error> {
        match self {
            Self::Answered(answer) => answer,
            Self::Sent(_) => unreachable!("polled until it was answered"),
        }
    }
}

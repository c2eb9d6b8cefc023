use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use futures_util::stream::{Stream, StreamExt as _, unfold};
use retry_runtime::timer::IntoTimer;
use retry_runtime::{GaveUp, Runner, Setup};

/// Returns the items of a stream that is opened again, at a cursor, when it fails.
///
/// `open` opens the stream at the cursor: when the first item is asked for, and after each error that is retried. `advance`
/// moves the cursor past an item before that is returned, so that no item comes twice and none is left out if the service
/// goes on exactly behind the cursor. A cursor of `()` follows a stream that has no positions.
///
/// Each item is a call of the runner. So the attempts, the delays and what else the policy counts begin anew with each item,
/// a `timeout` limits the wait for an item, and a `deadline` that for an item with all its attempts. A budget, a breaker and
/// the telemetry see a call for each item, too.
///
/// The stream ends where the inner one does. It also ends after an error that is not retried, or with which the policy gives
/// up; that error is its last item. A stream that has to be opened by an async function is one of
/// [`try_flatten_stream`](https://docs.rs/futures/latest/futures/future/trait.TryFutureExt.html#method.try_flatten_stream).
///
/// # Errors
///
/// The errors of the inner stream, unchanged. Where a limit ends a call that has none, the `From<GaveUp>` of the error type.
///
/// # Cancel safety
///
/// Dropping the future of an item loses nothing: the inner stream, the attempt and the delay are kept in the stream.
///
/// # Examples
///
/// ```
/// use futures::{Stream, TryStreamExt as _, stream};
/// use reattempt::{Policy, runner::resume};
/// use std::io::{Error, ErrorKind};
///
/// # static READ: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
/// // A feed of ten numbers, whose connection breaks after three.
/// fn numbers(after: u32) -> impl Stream<Item = Result<u32, Error>> {
///     let broken = (after < 7).then(|| Err(Error::from(ErrorKind::ConnectionReset)));
///     stream::iter((after + 1..=10).take(3).map(Ok).chain(broken))
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Error> {
/// const FEED: Policy = Policy::new().max(5);
///
/// let all = resume(FEED.runner(), 0, |seen| numbers(*seen), |seen, number| *seen = *number);
/// let all: Vec<u32> = all.try_collect().await?;
/// assert_eq!(all, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
/// # Ok(())
/// # }
/// ```
pub fn resume<C, P, S, V, E, T, L>(
    runner: Runner<'_, C>,
    cursor: P,
    open: impl FnMut(&P) -> S,
    advance: impl FnMut(&mut P, &V),
) -> impl Stream<Item = Result<V, E>>
where
    C: Setup<E, T, L> + Clone,
    T: IntoTimer,
    S: Stream<Item = Result<V, E>>,
    E: From<GaveUp>,
{
    let feed = Feed {
        cursor,
        open,
        advance,
        inner: None,
    };
    let start = Some((runner, Mutex::new(feed)));
    let items = unfold(start, async |state| {
        let (runner, feed) = state?;
        let call = runner.clone().run_async(|| next(&feed));
        match call.await {
            Ok(Some(item)) => Some((Ok(item), Some((runner, feed)))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    });
    items.fuse()
}

struct Feed<P, S, O, A> {
    cursor: P,
    open: O,
    advance: A,
    /// `None` before the first item, while an attempt has it, and after an error.
    inner: Option<Pin<Box<S>>>,
}

/// One attempt to get an item. It has the inner stream, so that one that fails or is cut off drops it.
async fn next<P, S, V, E, O, A>(feed: &Mutex<Feed<P, S, O, A>>) -> Result<Option<V>, E>
where
    S: Stream<Item = Result<V, E>>,
    O: FnMut(&P) -> S,
    A: FnMut(&mut P, &V),
{
    let locked = || feed.lock().unwrap_or_else(PoisonError::into_inner);
    let opened = |feed: &mut Feed<P, S, O, A>| Box::pin((feed.open)(&feed.cursor));
    let mut inner = {
        let feed = &mut *locked();
        feed.inner.take().unwrap_or_else(|| opened(feed))
    };
    let item = inner.next().await.transpose()?;
    if let Some(item) = &item {
        let feed = &mut *locked();
        (feed.advance)(&mut feed.cursor, item);
        feed.inner = Some(inner);
    }
    Ok(item)
}

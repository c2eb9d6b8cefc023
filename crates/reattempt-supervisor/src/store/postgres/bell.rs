//! Notifies other processes that there may be something to claim, and receives their notifications.
//! Workers also look at intervals.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use reattempt::{Jitter, Policy};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_postgres::AsyncMessage;

use super::connection::{Connector, Link};
use super::sql;

/// The shortest pause between two notifications of one process.
const PAUSE: Duration = Duration::from_millis(5);

/// The delays between two attempts to listen.
const DELAYS: Policy = Policy::new()
    .unlimited()
    .base(Duration::from_millis(50))
    .cap(Duration::from_secs(5))
    .jitter(Jitter::Full);

/// Sends and receives notifications until it is dropped.
#[derive(Debug)]
pub(super) struct Bell {
    outgoing: Arc<Notify>,
    incoming: Arc<Notify>,
    _at_work: JoinSet<()>,
}

impl Bell {
    pub(super) fn new(connector: &Connector, link: Arc<Link>) -> Self {
        // A process ignores its own notifications.
        let own = format!("{:016x}", rand::random::<u64>());
        let outgoing = Arc::new(Notify::new());
        let incoming = Arc::new(Notify::new());
        let mut at_work = JoinSet::new();
        at_work.spawn(send_notifications(link, Arc::clone(&outgoing), own.clone()));
        at_work.spawn(receive_notifications(
            connector.clone(),
            Arc::clone(&incoming),
            own,
        ));
        Self {
            outgoing,
            incoming,
            _at_work: at_work,
        }
    }

    /// Notifies the other processes, soon.
    pub(super) fn ring(&self) {
        self.outgoing.notify_one();
    }

    /// Waits for a notification of another process.
    pub(super) fn wait(&self) -> impl Future<Output = ()> + Send + '_ {
        self.incoming.notified()
    }
}

/// Notifies the other processes whenever `outgoing` is set.
async fn send_notifications(link: Arc<Link>, outgoing: Arc<Notify>, own: String) {
    loop {
        outgoing.notified().await;
        // If this fails, other processes look at their intervals.
        let _ = link.query(sql::NOTIFY, &[&own]).await;
        tokio::time::sleep(PAUSE).await;
    }
}

/// Listens for ever, and connects again when the connection is lost.
async fn receive_notifications(connector: Connector, incoming: Arc<Notify>, own: String) {
    let mut failures = 0;
    loop {
        if let Ok((client, mut driver)) = connector.connect().await {
            let listening = client.batch_execute("LISTEN retry_stored");
            let mut listening = std::pin::pin!(listening);
            let mut is_listening = false;
            poll_fn(|cx| {
                loop {
                    if !is_listening && let Poll::Ready(answer) = listening.as_mut().poll(cx) {
                        if answer.is_err() {
                            return Poll::Ready(());
                        }
                        is_listening = true;
                        failures = 0;
                        // Notifications may have been missed in the meantime.
                        incoming.notify_waiters();
                    }
                    match driver(cx) {
                        Poll::Ready(Some(Ok(AsyncMessage::Notification(notification)))) => {
                            if notification.payload() != own {
                                incoming.notify_waiters();
                            }
                        }
                        Poll::Ready(Some(Ok(_))) => {}
                        Poll::Ready(None | Some(Err(_))) => return Poll::Ready(()),
                        Poll::Pending => return Poll::Pending,
                    }
                }
            })
            .await;
        }
        tokio::time::sleep(DELAYS.sample_delay(failures, None, rand::random)).await;
        failures = failures.saturating_add(1);
    }
}

//! Tells other processes that there may be something to claim, and hears it from them. Who hears nothing looks by itself.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use reattempt::{Jitter, Policy};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_postgres::AsyncMessage;

use super::link::{Connector, Link};
use super::sql;

/// Between two notifications of one process at least.
const PAUSE: Duration = Duration::from_millis(5);

/// Between two tries to listen.
const DELAYS: Policy = Policy::new()
    .unlimited()
    .base(Duration::from_millis(50))
    .cap(Duration::from_secs(5))
    .jitter(Jitter::Full);

/// Ends when it is dropped.
#[derive(Debug)]
pub(super) struct Bell {
    to_tell: Arc<Notify>,
    heard: Arc<Notify>,
    _at_work: JoinSet<()>,
}

impl Bell {
    pub(super) fn new(connector: &Connector, link: Arc<Link>) -> Self {
        // What a process tells itself it knows.
        let own = format!("{:016x}", rand::random::<u64>());
        let to_tell = Arc::new(Notify::new());
        let heard = Arc::new(Notify::new());
        let mut at_work = JoinSet::new();
        at_work.spawn(tell(link, Arc::clone(&to_tell), own.clone()));
        at_work.spawn(listen(connector.clone(), Arc::clone(&heard), own));
        Self {
            to_tell,
            heard,
            _at_work: at_work,
        }
    }

    /// Has the others told, soon.
    pub(super) fn ring(&self) {
        self.to_tell.notify_one();
    }

    pub(super) fn heard(&self) -> impl Future<Output = ()> + Send + '_ {
        self.heard.notified()
    }
}

async fn tell(link: Arc<Link>, to_tell: Arc<Notify>, own: String) {
    loop {
        to_tell.notified().await;
        // Who is not told looks by itself.
        let _ = link.query(sql::NOTIFY, &[&own]).await;
        tokio::time::sleep(PAUSE).await;
    }
}

async fn listen(connector: Connector, heard: Arc<Notify>, own: String) {
    let mut failures = 0;
    loop {
        if let Ok((client, mut driver)) = connector.connect().await {
            let listening = client.batch_execute("LISTEN retry_stored");
            let mut listening = std::pin::pin!(listening);
            let mut is_listening = false;
            poll_fn(|context| {
                loop {
                    if !is_listening && let Poll::Ready(answer) = listening.as_mut().poll(context) {
                        if answer.is_err() {
                            return Poll::Ready(());
                        }
                        is_listening = true;
                        failures = 0;
                        // What was told in the meantime nobody heard.
                        heard.notify_waiters();
                    }
                    match driver(context) {
                        Poll::Ready(Some(Ok(AsyncMessage::Notification(said)))) => {
                            if said.payload() != own {
                                heard.notify_waiters();
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

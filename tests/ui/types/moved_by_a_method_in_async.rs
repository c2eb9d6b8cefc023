//! A method by the name of what it gives, and which takes `self`.

use std::io;

use reattempt::retry;

struct Email(String);

impl Email {
    fn message(self) -> String {
        self.0
    }
}

async fn deliver(_: String) -> io::Result<()> {
    Ok(())
}

#[retry]
async fn send(email: Email) -> io::Result<()> {
    deliver(email.message()).await
}

#[retry]
async fn report(done: tokio::sync::oneshot::Sender<u32>) -> io::Result<()> {
    deliver(String::new()).await?;
    let _ = done.send(1);
    Ok(())
}

fn main() {
    let _ = report(tokio::sync::oneshot::channel().0);
    let _ = send(Email(String::new()));
}

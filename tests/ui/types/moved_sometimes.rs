//! What is compiled only sometimes is asked about under the same condition.

use reattempt::retry;

struct Socket;

async fn send(_: Socket) -> Result<(), String> {
    Ok(())
}

#[retry(max = 3, on(_))]
async fn connect(secure: bool, socket: Socket) -> Result<(), String> {
    match secure {
        #[cfg(any())]
        true => encrypt(socket).await,
        #[cfg(not(any()))]
        true => send(socket).await,
        _ => Err("not secure".into()),
    }
}

fn main() {}

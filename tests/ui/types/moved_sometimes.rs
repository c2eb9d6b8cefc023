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

#[retry(max = 3, on(_))]
async fn conditional(#[cfg(all())] socket: Socket, #[cfg(any())] other: Socket) -> Result<(), String> {
    #[cfg(any())]
    send(other).await?;
    #[cfg(all())]
    send(socket).await?;
    Ok(())
}

#[retry(max = 3, on(_))]
fn conditional_in_sync(#[cfg(all())] socket: Socket) -> Result<(), String> {
    #[cfg(all())]
    drop(socket);
    Ok(())
}

fn main() {}

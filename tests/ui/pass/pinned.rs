//! What the message about a moved `Pin<&mut Self>` says compiles.

use std::io::{Error, ErrorKind};
use std::pin::Pin;

use reattempt::retry;

struct Writer {
    rows: u32,
}

impl Writer {
    fn row(mut self: Pin<&mut Self>) -> Result<u32, Error> {
        self.rows += 1;
        match self.rows {
            3 => Ok(3),
            _ => Err(ErrorKind::TimedOut.into()),
        }
    }

    async fn flush(self: Pin<&mut Self>) -> Result<u32, Error> {
        self.row()
    }

    #[retry(base = "1ms")]
    fn write(mut self: Pin<&mut Self>) -> Result<u32, Error> {
        self.as_mut().row()
    }

    #[retry(base = "1ms")]
    async fn finish(mut self: Pin<&mut Self>) -> Result<u32, Error> {
        self.as_mut().flush().await
    }

    #[retry]
    async fn rows(self: Pin<&mut Self>) -> Result<u32, Error> {
        Ok(self.as_ref().get_ref().rows)
    }
}

#[retry(base = "1ms")]
fn write_to(mut writer: Pin<&mut Writer>) -> Result<u32, Error> {
    writer.as_mut().row()
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Error> {
    let new = || Writer { rows: 0 };
    assert_eq!(Pin::new(&mut new()).write()?, 3);
    assert_eq!(Pin::new(&mut new()).finish().await?, 3);
    assert_eq!(Pin::new(&mut new()).rows().await?, 0);
    assert_eq!(write_to(Pin::new(&mut new()))?, 3);
    Ok(())
}

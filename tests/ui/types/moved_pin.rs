//! A `self` that is a `Pin<&mut Self>` is moved by the first method that takes it, and borrowed anew by `as_mut`.

use std::io::Error;
use std::pin::Pin;

use reattempt::retry;

struct Writer {
    rows: u32,
}

impl Writer {
    fn row(self: Pin<&mut Self>, row: u32) -> Result<u32, Error> {
        Ok(row)
    }

    async fn flush(self: Pin<&mut Self>) -> Result<u32, Error> {
        Ok(self.rows)
    }

    #[retry]
    fn write(self: Pin<&mut Self>, row: u32) -> Result<u32, Error> {
        self.row(row)
    }

    #[retry]
    async fn finish(self: Pin<&mut Self>) -> Result<u32, Error> {
        self.flush().await
    }
}

#[retry]
fn write_to(writer: Pin<&mut Writer>, row: u32) -> Result<u32, Error> {
    writer.row(row)
}

fn main() {
    let mut writer = Writer { rows: 0 };
    let mut writer = Pin::new(&mut writer);
    let _ = writer.as_mut().write(1);
    let _ = writer.as_mut().finish();
    let _ = write_to(writer, 2);
}

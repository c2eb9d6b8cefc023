use std::io::{Error, ErrorKind};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};

pub async fn fetch(client: &Client) -> Result<u8, Error> {
    (|| client.ask())
        .retry(ExponentialBuilder::default().with_max_times(4))
        .when(|error| error.kind() == ErrorKind::TimedOut)
        .await
}

pub fn send(client: &Client) -> Result<u8, Error> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        match client.send() {
            Ok(answer) => return Ok(answer),
            Err(error) if attempt >= 5 => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(200)),
        }
    }
}

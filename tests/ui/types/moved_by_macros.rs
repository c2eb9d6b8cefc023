//! Macros that take their arguments, and a field that is copied before the whole is moved.

use std::future::Future;

use reattempt::retry;
use tokio::select;

struct Stopped;

#[retry(max = 3, on(_))]
async fn first(stopped: impl Future<Output = Stopped>) -> Result<u32, String> {
    tokio::select! {
        _ = stopped => Err("stopped".into()),
        number = ask() => number,
    }
}

#[retry(max = 3, on(_))]
async fn imported(stopped: impl Future<Output = Stopped>) -> Result<u32, String> {
    select! {
        _ = stopped => Err("stopped".into()),
        number = ask() => number,
    }
}

#[retry(max = 3, on(_))]
async fn both(other: impl Future<Output = u32>) -> Result<u32, String> {
    let (number, other) = tokio::join!(ask(), other);
    Ok(number? + other)
}

#[retry(max = 3, on(_))]
async fn pinned(other: impl Future<Output = u32>) -> Result<u32, String> {
    let other = std::pin::pin!(other);
    Ok(other.await)
}

async fn ask() -> Result<u32, String> {
    Ok(3)
}

struct Frame {
    version: u32,
    bytes: Vec<u8>,
}

impl Frame {
    fn write_into(self, all: &mut Vec<u8>) {
        all.extend(self.bytes);
    }

    #[retry(max = 3, on(_))]
    fn encode(self) -> Result<Vec<u8>, String> {
        let version = self.version;
        let mut all = version.to_be_bytes().to_vec();
        self.write_into(&mut all);
        Ok(all)
    }
}

#[retry(max = 3, on(_))]
fn in_one_arm(url: Result<u32, String>, other: String) -> Result<u32, String> {
    match url {
        Ok(other) => Ok(other),
        Err(_) => Err(other),
    }
}

macro_rules! into {
    ($name:ident) => {
        let $name = $name.into();
    };
}

// A macro of one's own that binds the name anew, in more than a short body.
#[retry(max = 3, on(_))]
async fn by_one_of_its_own(key: impl Into<String> + Clone) -> Result<u32, String> {
    into!(key);
    let key: String = key;
    let mut found = Vec::new();
    for (number, letter) in key.chars().enumerate() {
        if letter.is_ascii_digit() {
            found.push(ask().await? + u32::from(number > 3));
        } else if letter == ' ' {
            return Err(format!("a blank at {number} in {key}"));
        } else {
            found.clear();
        }
    }
    Ok(found.len() as u32)
}

fn main() {}

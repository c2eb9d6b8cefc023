//! A durable task whose arguments, results and signals are compressed and encrypted in its store: whoever
//! reads the file, a backup of it or the page of tasks finds names and times, and no secret.
//!
//! `cargo run -p service-examples --example encryption`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::time::Duration;
use std::{env, fs, process};

use chacha20poly1305::aead::{Aead, AeadCore, KeyInit, OsRng};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use reattempt_supervisor::store::{Encoded, PayloadCodec};
use reattempt_supervisor::{
    Client, Scheduler, Sqlite, Step, StepError, WorkflowContext, step, workflow,
};

/// The keys by their numbers: the last encrypts, the others decrypt what is older.
struct Sealed(Vec<ChaCha20Poly1305>);

/// The bytes of a nonce.
const NONCE: usize = 12;

impl PayloadCodec for Sealed {
    fn encode(&self, json: &[u8]) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let mut small = DeflateEncoder::new(Vec::new(), Compression::fast());
        small.write_all(json)?;
        let number = u8::try_from(self.0.len())?
            .checked_sub(1)
            .ok_or("there is no key")?;
        let nonce = ChaCha20Poly1305::generate_nonce(&mut OsRng);
        let key = self.0.last().ok_or("there is no key")?;
        let sealed = key
            .encrypt(&nonce, &*small.finish()?)
            .map_err(|error| error.to_string())?;
        Ok([&[number], &nonce[..], &sealed].concat())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let (number, rest) = bytes.split_first().ok_or("it is empty")?;
        let (nonce, sealed) = rest.split_at_checked(NONCE).ok_or("it is too short")?;
        let key = self.0.get(usize::from(*number)).ok_or("the key is gone")?;
        let small = key
            .decrypt(Nonce::from_slice(nonce), sealed)
            .map_err(|error| error.to_string())?;
        let mut json = Vec::new();
        DeflateDecoder::new(&*small).read_to_end(&mut json)?;
        Ok(json)
    }
}

#[step]
async fn charge(_step: &Step, card: &str, cents: u32) -> Result<String, String> {
    Ok(format!("{cents} cents from {card}"))
}

#[workflow]
async fn order(context: &WorkflowContext, card: String, cents: u32) -> Result<String, StepError> {
    charge(context, &card, cents).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = env::temp_dir().join(format!("reattempt-encryption-{}.db", process::id()));
    // A program reads its keys from a vault.
    let old = ChaCha20Poly1305::new(&ChaCha20Poly1305::generate_key(&mut OsRng));
    let new = ChaCha20Poly1305::new(&ChaCha20Poly1305::generate_key(&mut OsRng));
    let client = Client::new(Encoded::new(
        Sqlite::open(&file).await?,
        Sealed(vec![old.clone()]),
    ));
    let task = client
        .submit(order("4000 0012 3456 7899".to_owned(), 1_999))
        .await?;
    // The next release has one more key.
    let client = Client::new(Encoded::new(
        Sqlite::open(&file).await?,
        Sealed(vec![old, new]),
    ));
    let scheduler = Scheduler::new(&client).register(order).start()?;
    let receipt = client.task::<String>(task.id()).wait().await?;
    println!("the receipt: {receipt}");
    assert!(receipt.contains("7899"));
    let outside = Client::new(Sqlite::open(&file).await?);
    let seen = outside.task::<String>(task.id()).progress().await?;
    println!(
        "in the file: {} and {:?}",
        seen.task.input, seen.task.output
    );
    assert!(seen.task.input.starts_with('~') && !format!("{seen:?}").contains("7899"));
    scheduler.stop(Duration::from_secs(1)).await;
    fs::remove_file(file)?;
    Ok(())
}

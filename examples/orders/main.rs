//! An order of four steps that survives the death of its process. Kill it (`kill -9`, Ctrl-C) in
//! the middle and start it again: it goes on after the last step that is recorded.
//!
//! `cargo run -p service-examples --example orders`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

mod order;
mod shop;

use std::error::Error;
use std::fs;
use std::time::Duration;

use reattempt_supervisor::{Client, Scheduler, Sqlite};

use order::order;
use shop::Shop;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join("reattempt-orders");
    fs::create_dir_all(&folder)?;
    let url = shop::flaky_server(folder.join("effects.txt")).await?;

    let client = Client::new(Sqlite::open(folder.join("orders.db")).await?);
    let scheduler = Scheduler::new(&client)
        .register(order)
        .with(Shop::at(url))
        .lease(Duration::from_secs(1))
        .start()?;

    // With the same key it is the same order, also when the process is started again.
    let task = client
        .submit(order("book".to_owned(), 1_999).key("order 17"))
        .await?;
    let mut shown = 0;
    task.follow(|progress| {
        for record in progress.history.iter().skip(shown) {
            println!(
                "{:?} {} (fence {})",
                record.kind, record.name, record.fence.0
            );
        }
        shown = progress.history.len();
    })
    .await?;
    let receipt = task.wait().await?;
    println!("order {} is processed: {receipt}", task.id());
    scheduler.stop(Duration::from_secs(1)).await;

    let effects = fs::read_to_string(folder.join("effects.txt"))?;
    println!("what happened in the shop:\n{effects}");
    assert_eq!(effects.lines().count(), 4);
    fs::remove_dir_all(folder)?;
    Ok(())
}

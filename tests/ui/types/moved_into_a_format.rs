//! A closure that is `move` takes what the string of a format names.

use std::io;

use reattempt::retry;

#[retry]
fn in_a_thread(name: String) -> io::Result<()> {
    let log = move || println!("{name}");
    log();
    Ok(())
}

#[retry]
async fn in_a_task(name: String) -> io::Result<()> {
    tokio::spawn(async move { println!("fetched {name:?}") });
    Ok(())
}

fn main() {
    let _ = in_a_thread(String::new());
    let _ = in_a_task(String::new());
}

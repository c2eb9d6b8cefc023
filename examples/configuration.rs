//! Policies that have a name: a file is loaded, changed and read again while the program runs, and a switch turns all
//! retries off.
//!
//! `cargo run --example configuration --features config`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::cell::Cell;
use std::error::Error;

use reattempt::{GiveUpReason, RetryError, config, retry};

/// The keys here hold where the file says nothing.
#[retry(
    policy = "storage",
    name = "payments.charge",
    max = 2,
    base = "1ms",
    on(_)
)]
fn charge(attempts: &Cell<u32>) -> Result<(), RetryError<&'static str>> {
    attempts.set(attempts.get() + 1);
    Err("busy")
}

/// Attempts of a call that never succeeds, and why it ended.
fn attempts() -> (u32, GiveUpReason) {
    let attempts = Cell::new(0);
    let end = charge(&attempts).map_or_else(|end| end.reason(), |()| unreachable!("busy"));
    (attempts.get(), end)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("reattempt-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("retry.toml");

    assert_eq!(attempts(), (2, GiveUpReason::Attempts));

    std::fs::write(&path, "[policies.storage]\nmax = 4\n# end\n")?;
    config::load(&path)?;
    assert_eq!(attempts(), (4, GiveUpReason::Attempts));

    // A change, and the operation by its name. `config::watch` does this whenever the file changes.
    let changed = "[policies.storage]\nmax = 4\n[operations.\"payments.charge\"]\nmax = 3\n# end\n";
    std::fs::write(&path, changed)?;
    config::reload()?;
    assert_eq!(attempts(), (3, GiveUpReason::Attempts));

    // A mistake changes nothing, and says where it is.
    std::fs::write(&path, "[policies.storage]\nbase = \"0s\"\n# end\n")?;
    if let Err(faults) = config::reload() {
        println!("{faults}");
    }
    assert!(config::status().last_error().is_some());
    assert_eq!(attempts(), (3, GiveUpReason::Attempts));

    // The service is down, and everybody retries: enough of it.
    config::stop_retries();
    assert_eq!(attempts(), (1, GiveUpReason::Disabled));
    config::resume_retries();
    assert_eq!(attempts(), (3, GiveUpReason::Attempts));

    // The same in the file, for one operation.
    std::fs::write(
        &path,
        "[operations.\"payments.charge\"]\nenabled = false\n# end\n",
    )?;
    config::reload()?;
    assert_eq!(attempts(), (1, GiveUpReason::Disabled));

    std::fs::remove_dir_all(&folder)?;
    println!("2 attempts by the code, 4 by the file, 3 by the operation, 1 with retries off");
    Ok(())
}

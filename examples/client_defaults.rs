//! Settings that live on the client: its policy holds for all its calls, one method overrides a key, and a
//! single call brings a policy of its own.
//!
//! `cargo run --example client_defaults`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::cell::Cell;
use std::time::Duration;

use reattempt::{Policy, retry};

#[derive(Debug, PartialEq)]
enum Fault {
    Busy,
}

/// A client of a store that is busy for a while.
struct Client<'s> {
    store: &'s Store,
    retry: Policy,
}

#[derive(Default)]
struct Store {
    busy: Cell<u32>,
    calls: Cell<u32>,
}

impl Store {
    fn ask(&self) -> Result<u32, Fault> {
        self.calls.set(self.calls.get() + 1);
        match self.busy.get().checked_sub(1) {
            Some(left) => {
                self.busy.set(left);
                Err(Fault::Busy)
            }
            None => Ok(7),
        }
    }
}

impl<'s> Client<'s> {
    fn new(store: &'s Store, retry: Policy) -> Self {
        Self { store, retry }
    }

    /// The same client under another policy: for one call, or for a part of the program.
    fn with(&self, retry: Policy) -> Self {
        Self { retry, ..*self }
    }

    /// As the client says.
    #[retry(policy = self.retry, on(Fault::Busy))]
    fn read(&self) -> Result<u32, Fault> {
        self.store.ask()
    }

    /// As the client says, but twice at most.
    #[retry(policy = self.retry, max = 2, on(Fault::Busy))]
    fn write(&self) -> Result<u32, Fault> {
        self.store.ask()
    }
}

/// Calls of the store that `call` comes to while it is busy for a long time.
fn calls(store: &Store, call: impl FnOnce() -> Result<u32, Fault>) -> u32 {
    store.busy.set(100);
    store.calls.set(0);
    assert_eq!(call(), Err(Fault::Busy));
    store.calls.get()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::default();
    let policy = Policy::new().max(4).base(Duration::from_millis(1));
    // A policy that is evaluated at run time is checked where it is made.
    let client = Client::new(&store, policy.build()?);

    assert_eq!(calls(&store, || client.read()), 4);
    assert_eq!(calls(&store, || client.write()), 2);

    // One call that somebody waits for: no retry.
    let once = client.with(Policy::new().max(1));
    assert_eq!(calls(&store, || once.read()), 1);
    // The client itself stays as it was.
    assert_eq!(calls(&store, || client.read()), 4);

    store.busy.set(3);
    assert_eq!(client.read(), Ok(7));
    println!("4 attempts by the client, 2 by its method `write`, 1 for a single call");
    Ok(())
}

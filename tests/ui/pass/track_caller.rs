//! What the message about `#[track_caller]` proposes.

use std::panic::Location;

use reattempt::retry;

#[track_caller]
fn fetch() -> Result<u32, String> {
    fetch_from(Location::caller())
}

#[retry(on(_))]
fn fetch_from(caller: &Location<'_>) -> Result<u32, String> {
    Ok(caller.line())
}

fn main() {
    assert_eq!(fetch(), Ok(line!()));
}

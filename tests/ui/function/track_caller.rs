use std::panic::Location;

use reattempt::retry;

#[track_caller]
#[retry(on(_))]
fn above() -> Result<u32, String> {
    Ok(Location::caller().line())
}

#[retry(on(_))]
#[track_caller]
async fn below() -> Result<u32, String> {
    Ok(Location::caller().line())
}

struct Client;

#[retry(on(_))]
impl Client {
    #[track_caller]
    fn method(&self) -> Result<u32, String> {
        Ok(Location::caller().line())
    }
}

fn main() {
    let _ = (above(), below(), Client.method());
}

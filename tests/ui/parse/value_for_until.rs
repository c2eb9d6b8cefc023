use reattempt::retry;

#[derive(PartialEq)]
enum Status {
    Done,
    Failed(u8),
}

#[retry(until = Status::Done)]
fn one() -> Result<Status, String> {
    Ok(Status::Done)
}

#[retry(until = Status::Done | Status::Failed(_))]
fn several() -> Result<Status, String> {
    Ok(Status::Failed(1))
}

#[retry(until = Some)]
fn any() -> Option<Option<Status>> {
    Some(None)
}

fn main() {
    let _ = (one(), several(), any());
}

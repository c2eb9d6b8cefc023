use reattempt::retry;

const CUT_OFF: bool = false;

#[retry(on(_), deadline = "1s", cut_off = CUT_OFF)]
async fn constant() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), deadline = "1s", cut_off = "no")]
async fn text() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), doc = CUT_OFF)]
fn documented() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (constant(), text(), documented());
}

use retry_supervisor::{Flow, Step, step, workflow};

#[step]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok("one")
}

#[step(retry(on(_)))]
async fn ship(_: &Step) -> Result<u32, String> {
    "one"
}

#[workflow]
async fn order(flow: &Flow) -> Result<u32, String> {
    pay(flow).await
}

fn main() {}

use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[derive(serde::Serialize, serde::Deserialize)]
struct Receipt<T>(T);

#[step]
async fn pay(_: &Step) -> Result<Receipt<u32>, String> {
    Ok(Receipt("one"))
}

#[step(retry(on(_)))]
async fn ship(_: &Step) -> Result<u32, String> {
    "one"
}

#[workflow]
async fn order(context: &WorkflowContext) -> Result<Receipt<u32>, String> {
    pay(context).await
}

fn main() {}

use reattempt_supervisor::{Step, WorkflowContext, step};

#[step(retry(max = 1, idempotent = false))]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    fn _call(context: &WorkflowContext) {
        drop(pay(context));
    }
}

use reattempt_supervisor::{Step, WorkflowContext, step};

#[step(retry(on(_), deadline = "1m"), complete_by = "30s")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(complete_by = "500ms", retry(on(_), timeout = "1.5s", deadline = "3s"))]
async fn ship(_: &Step) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    fn _call(context: &WorkflowContext) {
        drop((pay(context), ship(context)));
    }
}

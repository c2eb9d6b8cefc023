use reattempt_supervisor::{Step, WorkflowContext, step};

#[step(retry(max = 0, on(_)), complete_by = "30s")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(retry(maximum = 3))]
async fn ship(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(retry(never))]
async fn send(_: &Step) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    fn _call(context: &WorkflowContext) {
        drop((pay(context), ship(context), send(context)));
    }
}

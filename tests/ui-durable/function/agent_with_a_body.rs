use reattempt_supervisor::{AgentError, Step, step};

#[step(queue = "gpu")]
async fn render(_: &Step, _scene: String) -> Result<u32, AgentError> {
    Ok(1)
}

fn main() {}

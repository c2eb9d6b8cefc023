use reattempt_supervisor::{AgentError, Step, step};

#[step(queue = "gpu", transaction)]
async fn paint(_: &Step, _scene: String) -> Result<u32, AgentError>;

#[step(queue = "gpu")]
async fn render(_: &Step, #[with] _shop: &u32) -> Result<u32, AgentError>;

#[step(queue = "gpu", retry(max = 3, until = |done| *done))]
async fn look(step: &Step, scene: String) -> Result<bool, AgentError>;

fn main() {}

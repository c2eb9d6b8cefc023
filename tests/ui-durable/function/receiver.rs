use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

struct Shop;

impl Shop {
    #[step]
    async fn pay(&self, _: &Step) -> Result<u32, String> {
        Ok(1)
    }

    #[workflow]
    async fn order(self, _: &WorkflowContext) -> Result<u32, String> {
        Ok(1)
    }
}

fn main() {
    drop(Shop);
}

use reattempt_supervisor::{WorkflowContext, workflow};

#[workflow]
async fn order(
    _: &WorkflowContext,
    _a: u8,
    _b: u8,
    _c: u8,
    _d: u8,
    _e: u8,
    _f: u8,
    _g: u8,
    _h: u8,
    _i: u8,
) -> Result<u32, String> {
    Ok(1)
}

fn main() {}

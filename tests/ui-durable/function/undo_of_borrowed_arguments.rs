use std::borrow::Cow;

use reattempt_supervisor::{Step, WorkflowContext, step};

#[step(undo = refund)]
async fn pay(_: &Step, _what: Cow<'_, str>, _pair: (&str, u32)) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn refund(_: &Step, _what: &str, _pair: (&str, u32), _answer: &u32) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    fn _call(context: &WorkflowContext) {
        drop(pay(context, "".into(), ("", 1)));
    }
}

use reattempt_supervisor::{Step, step};

#[step]
async fn add(_: &Step, items: &mut Vec<u32>, item: u32) -> Result<usize, String> {
    items.push(item);
    Ok(items.len())
}

#[step]
async fn add_if(_: &Step, items: Option<&mut Vec<u32>>) -> Result<(), String> {
    items.into_iter().for_each(|items| items.push(1));
    Ok(())
}

// What it changes is gone before the step has ended.
#[step(args = "ignore")]
async fn send(_: &Step, connection: &mut String) -> Result<(), String> {
    connection.clear();
    Ok(())
}

fn main() {}

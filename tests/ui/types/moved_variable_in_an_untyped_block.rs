use reattempt::retry_block;

fn send(order: String) -> Result<String, String> {
    retry_block!(on(_), { Ok::<String, String>(order) })
}

fn main() {
    let _ = send(String::new());
}

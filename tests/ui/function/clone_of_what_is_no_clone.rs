use reattempt::retry;

struct Token;

#[retry(max = 3, on(_), clone(token))]
fn fetch(token: Token) -> Result<Token, String> {
    Ok(token)
}

fn main() {
    let _ = fetch(Token);
}

//! `clone(..)` of what has no copies: the rule's own error, with the other ways out.

use reattempt::retry;

trait Visitor {
    fn visit(self) -> Result<String, String>;
}

struct Token;

#[retry(max = 3, on(_), clone(token))]
fn concrete(token: Token) -> Result<Token, String> {
    Ok(token)
}

#[retry(max = 3, on(_), clone(visitor))]
fn generic<V: Visitor>(visitor: V) -> Result<String, String> {
    visitor.visit()
}

#[retry(max = 3, on(_), clone(visitor))]
async fn by_impl(visitor: impl Visitor) -> Result<String, String> {
    visitor.visit()
}

impl Token {
    #[retry(max = 3, on(_), clone(self))]
    fn receiver(self) -> Result<Token, String> {
        Ok(self)
    }
}

fn main() {
    let _ = concrete(Token);
    let _ = Token.receiver();
}

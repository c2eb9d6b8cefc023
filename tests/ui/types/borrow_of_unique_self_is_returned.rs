//! Only the compiler knows that `fill` changes what the answer borrows.

use reattempt::retry;

struct Client(Vec<u8>);

impl Client {
    #[retry(max = 3, on(_))]
    fn fetch(&mut self) -> Result<&[u8], String> {
        self.fill();
        Ok(&self.0)
    }

    fn fill(&mut self) {
        self.0.push(1);
    }
}

fn main() {
    let _ = Client(Vec::new()).fetch();
}

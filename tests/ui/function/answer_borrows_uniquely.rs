//! What a body certainly borrows by `&mut` for its answer.

use std::collections::HashMap;

use reattempt::retry;

struct Client(Vec<u8>, u32, HashMap<u8, String>);

struct Page<'a> {
    bytes: &'a mut Vec<u8>,
}

impl Client {
    #[retry(max = 3, on(_))]
    fn part(&mut self) -> Result<&mut [u8], String> {
        Ok(&mut self.0)
    }

    #[retry(max = 3, on(_))]
    fn by_name<'a>(&'a mut self) -> Result<&'a mut Vec<u8>, String> {
        self.1 += 1;
        Ok(&mut self.0)
    }

    #[retry(max = 3, on(_))]
    fn itself(&mut self) -> Result<&mut Self, String> {
        if self.1 > 3 {
            return Ok(self);
        }
        Err(String::new())
    }

    #[retry(max = 3, on(_))]
    fn by_a_method(&mut self, key: u8) -> Result<&mut String, String> {
        self.2.get_mut(&key).ok_or_else(String::new)
    }

    #[retry(max = 3, on(_))]
    fn by_another_name<'a>(&'a mut self) -> impl Future<Output = Result<&'a mut u32, String>> {
        let this: &'a mut Self = self;
        async move { Ok(&mut this.1) }
    }

    #[retry(max = 3, on(_))]
    fn in_a_struct(&mut self) -> Result<Page<'_>, String> {
        Ok(Page { bytes: &mut self.0 })
    }

    #[retry(max = 3, on(_))]
    fn by_a_variable(&mut self) -> Result<Page<'_>, String> {
        let bytes = &mut self.0;
        Ok(Page { bytes })
    }

    #[retry(max = 3, on(_))]
    async fn space<'b>(&mut self, space: &'b mut Vec<u8>) -> Result<&'b [u8], String> {
        self.fill(space).await
    }

    async fn fill<'b>(&mut self, space: &'b mut Vec<u8>) -> Result<&'b [u8], String> {
        self.1 += 1;
        Ok(space)
    }

    #[retry(max = 3, on(_))]
    fn by_a_part(&mut self) -> Result<Pair<'_>, String> {
        let part = self.all()?;
        Ok(Pair(pick(&part), pick(&part)))
    }

    fn all(&mut self) -> Result<&[u8], String> {
        Ok(&mut self.0)
    }

    #[retry(max = 3, on(_))]
    async fn later(&mut self) -> Result<&mut [u8], String> {
        Ok(&mut self.0)
    }
}

#[retry(max = 3, on(_))]
fn scratch(scratch: &mut Vec<u8>) -> Result<&mut Vec<u8>, String> {
    scratch.push(1);
    Ok(scratch)
}

struct Pair<'a>(&'a [u8], &'a [u8]);

fn pick<'a>(bytes: &&'a [u8]) -> &'a [u8] {
    bytes
}

fn main() {
    let mut client = Client(Vec::new(), 0, HashMap::new());
    let _ = client.part();
    let _ = client.by_name();
    let _ = client.itself();
    let _ = client.by_a_method(1);
    let _ = client.in_a_struct();
    let _ = client.by_a_variable();
    let _ = client.space(&mut Vec::new());
    let _ = client.by_a_part();
    let _ = client.later();
    let _ = scratch(&mut Vec::new());
}

//! The answer borrows by `&` what the attempt has changed before.

use std::io::Error;

use reattempt::retry;

struct Head<'a>(&'a [u8]);

impl<'a> Head<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    fn fill(&mut self, size: usize) -> Result<&mut [u8], Error> {
        self.bytes.resize(size, 0);
        Ok(&mut self.bytes)
    }
}

struct Reader {
    buffer: Buffer,
    head: Option<Vec<u8>>,
    count: u32,
}

impl Reader {
    async fn read_all(&mut self) -> Result<Vec<u8>, Error> {
        Ok(Vec::new())
    }

    #[retry]
    fn fills(&mut self) -> Result<&[u8], Error> {
        self.buffer.fill(8)?;
        Ok(&self.buffer.bytes)
    }

    #[retry]
    fn through_a_variable(&mut self, size: usize) -> Result<&[u8], Error> {
        let buffer = self.buffer.fill(size)?;
        self.count += 1;
        Ok(buffer)
    }

    #[retry]
    async fn keeps(&mut self) -> Result<Option<Head<'_>>, Error> {
        if self.head.is_none() {
            let head = self.read_all().await?;
            self.head = Some(head);
        }
        Ok(Some(Head::of(self.head.as_ref().unwrap())))
    }

    #[retry]
    fn by_another_name(&mut self) -> Result<Head<'_>, Error> {
        let all: &mut Self = self;
        all.first().map(Head)
    }

    fn first(&mut self) -> Result<&[u8], Error> {
        self.buffer.fill(1).map(|it| &*it)
    }

    #[retry]
    async fn reads(&mut self) -> Result<&[u8], Error> {
        self.read_all().await?;
        let bytes = &self.buffer.bytes;
        Ok(bytes)
    }

    #[retry]
    async fn assigns(&mut self) -> Result<&[u8], Error> {
        let bytes = self.read_all().await?;
        self.buffer.bytes = bytes;
        Ok(&self.buffer.bytes)
    }
}

fn main() {}

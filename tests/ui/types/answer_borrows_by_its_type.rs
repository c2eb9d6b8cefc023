//! Answers whose type, and not an expression, says what they borrow.

use std::io::{Error, Read, Take};

use reattempt::retry;

struct Page<'a, R> {
    name: &'a str,
    from: Take<&'a mut R>,
}

struct File<R> {
    name: String,
    size: u64,
    from: R,
}

struct Part<'a>(&'a mut [u8]);

impl<'a> Part<'a> {
    fn of(bytes: &'a mut [u8]) -> Result<Self, Error> {
        Ok(Self(bytes))
    }

    fn from(self, start: usize) -> Part<'a> {
        Part(&mut self.0[start..])
    }
}

struct Parts {
    bytes: Vec<u8>,
}

impl Parts {
    fn at(&mut self, start: usize) -> Result<Part<'_>, Error> {
        Part::of(&mut self.bytes[start..])
    }

    fn rest(&self) -> &[u8] {
        &self.bytes
    }
}

struct Reader {
    parts: Parts,
    read: usize,
}

macro_rules! tried {
    ($tried:expr, $failed:expr) => {
        $tried.map_err(|()| $failed)
    };
}

impl Reader {
    fn fill(&mut self) -> Result<(), ()> {
        self.parts.bytes.push(1);
        Ok(())
    }

    #[retry]
    fn by_a_method_of_a_variable(&mut self, start: usize) -> Result<Part<'_>, Error> {
        let part = self.parts.at(start)?;
        Ok(part.from(1))
    }

    #[retry]
    fn by_a_method_of_a_field(&mut self) -> Result<&[u8], Error> {
        if self.read == 0 {
            tried!(self.fill(), Error::other("read"))?;
        }
        Ok(self.parts.rest())
    }

    #[retry]
    fn beside_a_condition_in_a_macro(&mut self) -> Result<Part<'_>, Error> {
        tried!(self.fill(), {
            #[cfg(unix)]
            Error::other("unix");
            Error::other("read")
        })?;
        Ok(Part(&mut self.parts.bytes))
    }
}

fn page<'a, R: Read>(name: &'a str, from: Take<&'a mut R>) -> Result<Page<'a, R>, Error> {
    Ok(Page { name, from })
}

#[retry]
fn beside_the_same_lifetime<'a, R: Read>(
    from: &'a mut R,
    name: &'a str,
) -> Result<Page<'a, R>, Error> {
    let mut byte = [0];
    from.read_exact(&mut byte)?;
    let from = from.take(u64::from(byte[0]));
    let Page { from, .. } = page(name, from)?;
    Ok(Page { name, from })
}

impl<R: Read> File<R> {
    fn take(&mut self) -> Result<(&str, Take<&mut R>), Error> {
        Ok((&self.name, self.from.by_ref().take(self.size)))
    }

    #[retry]
    fn beside_another_part(&mut self) -> Result<Page<'_, R>, Error> {
        let name = self.name.get(1..).ok_or_else(|| Error::other("name"))?;
        let from = read(&mut self.from, self.size)?;
        let Page { from, .. } = page(name, from)?;
        Ok(Page { name, from })
    }
}

fn read<R: Read>(from: &mut R, size: u64) -> Result<Take<&mut R>, Error> {
    Ok(from.take(size))
}

fn main() {}

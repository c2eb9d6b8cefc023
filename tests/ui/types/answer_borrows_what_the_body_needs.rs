//! What the answer borrows the body needs by `&mut`: the compiler is asked of all of the body.

use std::fmt::Write as _;
use std::io::{Error, Read};

use reattempt::retry;

#[retry]
fn text(out: &mut String) -> Result<&str, Error> {
    out.push('x');
    Ok(out.as_str())
}

#[retry]
async fn text_later(out: &mut String, number: u32) -> Result<&str, Error> {
    write!(out, "{number}").map_err(Error::other)?;
    Ok(out)
}

struct Cells<'a>(&'a [u8]);

struct Range<'a>(Vec<&'a u8>);

struct Sheet {
    cells: Vec<u8>,
    size: usize,
}

impl Sheet {
    fn range(&mut self, _: &str) -> Result<Range<'_>, Error> {
        Ok(Range(Vec::new()))
    }

    fn cells(&mut self, _: &str) -> Result<Cells<'_>, Error> {
        Ok(Cells(&self.cells))
    }

    #[retry]
    fn through_another_value<'a>(&'a mut self, name: &str) -> Result<Range<'a>, Error> {
        let cells = self.cells(name)?;
        let mut found = Vec::new();
        for cell in cells.0 {
            found.push(cell);
        }
        Ok(Range(found))
    }

    #[retry]
    fn beside_other_parts(&mut self, page: usize, from: &mut impl Read) -> Result<&[u8], Error> {
        let end = page * self.size;
        if end > self.cells.len() {
            self.cells.resize(end, 0);
            let read = from.read(&mut self.cells)?;
            if read == 0 {
                return Ok(&self.cells[..end]);
            }
        }
        Ok(&self.cells[end..])
    }
}

enum Book {
    One(Sheet),
    Other(Sheet),
}

impl Book {
    #[retry]
    fn of_a_pattern<'a>(&'a mut self, name: &str) -> Result<Range<'a>, Error> {
        match self {
            Self::One(sheet) => sheet.range(name).map_err(Error::other),
            Self::Other(sheet) => sheet.range(name).map_err(Error::other),
        }
    }
}

struct Reader<'a, R> {
    from: &'a mut R,
    to: Option<&'a mut R>,
}

impl<'a, R: Read> Reader<'a, R> {
    #[retry]
    fn in_a_field(from: &'a mut R, out: &mut Vec<u8>) -> Result<Self, Error> {
        from.read_to_end(out)?;
        Ok(Self { from, to: None })
    }
}

fn main() {}

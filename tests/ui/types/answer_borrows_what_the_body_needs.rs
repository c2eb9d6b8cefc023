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

struct Cache {
    text: String,
}

impl Cache {
    #[retry]
    async fn text_of_a_field(&mut self) -> Result<&str, Error> {
        self.text.push('x');
        Ok(self.text.as_str())
    }
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
        let cells = match self.cells(name) {
            Ok(cells) => cells,
            Err(_) => return Ok(Range(vec![])),
        };
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

struct Entries<'a>(&'a mut Sheet);

impl Sheet {
    fn entries(&mut self) -> Result<Entries<'_>, Error> {
        Ok(Entries(self))
    }

    #[retry]
    fn in_a_value(&mut self) -> Result<Option<Entries<'_>>, Error> {
        Ok(Some(self.entries()?))
    }

    #[retry]
    fn in_a_closure(&mut self, page: Option<usize>) -> Result<Entries<'_>, Error> {
        page.ok_or_else(|| Error::other("none"))
            .and_then(|_| self.entries())
    }

    fn page_of(&self, _: &str) -> Result<usize, Error> {
        Ok(1)
    }

    #[retry]
    fn behind_a_shared_borrow(&mut self, name: &str) -> Result<Entries<'_>, Error> {
        self.page_of(name).and_then(|_| self.entries())
    }

    #[retry]
    async fn by_a_variable(&mut self) -> Result<&[u8], Error> {
        let cells = &mut self.cells;
        loop {
            cells.push(1);
            return Ok(head(cells));
        }
    }

    #[retry]
    fn in_a_branch(&mut self, page: usize) -> Result<Option<Entries<'_>>, Error> {
        Ok(if page == 0 {
            None
        } else {
            Some(Entries(self))
        })
    }
}

fn head(cells: &[u8]) -> &[u8] {
    &cells[..1]
}

#[retry]
fn beside_the_same_lifetime<'a>(
    from: &'a [u8],
    to: &'a mut Vec<u8>,
    is_plain: bool,
) -> Result<&'a [u8], Error> {
    if is_plain {
        return Ok(from);
    }
    to.extend(from);
    Ok(&to[1..])
}

#[retry]
fn by_what_the_type_has(bytes: &mut [u8]) -> Result<&[u8], Error> {
    let (head, _) = bytes.split_at_mut(3);
    Ok(head)
}

#[retry]
fn by_a_field_of_a_variable(bytes: &mut [u8]) -> Result<&[u8], Error> {
    let parts = bytes.split_at_mut(3);
    Ok(parts.0)
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

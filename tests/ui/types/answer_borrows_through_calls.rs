//! Answers that several calls or a constructor make of a `&mut` parameter.

use std::io::Error;
use std::pin::Pin;

use reattempt::retry;

#[derive(Default)]
struct Row {
    text: String,
}

impl Row {
    fn text(&self) -> &str {
        &self.text
    }
}

struct Rows<'a>(&'a mut Reader);

impl<'a> Rows<'a> {
    async fn first(self) -> Result<Cell<'a>, Error> {
        Ok(Cell(&self.0.row.text))
    }
}

struct Cell<'a>(&'a str);

enum Source<'a> {
    Borrowed(&'a mut Reader),
}

struct Stream<'a> {
    source: Source<'a>,
}

impl<'a> Stream<'a> {
    fn new(source: Source<'a>, _: u32) -> Result<Self, Error> {
        Ok(Self { source })
    }
}

#[derive(Default)]
struct Reader {
    row: Row,
    bytes: Vec<u8>,
}

fn parse(bytes: &mut Vec<u8>) -> impl Iterator<Item = u8> + '_ {
    bytes.drain(..)
}

impl Reader {
    fn advance(&mut self) -> Result<(), Error> {
        self.row = Row::default();
        Ok(())
    }

    fn rows(&mut self) -> Rows<'_> {
        Rows(self)
    }

    fn next(&mut self) -> Result<Option<&Row>, Error> {
        self.advance()?;
        Ok(Some(&self.row))
    }

    #[retry]
    async fn by_an_async_chain(&mut self) -> Result<Cell<'_>, Error> {
        self.rows().first().await
    }

    async fn next_later(&mut self) -> Result<Option<&Row>, Error> {
        self.next()
    }

    #[retry]
    fn by_a_future(&mut self) -> impl Future<Output = Result<Option<&Row>, Error>> {
        self.next_later()
    }

    #[retry]
    fn by_one_of_two_futures(&mut self, n: u8) -> Pin<Box<dyn Future<Output = Result<Option<&Row>, Error>> + '_>> {
        if n == 0 {
            return Box::pin(async { Err(Error::other("none")) });
        }
        Box::pin(self.next_later())
    }

    #[retry]
    fn by_a_conversion(&mut self) -> Result<Option<Cell<'_>>, Error> {
        self.next().map(|row| row.map(|row| Cell(row.text())))
    }

    #[retry]
    fn by_a_constructor(&mut self, size: u32) -> Result<Stream<'_>, Error> {
        Stream::new(Source::Borrowed(self), size)
    }

    #[retry]
    async fn by_an_opaque_type(&mut self) -> Result<impl Iterator<Item = u8> + '_, Error> {
        let bytes = parse(&mut self.bytes);
        Ok(bytes)
    }

    #[retry]
    async fn by_what_a_type_captures(&mut self) -> Result<impl Iterator<Item = u8> + use<'_>, Error> {
        Ok(parse(&mut self.bytes))
    }
}

fn main() {
    let _ = Reader::default();
}

//! Answers that borrow nothing of the parameter, which only their signatures could tell: what to write there.

use std::io::Error;

use reattempt::retry;

struct Token<'a>(&'a str);

struct Reader<'b> {
    bytes: &'b [u8],
    reads: usize,
}

impl<'b> Reader<'b> {
    fn next(&mut self, size: usize) -> Result<&'b [u8], Error> {
        self.reads += 1;
        self.bytes.get(..size).ok_or_else(|| Error::other("end"))
    }

    fn token<'a>(&mut self, text: &'a str) -> Result<Token<'a>, Error> {
        self.reads += 1;
        Ok(Token(text))
    }

    fn none(&mut self) -> Result<Token<'static>, Error> {
        self.reads += 1;
        Ok(Token(""))
    }

    #[retry]
    fn of_what_it_borrows(&mut self) -> Result<&[u8], Error> {
        self.next(4)
    }

    #[retry]
    fn of_another_parameter<'a>(&'a mut self, text: &'a str) -> Result<Token<'a>, Error> {
        self.token(text)
    }

    #[retry]
    fn of_nothing(&mut self) -> Result<Token<'_>, Error> {
        self.none()
    }
}

trait Serializer: Sized {
    type Count;
    fn count(self, name: &str) -> Result<Self::Count, Error>;
    fn tuple(self) -> Result<Self::Count, Error>;
}

struct Count(usize);

impl Serializer for &mut Reader<'_> {
    type Count = Count;

    fn count(self, name: &str) -> Result<Self::Count, Error> {
        self.reads += name.len();
        Ok(Count(self.reads))
    }

    #[retry]
    fn tuple(self) -> Result<Self::Count, Error> {
        self.count("")
    }
}

fn main() {
    let bytes = &[1];
    let mut reader = Reader { bytes, reads: 0 };
    let _ = reader.of_what_it_borrows();
    let _ = reader.of_another_parameter("").map(|it| it.0);
    let _ = reader.of_nothing();
    let _ = reader.tuple().map(|it| it.0);
}

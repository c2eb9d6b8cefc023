//! Answers that borrow two parameters with one lifetime, or what a pattern or another value stands beside.

use std::collections::HashMap;
use std::io::Error;

use reattempt::retry;

struct Row<'a> {
    name: &'a str,
    page: &'a mut Vec<u8>,
}

impl<'a> Row<'a> {
    fn new(name: &'a str, page: &'a mut Vec<u8>) -> Result<Self, Error> {
        Ok(Self { name, page })
    }

    #[retry]
    fn of_a_reader(name: &'a str, reader: &'a mut Reader) -> Result<Self, Error> {
        Self::new(name, &mut reader.page)
    }
}

struct Reader {
    page: Vec<u8>,
    last: Option<(String, u32)>,
    names: HashMap<u32, String>,
}

impl Reader {
    fn fill(&mut self) -> Result<(), Error> {
        self.page.push(1);
        Ok(())
    }

    #[retry]
    fn row<'a>(&'a mut self, name: &'a str) -> Result<Row<'a>, Error> {
        self.fill()?;
        Row::of_a_reader(name, self)
    }

    #[retry]
    fn last(&mut self) -> Result<Option<(&str, u32)>, Error> {
        self.fill()?;
        match self.last {
            Some((ref name, count)) => Ok(Some((name, count))),
            None => Ok(None),
        }
    }

    #[retry]
    async fn name(&mut self, number: u32) -> Result<&str, Error> {
        self.fill()?;
        let name = self.names.get(&number).map(|it| it.as_str());
        Ok(name.unwrap_or(""))
    }

    #[retry]
    fn name_or_none(&mut self, number: u32) -> Result<&str, Error> {
        self.fill()?;
        Ok(self
            .names
            .get(&number)
            .map(String::as_str)
            .unwrap_or_default())
    }
}

fn main() {
    let _ = Reader::row;
}

//! An answer such as `Entry<'_, R>` holds the reader that it was made of, also behind variables and calls.

use std::io::{Error, Read};

use reattempt::retry;

struct Archive<R> {
    reader: R,
    names: Vec<String>,
}

struct Entry<'a, R> {
    reader: &'a mut R,
    name: &'a str,
}

fn find<'a, R: Read>(name: &'a str, reader: &'a mut R) -> Result<Entry<'a, R>, Error> {
    Ok(Entry { reader, name })
}

async fn skip<R: Read>(reader: &mut R) -> Result<(), Error> {
    reader.read_exact(&mut [0])
}

impl<R: Read> Archive<R> {
    #[retry]
    fn by_a_variable(&mut self, index: usize) -> Result<Entry<'_, R>, Error> {
        let reader = &mut self.reader;
        let name = self.names.get(index).ok_or(Error::other("none"))?;
        Ok(find(name, reader)?)
    }

    #[retry]
    fn by_a_closure(&mut self, index: usize) -> Result<Entry<'_, R>, Error> {
        let reader = &mut self.reader;
        let name = self.names.get(index).ok_or(Error::other("none"));
        name.and_then(move |name| find(name, reader))
    }

    #[retry]
    fn through_calls(&mut self, mut index: usize) -> Result<Entry<'_, R>, Error> {
        index += 1;
        let found = find(&self.names[index], &mut self.reader)?;
        let Entry { reader, name } = found;
        Ok(Entry { reader, name })
    }

    #[retry]
    async fn later(&mut self, index: usize) -> Result<Entry<'_, R>, Error> {
        let name = self.names.get(index).ok_or(Error::other("none"))?;
        skip(&mut self.reader).await?;
        find(name, &mut self.reader)
    }
}

#[retry]
fn of_a_reader<R: Read>(reader: &mut R) -> Result<Option<Entry<'_, R>>, Error> {
    let mut first = [0];
    reader.read_exact(&mut first)?;
    if first == [0] {
        return Ok(None);
    }
    let found = find("name", reader)?;
    Ok(Some(found))
}

impl<'a, W> Entry<'a, W> {
    #[retry]
    async fn under_its_own_name(reader: &'a mut Archive<W>) -> Result<Entry<'a, W>, Error> {
        reader.names.clear();
        let reader = &mut reader.reader;
        Ok(Entry { reader, name: "" })
    }
}

fn main() {
    let names = Vec::new();
    let reader = std::io::empty();
    let mut archive = Archive { reader, names };
    let _ = archive.by_a_variable(0);
    let _ = archive.by_a_closure(0);
    let _ = archive.through_calls(0);
    let _ = archive.later(0);
    let _ = of_a_reader(&mut archive.reader);
    let _ = Entry::under_its_own_name(&mut archive);
}

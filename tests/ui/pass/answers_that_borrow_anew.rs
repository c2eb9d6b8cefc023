//! Answers that borrow nothing by `&mut`, and references that are borrowed anew.

use std::borrow::Cow;
use std::io::{Error, Read};
use std::marker::PhantomData;

use reattempt::retry;

struct Inner {
    names: Vec<String>,
    reads: u32,
}

impl Inner {
    fn name(&self, index: usize) -> Result<&str, Error> {
        Ok(&self.names[index])
    }

    fn of<T: Default>(&self) -> Result<(T, &str), Error> {
        Ok((T::default(), &self.names[0]))
    }

    fn next(&mut self) -> Result<&str, Error> {
        self.reads += 1;
        Ok(&self.names[0])
    }

    async fn name_later(&self, index: usize) -> Result<&str, Error> {
        self.name(index)
    }
}

struct Outer {
    inner: Inner,
    calls: u32,
    kind: (Option<String>, &'static str),
}

impl Outer {
    #[retry]
    fn shared(&mut self, index: usize) -> Result<&str, Error> {
        self.inner.name(index)
    }

    #[retry]
    fn beside_a_change(&mut self, index: usize) -> Result<&str, Error> {
        self.calls += 1;
        let next = index.saturating_sub(1);
        self.inner.name(next)
    }

    #[retry]
    fn owned(&mut self) -> Result<Cow<'_, str>, Error> {
        let name = self.inner.next()?.to_owned();
        Ok(Cow::Owned(name))
    }

    #[retry]
    async fn later(&mut self, index: usize) -> Result<&str, Error> {
        self.inner.name_later(index).await
    }

    #[retry]
    fn of_a_type_that_the_answer_gives(&mut self) -> Result<(u32, &str), Error> {
        self.inner.of()
    }

    #[retry]
    fn never_an_answer(&mut self) -> Result<&mut str, Error> {
        self.calls += 1;
        Err(Error::other("closed"))
    }

    #[retry(clone(name))]
    fn beside_an_owned_value(&mut self, name: String) -> Result<&str, Error> {
        self.named(name)
    }

    fn named(&self, _: String) -> Result<&str, Error> {
        self.inner.name(0)
    }

    #[retry]
    fn of_a_part_beside_another(&mut self) -> Result<&str, Error> {
        self.inner.reads += 1;
        Ok(&self.inner.names[0])
    }

    #[retry]
    fn owned_by_a_conversion(&mut self) -> Result<Cow<'_, str>, Error> {
        self.inner.next().map(|name| Cow::Owned(name.to_owned()))
    }

    #[retry]
    fn free(&mut self) -> Result<&mut u32, Error> {
        self.calls += 1;
        Ok(Box::leak(Box::new(self.calls)))
    }

    #[retry]
    async fn of_a_chain(&mut self) -> Result<&str, Error> {
        self.inner.name_later(0).await.map(str::trim)
    }

    #[retry]
    async fn opaque_and_owned(&mut self) -> Result<impl Iterator<Item = u32> + use<>, Error> {
        self.calls += 1;
        Ok([self.calls].into_iter())
    }

    #[retry]
    fn of_a_type_of_a_reference(
        &mut self,
    ) -> Result<<&'static mut Outer as std::ops::Deref>::Target, Error>
    where
        <&'static mut Outer as std::ops::Deref>::Target: Sized,
    {
        self.calls += 1;
        Err(Error::other("closed"))
    }

    #[retry]
    fn of_a_closure_that_ignores(&mut self, index: usize) -> Result<&str, Error> {
        self.inner.next()?;
        let known = self.inner.names.get(index).map(|_| "known");
        known.ok_or_else(|| Error::other("unknown"))
    }

    #[retry]
    fn of_a_constant_beside(&mut self, index: usize) -> Result<&str, Error> {
        self.inner.next()?;
        Ok(self
            .inner
            .names
            .get(index)
            .map(|_| "known")
            .unwrap_or("unknown"))
    }

    #[retry]
    fn beside_a_reference_by_ref(&mut self) -> Result<&str, Error> {
        self.inner.next()?;
        match self.kind {
            (Some(ref name), kind) if name.is_empty() => Ok(kind),
            _ => Ok("none"),
        }
    }

    #[retry]
    fn of_another_with_its_lifetime<'a>(&'a mut self, name: &'a str) -> Result<Header<'a>, Error> {
        let size = self.inner.next()?.len();
        Header::new(name, size + self.count())
    }

    fn count(&mut self) -> usize {
        self.calls += 1;
        1
    }

    #[retry]
    fn of_another<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Error> {
        self.calls += 1;
        Ok(bytes)
    }
}

struct Shared<'a, R> {
    inner: &'a R,
}

impl<'a, R> Shared<'a, R> {
    #[retry]
    fn of_self(inner: &'a mut R) -> Result<Self, Error> {
        Ok(Self { inner })
    }
}

/// Its names are borrowed, and what is read is not.
struct Archive<R> {
    reader: R,
    names: Vec<String>,
}

struct Header<'a> {
    name: &'a str,
    size: usize,
}

impl<'a> Header<'a> {
    fn new(name: &'a str, size: usize) -> Result<Self, Error> {
        Ok(Self { name, size })
    }
}

struct Names<'a, R> {
    archive: &'a Archive<R>,
}

struct Counted<'a, R> {
    name: &'a str,
    size: usize,
    reads: PhantomData<R>,
}

impl<R: Read> Archive<R> {
    #[retry]
    fn header(&mut self, password: Option<&[u8]>) -> Result<Header<'_>, Error> {
        let size = read(&mut self.reader)? + password.map_or(0, <[u8]>::len);
        Ok(Header {
            name: &self.names[0],
            size,
        })
    }

    #[retry]
    fn counted(&mut self) -> Result<Counted<'_, R>, Error> {
        let size = read(&mut self.reader)?;
        Ok(Counted {
            name: &self.names[0],
            size,
            reads: PhantomData,
        })
    }

    #[retry]
    fn names(&mut self) -> Result<Names<'_, R>, Error> {
        Ok(Names { archive: self })
    }
}

/// What its bound lets it hold is borrowed by `&`.
#[retry]
fn by_a_bound<'a, T: From<&'a str>>(name: &'a mut String) -> Result<T, Error> {
    Ok(T::from(name))
}

#[retry]
fn read<R: Read>(reader: &mut R) -> Result<usize, Error> {
    let mut bytes = Vec::new();
    (&mut *reader).read_to_end(&mut bytes)?;
    fill(reader, &mut bytes)
}

/// A file is read through a reference.
#[retry]
fn shared(file: std::fs::File) -> Result<usize, Error> {
    (&file).read(&mut [])
}

fn fill<R: Read>(reader: &mut R, bytes: &mut Vec<u8>) -> Result<usize, Error> {
    reader.read_to_end(bytes)
}

trait Serializer: Sized {
    type Sequence;
    fn sequence(self) -> Result<Self::Sequence, Error>;
}

impl Serializer for &Outer {
    type Sequence = Self;

    #[retry]
    fn sequence(self) -> Result<Self::Sequence, Error> {
        Ok(self)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let names = vec!["a".to_owned()];
    let inner = Inner { names, reads: 0 };
    let kind = (Some(String::new()), "page");
    let mut outer = Outer {
        inner,
        calls: 0,
        kind,
    };
    assert_eq!(outer.shared(0)?, "a");
    assert_eq!(outer.beside_a_change(1)?, "a");
    assert_eq!(outer.owned()?, "a");
    assert_eq!(outer.later(0).await?, "a");
    assert_eq!(outer.of_a_type_that_the_answer_gives()?, (0, "a"));
    outer.never_an_answer().unwrap_err();
    assert_eq!(outer.beside_an_owned_value(String::new())?, "a");
    assert_eq!(outer.of_a_part_beside_another()?, "a");
    assert_eq!(outer.owned_by_a_conversion()?, "a");
    assert_eq!(*outer.free()?, 3);
    assert_eq!(outer.of_a_chain().await?, "a");
    assert_eq!(outer.opaque_and_owned().await?.next(), Some(4));
    outer.of_a_type_of_a_reference().err().unwrap();
    assert_eq!(outer.of_another(&[1])?, [1]);
    assert_eq!(outer.of_a_closure_that_ignores(0)?, "known");
    assert_eq!(outer.of_a_constant_beside(1)?, "unknown");
    assert_eq!(outer.beside_a_reference_by_ref()?, "page");
    assert_eq!(outer.of_another_with_its_lifetime("a")?.size, 2);
    assert_eq!(Shared::of_self(&mut 3)?.inner, &3);
    assert_eq!(read(&mut std::io::empty())?, 0);
    let (reader, names) = (std::io::empty(), vec!["a".to_owned()]);
    let mut archive = Archive { reader, names };
    let header = archive.header(None)?;
    assert_eq!((header.name, header.size), ("a", 0));
    let counted = archive.counted()?;
    let PhantomData = counted.reads;
    assert_eq!((counted.name, counted.size), ("a", 0));
    assert_eq!(archive.names()?.archive.names, ["a"]);
    let name: Box<str> = by_a_bound(&mut "a".to_owned())?;
    assert_eq!(&*name, "a");
    shared(std::fs::File::open(std::env::current_exe()?)?)?;
    assert_eq!((&outer).sequence()?.calls, 7);
    Ok(())
}

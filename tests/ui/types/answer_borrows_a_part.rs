//! Answers that a call makes of a `&mut` parameter: the compiler knows whether it borrows it by `&mut`.

use std::io::{Error, Read, Take};

use reattempt::retry;

struct Inner {
    names: Vec<String>,
    reads: u32,
}

impl Inner {
    fn next(&mut self, index: u32) -> Result<&str, Error> {
        self.reads += index;
        Ok(&self.names[0])
    }

    fn of<T: Default>(&mut self) -> Result<(T, &str), Error> {
        Ok((T::default(), &self.names[0]))
    }

    async fn next_later(&mut self, index: u32) -> Result<&str, Error> {
        self.next(index)
    }
}

struct Part<'a, R> {
    inner: &'a mut R,
}

fn part<R>(inner: &mut R) -> Result<Part<'_, R>, Error> {
    Ok(Part { inner })
}

fn count(name: impl AsRef<str>) -> u32 {
    u32::from(name.as_ref().is_empty())
}

enum Writer {
    Open(Inner),
    Closed,
}

impl Writer {
    #[retry]
    fn by_a_pattern(&mut self) -> Result<&mut Inner, Error> {
        match self {
            Self::Open(inner) => Ok(inner),
            Self::Closed => Err(Error::other("closed")),
        }
    }
}

#[retry]
fn by_a_function_of_the_body<R>(inner: &mut R) -> Result<Part<'_, R>, Error> {
    fn whole<R>(inner: &mut R) -> Result<Part<'_, R>, Error> {
        Ok(Part { inner })
    }
    whole(inner)
}

#[retry]
fn by_name<'a, R: Read>(reader: &'a mut R) -> Result<Take<&'a mut R>, Error> {
    Ok(reader.take(3))
}

struct Outer {
    inner: Inner,
}

impl Outer {
    #[retry]
    fn by_a_method(&mut self, index: u32) -> Result<&str, Error> {
        self.inner.next(index)
    }

    #[retry]
    fn with_a_variable(&mut self, index: u32) -> Result<&str, Error> {
        let next = index + 1;
        self.inner.next(next)
    }

    #[retry]
    fn of_a_type_that_the_answer_gives(&mut self) -> Result<(u32, &str), Error> {
        self.inner.of()
    }

    #[retry]
    async fn later(&mut self, index: u32) -> Result<&str, Error> {
        Ok(self.inner.next_later(index).await?)
    }

    #[retry(clone(name))]
    fn beside_an_owned_value(&mut self, name: String) -> Result<&str, Error> {
        self.named(name)
    }

    fn named(&mut self, _: String) -> Result<&str, Error> {
        self.inner.next(0)
    }

    #[retry]
    fn beside_what_is_lent<T: AsRef<str>>(&mut self, name: T) -> Result<&str, Error> {
        let index = count(&name);
        self.inner.next(index)
    }

    #[retry]
    fn by_a_function(&mut self) -> Result<Part<'_, Inner>, Error> {
        part(&mut self.inner)
    }
}

impl<'a, R> Part<'a, R> {
    #[retry]
    fn of_self(inner: &'a mut R) -> Result<Self, Error> {
        Ok(Self { inner })
    }
}

struct Counted<'a, R> {
    inner: &'a mut R,
    #[cfg(not(windows))]
    reads: &'a mut u32,
}

impl<'a, R> Counted<'a, R> {
    #[retry]
    fn beside_a_condition(
        inner: &'a mut R,
        #[cfg(not(windows))] reads: &'a mut u32,
    ) -> Result<Self, Error> {
        #[cfg(windows)]
        count("");
        Ok(Self {
            inner,
            #[cfg(not(windows))]
            reads,
        })
    }
}

struct Builder<'a> {
    inner: &'a mut Inner,
    index: u32,
}

impl<'a> Builder<'a> {
    #[retry]
    fn started(self) -> Result<Part<'a, Inner>, Error> {
        self.inner.reads += self.index;
        Ok(Part { inner: self.inner })
    }

    #[retry]
    async fn started_later(self) -> Result<Part<'a, Inner>, Error> {
        self.inner.reads += self.index;
        Ok(Part { inner: self.inner })
    }
}

fn main() {
    let names = Vec::new();
    let inner = Inner { names, reads: 0 };
    let mut outer = Outer { inner };
    let _ = outer.by_a_method(1);
    let _ = outer.with_a_variable(1);
    let _ = outer.of_a_type_that_the_answer_gives();
    let _ = outer.later(1);
    let _ = outer.beside_an_owned_value(String::new());
    let _ = outer.beside_what_is_lent("");
    let _ = outer.by_a_function().map(|it| it.inner.reads);
    let _ = Part::of_self(&mut outer);
    let _ = Counted::beside_a_condition(&mut outer, &mut 1);
    let _ = by_a_function_of_the_body(&mut outer);
    let _ = by_name(&mut std::io::empty());
    let _ = (Builder { inner: &mut outer.inner, index: 1 }).started();
    let _ = (Builder { inner: &mut outer.inner, index: 1 }).started_later();
    let mut writer = Writer::Closed;
    let _ = writer.by_a_pattern().map(|it| it.reads);
    let _ = Writer::Open(outer.inner);
}

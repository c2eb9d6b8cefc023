//! Answers that a call makes of a `&mut` parameter: the compiler knows whether it borrows it by `&mut`.

use std::io::Error;

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

    async fn fill<'b>(&mut self, space: &'b mut Vec<u8>) -> Result<&'b [u8], Error> {
        space.push(1);
        Ok(space)
    }
}

struct Part<'a, R> {
    inner: &'a mut R,
}

fn part<R>(inner: &mut R) -> Result<Part<'_, R>, Error> {
    Ok(Part { inner })
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

fn main() {
    let names = Vec::new();
    let inner = Inner { names, reads: 0 };
    let mut outer = Outer { inner };
    let _ = outer.by_a_method(1);
    let _ = outer.with_a_variable(1);
    let _ = outer.of_a_type_that_the_answer_gives();
    let _ = outer.later(1);
    let _ = outer.beside_an_owned_value(String::new());
    let _ = outer.by_a_function().map(|it| it.inner.reads);
    let _ = Part::of_self(&mut outer);
    let _ = outer.inner.fill(&mut Vec::new());
}

//! Scratch space that is lent to the body, and whose lifetime is in the answer: the compiler knows whether it is changed.

use std::borrow::Cow;

use reattempt::retry;

struct Reader(u32);

impl Reader {
    #[retry(max = 3, on(_))]
    fn read<'s>(&'s mut self, scratch: &'s mut Vec<u8>) -> Result<Cow<'s, str>, String> {
        self.part(scratch)
    }

    fn part<'s>(&mut self, scratch: &'s mut Vec<u8>) -> Result<Cow<'s, str>, String> {
        self.0 += 1;
        parse(scratch).map(Cow::Borrowed)
    }
}

#[retry(max = 3, on(_))]
fn by_a_function<'a>(scratch: &'a mut Vec<u8>) -> Result<&'a str, String> {
    parse(scratch)
}

#[retry(max = 3, on(_))]
fn in_ok<'a>(scratch: &'a mut Vec<u8>) -> Result<&'a str, String> {
    Ok(parse(scratch)?)
}

trait Of<'a>: Sized {
    fn of(text: &'a [u8]) -> Result<Self, String>;
}

#[retry(max = 3, on(_))]
fn by_a_bound<'a, T: Of<'a>>(scratch: &'a mut Vec<u8>) -> Result<T, String> {
    scratch.push(b' ');
    T::of(&scratch[..])
}

impl<'a> Of<'a> for &'a [u8] {
    fn of(text: &'a [u8]) -> Result<Self, String> {
        Ok(text)
    }
}

#[retry(max = 3, on(_))]
async fn through_a_variable<'a>(scratch: &'a mut Vec<u8>) -> Result<&'a str, String> {
    let parsed = parse(scratch);
    checked(parsed)
}

fn checked(text: Result<&str, String>) -> Result<&str, String> {
    text
}

fn parse(scratch: &mut Vec<u8>) -> Result<&str, String> {
    scratch.push(b' ');
    std::str::from_utf8(scratch).map_err(|_| String::new())
}

fn main() {
    let mut scratch = Vec::new();
    let _ = Reader(0).read(&mut scratch);
    let _ = by_a_function(&mut scratch);
    let _ = in_ok(&mut scratch);
    let _ = through_a_variable(&mut scratch);
    let _: Result<&[u8], _> = by_a_bound(&mut scratch);
}

//! A `&mut` parameter that a generic one takes, and values that only a look inside tells from copies.

use std::io::{Error, Read};

use reattempt::retry;

fn takes<R: Read>(_: R) -> Result<u32, Error> {
    Ok(1)
}

fn perhaps(_: Option<&mut std::fs::File>) -> Result<u32, Error> {
    Ok(1)
}

struct Options<T> {
    name: String,
    inner: T,
}

#[retry]
fn by_a_generic_parameter<R: Read>(reader: &mut R) -> Result<u32, Error> {
    takes(reader)
}

#[retry]
fn in_a_tuple(bytes: &mut [u8]) -> Result<u32, Error> {
    let both = (bytes, 3);
    Ok(both.1)
}

#[retry]
fn inside(file: Option<&mut std::fs::File>) -> Result<u32, Error> {
    perhaps(file)
}

#[retry]
fn a_base(options: Options<String>) -> Result<usize, Error> {
    let other = Options {
        name: String::new(),
        ..options
    };
    Ok(other.name.len() + other.inner.len())
}

#[retry]
fn of_a_parameter<T: ToString>(options: Options<T>) -> Result<(), Error> {
    drop(options);
    Ok(())
}

#[retry]
fn in_place(file: std::fs::File) -> Result<u32, Error> {
    takes(file)
}

#[retry]
fn into_a_closure(bytes: &mut Vec<u8>) -> Result<(), Error> {
    let mut push = move || bytes.push(1);
    push();
    Ok(())
}

struct Archive<R>(R);

impl<R: Read> Archive<R> {
    #[retry]
    fn of_the_block(reader: R) -> Result<u32, Error> {
        takes(reader)
    }
}

trait Reads {
    fn read(self) -> Result<u32, Error>;
}

impl<R: Read> Reads for &mut Archive<R> {
    #[retry]
    fn read(self) -> Result<u32, Error> {
        by_value(self)
    }
}

fn by_value<T>(_: T) -> Result<u32, Error> {
    Ok(1)
}

#[retry]
async fn later<R: tokio::io::AsyncReadExt + tokio::io::AsyncRead>(reader: R) -> Result<u64, Error> {
    let taken = reader.take(3);
    Ok(taken.limit())
}

fn main() {
    let options = || Options {
        name: String::new(),
        inner: String::new(),
    };
    let _ = by_a_generic_parameter(&mut std::io::empty());
    let _ = in_a_tuple(&mut []);
    let _ = into_a_closure(&mut Vec::new());
    let _ = Archive::of_the_block(std::io::empty());
    let _ = (&mut Archive(std::io::empty())).read();
    let _ = later(tokio::io::empty());
    let _ = std::fs::File::open("").and_then(in_place);
    let _ = inside(None);
    let _ = a_base(options());
    let _ = of_a_parameter(options());
}

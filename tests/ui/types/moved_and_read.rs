//! What is only read through a trait that references have, too: no bound, and no caller changes.

use std::fmt::Display;
use std::fs::File;
use std::io::{Error, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;

use reattempt::retry;

#[retry]
fn open<P: AsRef<Path>>(path: P) -> Result<File, Error> {
    File::open(path)
}

#[retry]
fn connect(address: impl ToSocketAddrs) -> Result<TcpStream, Error> {
    TcpStream::connect(address)
}

/// A thread would need it for longer.
#[retry]
fn say(text: impl Display + 'static) -> Result<(), Error> {
    print(text)
}

/// A reference has it only by `Display`.
#[retry]
fn write(text: impl ToString) -> Result<(), Error> {
    keep(text)
}

/// The answer is of this type.
#[retry]
fn through<P: AsRef<Path>>(path: P) -> Result<P, Error> {
    Ok(path)
}

#[retry]
fn read<R: Read>(reader: R) -> Result<String, Error> {
    std::io::read_to_string(reader)
}

/// It leaves with the answer.
#[retry]
fn back<R: Read>(reader: R) -> Result<R, Error> {
    Ok(reader)
}

fn print(_: impl Display) -> Result<(), Error> {
    Ok(())
}

fn keep(_: impl ToString) -> Result<(), Error> {
    Ok(())
}

fn main() {
    let _ = open("");
    let _ = connect("");
    let _ = say("");
    let _ = write("");
    let _ = through("");
    let _ = read(std::io::empty());
    let _ = back(std::io::empty());
}

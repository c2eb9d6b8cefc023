//! Parameters that are taken apart in the signature.

use std::io;

use reattempt::retry;

struct Request {
    path: String,
    id: u32,
}

struct Pair<T>(T, T);

fn send(_: String) -> io::Result<u32> {
    Ok(1)
}

async fn post(_: String) -> io::Result<u32> {
    Ok(1)
}

#[retry]
fn of_a_tuple((id, path): (u32, String)) -> io::Result<u32> {
    send(path).map(|sent| sent + id)
}

#[retry]
fn of_a_tuple_struct(Pair(first, second): Pair<String>) -> io::Result<u32> {
    send(second).and(send(first))
}

#[retry]
async fn of_a_struct(Request { path: place, id }: Request) -> io::Result<u32> {
    post(place).await.map(|sent| sent + id)
}

#[retry]
async fn of_an_array([path, _]: [String; 2]) -> io::Result<u32> {
    post(path).await
}

fn main() {
    let _ = of_a_tuple((1, String::new()));
    let _ = of_a_tuple_struct(Pair(String::new(), String::new()));
    let _ = of_a_struct(Request { path: String::new(), id: 1 });
    let _ = of_an_array([String::new(), String::new()]);
}

//! What looks like a move, but leaves each parameter to the next attempt.

use std::collections::HashMap;

use reattempt::retry;

#[derive(Clone, Copy)]
struct Id(u32);

impl Id {
    fn into_number(self) -> u32 {
        self.0
    }
}

struct Row(HashMap<String, String>);

impl Row {
    fn fetch<T: From<u8>>(&self, _: &str) -> T {
        T::from(3)
    }

    fn into_parts(&self) -> usize {
        self.0.len()
    }

    fn send(&mut self) -> u32 {
        7
    }
}

macro_rules! borrowed {
    ($row:expr) => {
        $row.0.len()
    };
}

#[retry(max = 2, on(_))]
async fn sometimes(
    row: Row,
    #[cfg(any())] certificates: Vec<u8>,
    number: Option<u32>,
) -> Result<u32, String> {
    #[cfg(any())]
    drop((row, certificates));
    #[cfg(all())]
    let number = number.ok_or("none");
    let _ = &row;
    Ok(number?)
}

#[retry(max = 2, on(_))]
fn sync(id: Id, found: Option<Id>, row: Row, wide: Option<Row>) -> Result<u32, String> {
    let number: u32 = row.fetch("number");
    let many = match found {
        Some(id) => id.into_number(),
        None => 0,
    };
    let size = match &wide {
        Some(row) => row.into_parts() + borrowed!(row),
        None => borrowed!(row),
    };
    if let Some(Row(ref map)) = wide {
        return Err(map.len().to_string());
    }
    Ok(number + many + id.into_number() + size as u32)
}

enum Found {
    Result { id: Id },
    Nothing,
}

// What the body imports hides a name of the signature.
#[retry(max = 2, on(_))]
async fn imported(found: &Found) -> Result<Id, String> {
    use Found::*;
    match found {
        Result { id } => Ok(*id),
        Nothing => Err("nothing".to_owned()),
    }
}

#[retry(max = 2, on(_))]
fn unique(mut row: Row, map: &mut HashMap<u32, u32>) -> Result<u32, String> {
    map.insert(1, row.send());
    take(map);
    Ok(row.send())
}

fn take(map: &mut HashMap<u32, u32>) {
    map.clear();
}

#[retry(max = 2, on(_))]
fn dead(row: Row, text: String) -> Result<u32, String> {
    if row.0.is_empty() {
        return Err(format!("{text}"));
        #[allow(unreachable_code)]
        drop(text);
    }
    todo!();
    #[allow(unreachable_code)]
    {
        drop(row);
        Ok(1)
    }
}

#[retry(max = 2, on(_))]
async fn later(id: Id, found: Option<Id>, mut row: Row, text: String) -> Result<u32, String> {
    #[cfg(any())]
    drop(text);
    let number: u32 = row.fetch("number");
    let many = match found {
        Some(id) if id.0 > 3 => id.into_number(),
        Some(Id(number)) => number,
        None => row.into_parts() as u32,
    };
    Ok(number + many + id.into_number() + row.send() + text.len() as u32)
}

struct Guard<'a>(&'a mut HashMap<u32, u32>);

impl Guard<'_> {
    #[retry(max = 2, on(_))]
    fn close(self) -> Result<(), String> {
        self.0.clear();
        take(self.0);
        Ok(())
    }

    #[retry(max = 2, on(_))]
    async fn close_later(self) -> Result<(), String> {
        take(self.0);
        Ok(())
    }
}

#[retry(max = 2, on(_))]
fn generic<T: Copy + Into<u64>, F: Fn() -> T>(value: T, make: F) -> Result<u64, String> {
    Ok(value.into() + make().into())
}

mod tiff {
    pub enum Color {
        Gray(u8),
        Other,
    }
}

// The body alone knows what the patterns name.
#[retry(max = 2, on(_))]
fn by_a_name_of_the_body(color: tiff::Color) -> Result<u8, String> {
    use tiff::Color;
    match color {
        Color::Gray(depth) => Ok(depth),
        Color::Other => Err(String::new()),
    }
}

// Each attempt starts at the first place, or has what the last one left.
#[retry(max = 2, on(_))]
fn advanced(buf: &mut [u8], mut rest: &mut [u8]) -> Result<usize, String> {
    let mut buf = &mut *buf;
    buf = &mut buf[1..];
    let (_, last) = std::mem::take(&mut rest).split_at_mut(1);
    rest = last;
    Ok(buf.len() + rest.len())
}

// What stands in front of the async block runs once.
#[retry(max = 2, on(_))]
fn advanced_in_front<'b>(
    mut buf: &'b mut [u8],
) -> impl Future<Output = Result<usize, String>> + 'b {
    buf = &mut buf[1..];
    async move {
        buf[0] = 1;
        Ok(buf.len())
    }
}

// An attribute on the value of the body.
#[retry(max = 2, on(_))]
fn under_an_attribute(bytes: &mut [u8]) -> Result<&[u8], String> {
    #[allow(clippy::indexing_slicing)]
    Ok(&bytes[1..])
}

struct Setup {
    url: Vec<u8>,
    #[cfg(any())]
    cache: Vec<u8>,
}

// A field that is not there, in a pattern of the signature.
#[retry(max = 3, on(_))]
fn with_a_pattern(
    Setup {
        url,
        #[cfg(any())]
        cache,
    }: Setup,
) -> Result<usize, String> {
    #[cfg(any())]
    drop(cache);
    Ok(url.len())
}

#[retry(max = 3, on(_))]
async fn with_a_pattern_later(
    Setup {
        url,
        #[cfg(any())]
        cache,
    }: Setup,
) -> Result<usize, String> {
    #[cfg(any())]
    drop(cache);
    Ok(url.len())
}

fn main() {
    assert_eq!(with_a_pattern(Setup { url: vec![1] }), Ok(1));
    let _ = with_a_pattern_later(Setup { url: vec![1] });
    drop((imported(&Found::Nothing), Found::Result { id: Id(1) }));
    assert_eq!(by_a_name_of_the_body(tiff::Color::Gray(8)), Ok(8));
    assert!(by_a_name_of_the_body(tiff::Color::Other).is_err());
    assert_eq!(advanced(&mut [1, 2], &mut [1, 2]), Ok(2));
    assert_eq!(under_an_attribute(&mut [1, 2]), Ok(&[2][..]));
    let row = || Row(HashMap::new());
    let mut map = HashMap::new();
    assert_eq!(sync(Id(1), Some(Id(2)), row(), None), Ok(6));
    assert_eq!(unique(row(), &mut map), Ok(7));
    let _ = || dead(row(), String::new());
    let _ = later(Id(1), None, row(), String::new());
    let _ = sometimes(row(), Some(3));
    assert_eq!(Guard(&mut map).close(), Ok(()));
    let _ = Guard(&mut map).close_later();
    assert_eq!(generic(1_u32, || 2_u32), Ok(3));
}

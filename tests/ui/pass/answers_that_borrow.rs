//! Answers that borrow beside `&mut`, and take no unique borrow out of an attempt.

use std::borrow::Cow;
use std::cell::{RefCell, RefMut};
use std::str::Chars;

use reattempt::retry;

struct Arena;

impl Arena {
    fn alloc(&self, number: u32) -> &mut u32 {
        Box::leak(Box::new(number))
    }
}

struct Client<'i> {
    page: String,
    count: u32,
    input: &'i [u8],
    chars: Chars<'i>,
    cell: RefCell<u32>,
    arena: Arena,
    raw: *mut u32,
}

fn lookup(_: u32) -> Result<&'static str, String> {
    Ok("page")
}

impl<'i> Client<'i> {
    fn connect(&mut self) -> Result<(), String> {
        self.count += 1;
        if self.count < 3 { Err(String::new()) } else { Ok(()) }
    }

    fn count(&mut self) {
        self.count += 1;
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn shared(&mut self) -> Result<&str, String> {
        Ok(&self.page)
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn beside_a_change(&mut self) -> Result<&str, String> {
        self.count += 1;
        Ok(&self.page)
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn behind_a_reference(&mut self) -> Result<&[u8], String> {
        self.count();
        Ok(&self.input[1..])
    }

    #[retry(max = 3, backoff = "none", on(_))]
    async fn beside_a_change_of_another_part(&mut self) -> Result<&str, String> {
        self.count += 1;
        Ok(self.page.as_str())
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn of_what_borrows_for_longer(&mut self) -> Result<&str, String> {
        self.chars.next();
        Ok(self.chars.as_str())
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn fixed(&mut self) -> Result<&str, String> {
        self.connect()?;
        Ok("page")
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn owned(&mut self) -> Result<Cow<'_, str>, String> {
        self.connect()?;
        Ok(Cow::Owned(self.page.clone()))
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn input(&mut self) -> Result<&'i [u8], String> {
        self.connect()?;
        Ok(self.input)
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn part_of_input(&mut self) -> Result<&[u8], String> {
        self.connect()?;
        Ok(&self.input[..1])
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn fields(&mut self) -> Result<(&[u8], u32), String> {
        self.connect()?;
        let more = self.count;
        Ok((self.input, self.count + more))
    }

    // Beside a part that changes, and another parameter.
    #[retry(max = 3, backoff = "none", on(_))]
    fn beside_many_changes<'a>(&'a mut self, out: &mut Vec<u8>) -> Result<&'a str, String> {
        for _ in 0..self.page.len() {
            self.count += 1;
            out.push(0);
        }
        if self.page.is_empty() {
            return Err(format!("{}", self.count));
        }
        Ok(&self.page[1..])
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn of_a_pattern(&mut self) -> Result<&str, String> {
        self.count += 1;
        match &self.page {
            page if page.is_empty() => Err(String::new()),
            page => Ok(page.trim()),
        }
    }

    // The closure makes the error alone.
    #[retry(max = 3, backoff = "none", on(_))]
    fn beside_an_error(&mut self) -> Result<&str, String> {
        lookup(3).map_err(|error| self.failed(error))
    }

    fn failed(&mut self, error: String) -> String {
        self.count += 1;
        error
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn guard(&mut self) -> Result<RefMut<'_, u32>, String> {
        Ok(self.cell.borrow_mut())
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn allocated(&mut self) -> Result<&mut u32, String> {
        Ok(self.arena.alloc(3))
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn behind_a_pointer(&mut self) -> Result<&mut u32, String> {
        Ok(unsafe { &mut *self.raw })
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn by_name<'a>(&'a self, scratch: &mut Vec<u8>) -> Result<&'a str, String> {
        scratch.push(1);
        Ok(&self.page)
    }

    #[retry(max = 3, backoff = "none", on(_))]
    async fn later(&mut self) -> Result<&str, String> {
        self.count += 1;
        Ok("page")
    }
}

#[retry(max = 3, backoff = "none", on(_))]
fn of_another<'a, 'b>(scratch: &'a mut Vec<u8>, page: &'b str) -> Result<&'b str, String> {
    scratch.push(1);
    Ok(page)
}

#[retry(max = 3, backoff = "none", on(_))]
fn of_one_beside<'a>(scratch: &'a mut Vec<u8>, page: &'a str) -> Result<&'a str, String> {
    scratch.push(1);
    Ok(page)
}

#[retry(max = 3, backoff = "none", on(_))]
fn read_only<'a>(scratch: &'a mut Vec<u8>, strict: bool) -> Result<&'a str, String> {
    look(scratch, strict)
}

#[retry(max = 3, backoff = "none", on(_))]
fn whole(scratch: &mut Vec<u8>) -> Result<&Vec<u8>, String> {
    Ok(scratch)
}

#[retry(max = 3, backoff = "none", on(_))]
fn fixed_text<'a>(scratch: &'a mut Vec<u8>, name: &str) -> Result<&'a str, String> {
    scratch.extend(name.bytes());
    Ok("done")
}

#[retry(max = 3, backoff = "none", on(_))]
fn a_number(scratch: &mut Vec<u8>) -> Result<usize, String> {
    scratch.push(1);
    count(scratch)
}

fn count(scratch: &mut Vec<u8>) -> Result<usize, String> {
    Ok(scratch.len())
}

fn look(scratch: &[u8], _: bool) -> Result<&str, String> {
    std::str::from_utf8(scratch).map_err(|_| String::new())
}

struct Counted {
    rows: usize,
}

// A lifetime of the block that its type does not have.
impl<'a> Counted {
    #[retry(max = 3, backoff = "none", on(_))]
    fn of(lines: &'a mut Vec<String>) -> Result<Self, String> {
        let taken = lines.split_off(1);
        let rows = taken.len();
        Ok(Self { rows })
    }
}

impl Client<'_> {
    async fn text(&self) -> Result<&str, String> {
        Ok(&self.page)
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn text_later(&mut self) -> impl Future<Output = Result<&str, String>> {
        self.text()
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn by_another_name<'a>(&'a mut self) -> impl Future<Output = Result<&'a str, String>> {
        let this: &'a Self = self;
        async move { this.text().await }
    }

    // What is copied out of a unique borrow is no part of it.
    #[retry(max = 3, backoff = "none", on(_))]
    fn beside_a_number(&mut self) -> Result<Named<'_>, String> {
        let guarded = Guarded(&mut self.count);
        let number = *guarded.0;
        Ok(Named::new(number, &self.page))
    }

    fn kind(&mut self) -> Result<Kind, String> {
        self.count += 1;
        Ok(Kind)
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn name_of_a_kind(&mut self) -> Result<&str, String> {
        let kind = self.kind()?;
        Ok(kind.name())
    }

    // What is not there borrows nothing.
    #[retry(max = 3, backoff = "none", on(_))]
    fn on_this_system(&mut self) -> Result<&mut u32, String> {
        #[cfg(not(windows))]
        return Ok(self.arena.alloc(self.count));
        #[cfg(windows)]
        Ok(&mut self.count)
    }
}

struct Guarded<'a>(&'a mut u32);

struct Named<'a> {
    name: &'a str,
}

impl<'a> Named<'a> {
    fn new(_: u32, name: &'a str) -> Self {
        Self { name }
    }
}

struct Kind;

impl Kind {
    fn name(&self) -> &'static str {
        "kind"
    }
}

#[derive(Clone, Copy)]
struct Cursor<'i> {
    input: &'i [u8],
}

impl<'i> Cursor<'i> {
    #[retry(max = 3, backoff = "none", on(_))]
    fn rest(self) -> Result<(&'i [u8], usize), String> {
        Ok((self.input, self.input.len()))
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn whole(self) -> Result<Cursor<'i>, String> {
        Ok(self)
    }
}

#[async_trait::async_trait]
trait Pages {
    async fn read<'a>(&'a mut self) -> Result<&'a str, String>;
}

#[async_trait::async_trait]
impl Pages for String {
    #[retry(max = 3, backoff = "none", on(_))]
    async fn read<'a>(&'a mut self) -> Result<&'a str, String> {
        Ok(&self[1..])
    }
}

fn main() {
    let mut number = 4;
    let mut client = Client {
        page: "page".to_owned(),
        count: 0,
        input: b"page",
        chars: "page".chars(),
        cell: RefCell::new(2),
        arena: Arena,
        raw: &raw mut number,
    };
    assert_eq!(client.shared(), Ok("page"));
    assert_eq!(client.beside_a_change(), Ok("page"));
    assert_eq!(client.behind_a_reference(), Ok(&b"age"[..]));
    assert_eq!(client.of_what_borrows_for_longer(), Ok("age"));
    let _ = client.beside_a_change_of_another_part();
    assert_eq!(client.fixed(), Ok("page"));
    assert!(client.owned().is_ok());
    assert_eq!(client.input(), Ok(&b"page"[..]));
    assert_eq!(client.part_of_input(), Ok(&b"p"[..]));
    assert!(client.fields().is_ok());
    assert_eq!(client.beside_many_changes(&mut Vec::new()), Ok("age"));
    assert_eq!(client.of_a_pattern(), Ok("page"));
    assert_eq!(client.beside_an_error(), Ok("page"));
    assert!(client.guard().is_ok());
    assert_eq!(client.allocated(), Ok(&mut 3));
    assert_eq!(client.behind_a_pointer(), Ok(&mut 4));
    let mut lines = vec![String::new(), String::new()];
    assert_eq!(Counted::of(&mut lines).map(|it| it.rows), Ok(1));
    let mut scratch = Vec::new();
    assert_eq!(fixed_text(&mut scratch, ""), Ok("done"));
    assert_eq!(client.by_name(&mut scratch), Ok("page"));
    assert_eq!(of_another(&mut scratch, "page"), Ok("page"));
    assert_eq!(of_one_beside(&mut scratch, "page"), Ok("page"));
    assert!(read_only(&mut scratch, true).is_ok());
    assert!(whole(&mut scratch).is_ok());
    assert_eq!(a_number(&mut scratch), Ok(4));
    let _ = client.later();
    let _ = client.text_later();
    let _ = client.by_another_name();
    assert!(client.on_this_system().is_ok());
    let _ = client.page.read();
    assert_eq!(client.beside_a_number().map(|it| it.name), Ok("page"));
    assert_eq!(client.name_of_a_kind(), Ok("kind"));
    let cursor = Cursor { input: b"page" };
    assert!(cursor.rest().is_ok() && cursor.whole().is_ok());
}

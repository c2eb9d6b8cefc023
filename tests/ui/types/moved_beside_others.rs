//! Which of several parameters is named, and which fix helps.

use reattempt::retry;

#[derive(Debug)]
struct Command(u8);

#[derive(Debug)]
struct Session(u8);

impl Session {
    // No bound helps where `self` has no copies.
    #[retry(max = 3, on(_))]
    fn labelled<L: TryInto<u8>>(self, label: L) -> Result<Vec<u8>, String> {
        let label = label.try_into().map_err(|_| String::new())?;
        let mut all = self.into_parts()?;
        all.push(label);
        Ok(all)
    }

    fn into_parts(self) -> Result<Vec<u8>, String> {
        Ok(vec![self.0])
    }
}

enum Part {
    Number(u8),
    Text(String),
}

#[derive(Debug)]
struct Frame<T> {
    inner: T,
}

struct Page<'a>(&'a mut u8, String);

fn send(target: String, command: Command) -> Result<u8, String> {
    Err(format!("{command:?} {target}"))
}

fn unframed<T>(frame: Frame<T>) -> Result<T, String> {
    Ok(frame.inner)
}

// No copy of the text helps where the command has none.
#[retry(max = 3, on(_))]
fn one_without_copies(target: String, command: Command) -> Result<u8, String> {
    send(target, command)
}

#[retry(max = 3, on(_))]
fn none_with_copies(one: Session, other: Session) -> Result<Vec<u8>, String> {
    let mut all = one.into_parts()?;
    all.extend(other.into_parts()?);
    Ok(all)
}

// What is only called is not moved.
#[retry(max = 3, on(_))]
fn called<F: FnMut(u8) -> u8>(one: Session, mut each: F) -> Result<u8, String> {
    one.into_parts()?;
    Ok(each(1))
}

// The second pattern takes what the first one copies.
#[retry(max = 3, on(_))]
async fn by_the_second_pattern(part: Part) -> Result<String, String> {
    if let Part::Number(number) = part {
        return Err(number.to_string());
    }
    match part {
        Part::Number(number) => Err(number.to_string()),
        Part::Text(text) => Ok(text),
    }
}

// Few types with a parameter have copies.
#[retry(max = 3, on(_))]
fn generic<T: Send>(frame: Frame<T>) -> Result<T, String> {
    unframed(frame)
}

// Both have to go.
#[retry(max = 3, on(_))]
fn borrowed_too<E: Into<String>>(number: &mut u8, text: E) -> Result<Page<'_>, String> {
    Ok(Page(number, text.into()))
}

fn main() {
    let _ = one_without_copies(String::new(), Command(1));
    let _ = none_with_copies(Session(1), Session(2));
    let _ = Session(1).labelled(1);
    let _ = called(Session(1), |it| it);
    let _ = by_the_second_pattern(Part::Text(String::new()));
    let _ = generic(Frame { inner: 1 });
    let _ = borrowed_too(&mut 1, "");
}

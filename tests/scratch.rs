use reattempt::{Failed, Interrupted, retry};
use std::cell::Cell;
struct S {
    n: u32,
}
#[derive(Debug, PartialEq)]
enum E {
    A,
    I,
}
impl From<Interrupted> for E {
    fn from(_: Interrupted) -> Self {
        E::I
    }
}
#[async_trait::async_trait]
trait T {
    async fn go(&mut self, name: String) -> Result<u32, E>;
}
#[async_trait::async_trait]
impl T for S {
    #[retry(on(_), clone(name), before_retry = async |_| self.bump().await)]
    async fn go(&mut self, name: String) -> Result<u32, E> {
        self.n += 1;
        drop(name);
        if self.n > 20 { Ok(self.n) } else { Err(E::A) }
    }
}
impl S {
    async fn bump(&mut self) {
        self.n += 10;
    }
}
#[retry(on(_), backoff = "none", clone(n))]
fn m(mut n: u32, c: &Cell<u32>) -> Result<u32, u32> {
    n += 1;
    c.set(c.get() + 1);
    if c.get() == 3 { Ok(n) } else { Err(n) }
}
#[derive(Clone)]
struct C(String, std::rc::Rc<Cell<u32>>);
impl C {
    #[retry(on(_), backoff = "none", clone(self))]
    fn eat(self) -> Result<String, u32> {
        self.1.set(self.1.get() + 1);
        let C(s, n) = self;
        if n.get() < 3 {
            Err(1)
        } else {
            Ok(format!("{s}{}", n.get()))
        }
    }
}
#[tracing::instrument(err, skip_all)]
#[retry(on(_), backoff = "none")]
fn ins(s: String, c: &Cell<u32>) -> Result<usize, u32> {
    c.set(c.get() + 1);
    if c.get() == 3 { Ok(s.len()) } else { Err(1) }
}
#[tracing::instrument(err, ret, skip_all)]
#[retry(on(_), backoff = "none")]
async fn insa(s: String, c: &Cell<u32>) -> Result<usize, u32> {
    c.set(c.get() + 1);
    if c.get() == 3 { Ok(s.len()) } else { Err(1) }
}
#[tracing::instrument(skip_all)]
#[retry(on(_), backoff = "none")]
async fn insb(s: String, c: &mut u32) -> Result<usize, u32> {
    *c += 1;
    if *c == 3 { Ok(s.len()) } else { Err(1) }
}
#[retry(on(_), base = "1ms", until = |v| *v > 2)]
async fn poll(c: &Cell<u32>) -> Result<u32, E> {
    c.set(c.get() + 1);
    Ok(c.get())
}
#[retry(on(_), base = "1ms", until = |v| *v > 7)]
fn poll2(c: &Cell<u32>) -> Result<u32, Failed<u8>> {
    c.set(c.get() + 1);
    Ok(c.get())
}
#[retry(base = "1ms", until = |v| *v > 2)]
fn poll3(c: &Cell<u32>) -> u32 {
    c.set(c.get() + 1);
    c.get()
}
#[retry(base = "1ms", until = Option::is_some)]
fn poll4(c: &Cell<u32>) -> Option<u32> {
    c.set(c.get() + 1);
    (c.get() > 2).then_some(c.get())
}
#[retry(base = "1ms")]
fn opt(c: &Cell<u32>) -> Option<u32> {
    c.set(c.get() + 1);
    (c.get() > 2).then_some(c.get())
}
#[tokio::test(start_paused = true)]
async fn all() {
    assert_eq!(S { n: 0 }.go("x".into()).await, Ok(23));
    let c = Cell::new(0);
    assert_eq!(m(5, &c), Ok(6));
    assert_eq!(C("a".into(), Default::default()).eat(), Ok("a3".into()));
    let c = Cell::new(0);
    assert_eq!(ins("abc".into(), &c), Ok(3));
    let c = Cell::new(0);
    assert_eq!(insa("abc".into(), &c).await, Ok(3));
    assert_eq!(insb("abc".into(), &mut 0).await, Ok(3));
    assert_eq!(poll(&Cell::new(0)).await, Ok(3));
    println!("{}", poll2(&Cell::new(0)).unwrap_err());
    assert_eq!(poll3(&Cell::new(0)), 3);
    assert_eq!(poll4(&Cell::new(0)), Some(3));
    assert_eq!(opt(&Cell::new(0)), Some(3));
}

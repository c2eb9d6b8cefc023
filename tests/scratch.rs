use reattempt::retry;
struct Y(bool);
impl std::future::Future for Y {
    type Output = ();
    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        c: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        if self.0 {
            std::task::Poll::Ready(())
        } else {
            self.0 = true;
            c.waker().wake_by_ref();
            std::task::Poll::Pending
        }
    }
}
type R = Result<u64, String>;
macro_rules! pair { ($b:ident $o:ident ($($a:ident : $t:ty),*) $body:block) => { async fn $b($($a:$t),*)->R $body #[retry(max=5, on = |e: &String| e.len() < 3)] async fn $o($($a:$t),*)->R $body } }
pair!(b0 o0 () { Y(false).await; Ok(1) });
pair!(b1 o1 (a: &u64) { Y(false).await; if *a==7{return Err("x".into())} Ok(*a) });
pair!(b2 o2 (a: &u64, b: &str) { Y(false).await; if *a==7{return Err("x".into())} Ok(*a + b.len() as u64) });
pair!(bs os (a: String) { Y(false).await; if a.is_empty(){return Err("x".into())} Ok(a.len() as u64) });
pair!(bb ob (a: &u64) { let buf=[*a as u8;256]; Y(false).await; if *a==7{return Err("x".into())} Ok(*a+buf[*a as usize] as u64) });
fn sz<T>(_: &T) -> usize {
    std::mem::size_of::<T>()
}
fn send<T: Send>(t: T) -> T {
    t
}
#[test]
fn sizes() {
    println!("0: {} {}", sz(&b0()), sz(&o0()));
    println!("1: {} {}", sz(&b1(&1)), sz(&send(o1(&1))));
    println!("2: {} {}", sz(&b2(&1, "a")), sz(&o2(&1, "a")));
    println!("S: {} {}", sz(&bs(String::new())), sz(&os(String::new())));
    println!("256: {} {}", sz(&bb(&1)), sz(&ob(&1)));
}

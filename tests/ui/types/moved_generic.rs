//! The signature says what has no copies: the fix is a bound, a reference, or another kind of function.

use reattempt::{retry, retry_block};

trait Painter {
    type Value;
    fn visit(self) -> Result<Self::Value, String>;
}

#[retry(max = 2, on(_))]
fn by_a_parameter<V: Painter>(painter: V) -> Result<V::Value, String> {
    send(painter)
}

#[retry(max = 2, on(_))]
fn by_a_clause<V>(painter: V) -> Result<V::Value, String>
where
    V: Painter + Clone,
{
    send(painter)
}

#[retry(max = 2, on(_))]
fn by_impl(painter: impl Painter<Value = u32>) -> Result<u32, String> {
    send(painter)
}

#[retry(max = 2, on(_))]
fn by_impl_with_clone(painter: impl Painter<Value = u32> + Clone) -> Result<u32, String> {
    send(painter)
}

#[retry(max = 2, on(_))]
fn by_a_part<V: Painter>(_: &V, value: V::Value) -> Result<V::Value, String> {
    Ok(value)
}

#[retry(max = 2, on(_))]
fn called_once(make: impl FnOnce(&str) -> String) -> Result<String, String> {
    Ok(make("page"))
}

#[retry(max = 2, on(_))]
fn called_once_by_name<F: FnOnce() -> String>(make: F) -> Result<String, String> {
    Ok(make())
}

#[retry(max = 2, on(_))]
fn called_once_in_a_box(make: Box<dyn FnOnce() -> String>) -> Result<String, String> {
    Ok(make())
}

#[retry(max = 2, on(_))]
fn handed_on(make: impl FnMut() -> String) -> Result<String, String> {
    call(make)
}

#[retry(max = 2, on(_))]
fn boxed(shape: Box<dyn Shape>) -> Result<Box<dyn Shape>, String> {
    Ok(shape)
}

#[retry(max = 2, on(_))]
async fn later<V: Painter>(painter: V) -> Result<V::Value, String> {
    send(painter)
}

#[retry(max = 2, on(_))]
fn several<V: Painter>(painter: V, url: String) -> Result<(V::Value, String), String> {
    Ok((send(painter)?, url))
}

#[retry(max = 2, on(_))]
fn of_two_kinds(make: impl FnOnce() -> String, url: String) -> Result<(String, String), String> {
    Ok((make(), url))
}

trait Shape {}

fn send<V: Painter>(painter: V) -> Result<V::Value, String> {
    painter.visit()
}

fn call(mut make: impl FnMut() -> String) -> Result<String, String> {
    Ok(make())
}

fn main() {
    let _ = retry_block!(max = 2, on(_), || -> Result<u32, String> { Ok(3) });
}

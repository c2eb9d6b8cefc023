//! Generics, lifetimes, and what they do to the answer.

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::marker::PhantomData;

use reattempt::retry;

use crate::{Fault, Script, sendable};

/// What a generic function is called with.
trait Source {
    type Item;
    type Error;

    fn fetch(&self) -> Result<Self::Item, Self::Error>;
}

impl Source for Script {
    type Item = u32;
    type Error = Fault;

    fn fetch(&self) -> Result<u32, Fault> {
        self.step()
    }
}

// A type parameter.
#[retry(max = 3, backoff = "none", on(_))]
fn generic<S: Source>(source: &S) -> Result<S::Item, S::Error> {
    source.fetch()
}

// The error is the parameter.
#[retry(max = 3, backoff = "none", on(_))]
fn generic_error<E: From<Fault>>(script: &Script) -> Result<u32, E> {
    Ok(script.step()?)
}

// `where`.
#[retry(max = 3, backoff = "none", on(_))]
fn where_clause<S, E>(source: &S, map: impl Fn(S::Error) -> E) -> Result<S::Item, E>
where
    S: Source + ?Sized,
    S::Error: Display,
    E: Debug,
{
    source.fetch().map_err(&map)
}

// A constant parameter.
#[retry(max = 3, backoff = "none", on(_))]
fn const_generic<const N: usize>(script: &Script) -> Result<[u32; N], Fault> {
    Ok([script.step()?; N])
}

// A constant parameter as the value of a key.
#[retry(max = N, backoff = "none", on(_))]
fn const_generic_key<const N: u32>(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// A lifetime that is written out.
#[retry(max = 3, backoff = "none", on(_))]
fn explicit_lifetime<'a>(script: &Script, text: &'a str) -> Result<&'a str, Fault> {
    script.step()?;
    Ok(&text[1..])
}

// Two of them, one outlives the other.
#[retry(max = 3, backoff = "none", on(_))]
fn two_lifetimes<'a, 'b: 'a>(
    script: &'a Script,
    text: &'b str,
) -> Result<(&'a Script, &'b str), Fault> {
    script.step()?;
    Ok((script, text))
}

// A lifetime that is not written.
#[retry(max = 3, backoff = "none", on(_))]
fn elided_lifetime(script: &Script) -> Result<&Script, Fault> {
    script.step().map(|_| script)
}

// A lifetime inside a type, shown as `'_`.
#[retry(max = 3, backoff = "none", on(_))]
fn anonymous_lifetime(script: &Script) -> Result<std::borrow::Cow<'_, Script>, Fault>
where
    Script: Clone,
{
    script.step()?;
    Ok(std::borrow::Cow::Borrowed(script))
}

// For every lifetime.
#[retry(max = 3, backoff = "none", on(_))]
fn higher_ranked<F>(script: &Script, pick: F) -> Result<u32, Fault>
where
    F: for<'a> Fn(&'a Script, &'a str) -> &'a Script,
{
    pick(script, "text").step()
}

// `Result<impl Iterator, E>`.
#[retry(max = 3, backoff = "none", on(_))]
fn impl_iterator(script: &Script) -> Result<impl Iterator<Item = u32>, Fault> {
    let number = script.step()?;
    Ok((0..number).map(|n| n + 1))
}

// `impl Trait` that borrows a parameter.
#[retry(max = 3, backoff = "none", on(_))]
fn impl_borrowing<'a>(script: &'a Script) -> Result<impl Iterator<Item = u32> + use<'a>, Fault> {
    script.step()?;
    Ok(std::iter::repeat_with(|| script.attempts()))
}

// `impl Trait` twice, and in a tuple.
#[retry(max = 3, backoff = "none", on(_))]
fn impl_twice(script: &Script) -> Result<(impl Display, Vec<impl Debug>), Fault> {
    Ok((script.step()?, vec!["text"]))
}

// `impl Trait` in an `Option`.
#[retry(max = 3, backoff = "none", on(_))]
fn impl_in_option(script: &Script) -> Option<impl Display + use<>> {
    script.step().ok()
}

// A boxed trait object, made from the concrete type in the tail.
#[retry(max = 3, backoff = "none", on(_))]
fn boxed_dyn_answer(script: &Script) -> Result<Box<dyn Display>, Fault> {
    let number = script.step()?;
    if number < 3 {
        return Ok(Box::new("too early"));
    }
    Ok(Box::new(number))
}

// A slice of an array, a function of a closure: the answer is coerced.
#[retry(max = 3, backoff = "none", on(_))]
fn coerced(script: &Script) -> Result<(&'static [u32], fn(u32) -> u32), Fault> {
    script.step()?;
    Ok((&[1, 2, 3], |n| n))
}

// Types that only the answer tells.
#[retry(max = 3, backoff = "none", on(_))]
fn inferred(script: &Script) -> Result<HashMap<u32, Vec<u32>>, Fault> {
    let mut map = HashMap::new();
    map.insert(script.step()?, (0..2).collect());
    Ok(map.into_iter().collect())
}

/// A generic type with retried methods.
struct Cache<S, T> {
    source: S,
    marker: PhantomData<T>,
}

impl<S: Source, T> Cache<S, T>
where
    T: From<S::Item>,
{
    // A method of a generic `impl`.
    #[retry(max = 3, backoff = "none", on(_))]
    fn get(&self) -> Result<T, S::Error> {
        Ok(self.source.fetch()?.into())
    }

    // With a parameter of its own.
    #[retry(max = 3, backoff = "none", on(_))]
    fn get_as<U>(&self, map: &dyn Fn(T) -> U) -> Result<U, S::Error> {
        Ok(map(self.source.fetch()?.into()))
    }

    // The same, async.
    #[retry(max = 3, on(_))]
    async fn get_async(&self) -> Result<T, S::Error> {
        tokio::task::yield_now().await;
        Ok(self.source.fetch()?.into())
    }
}

fn cache(script: &Script) -> Cache<Script, u64> {
    let source = script.clone();
    Cache {
        source,
        marker: PhantomData,
    }
}

// Generic and async.
#[retry(max = 3, on(_))]
async fn async_generic<S, const N: usize>(source: &S) -> Result<[S::Item; N], S::Error>
where
    S: Source<Item: Copy>,
{
    tokio::task::yield_now().await;
    Ok([source.fetch()?; N])
}

// Lifetimes and async.
#[retry(max = 3, on(_))]
async fn async_lifetimes<'a>(script: &Script, text: &'a str) -> Result<&'a str, Fault> {
    script.step_async().await?;
    Ok(&text[1..])
}

// `Result<impl Iterator, E>`, async.
#[retry(max = 3, on(_))]
async fn async_impl_iterator(script: &Script) -> Result<impl Iterator<Item = u32>, Fault> {
    let number = script.step_async().await?;
    Ok((0..number).map(|n| n + 1))
}

// A boxed trait object, async.
#[retry(max = 3, on(_))]
async fn async_boxed_dyn_answer(script: &Script) -> Result<Box<dyn Display + Send>, Fault> {
    let number = script.step_async().await?;
    if number < 3 {
        return Ok(Box::new("too early"));
    }
    Ok(Box::new(number))
}

shapes! {
    generic, boxed_dyn_answer, impl_in_option,
    generic_error => |script| generic_error::<Fault>(script),
    where_clause => |script| where_clause(script, |fault| fault),
    const_generic => |script| const_generic::<2>(script).map(|pair| pair[1]),
    const_generic_key => |script| const_generic_key::<3>(script),
    explicit_lifetime => |script| explicit_lifetime(script, "?3"),
    two_lifetimes => |script| two_lifetimes(script, "3").map(|(_, text)| text),
    elided_lifetime => |script| elided_lifetime(script).map(Script::attempts),
    anonymous_lifetime => |script| anonymous_lifetime(script).map(|script| script.attempts()),
    higher_ranked => |script| higher_ranked(script, |script, _| script),
    impl_iterator => |script| impl_iterator(script).map(Iterator::count),
    impl_borrowing => |script| impl_borrowing(script).map(|mut attempts| attempts.next().unwrap_or(0)),
    impl_twice => |script| impl_twice(script).map(|(number, _)| number.to_string()),
    coerced => |script| coerced(script).map(|(list, same)| same(list[2])),
    inferred => |script| inferred(script).map(|map| map.into_keys().sum::<u32>()),
    get => |script| cache(script).get(),
    get_as => |script| cache(script).get_as(&|number| number.to_string()),
}

async_shapes! {
    get_async => async |script| sendable(cache(script).get_async()).await,
    async_generic => async |script| async_generic::<_, 2>(script).await.map(|pair| pair[1]),
    async_lifetimes => async |script| sendable(async_lifetimes(script, "?3")).await,
    async_impl_iterator => async |script| sendable(async_impl_iterator(script)).await.map(Iterator::count),
    async_boxed_dyn_answer => async |script| sendable(async_boxed_dyn_answer(script)).await,
}

//! How parameters come in.

use reattempt::retry;

use crate::{Fault, Script};

/// Something that can't be cloned.
struct Unclonable(Script);

/// Something that can.
#[derive(Clone)]
struct Pair {
    script: Script,
    zero: u32,
}

// A `mut` parameter.
#[retry(max = 3, backoff = "none", on(_))]
fn mut_parameter(script: &Script, mut number: u32) -> Result<u32, Fault> {
    number += 1;
    assert_eq!(number, script.attempts() + 1);
    script.step()
}

// A `mut` parameter that is cloned: each attempt starts from the same value.
#[retry(max = 3, backoff = "none", on(_), clone(list))]
fn mut_cloned(script: &Script, mut list: Vec<u32>) -> Result<u32, Fault> {
    list.push(script.step()?);
    assert_eq!(list.len(), 1);
    Ok(list[0])
}

// Patterns: a tuple, a struct, a reference, a nested one.
#[retry(max = 3, backoff = "none", on(_))]
fn patterns(
    (script, zero): (&Script, u32),
    Pair { zero: other, .. }: &Pair,
    &third: &u32,
    [first, ..]: [u32; 2],
) -> Result<u32, Fault> {
    Ok(script.step()? + zero + other + third + first)
}

// A pattern whose part is moved, and cloned for it.
#[retry(max = 3, backoff = "none", on(_), clone(script))]
fn pattern_moved(Pair { script, zero }: Pair) -> Result<u32, Fault> {
    let owned = script;
    Ok(owned.step()? + zero)
}

// `impl Trait`, used by reference.
#[retry(max = 3, backoff = "none", on(_))]
fn impl_trait(script: &Script, text: impl AsRef<str>) -> Result<u32, Fault> {
    assert_eq!(text.as_ref(), "text");
    script.step()
}

// `impl Into<String>`, consumed and cloned.
#[retry(max = 3, backoff = "none", on(_), clone(text))]
fn impl_into(script: &Script, text: impl Into<String> + Clone) -> Result<u32, Fault> {
    let text: String = text.into();
    assert_eq!(text, "text");
    script.step()
}

// What can't be cloned, by reference.
#[retry(max = 3, backoff = "none", on(_))]
fn unclonable_reference(unclonable: &Unclonable) -> Result<u32, Fault> {
    unclonable.0.step()
}

// What can't be cloned, by value, only looked at.
#[retry(max = 3, backoff = "none", on(_))]
fn unclonable_value(unclonable: Unclonable) -> Result<u32, Fault> {
    unclonable.0.step()
}

// A `String` that the body borrows.
#[retry(max = 3, backoff = "none", on(_))]
fn string_borrowed(script: &Script, text: String) -> Result<u32, Fault> {
    assert_eq!(text.len(), 4);
    script.step()
}

// A `String` that the body moves.
#[retry(max = 3, backoff = "none", on(_), clone(text))]
fn string_moved(script: &Script, text: String) -> Result<u32, Fault> {
    let bytes = text.into_bytes();
    assert_eq!(bytes.len(), 4);
    script.step()
}

// A trait object.
#[retry(max = 3, backoff = "none", on(_))]
fn dyn_parameter(step: &dyn Fn() -> Result<u32, Fault>) -> Result<u32, Fault> {
    step()
}

// A boxed one.
#[retry(max = 3, backoff = "none", on(_))]
fn boxed_dyn(step: Box<dyn Fn() -> Result<u32, Fault> + '_>) -> Result<u32, Fault> {
    step()
}

// A closure.
#[retry(max = 3, backoff = "none", on(_))]
fn impl_fn(step: impl Fn() -> Result<u32, Fault>) -> Result<u32, Fault> {
    step()
}

// A closure that changes something.
#[retry(max = 3, backoff = "none", on(_))]
fn mut_impl_fn_mut(mut step: impl FnMut() -> Result<u32, Fault>) -> Result<u32, Fault> {
    step()
}

// The same behind a reference.
#[retry(max = 3, backoff = "none", on(_))]
fn dyn_fn_mut(step: &mut dyn FnMut() -> Result<u32, Fault>) -> Result<u32, Fault> {
    step()
}

// Two mutable references.
#[retry(max = 3, backoff = "none", on(_))]
fn two_mutable(script: &mut Script, calls: &mut u32) -> Result<u32, Fault> {
    *calls += 1;
    assert_eq!(*calls, script.attempts() + 1);
    script.step()
}

// A mutable reference that is passed on.
#[retry(max = 3, backoff = "none", on(_))]
fn reborrowed(script: &mut Script) -> Result<u32, Fault> {
    fn below(script: &mut Script) -> Result<u32, Fault> {
        script.step()
    }
    below(script)
}

// Slices and arrays.
#[retry(max = 3, backoff = "none", on(_))]
fn slices(scripts: &[Script], list: &mut [u32], array: [u32; 2]) -> Result<u32, Fault> {
    list[0] += array[1];
    Ok(scripts[0].step()? + array[0])
}

// Bytes and text.
#[retry(max = 3, backoff = "none", on(_))]
fn text(
    script: &Script,
    text: &str,
    bytes: &[u8],
    static_text: &'static str,
) -> Result<u32, Fault> {
    assert_eq!(text.len() + bytes.len(), static_text.len());
    script.step()
}

// A parameter that is not there.
#[retry(max = 3, backoff = "none", on(_))]
fn parameter_under_cfg(
    #[cfg(any())] gone: Nothing,
    #[allow(unused_variables, reason = "it is the shape")]
    #[cfg(test)]
    here: u32,
    script: &Script,
) -> Result<u32, Fault> {
    script.step()
}

// An `Option` that is taken: only the first attempt finds it.
#[retry(max = 3, backoff = "none", on(_))]
fn taken(script: &Script, mut once: Option<u32>) -> Result<u32, Fault> {
    assert_eq!(once.take().is_some(), script.attempts() == 0);
    script.step()
}

fn pair(script: &Script) -> Pair {
    let script = script.clone();
    Pair { script, zero: 0 }
}

shapes! {
    mut_parameter => |script| mut_parameter(script, 0),
    mut_cloned => |script| mut_cloned(script, vec![]),
    patterns => |script| patterns((script, 0), &pair(script), &0, [0, 1]),
    pattern_moved => |script| pattern_moved(pair(script)),
    impl_trait => |script| impl_trait(script, "text"),
    impl_into => |script| impl_into(script, "text"),
    unclonable_reference => |script| unclonable_reference(&Unclonable(script.clone())),
    unclonable_value => |script| unclonable_value(Unclonable(script.clone())),
    string_borrowed => |script| string_borrowed(script, "text".to_owned()),
    string_moved => |script| string_moved(script, "text".to_owned()),
    dyn_parameter => |script| dyn_parameter(&|| script.step()),
    boxed_dyn => |script| boxed_dyn(Box::new(|| script.step())),
    impl_fn => |script| impl_fn(|| script.step()),
    mut_impl_fn_mut => |script| { let mut n = 0; mut_impl_fn_mut(|| { n += 1; script.step() }) },
    dyn_fn_mut => |script| { let mut n = 0; dyn_fn_mut(&mut || { n += 1; script.step() }) },
    two_mutable => |script| two_mutable(&mut script.clone(), &mut 0),
    reborrowed => |script| reborrowed(&mut script.clone()),
    slices => |script| slices(&[script.clone()], &mut [0], [0, 1]),
    text => |script| text(script, "text", b"bytes", "texttexts"),
    parameter_under_cfg => |script| parameter_under_cfg(1, script),
    taken => |script| taken(script, Some(1)),
}

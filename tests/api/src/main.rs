//! Prints the public items of a crate, one a line, from what rustdoc says of it as JSON.
//!
//! Left out are what every type has (`impl<T> From<T> for T`) and the automatic traits that nobody
//! promises; `Send` and `Sync` stay.

use std::error::Error;

const UNPROMISED: [&str; 6] = [
    "Freeze",
    "RefUnwindSafe",
    "StructuralPartialEq",
    "Unpin",
    "UnsafeUnpin",
    "UnwindSafe",
];

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).ok_or("which file?")?;
    let api = public_api::Builder::from_rustdoc_json(file)
        .omit_blanket_impls(true)
        .build()?;
    for item in api.items() {
        let line = item.to_string();
        if !UNPROMISED.iter().any(|name| is_impl_of(name, &line)) {
            println!("{line}");
        }
    }
    Ok(())
}

/// Whether the line is the head of an implementation of that trait of the standard library.
fn is_impl_of(name: &str, line: &str) -> bool {
    line.starts_with("impl")
        && line
            .split(" for ")
            .next()
            .is_some_and(|head| head.ends_with(&format!("::{name}")) && head.contains("core::"))
}

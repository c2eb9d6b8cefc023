//! Names that are taken away or mean something else: no prelude, modules called
//! `core`, `std` and `reattempt`, own `Ok`, `Err`, `Some`, `None`, `Result`,
//! `Option`, `Box`, `Clone`, own macros, constants and parameters named like
//! what an expansion makes.
#![no_implicit_prelude]
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    non_camel_case_types,
    clippy::all,
    reason = "traps are there to be fallen into, not used; primitive types are shadowed, too"
)]

mod traps;

mod core {}
mod std {}
mod alloc {}
mod reattempt {}
mod retry_runtime {}
mod __private {}

pub mod blocks;
pub mod functions;
pub mod futures;
pub mod methods;

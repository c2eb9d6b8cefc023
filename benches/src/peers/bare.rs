//! The functions without any retry: what the others cannot be below.

use std::hint::black_box;
use std::io;

use super::bodies::{huge as async_huge, kept, many, pending, ready};
use super::ways::{Way, sizes};
use crate::cases::{Fault, Huge, Script, polled, repeat};

pub(super) const WAY: Way = Way {
    name: "bare",
    lacks: None,
    runs: &[&[
        ("small", |k, n| repeat(k, n, small)),
        ("large", |k, n| repeat(k, n, large)),
        ("ready", polled!(ready)),
        ("pending", polled!(pending)),
        ("many", polled!(many)),
        ("kept", polled!(kept)),
        ("huge", |k, n| repeat(k, n, huge)),
        ("async-huge", polled!(async_huge)),
        ("nested", |k, n| repeat(k, n, nested)),
    ]],
    sizes: sizes!(),
};

fn small(script: &Script) -> Result<u64, Fault> {
    script.small()
}

fn huge(script: &Script) -> Result<u64, Huge> {
    script.huge()
}

fn nested(script: &Script) -> Result<u64, Fault> {
    black_box(small)(script)
}

fn large(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

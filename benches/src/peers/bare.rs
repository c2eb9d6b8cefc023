//! The functions without any retry: what the others cannot be below.

use std::io;

use super::bodies::{kept, many, pending, ready};
use super::ways::{Way, sizes};
use crate::cases::{Fault, Script, polled, repeat};

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
    ]],
    sizes: sizes!(),
};

fn small(script: &Script) -> Result<u64, Fault> {
    script.small()
}

fn large(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

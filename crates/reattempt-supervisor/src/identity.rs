//! The identity of work: the keys under which services know it.
//!
//! A row of a store can get lost with a replica that lags, and be stored again; it can be copied with its
//! store. So an identity comes from what the caller said, and from how often the key has become free:
//!
//! ```text
//! task        = SHA-256(salt of the store, workflow, key, incarnation)
//! generation  = SHA-256(task, number, arguments)
//! step, child = SHA-256(generation, kind, name, the nth call of that name or the key that it was given)
//! ```
//!
//! Each part has its length before it, so that no two lists of parts are the same bytes. The arguments of a
//! task are no part: a release may add one.

#[cfg(test)]
mod tests;

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::payload::canonical;
use crate::store::Salt;
use crate::task::Task;

/// How many bytes of a digest name something: enough that two names never meet by chance.
const BYTES: usize = 16;

/// What a task, or one of its generations, is known by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    bits: [u8; BYTES],
    /// Where the random numbers of the workflow begin. It says nothing about the bits.
    seed: u64,
}

impl Identity {
    /// Returns the identity of a task in the store with this salt.
    pub(crate) fn of(task: &Task, salt: Salt) -> Self {
        // Only the incarnation is stored. The store would have to compute the rest in SQL and in
        // Rust.
        let own = Self::of_parts([
            b"task",
            &salt.as_u128().to_be_bytes(),
            task.workflow.as_bytes(),
            task.key.as_bytes(),
            &task.incarnation.to_be_bytes(),
        ]);
        if task.generation == 0 {
            return own;
        }
        Self::of_parts([
            b"generation",
            &own.bits,
            &task.generation.to_be_bytes(),
            // A store that was restored may begin the same generation again with other arguments.
            canonical(&task.input).as_bytes(),
        ])
    }

    /// Returns the identity of an exported task; `None` if the text has no 128 bits in hexadecimal digits.
    pub(crate) fn exported(bits: &str, seed: u64) -> Option<Self> {
        let bits = u128::from_str_radix(bits, 16).ok()?.to_be_bytes();
        Some(Self { bits, seed })
    }

    fn of_parts<const N: usize>(parts: [&[u8]; N]) -> Self {
        let digest = digest(parts);
        let seed = digest.last_chunk().copied().unwrap_or_default();
        Self {
            bits: first(&digest),
            seed: u64::from_be_bytes(seed),
        }
    }

    /// Returns another name for the same work, from which its keys cannot be computed.
    pub(crate) fn pseudonym(self) -> Self {
        let bits = first(&digest([b"pseudonym", &self.bits]));
        Self { bits, ..self }
    }

    /// Returns where the random numbers of the workflow begin.
    pub(crate) const fn seed(self) -> u64 {
        self.seed
    }

    /// Returns the key of a child.
    pub(crate) fn child(self, workflow: &str, nth: u32) -> String {
        format!("{CHILD}{}", self.call("child", workflow, &Which::Nth(nth)))
    }

    // The place is the one among the calls of the same name: with places among all calls, the model
    // in `tests.rs` found work done twice.
    fn call(self, kind: &str, name: &str, which: &Which) -> Hex {
        let (kind_of, value) = match which {
            Which::Nth(nth) => (&b"nth"[..], &nth.to_be_bytes()[..]),
            Which::Key(key) => (&b"key"[..], key.as_bytes()),
        };
        let parts = [kind.as_bytes(), &self.bits, name.as_bytes(), kind_of, value];
        Hex(first(&digest(parts)))
    }
}

/// Shows the bits: 32 hexadecimal digits.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(self.bits).fmt(f)
    }
}

/// With this begin the keys of children. Keys that begin with `~` are those of the store.
const CHILD: &str = "~child-";

/// Which of the calls of a step, or of the starts of a workflow, a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
// Places depend on the order of the calls. Where calls of one step race, only a key stays the same.
pub(crate) enum Which {
    /// The place among the calls of the same name, from 0.
    Nth(u32),
    /// The key that the step was given.
    Key(String),
}

/// What the key of a step is made of.
#[derive(Clone)]
pub(crate) struct StepKey {
    pub(crate) of: Identity,
    pub(crate) step: &'static str,
    pub(crate) which: Which,
}

impl fmt::Debug for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, which, .. } = self;
        f.debug_tuple("StepKey").field(step).field(which).finish()
    }
}

impl fmt::Display for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.call("step", self.step, &self.which).fmt(f)
    }
}

/// Shows bytes as hexadecimal digits.
struct Hex([u8; BYTES]);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

fn first(digest: &[u8; 32]) -> [u8; BYTES] {
    digest.first_chunk().copied().unwrap_or_default()
}

fn digest<const N: usize>(parts: [&[u8]; N]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
        hash.update(length.to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

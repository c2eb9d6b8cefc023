//! The names by which other processes know what has used up its retries.
//!
//! A call remembers a number for each. What the number stands for lies here: a path, and the edge in front of it. Answers
//! and requests have a table each, so that a caller cannot make this process forget a name that a callee reported.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use reattempt_core::name::OperationId;

/// A callee, by the hash of what its caller calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EdgeName(pub(super) u32);

/// What lies behind an edge.
#[derive(Debug)]
struct Entry {
    operation: OperationId,
    edge: EdgeName,
    /// The path without the edge.
    rest: Box<str>,
}

/// One for each value of the bits of an edge that a number has.
const BUCKETS: usize = 256;

/// The most names of one edge, and of all that share a bucket with it. The oldest goes.
const MOST_OF_EDGE: usize = 64;
const MOST: usize = 128;

type Bucket = Mutex<VecDeque<Entry>>;

/// What this process has learned of paths.
pub(super) struct Names([Bucket; BUCKETS]);

/// What answers of callees brought.
pub(super) static ANSWERED: Names = Names::new();
/// What requests of callers brought.
static REQUESTED: Names = Names::new();

impl Names {
    const fn new() -> Self {
        Self([const { Mutex::new(VecDeque::new()) }; BUCKETS])
    }

    fn bucket(&self, operation: OperationId) -> Option<MutexGuard<'_, VecDeque<Entry>>> {
        let bucket = self.0.get(usize::from(operation.edge()?))?;
        Some(bucket.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Remembers a path behind an edge.
    pub(super) fn add(&self, edge: EdgeName, rest: &str) -> OperationId {
        let operation = behind(edge, rest);
        if let Some(mut entries) = self.bucket(operation)
            && !entries.iter().any(|entry| entry.operation == operation)
        {
            make_room(&mut entries, edge);
            let rest = rest.into();
            entries.push_back(Entry {
                operation,
                edge,
                rest,
            });
        }
        operation
    }

    fn find<R>(&self, operation: OperationId, f: impl FnOnce(&Entry) -> R) -> Option<R> {
        let entries = self.bucket(operation)?;
        let entry = entries.iter().find(|entry| entry.operation == operation);
        entry.map(f)
    }
}

/// Removes the oldest of an edge that has its share, and else the oldest of a full bucket.
fn make_room(entries: &mut VecDeque<Entry>, edge: EdgeName) {
    let of_edge = entries.iter().filter(|entry| entry.edge == edge).count();
    if of_edge >= MOST_OF_EDGE {
        let oldest = entries.iter().position(|entry| entry.edge == edge);
        oldest.and_then(|oldest| entries.remove(oldest));
    } else if entries.len() >= MOST {
        entries.pop_front();
    }
}

fn either<R>(operation: OperationId, f: impl Fn(&Entry) -> R) -> Option<R> {
    let answered = ANSWERED.find(operation, &f);
    answered.or_else(|| REQUESTED.find(operation, &f))
}

/// Returns the number of a path behind an edge.
fn behind(edge: EdgeName, rest: &str) -> OperationId {
    // Drawn for each process: a peer cannot make up two paths of one number.
    static NUMBERS: OnceLock<RandomState> = OnceLock::new();
    let hash = NUMBERS
        .get_or_init(RandomState::new)
        .hash_one((edge.0, rest));
    OperationId::remote(edge.0.to_le_bytes()[0], hash)
}

/// Returns what a request along `edge` calls this operation, if it is behind that edge.
pub(super) fn along(operation: OperationId, edge: EdgeName) -> Option<Box<str>> {
    either(operation, |entry| {
        (entry.edge == edge).then(|| entry.rest.clone())
    })?
}

/// Returns what an answer of this process calls this operation.
pub(super) fn name_of(operation: OperationId) -> Option<Box<str>> {
    if let Some(name) = operation.shared_name() {
        return Some(format!("{name:08x}").into());
    }
    either(operation, |entry| {
        format!("{:08x}.{}", entry.edge.0, entry.rest).into()
    })
}

/// Returns the operation that a name in a request stands for. One that this process has not made stands for nothing.
pub(super) fn operation_of(name: &str) -> Option<OperationId> {
    match name.split_once('.') {
        None => Some(OperationId::shared(own_part(name)?)),
        Some((edge, rest)) => Some(REQUESTED.add(EdgeName(own_part(edge)?), rest)),
    }
}

/// Returns what a part of a name stands for that this process has made.
fn own_part(part: &str) -> Option<u32> {
    let is_own = part.len() == 8
        && (part.bytes()).all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    is_own.then(|| u32::from_str_radix(part, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGE: EdgeName = EdgeName(7);

    fn len(names: &Names) -> usize {
        let entries = |bucket: &Bucket| bucket.lock().expect("no test panics under it").len();
        names.0.iter().map(entries).sum()
    }

    #[test]
    fn a_name_is_heard_along_its_edge_alone() {
        let names = Names::new();
        let operation = names.add(EDGE, "a.b");
        let rest = names.find(operation, |entry| entry.rest.clone());
        assert_eq!(rest.as_deref(), Some("a.b"));
        let operation = ANSWERED.add(EDGE, "c");
        assert_eq!(along(operation, EDGE).as_deref(), Some("c"));
        // Another edge in the same bucket, and one in another.
        for other in [7 + 256, 8] {
            assert_eq!(along(operation, EdgeName(other)), None);
            assert_ne!(operation, behind(EdgeName(other), "c"));
        }
        assert_eq!(name_of(operation).as_deref(), Some("00000007.c"));
    }

    #[test]
    fn an_own_name_comes_back() {
        let operation = OperationId::shared(0xAB);
        let name = name_of(operation).expect("a name");
        assert_eq!(&*name, "000000ab");
        assert_eq!(operation_of(&name), Some(operation));
        for foreign in [
            "ab",
            "000000AB",
            "0000000ab",
            "+00000ab",
            "0x0000ab",
            "",
            "zzzzzzzz",
        ] {
            assert_eq!(operation_of(foreign), None, "{foreign}");
            assert_eq!(operation_of(&format!("{foreign}.x")), None, "{foreign}");
        }
        let behind = operation_of("00000009.x.y").expect("an edge");
        assert_eq!(along(behind, EdgeName(9)).as_deref(), Some("x.y"));
    }

    /// However many names peers make up. An edge takes nothing from another one.
    #[test]
    fn what_is_remembered_is_bounded() {
        let names = Names::new();
        let kept = names.add(EDGE, "kept");
        for number in 0..1000 {
            names.add(EdgeName(7 + 256), &number.to_string());
        }
        assert_eq!(len(&names), 1 + MOST_OF_EDGE);
        assert!(names.find(kept, |_| ()).is_some());
        for edge in 0..100_000 {
            names.add(EdgeName(edge), "x");
        }
        assert_eq!(len(&names), BUCKETS * MOST);
        let newest = names.add(EDGE, "new");
        assert!(names.find(newest, |_| ()).is_some());
        assert_eq!(names.add(EDGE, "new"), newest);
        assert_eq!(len(&names), BUCKETS * MOST);
    }
}

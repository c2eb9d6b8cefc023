//! The operations that have used up their retries.
//!
//! An operation that ends because of attempts, strategy, deadline or budget, or whose future is dropped after a failure, is
//! marked in the calls around it for a minute. Inside a retry of such a call it makes a single attempt.
//!
//! The calls around it are those that are being polled, or that run, on its thread: each takes over what is marked between
//! the beginning and the end of a poll, and nothing else. So what another branch of a `join!` or another task of the
//! same thread marks is none of its business. A retry shows the marks of its call to what it calls.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem;
use std::time::Duration;
use std::vec::Vec;

use crate::around;
use crate::name::OperationId;
use crate::process::now;
use crate::timestamp::Timestamp;

/// How long an operation is marked.
const LIFE: Duration = Duration::from_secs(60);

/// The most marks of a call; the oldest goes.
const MOST: usize = 8;

/// The most marks of a request that is served.
const MOST_SERVED: usize = 16;

/// The most marks that a thread keeps for the calls around.
const MOST_PUBLISHED: usize = 32;

#[derive(Debug, Clone, Copy)]
struct Mark {
    operation: OperationId,
    at: Timestamp,
}

impl Mark {
    fn is_over(&self) -> bool {
        now().since(self.at) >= LIFE
    }
}

/// The operations that have used up their retries during a call.
#[derive(Debug, Clone, Copy)]
pub struct Marks<const N: usize = MOST>([Option<Mark>; N]);

impl<const N: usize> Marks<N> {
    pub const NONE: Self = Self([None; N]);

    fn iter(&self) -> impl Iterator<Item = &Mark> {
        self.0.iter().flatten()
    }

    /// Adds a mark in the place of the one of the same operation, of nothing, or of the oldest one: the oldest of its own
    /// edge, where half of all came from there, so that one callee displaces no name of another.
    fn add(&mut self, mark: Mark) {
        let edge = mark.operation.edge();
        let is_beside = |other: &Mark| edge.is_some() && other.operation.edge() == edge;
        let is_crowd = self.iter().filter(|other| is_beside(other)).count() >= N / 2;
        let age = |place: &&mut Option<Mark>| match place {
            Some(other) if other.operation == mark.operation => (0, 0),
            None => (1, 0),
            Some(other) if is_crowd && is_beside(other) => (2, other.at.as_nanos()),
            Some(other) => (3, other.at.as_nanos()),
        };
        if let Some(place) = self.0.iter_mut().min_by_key(age) {
            *place = Some(mark);
        }
    }

    /// Adds those that this thread has marked since it had marked so many, and that `is_wanted` accepts. Returns whether
    /// there are any.
    pub fn take(&mut self, since: u32, is_wanted: impl Fn(OperationId) -> bool) -> bool {
        let task = task();
        let taken = with(|thread| {
            let published = thread.published.iter();
            published
                .filter(|published| published.is_since(since, task))
                .filter(|published| is_wanted(published.mark.operation))
                .map(|published| self.add(published.mark))
                .count()
        });
        taken.is_some_and(|taken| taken > 0)
    }
}

/// A mark on its way to the calls around.
#[derive(Debug, Clone, Copy)]
struct Published {
    mark: Mark,
    /// How many the thread had marked by then.
    number: u32,
    task: Task,
}

#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
type Task = Option<tokio::task::Id>;
#[cfg(not(all(feature = "tokio", not(target_os = "unknown"))))]
type Task = Option<core::convert::Infallible>;

/// Returns the task that runs here, if tokio runs it. A call whose attempt drives a runtime is around its tasks, which
/// need not belong to it.
fn task() -> Task {
    #[cfg(all(feature = "tokio", not(target_os = "unknown")))]
    return tokio::task::try_id();
    #[cfg(not(all(feature = "tokio", not(target_os = "unknown"))))]
    None
}

impl Published {
    /// Returns whether `task` has published it since the thread had marked so many.
    fn is_since(&self, marks: u32, task: Task) -> bool {
        // The number of a thread may wrap around; the distance does not, for as long as a call
        // runs.
        self.number.wrapping_sub(marks).cast_signed() > 0 && self.task == task
    }
}

struct Thread {
    /// The marks of the calls whose retries run here.
    visible: Vec<Mark>,
    /// The newest marks, of which each operation of a task has one.
    published: VecDeque<Published>,
}

thread_local! {
    static THREAD: RefCell<Thread> = const {
        RefCell::new(Thread {
            visible: Vec::new(),
            published: VecDeque::new(),
        })
    };
}

/// `None` in the last moments of a thread.
fn with<R>(f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    let asked = THREAD.try_with(|thread| Some(f(&mut *thread.try_borrow_mut().ok()?)));
    asked.ok().flatten()
}

/// Marks an operation that has used up its retries.
#[cold]
pub fn mark(operation: OperationId) {
    let (at, task) = (now(), task());
    around::add_mark();
    let published = Published {
        mark: Mark { operation, at },
        number: around::marks(),
        task,
    };
    with(|thread| {
        let queue = &mut thread.published;
        // An operation that gives up again and again would fill the queue.
        queue.retain(|before| before.mark.operation != operation || before.task != task);
        if queue.len() >= MOST_PUBLISHED {
            queue.pop_front();
        }
        queue.push_back(published);
    });
}

impl Thread {
    /// Returns the marks of the retries that run here, and those that they will take over.
    fn marks(&self) -> impl Iterator<Item = &Mark> {
        let (begun_at, task) = (around::begun_at(), task());
        let published = self.published.iter();
        let published = published.filter(move |published| published.is_since(begun_at, task));
        (self.visible.iter()).chain(published.map(|published| &published.mark))
    }
}

/// Returns whether an operation may make a single attempt only. Asked in a retry.
#[cold]
pub fn is_marked(operation: OperationId) -> bool {
    let is_marked =
        with(|thread| (thread.marks()).any(|mark| mark.operation == operation && !mark.is_over()));
    is_marked.unwrap_or(false)
}

/// Returns whether a request that is served here has named the operation. Asked in a retry.
#[cold]
pub fn is_received(operation: OperationId) -> bool {
    let is_it = |mark: &Mark| mark.operation == operation && !mark.is_over();
    with(|thread| thread.visible.iter().any(is_it)).unwrap_or(false)
}

/// Makes these visible here. Returns how many marks were visible before.
pub fn show(marks: &Marks) -> Option<usize> {
    with(|thread| {
        let before = thread.visible.len();
        thread.visible.extend(marks.iter());
        // A bit of the thread's word, so that most failures need not look into this list.
        around::show_marks(!thread.visible.is_empty());
        before
    })
}

/// Leaves so many marks visible: those that were before.
#[cold]
#[inline(never)]
pub fn hide(before: usize) {
    with(|thread| {
        thread.visible.truncate(before);
        around::show_marks(!thread.visible.is_empty());
    });
}

/// The marks that are visible to a piece of code.
#[derive(Debug, Clone)]
pub struct InheritedMarks(Vec<Mark>);

impl InheritedMarks {
    pub const NONE: Self = Self(Vec::new());

    pub fn current() -> Self {
        let visible = with(|thread| {
            if around::retries() == 0 {
                Vec::new()
            } else {
                thread.marks().copied().collect()
            }
        });
        Self(visible.unwrap_or_default())
    }

    /// Returns those that other processes can know, the newest first.
    pub fn known_elsewhere(&self) -> Vec<OperationId> {
        newest_first(self.0.iter().copied())
    }

    /// Makes them of what another process says.
    fn received(operations: impl IntoIterator<Item = OperationId>) -> Self {
        let at = now();
        let mark = |operation| Mark { operation, at };
        Self(operations.into_iter().map(mark).collect())
    }
}

/// What is marked on this thread, replaced until this is dropped. What is marked meanwhile is forgotten.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub struct ScopeMarks {
    // `None` in the last moments of a thread.
    before: Option<(Vec<Mark>, VecDeque<Published>)>,
    begun_at: u32,
}

impl ScopeMarks {
    pub fn new(marks: &InheritedMarks) -> Self {
        let before = with(|thread| {
            around::show_marks(!marks.0.is_empty());
            (
                mem::replace(&mut thread.visible, marks.0.clone()),
                mem::take(&mut thread.published),
            )
        });
        Self {
            before,
            begun_at: around::replace_begun(around::marks()),
        }
    }
}

impl Drop for ScopeMarks {
    fn drop(&mut self) {
        if let Some((visible, published)) = self.before.take() {
            with(|thread| {
                around::show_marks(!visible.is_empty());
                thread.visible = visible;
                thread.published = published;
            });
        }
        around::replace_begun(self.begun_at);
    }
}

/// Returns the operations that other processes can know and that are still marked.
fn newest_first(marks: impl Iterator<Item = Mark>) -> Vec<OperationId> {
    let is_known = |mark: &Mark| mark.operation.is_known_elsewhere() && !mark.is_over();
    let mut marks: Vec<_> = marks.filter(is_known).collect();
    // Of one moment those are the newest that were added last.
    marks.reverse();
    marks.sort_by_key(|mark| core::cmp::Reverse(mark.at));
    marks.into_iter().map(|mark| mark.operation).collect()
}

/// What is marked where a request of another process is served: what it brought, and what has been marked since.
#[derive(Debug)]
pub struct ReceivedMarks {
    received: InheritedMarks,
    since: Marks<MOST_SERVED>,
}

impl ReceivedMarks {
    pub fn new(operations: impl IntoIterator<Item = OperationId>) -> Self {
        Self {
            received: InheritedMarks::received(operations),
            since: Marks::NONE,
        }
    }

    /// Runs `f` where these are marked and nothing else is.
    pub fn run<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let _scope = ScopeMarks::new(&self.received);
        let before = around::marks();
        let result = f();
        if around::marks() != before {
            self.since.take(before, OperationId::is_known_elsewhere);
        }
        result
    }

    /// Returns the operations that have used up their retries since, the newest first.
    pub fn since(&self) -> Vec<OperationId> {
        newest_first(self.since.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(marks: impl IntoIterator<Item = (u64, u64)>) -> Vec<u64> {
        let mut kept = Marks::<MOST>::NONE;
        for (operation, seconds) in marks {
            let operation = OperationId::new(operation);
            let at = Timestamp::from_origin(Duration::from_secs(seconds));
            kept.add(Mark { operation, at });
        }
        let mut kept: Vec<u64> = kept.iter().map(|mark| mark.operation.number()).collect();
        kept.sort_unstable();
        kept
    }

    #[test]
    fn an_operation_that_gives_up_again_is_marked_once() {
        let again = (1..=20).map(|at| (7, at));
        assert_eq!(kept([(1, 0)].into_iter().chain(again)), [1, 7]);
    }

    /// An outer call takes over what an inner one was marked with before.
    #[test]
    fn the_oldest_mark_goes_first() {
        let new = (2..=8).map(|operation| (operation, operation));
        assert_eq!(kept(new.chain([(1, 1), (9, 9)])), [2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn an_edge_takes_no_place_of_another_beyond_half() {
        let mut kept = Marks::<MOST>::NONE;
        let mut add = |operation, at| {
            let at = Timestamp::from_nanos(at);
            kept.add(Mark { operation, at });
        };
        let other = OperationId::remote(1, 0);
        add(other, 0);
        add(OURS, 1);
        (2..30).for_each(|at| add(OperationId::remote(2, at << 16), at));
        let numbers: Vec<u64> = kept.iter().map(|mark| mark.at.as_nanos()).collect();
        assert_eq!(numbers.len(), MOST);
        assert!(numbers.contains(&0) && numbers.contains(&1) && numbers.contains(&29));
    }

    const OURS: OperationId = OperationId::new(1);

    fn seconds_ago(seconds: u64) -> Mark {
        let now = Duration::from_nanos(now().as_nanos());
        let at = Timestamp::from_origin(now.saturating_sub(Duration::from_secs(seconds)));
        Mark {
            operation: OURS,
            at,
        }
    }

    fn see(mark: Mark) {
        with(|thread| thread.visible = vec![mark]);
    }

    #[test]
    fn a_mark_lasts_for_a_minute_and_for_its_operation() {
        see(seconds_ago(55));
        assert!(is_marked(OURS) && !is_marked(OperationId::new(2)));
        see(seconds_ago(61));
        assert!(!is_marked(OURS));
    }

    /// Those of a retry are visible until they are hidden again.
    #[test]
    fn what_is_shown_is_hidden_again() {
        let mut marks = Marks::NONE;
        marks.add(seconds_ago(0));
        let _retry = around::RetryScope::new(1);
        assert_eq!(show(&Marks::NONE), Some(0));
        assert!(around::is_plain());
        assert_eq!((show(&marks), show(&marks)), (Some(0), Some(1)));
        hide(1);
        assert!(is_marked(OURS) && !around::is_plain());
        hide(0);
        assert!(!is_marked(OURS) && around::is_plain());
    }

    /// What a call wants of what was marked since it began.
    #[test]
    fn a_call_takes_what_was_marked_since() {
        let [one, other] = [1, 2].map(OperationId::shared);
        mark(one);
        let since = around::marks();
        let mut marks = Marks::<MOST>::NONE;
        assert!(!marks.take(since, |_| true));
        mark(other);
        assert!(!marks.take(since, |operation| operation == one));
        assert!(marks.take(since, |operation| operation == other));
        let taken: Vec<_> = marks.iter().map(|mark| mark.operation).collect();
        assert_eq!(taken, [other]);
    }

    /// To the nanosecond, in time that stands still.
    #[test]
    fn a_mark_is_over_after_its_life() {
        crate::process::tests::in_virtual_time(60, || {
            for (nanos, is_over) in [(0, true), (1, false), (60_000_000_000, false)] {
                let at = Timestamp::from_nanos(nanos);
                let operation = OperationId::shared(1);
                let mark = Mark { operation, at };
                assert_eq!(mark.is_over(), is_over, "{nanos}");
                assert_eq!(newest_first([mark].into_iter()).is_empty(), is_over);
                see(mark);
                assert_eq!(
                    (is_marked(operation), is_received(operation)),
                    (!is_over, !is_over)
                );
                assert!(!is_received(OURS));
            }
            let marks = [(1, 3), (2, 5), (3, 5), (4, 4)].map(|(name, seconds)| Mark {
                operation: OperationId::shared(name),
                at: Timestamp::from_origin(Duration::from_secs(seconds)),
            });
            let names = newest_first(marks.into_iter());
            assert_eq!(names, [3, 2, 4, 1].map(OperationId::shared));
        });
        with(|thread| thread.visible.clear());
    }

    /// What is handed over is all that a scope shows; after it everything is as it was.
    #[test]
    fn a_scope_shows_what_it_was_given() {
        around::replace_begun(7);
        {
            let _scope = ScopeMarks::new(&InheritedMarks(vec![seconds_ago(0)]));
            assert!(is_marked(OURS));
            {
                let _isolated = ScopeMarks::new(&InheritedMarks::NONE);
                assert!(!is_marked(OURS));
                around::replace_begun(9);
                mark(OperationId::new(2));
            }
            assert!(is_marked(OURS) && !is_marked(OperationId::new(2)));
        }
        assert_eq!(around::begun_at(), 7);
        assert!(!is_marked(OURS));
    }

    /// Calls ask by a bit first whether marks are visible.
    #[test]
    fn after_a_scope_what_was_visible_before_is_looked_at() {
        let _retry = around::RetryScope::new(1);
        {
            let _marked = ScopeMarks::new(&InheritedMarks(vec![seconds_ago(0)]));
            drop(ScopeMarks::new(&InheritedMarks::NONE));
            assert!(!around::is_plain());
        }
        assert!(around::is_plain());
    }

    /// An operation without a name is one of this process alone.
    #[test]
    fn a_response_names_what_others_can_know() {
        let known = OperationId::remote(1, 0);
        let mut served = ReceivedMarks::new([]);
        served.run(|| [OURS, known].into_iter().for_each(mark));
        assert_eq!(served.since(), [known]);
        let at = now();
        let marks = [OURS, known].map(|operation| Mark { operation, at });
        assert_eq!(newest_first(marks.into_iter()), [known]);
    }

    /// The thread keeps few marks, however many operations give up.
    #[test]
    fn a_thread_keeps_a_bounded_number() {
        for operation in 0..1000 {
            mark(OperationId::new(operation));
        }
        assert_eq!(with(|thread| thread.published.len()), Some(MOST_PUBLISHED));
    }
}

//! The operations that have used up their retries.
//!
//! An operation that ends because of attempts, strategy, deadline or budget, or whose future is dropped after a failure, is marked
//! in the calls around it for a minute. Inside a retry of such a call it makes a single attempt.
//!
//! A call keeps its marks itself. A retry makes them visible on its thread, and takes over what is published meanwhile. A
//! first attempt costs nothing and so knows nothing of the calls inside it: the first failure of its call takes over what
//! has been published just before, in the same poll. Marks are published once more when the call that has them ends, for
//! the calls around it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::vec::Vec;

use super::Call;
use crate::inherited;
use crate::timer::Timestamp;

/// How long an operation is marked.
const LIFE: Duration = Duration::from_secs(60);

/// How old a published mark may be for a call to take it over that does not know in which task it runs.
const FRESH: Duration = Duration::from_secs(1);

/// The most marks of a call; the oldest goes.
const MOST: usize = 8;

/// What is retried: a place in the code, a name, or an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationId(pub(crate) u64);

#[derive(Debug, Clone, Copy)]
struct Mark {
    operation: OperationId,
    at: Timestamp,
}

/// The operations that have used up their retries during a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks(VecDeque<Mark>);

impl Drop for Marks {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            publish(self.0.iter().copied(), Here::look());
        }
    }
}

fn add(marks: &mut VecDeque<Mark>, mark: Mark) {
    marks.retain(|other| other.operation != mark.operation);
    marks.push_back(mark);
    if marks.len() > MOST {
        marks.make_contiguous().sort_by_key(|mark| mark.at);
        marks.pop_front();
    }
}

struct Thread {
    /// The marks of the calls whose retries run here.
    visible: Vec<Mark>,
    /// What the retries that run here, and a first failure, take over.
    published: VecDeque<Published>,
}

#[derive(Debug, Clone, Copy)]
struct Published {
    mark: Mark,
    at: Timestamp,
    number: u32,
    task: Task,
}

#[cfg(feature = "tokio")]
type Task = Option<tokio::task::Id>;
#[cfg(not(feature = "tokio"))]
type Task = Option<core::convert::Infallible>;

/// Returns the task that runs here, if tokio runs it.
fn task() -> Task {
    #[cfg(feature = "tokio")]
    return tokio::task::try_id();
    #[cfg(not(feature = "tokio"))]
    None
}

/// How many marks have been published. All calls read it, and only those that give up change it.
static PUBLISHED: AtomicU32 = AtomicU32::new(0);

/// Returns the number of marks so far: what a call takes over has been published after it began.
#[inline(always)]
pub(crate) fn begin() -> u32 {
    PUBLISHED.load(Ordering::Relaxed)
}

thread_local! {
    static THREAD: RefCell<Thread> = const {
        RefCell::new(Thread {
            visible: Vec::new(),
            published: VecDeque::new(),
        })
    };
    /// Since when the outermost of them runs.
    static BEGAN: Cell<u32> = const { Cell::new(0) };
    // Asked far more often than it changes.
    static HAS_PUBLISHED: Cell<bool> = const { Cell::new(false) };
}

/// `None` in the last moments of a thread.
fn with<R>(f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    let asked = THREAD.try_with(|thread| Some(f(&mut *thread.try_borrow_mut().ok()?)));
    asked.ok().flatten()
}

#[inline(always)]
fn has_published() -> bool {
    HAS_PUBLISHED.try_with(Cell::get).unwrap_or(false)
}

/// Returns when the outermost retry that runs here, or that ran last, began.
pub(super) fn began() -> u32 {
    BEGAN.try_with(Cell::get).unwrap_or(0)
}

#[inline(always)]
fn set_began(began: u32) {
    let _set = BEGAN.try_with(|cell| cell.set(began));
}

fn set_published(has: bool) {
    let _set = HAS_PUBLISHED.try_with(|flag| flag.set(has));
}

fn is_outermost() -> bool {
    inherited::retries() == 0
}

/// Marks an operation that has used up its retries.
#[cold]
pub(crate) fn mark(operation: OperationId) {
    let here = Here::look();
    let at = here.now;
    publish([Mark { operation, at }], here);
}

#[cold]
fn publish(marks: impl IntoIterator<Item = Mark>, here: Here) {
    let Here { now: at, task } = here;
    let number = PUBLISHED.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    let published = with(|thread| {
        for mark in marks {
            // The last one counts: an operation that gives up again and again would fill the queue.
            thread.published.retain(|before| {
                let is_same = before.mark.operation == mark.operation && before.task == task;
                !is_same || before.mark.at > mark.at
            });
            // More than a call keeps, for those of other tasks.
            if thread.published.len() >= 4 * MOST {
                thread.published.pop_front();
            }
            thread.published.push_back(Published {
                mark,
                at,
                number,
                task,
            });
        }
    });
    set_published(published.is_some());
}

impl Published {
    /// Returns whether it has been published by what runs here, since that began.
    fn is_by(&self, here: Here, began: u32) -> bool {
        let is_later = self.number.wrapping_sub(began).cast_signed() > 0;
        let is_fresh = self.task.is_some() || here.now.since(self.at) < FRESH;
        is_later && is_fresh && self.task == here.task
    }
}

#[derive(Clone, Copy)]
struct Here {
    now: Timestamp,
    task: Task,
}

impl Here {
    fn look() -> Self {
        Self {
            now: inherited::now(),
            task: task(),
        }
    }
}

impl Thread {
    /// Returns the marks of the retries that run here.
    fn marks(&self, here: Here) -> impl Iterator<Item = &Mark> {
        let began = began();
        let published = self.published.iter();
        let published = published.filter(move |published| published.is_by(here, began));
        (self.visible.iter()).chain(published.map(|published| &published.mark))
    }
}

/// Returns whether an operation may make a single attempt only. Asked in a retry.
#[cold]
pub(crate) fn is_marked(operation: OperationId) -> bool {
    let here = Here::look();
    let is_marked = with(|thread| {
        (thread.marks(here))
            .any(|mark| mark.operation == operation && here.now.since(mark.at) < LIFE)
    });
    is_marked.unwrap_or(false)
}

impl Call {
    /// Takes over what has been marked since this call, or the retries here, `began`.
    #[inline(always)]
    pub(crate) fn take_marks(&mut self, began: impl FnOnce() -> u32) {
        if has_published() {
            self.take_published(began());
        }
    }

    /// Takes over what has been published since then. The outermost leaves nothing.
    #[cold]
    #[inline(never)]
    fn take_published(&mut self, began: u32) {
        // An operation that gives up and is called again has left the last mark itself.
        if began == begin() {
            return;
        }
        let (here, is_outermost) = (Here::look(), is_outermost());
        let has = with(|thread| {
            for published in &thread.published {
                if published.is_by(here, began) {
                    let marks = &mut self.memory.get_or_insert_default().marks.0;
                    add(marks, published.mark);
                }
            }
            if is_outermost {
                thread.published.retain(|published| {
                    !published.is_by(here, began) && here.now.since(published.at) < LIFE
                });
            }
            !thread.published.is_empty()
        });
        set_published(has.unwrap_or(false));
    }

    #[cold]
    #[inline(never)]
    fn show_marks(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.shown_from = with(|thread| {
                let before = thread.visible.len();
                thread.visible.extend(&memory.marks.0);
                before
            });
        }
    }

    #[cold]
    #[inline(never)]
    fn hide_marks(&mut self) {
        let memory = self.memory.as_mut();
        if let Some(before) = memory.and_then(|memory| memory.shown_from.take()) {
            with(|thread| thread.visible.truncate(before));
        }
    }
}

/// The marks of a call, visible to what its retry calls until this is dropped. A single pointer: a retry would store
/// more on its stack, for the case of a panic.
#[must_use = "dropped at once it shows nothing"]
#[derive(Debug)]
pub(crate) struct VisibleMarks<'c>(&'c mut Call);

impl<'c> VisibleMarks<'c> {
    /// Shows the marks of a call whose retry begins, or goes on, here.
    #[inline(always)]
    pub(crate) fn new(call: &'c mut Call, is_outermost: bool) -> Self {
        if is_outermost {
            set_began(begin());
        }
        if call.memory.is_some() {
            call.show_marks();
        }
        Self(call)
    }
}

// What the thread inherits is as before the retry by now.
impl Drop for VisibleMarks<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.take_marks(began);
        if self.0.memory.is_some() {
            self.0.hide_marks();
        }
    }
}

/// The marks that are visible to a piece of code.
#[derive(Debug, Clone)]
pub(crate) struct InheritedMarks(Vec<Mark>);

impl InheritedMarks {
    pub(crate) const NONE: Self = Self(Vec::new());

    pub(crate) fn current() -> Self {
        let visible = with(|thread| {
            if is_outermost() {
                Vec::new()
            } else {
                thread.marks(Here::look()).copied().collect()
            }
        });
        Self(visible.unwrap_or_default())
    }
}

/// What is marked on this thread, replaced until this is dropped. What is published meanwhile is forgotten.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub(crate) struct ScopeMarks {
    visible: Vec<Mark>,
    published: VecDeque<Published>,
    began: u32,
}

impl ScopeMarks {
    pub(crate) fn new(marks: &InheritedMarks) -> Self {
        let before = with(|thread| Self {
            visible: mem::replace(&mut thread.visible, marks.0.clone()),
            published: mem::take(&mut thread.published),
            began: began(),
        });
        set_published(false);
        // Not made where it is not needed: dropped at once it would take away what was just shown.
        before.unwrap_or_else(|| Self {
            visible: Vec::new(),
            published: VecDeque::new(),
            began: 0,
        })
    }
}

impl Drop for ScopeMarks {
    fn drop(&mut self) {
        let has = with(|thread| {
            thread.visible = mem::take(&mut self.visible);
            thread.published = mem::take(&mut self.published);
            !thread.published.is_empty()
        });
        set_published(has.unwrap_or(false));
        set_began(self.began);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(marks: impl IntoIterator<Item = (u64, u64)>) -> Vec<u64> {
        let mut kept = VecDeque::new();
        for (operation, seconds) in marks {
            let operation = OperationId(operation);
            let at = Timestamp::from_origin(Duration::from_secs(seconds));
            add(&mut kept, Mark { operation, at });
        }
        let mut kept: Vec<u64> = kept.iter().map(|mark| mark.operation.0).collect();
        kept.sort_unstable();
        kept
    }

    #[test]
    fn an_operation_that_gives_up_again_is_marked_once() {
        let again = (1..=20).map(|at| (7, at));
        assert_eq!(kept([(1, 0)].into_iter().chain(again)), [1, 7]);
    }

    /// A call that ends hands on what it has marked before.
    #[test]
    fn the_oldest_mark_goes_first() {
        let new = (2..=8).map(|operation| (operation, operation));
        assert_eq!(kept(new.chain([(1, 1), (9, 9)])), [2, 3, 4, 5, 6, 7, 8, 9]);
    }

    const OURS: OperationId = OperationId(1);

    fn seconds_ago(seconds: u64) -> Mark {
        let now = Duration::from_nanos(inherited::now().as_nanos());
        let at = Timestamp::from_origin(now.saturating_sub(Duration::from_secs(seconds)));
        Mark {
            operation: OURS,
            at,
        }
    }

    fn show(mark: Mark) {
        with(|thread| thread.visible = vec![mark]);
    }

    #[test]
    fn a_mark_lasts_for_a_minute_and_for_its_operation() {
        show(seconds_ago(55));
        assert!(is_marked(OURS) && !is_marked(OperationId(2)));
        show(seconds_ago(61));
        assert!(!is_marked(OURS));
    }

    /// What is handed over is all that a scope shows; after it everything is as it was.
    #[test]
    fn a_scope_shows_what_it_was_given() {
        set_began(7);
        {
            let _scope = ScopeMarks::new(&InheritedMarks(vec![seconds_ago(0)]));
            assert!(is_marked(OURS));
            {
                let _isolated = ScopeMarks::new(&InheritedMarks::NONE);
                assert!(!is_marked(OURS));
                set_began(9);
                mark(OperationId(2));
            }
            assert_eq!(began(), 7);
            assert!(is_marked(OURS) && !is_marked(OperationId(2)));
        }
        assert!(!is_marked(OURS));
    }

    #[test]
    fn a_call_hides_its_marks_after_an_attempt() {
        let mut call = Call::new();
        let memory = call.memory.get_or_insert_default();
        add(&mut memory.marks.0, seconds_ago(0));
        {
            let _visible = VisibleMarks::new(&mut call, true);
            assert!(is_marked(OURS));
        }
        assert!(!is_marked(OURS));
    }

    #[cfg(feature = "tokio")]
    #[test]
    fn a_task_does_not_see_what_another_has_given_up() {
        let tasks = tokio::runtime::Builder::new_current_thread().build();
        tasks.expect("a runtime is made").block_on(async {
            let seen = async || {
                let before = begin();
                set_began(before.wrapping_sub(1));
                is_marked(OURS)
            };
            let ours = tokio::spawn(async move {
                mark(OURS);
                seen().await
            });
            assert!(ours.await.expect("no panic"));
            assert!(!tokio::spawn(seen()).await.expect("no panic"));
        });
    }
}

//! The scope of a part of a program: the id of a request, and observers. The thread has it while a
//! closure runs or a future is polled.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::cell::RefCell;
use std::sync::Arc;

use pin_project_lite::pin_project;
use reattempt_core::counted::Counted;
use reattempt_core::watch;

use super::event::Event;
use super::observer::Observer;

/// What holds here: the id of the request, and the observers of the scopes around it.
///
/// What is spawned elsewhere is handed over: [`current`] before, [`Scope::run`] or [`Scope::run_blocking`] inside.
#[derive(Clone, Default)]
pub struct Scope {
    request_id: Option<Arc<str>>,
    observers: Option<Arc<Link>>,
}

struct Link {
    observer: Arc<dyn Observer>,
    above: Option<Arc<Link>>,
    #[expect(dead_code, reason = "counted until it is dropped")]
    counted: Counted,
}

/// One after the other: a chain that drops itself link by link goes as deep as it is long.
impl Drop for Link {
    fn drop(&mut self) {
        let mut above = self.above.take();
        while let Some(link) = above {
            above = Arc::into_inner(link).and_then(|mut link| link.above.take());
        }
    }
}

thread_local! {
    static HERE: RefCell<Scope> = const {
        RefCell::new(Scope {
            request_id: None,
            observers: None,
        })
    };
}

/// What holds here, for a task or a thread.
pub fn current() -> Scope {
    look(Clone::clone).unwrap_or_default()
}

/// Returns the id of the request that runs here.
pub fn request_id() -> Option<Arc<str>> {
    look(|here| here.request_id.clone())?
}

/// A thread that ends has no scope any more.
fn look<R>(look: impl FnOnce(&Scope) -> R) -> Option<R> {
    let seen = HERE.try_with(|here| Some(look(&*here.try_borrow().ok()?)));
    seen.ok().flatten()
}

/// Runs `future` as part of the request `id`: every event below carries it.
///
/// # Cancel safety
///
/// Dropping the future drops `future`; nothing else is kept.
pub fn request<F: Future>(id: impl Into<Arc<str>>, future: F) -> Scoped<F> {
    current().request(id).run(future)
}

/// Runs `f` as part of the request `id`: every event below carries it.
pub fn request_blocking<R>(id: impl Into<Arc<str>>, f: impl FnOnce() -> R) -> R {
    current().request(id).run_blocking(f)
}

/// Runs `future` with an observer of the calls below it, besides those there are.
///
/// # Cancel safety
///
/// Dropping the future drops `future`, and the observer sees the calls that this ends; nothing else is kept.
pub fn scope<F: Future>(observer: Arc<dyn Observer>, future: F) -> Scoped<F> {
    current().observer(observer).run(future)
}

/// Runs `f` with an observer of the calls below it, besides those there are.
pub fn scope_blocking<R>(observer: Arc<dyn Observer>, f: impl FnOnce() -> R) -> R {
    current().observer(observer).run_blocking(f)
}

impl Scope {
    /// Returns the same with the id of a request.
    #[must_use = "a scope does nothing until something runs in it"]
    pub fn request(mut self, id: impl Into<Arc<str>>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// Returns the same with one more observer.
    #[must_use = "a scope does nothing until something runs in it"]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        let above = self.observers.take();
        let counted = Counted::one();
        self.observers = Some(Arc::new(Link {
            observer,
            above,
            counted,
        }));
        self
    }

    /// Runs `future` in this scope.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops `future`; nothing else is kept.
    pub const fn run<F: Future>(self, future: F) -> Scoped<F> {
        Scoped {
            future: Some(future),
            scope: self,
        }
    }

    /// Runs `f` in this scope.
    pub fn run_blocking<R>(&self, f: impl FnOnce() -> R) -> R {
        let _here = Here::enter(self);
        f()
    }
}

/// Sets the scope of this thread. Returns the one before; nothing of the user's runs while this one is changed.
fn replace(scope: Scope) -> Scope {
    let before =
        HERE.try_with(|here| Some(core::mem::replace(&mut *here.try_borrow_mut().ok()?, scope)));
    before.ok().flatten().unwrap_or_default()
}

/// The scope of this thread until this is dropped, also by a panic.
struct Here {
    before: Scope,
}

impl Here {
    fn enter(scope: &Scope) -> Self {
        let scope = scope.clone();
        Self {
            before: replace(scope),
        }
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        let before = core::mem::take(&mut self.before);
        // What is dropped is dropped outside the borrow.
        let _scope = replace(before);
    }
}

pin_project! {
    /// A future in a scope: made by [`request`], [`scope`] and [`Scope::run`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Scoped<F> {
        // `None` once it is dropped.
        #[pin]
        future: Option<F>,
        scope: Scope,
    }

    impl<F> PinnedDrop for Scoped<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _here = Here::enter(this.scope);
            this.future.set(None);
        }
    }
}

impl<F: Future> Future for Scoped<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _here = Here::enter(this.scope);
        this.future
            .as_pin_mut()
            .map_or(Poll::Pending, |future| future.poll(cx))
    }
}

/// Whether there are observers in the scope of this thread.
pub(super) fn observes() -> bool {
    watch::has_any(watch::SCOPE) && look(|here| here.observers.is_some()).unwrap_or_default()
}

/// Tells the observers of the scope, the innermost first.
pub(super) fn report(event: &Event<'_>) {
    let observers = look(|here| here.observers.clone()).flatten();
    let mut next = observers.as_deref();
    while let Some(link) = next {
        link.observer.observe(event);
        next = link.above.as_deref();
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("request_id", &self.request_id)
            .field("observed", &self.observers.is_some())
            .finish()
    }
}

impl<F> fmt::Debug for Scoped<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scoped")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::task::Waker;

    use super::*;

    #[test]
    fn a_scope_holds_while_something_runs_in_it() {
        let here = || (request_id().map(|id| (*id).to_owned()), observes());
        let id = |id: &str| Some(id.to_owned());
        let told = Arc::new(Mutex::new(Vec::new()));
        let tells = |name: &'static str| -> Arc<dyn Observer> {
            let told = Arc::clone(&told);
            Arc::new(move |_: &Event<'_>| told.lock().expect("no panic").push(name))
        };
        assert_eq!(here(), (None, false));
        let outer = current().request("outer").observer(tells("outer"));
        outer.run_blocking(|| {
            assert_eq!(here(), (id("outer"), true));
            request_blocking("inner", || assert_eq!(here(), (id("inner"), true)));
            scope_blocking(tells("inner"), || {
                assert_eq!(here(), (id("outer"), true));
                report(&Event::TimeoutIgnored("scope_of_a_test"));
            });
        });
        assert_eq!(here(), (None, false));
        // The innermost first.
        assert_eq!(*told.lock().expect("no panic"), ["inner", "outer"]);
        let mut context = Context::from_waker(Waker::noop());
        let mut polled = Box::pin(request("polled", async { here() }));
        assert_eq!(
            polled.as_mut().poll(&mut context),
            Poll::Ready((id("polled"), false))
        );
        let mut observed = Box::pin(scope(tells("polled"), async { here() }));
        assert_eq!(
            observed.as_mut().poll(&mut context),
            Poll::Ready((None, true))
        );
        assert_eq!(here(), (None, false));
    }

    /// The end of a future is in its scope, too.
    #[test]
    fn what_is_dropped_is_dropped_in_its_scope() {
        struct Ends(Arc<Mutex<Option<Arc<str>>>>);

        impl Drop for Ends {
            fn drop(&mut self) {
                *self.0.lock().expect("no panic") = request_id();
            }
        }

        let seen = Arc::new(Mutex::new(None));
        let ends = Ends(Arc::clone(&seen));
        drop(request("dropped", async move {
            let _ends = ends;
        }));
        assert_eq!(seen.lock().expect("no panic").as_deref(), Some("dropped"));
    }
}

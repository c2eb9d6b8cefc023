//! Methods: receivers, traits and their implementations.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use reattempt::retry;

use crate::{Fault, Script, sendable};

#[derive(Debug, Clone)]
struct Service {
    script: Script,
    calls: u32,
    label: String,
}

impl Service {
    fn of(script: &Script) -> Self {
        let (script, label) = (script.clone(), "3".to_owned());
        Self {
            script,
            calls: 0,
            label,
        }
    }

    // `&self`.
    #[retry(max = 3, backoff = "none", on(_))]
    fn by_reference(&self) -> Result<u32, Fault> {
        self.script.step()
    }

    // `&mut self`, with every attempt seen.
    #[retry(max = 3, backoff = "none", on(_))]
    fn by_mutable_reference(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step()?;
        Ok(self.calls)
    }

    // `self`, only looked at.
    #[retry(max = 3, backoff = "none", on(_))]
    fn by_value(self) -> Result<u32, Fault> {
        self.script.step()
    }

    // `self`, whose clone the body moves.
    #[retry(max = 3, backoff = "none", on(_))]
    fn consumed(self) -> Result<u32, Fault> {
        let Self { script, .. } = self.clone();
        script.step()
    }

    // `self`, moved by the body and cloned for it.
    #[retry(max = 3, backoff = "none", on(_), clone(self))]
    fn clone_of_self(self) -> Result<u32, Fault> {
        let Self { script, .. } = self;
        script.step()
    }

    // `mut self`, of which each attempt has its own.
    #[retry(max = 3, backoff = "none", on(_), clone(self))]
    fn clone_of_mut_self(mut self) -> Result<u32, Fault> {
        self.calls += 1;
        assert_eq!(self.calls, 1);
        Self::by_one(&self.script)
    }

    // Another `self` in an item of the body, and in a text.
    #[retry(max = 3, backoff = "none", on(_), clone(self))]
    fn clone_of_self_items(self: Arc<Self>) -> Result<u32, Fault> {
        struct Inside(Arc<Service>);
        impl Inside {
            fn step(self) -> Result<u32, Fault> {
                self.0.script.step()
            }
        }
        assert!(format!("{self:?}").contains("Service"));
        Inside(self).step()
    }

    // `self::` is a path, and so is the `self` of `use`.
    #[retry(max = 3, backoff = "none", on(_), clone(self))]
    fn clone_of_self_path(self) -> Result<u32, Fault> {
        use std::convert::{self, identity};
        self::free(identity(convert::identity(self)))
    }

    // `self` moved into a task, async.
    #[retry(max = 3, on(_), clone(self))]
    async fn async_clone_of_self(self: Arc<Self>) -> Result<u32, Fault> {
        let task = tokio::spawn(async move { self.script.step_async().await });
        task.await.map_err(|_| Fault(0))?
    }

    // `mut self`, changed by the body.
    #[retry(max = 3, backoff = "none", on(_))]
    fn mut_self(mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step()?;
        Ok(self.calls)
    }

    // `self: Arc<Self>`.
    #[retry(max = 3, backoff = "none", on(_))]
    fn in_arc(self: Arc<Self>) -> Result<u32, Fault> {
        self.script.step()
    }

    // `self: &Arc<Self>`.
    #[retry(max = 3, backoff = "none", on(_))]
    fn in_borrowed_arc(self: &Arc<Self>) -> Result<u32, Fault> {
        Arc::clone(self).script.step()
    }

    // `self: Rc<Self>`.
    #[retry(max = 3, backoff = "none", on(_))]
    fn in_rc(self: Rc<Self>) -> Result<u32, Fault> {
        self.script.step()
    }

    // `self: Box<Self>`.
    #[retry(max = 3, backoff = "none", on(_))]
    fn in_box(self: Box<Self>) -> Result<u32, Fault> {
        self.script.step()
    }

    // `self: Pin<&mut Self>`.
    #[retry(max = 3, backoff = "none", on(_))]
    fn pinned(mut self: Pin<&mut Self>) -> Result<u32, Fault> {
        self.as_mut().calls += 1;
        self.script.step()
    }

    // A borrow of `&self` is the answer.
    #[retry(max = 3, backoff = "none", on(_))]
    fn borrowed_answer(&self) -> Result<&str, Fault> {
        self.script.step()?;
        Ok(&self.label)
    }

    // `Self` is the answer.
    #[retry(max = 3, backoff = "none", on(_))]
    fn construct(script: &Script) -> Result<Self, Fault> {
        script.step()?;
        Ok(Self::of(script))
    }

    // `Self::CONSTANT`, `Self::function` and `Self { .. }` in the body.
    #[retry(max = Self::MAX, backoff = "none", on(_))]
    fn self_in_body(&self) -> Result<u32, Fault> {
        let Self { script, .. } = Self {
            calls: Self::MAX,
            ..self.clone()
        };
        Self::by_one(&script)
    }

    const MAX: u32 = 3;

    fn by_one(script: &Script) -> Result<u32, Fault> {
        script.step()
    }

    // `&self`, async.
    #[retry(max = 3, on(_))]
    async fn async_by_reference(&self) -> Result<u32, Fault> {
        self.script.step_async().await
    }

    // `&mut self`, async, changed before and after the await.
    #[retry(max = 3, on(_))]
    async fn async_by_mutable_reference(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step_async().await?;
        self.label.push('!');
        Ok(self.calls)
    }

    // `self`, async.
    #[retry(max = 3, on(_))]
    async fn async_by_value(mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step_async().await
    }

    // `self: Arc<Self>`, moved into a task.
    #[retry(max = 3, on(_))]
    async fn async_in_arc(self: Arc<Self>) -> Result<u32, Fault> {
        let this = Arc::clone(&self);
        let task = tokio::spawn(async move { this.script.step_async().await });
        task.await.map_err(|_| Fault(0))?
    }

    // A borrow of `&self` is the answer of an async method.
    #[retry(max = 3, on(_))]
    async fn async_borrowed_answer(&self) -> Result<&str, Fault> {
        self.script.step_async().await?;
        Ok(&self.label)
    }
}

fn free(service: Service) -> Result<u32, Fault> {
    service.script.step()
}

shapes! {
    clone_of_self => |script| Service::of(script).clone_of_self(),
    clone_of_mut_self => |script| Service::of(script).clone_of_mut_self(),
    clone_of_self_items => |script| Arc::new(Service::of(script)).clone_of_self_items(),
    clone_of_self_path => |script| Service::of(script).clone_of_self_path(),
    by_reference => |script| Service::of(script).by_reference(),
    by_mutable_reference => |script| Service::of(script).by_mutable_reference(),
    by_value => |script| Service::of(script).by_value(),
    consumed => |script| Service::of(script).consumed(),
    mut_self => |script| Service::of(script).mut_self(),
    in_arc => |script| Arc::new(Service::of(script)).in_arc(),
    in_borrowed_arc => |script| Arc::new(Service::of(script)).in_borrowed_arc(),
    in_rc => |script| Rc::new(Service::of(script)).in_rc(),
    in_box => |script| Box::new(Service::of(script)).in_box(),
    pinned => |script| Pin::new(&mut Service::of(script)).pinned(),
    borrowed_answer => |script| Service::of(script).borrowed_answer().map(str::to_owned),
    construct => |script| Service::construct(script).map(|service| service.label),
    self_in_body => |script| Service::of(script).self_in_body(),
}

async_shapes! {
    async_clone_of_self => async |script| sendable(Arc::new(Service::of(script)).async_clone_of_self()).await,
    async_by_reference => async |script| sendable(Service::of(script).async_by_reference()).await,
    async_by_mutable_reference => async |script| sendable(Service::of(script).async_by_mutable_reference()).await,
    async_by_value => async |script| sendable(Service::of(script).async_by_value()).await,
    async_in_arc => async |script| sendable(Arc::new(Service::of(script)).async_in_arc()).await,
    async_borrowed_answer => async |script| Service::of(script).async_borrowed_answer().await.map(str::to_owned),
}

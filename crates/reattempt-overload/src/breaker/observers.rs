//! The settings of a breaker that is made at run time, such as one of many keys: a name and an observer of its own.

use std::sync::Arc;

use reattempt_observe::breaker::Name;

use super::{Breaker, Change, OnChange};

/// Apart from the settings, which the `const` builders replace: what has to be dropped cannot be replaced there.
pub(super) struct BreakerObservers {
    name: Option<Arc<str>>,
    on_change: Option<Box<OnChange>>,
}

impl BreakerObservers {
    pub(super) const NOTHING: Self = Self {
        name: None,
        on_change: None,
    };

    /// The name of run time before that of the settings.
    pub(super) fn name(&self, of_settings: &'static str) -> Name {
        match &self.name {
            Some(name) => Name::Shared(Arc::clone(name)),
            None => Name::Static(of_settings),
        }
    }

    /// The observer of run time before that of the settings.
    pub(super) fn on_change(&self, of_settings: Option<&'static OnChange>) -> Option<&OnChange> {
        self.on_change.as_deref().or(of_settings)
    }
}

impl Breaker {
    /// Sets the name in events, made at run time; it counts more than that of [`name`](Self::name).
    ///
    /// # Examples
    ///
    /// One for each key, whose observer can say which:
    ///
    /// ```
    /// use reattempt::overload::breaker::Breaker;
    /// use std::sync::mpsc;
    ///
    /// let (sender, changes) = mpsc::channel();
    /// let breaker = |host: &str| {
    ///     let sender = sender.clone();
    ///     Breaker::count_window(20).named(host).observed(move |change| {
    ///         let _ = sender.send(format!("{} is {}", change.name(), change.to()));
    ///     })
    /// };
    /// breaker("two.example").force_open();
    /// assert_eq!(changes.try_recv()?, "two.example is forced_open");
    /// # Ok::<(), mpsc::TryRecvError>(())
    /// ```
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.observers.name = Some(name.into());
        self
    }

    /// Returns a closure that is called at each change of the state, as with
    /// [`on_change`](Self::on_change), in whose place it comes.
    ///
    /// # Examples
    ///
    /// As with [`named`](Self::named).
    pub fn observed(mut self, observer: impl Fn(&Change) + Send + Sync + 'static) -> Self {
        self.observers.on_change = Some(Box::new(observer));
        self
    }
}

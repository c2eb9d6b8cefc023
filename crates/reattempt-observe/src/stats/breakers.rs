//! The breakers that statistics show: nobody but the program knows them all.

use std::sync::{Arc, PoisonError, RwLock};

use crate::breaker::BreakerStats;

type Source = Arc<dyn Fn(&mut dyn FnMut(BreakerStats)) + Send + Sync>;

static SOURCES: RwLock<Vec<Source>> = RwLock::new(Vec::new());

/// Shows breakers in [`stats`](super::stats) and on the page of statistics, from now on. `source` runs each time somebody
/// looks, and shows each of its breakers as it is then.
///
/// # Examples
///
/// ```
/// use reattempt::observe::{add_breakers, stats};
/// use reattempt::{Breaker, Keyed};
///
/// static PAYMENTS: Breaker = Breaker::count_window(20).name("payments");
/// static HOSTS: Keyed<String, Breaker> =
///     Keyed::new(|host: &String| Breaker::count_window(20).named(host.as_str()));
///
/// add_breakers(|show| show(PAYMENTS.stats()));
/// add_breakers(|show| HOSTS.for_each(|_, breaker| show(breaker.stats())));
///
/// HOSTS.get("one.example").force_open();
/// let names: Vec<_> = stats().breakers().iter().map(|it| it.name().to_owned()).collect();
/// assert_eq!(names, ["payments", "one.example"]);
/// ```
pub fn add_breakers(source: impl Fn(&mut dyn FnMut(BreakerStats)) + Send + Sync + 'static) {
    let mut sources = SOURCES.write().unwrap_or_else(PoisonError::into_inner);
    sources.push(Arc::new(source));
}

/// Returns what the sources show, without a lock while they run: they may take statistics themselves.
pub(super) fn show() -> Vec<BreakerStats> {
    let sources = {
        let sources = SOURCES.read().unwrap_or_else(PoisonError::into_inner);
        sources.clone()
    };
    let mut breakers = Vec::new();
    for source in sources {
        source(&mut |breaker| breakers.push(breaker));
    }
    breakers
}

//! A policy that a place in the code asks for by name. Until something fails it costs a load and a
//! test; after each failure the call looks at one snapshot of its policy.

use core::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;

use crate::policy::Policy;
use reattempt_core::name::Name;

/// What resolves the policy of a site that is used for the first time, and sets it.
pub type PolicySource = fn(&'static NamedPolicy) -> Arc<Snapshot>;

/// The sites that were used before there was a source, and the source.
struct Sites {
    used: Vec<&'static NamedPolicy>,
    source: Option<PolicySource>,
}

static SITES: Mutex<Sites> = Mutex::new(Sites {
    used: Vec::new(),
    source: None,
});

// Nothing panics while it is held.
fn sites() -> MutexGuard<'static, Sites> {
    SITES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the source of policies, and returns the sites that were used before. It is the slot of `reattempt::config`.
pub fn set_policy_source(source: PolicySource) -> Vec<&'static NamedPolicy> {
    let mut sites = sites();
    sites.source = Some(source);
    std::mem::take(&mut sites.used)
}

/// The first use of a site. Without a source the policy in the code holds.
#[cold]
fn register(site: &'static NamedPolicy) -> Arc<Snapshot> {
    let source = {
        let mut sites = sites();
        if let Some(known) = site.known() {
            return known; // another thread was first
        }
        let Some(source) = sites.source else {
            sites.used.push(site);
            return site.set(*site.inline(), site.named(), true);
        };
        source
    };
    source(site)
}

/// Its policy needs nothing before something fails: it has no limit, budget or times, which count from the start of a call.
const PLAIN: u32 = 1;
/// Its retries are switched off.
const DISABLED: u32 = 2;
/// What is added with each policy that is set.
const NEXT: u32 = 4;

/// The policy of an attribute or a block with `policy = "name"`: the one in the code, and the one that holds now.
pub struct NamedPolicy {
    name: Name,
    named: &'static str,
    inline: Policy,
    /// Whether a `timeout` cuts its attempts off.
    cuts_off: bool,
    now: ArcSwapOption<Snapshot>,
    /// What `now` is; 0 before the first use.
    state: AtomicU32,
}

/// A policy as a call sees it from one decision to the next.
#[derive(Debug)]
pub struct Snapshot {
    policy: Policy,
    label: &'static str,
    /// The state of its site.
    state: u32,
}

impl NamedPolicy {
    /// Returns the policy `named` of the operation of this name; `inline` holds where the configuration says nothing.
    pub const fn new(name: Name, named: &'static str, inline: Policy, cuts_off: bool) -> Self {
        Self {
            name,
            named,
            inline,
            cuts_off,
            now: ArcSwapOption::const_empty(),
            state: AtomicU32::new(0),
        }
    }

    /// Begins a call. Relaxed: a call that begins while the configuration changes may be of either.
    #[inline(always)]
    pub fn call(&'static self) -> Live {
        if self.state.load(Ordering::Relaxed) & PLAIN != 0 {
            Live(None)
        } else {
            self.held()
        }
    }

    /// Begins a call with its policy at hand from the start.
    #[inline(never)]
    pub fn held(&'static self) -> Live {
        Live(Some(self.snapshot()))
    }

    /// Looks for the policy that holds now, before a decision: as a rule the same. So a call counts one reference, not one
    /// for each decision.
    #[inline]
    pub fn renew(&'static self, live: &mut Live) {
        // Acquire: a thread that sees the number of a policy finds that policy, or a later one.
        let state = self.state.load(Ordering::Acquire);
        if (live.0.as_ref()).is_none_or(|snapshot| snapshot.state != state) {
            *live = self.held();
        }
    }

    fn snapshot(&'static self) -> Arc<Snapshot> {
        match self.now.load_full() {
            Some(snapshot) => snapshot,
            None => register(self),
        }
    }

    /// Returns the policy that holds now; `None` before the first use.
    pub fn known(&self) -> Option<Arc<Snapshot>> {
        self.now.load_full()
    }

    /// Returns the name of the operation.
    pub fn operation(&self) -> &'static str {
        self.name.as_str()
    }

    /// Returns the same, unread.
    pub(crate) const fn name(&self) -> Name {
        self.name
    }

    /// Returns the name of the policy in the code.
    pub const fn named(&self) -> &'static str {
        self.named
    }

    /// Returns whether its policy has a `timeout` that is not applied.
    pub fn ignores_timeout(&self) -> bool {
        let has_timeout = |snapshot: Arc<Snapshot>| snapshot.policy.values.timeout.is_some();
        !self.cuts_off && self.known().is_some_and(has_timeout)
    }

    /// Returns the policy in the code.
    pub const fn inline(&self) -> &Policy {
        &self.inline
    }

    /// Returns whether the retries of this operation are switched off.
    #[inline(always)]
    pub fn is_disabled(&self) -> bool {
        self.state.load(Ordering::Relaxed) & DISABLED != 0
    }

    /// Sets another policy, of which running calls learn at their next decision.
    pub fn set(&'static self, policy: Policy, label: &'static str, enabled: bool) -> Arc<Snapshot> {
        // The caller has checked it.
        let policy = policy.trusted();
        // One at a time sets it, under the lock of all sites.
        let before = self.state.load(Ordering::Relaxed) & !(PLAIN | DISABLED);
        let is_plain = if policy.starts_plain() { PLAIN } else { 0 };
        let is_disabled = if enabled { 0 } else { DISABLED };
        let state = before.wrapping_add(NEXT) | is_plain | is_disabled;
        let snapshot = Arc::new(Snapshot {
            policy,
            label,
            state,
        });
        self.now.store(Some(Arc::clone(&snapshot)));
        self.state.store(state, Ordering::Release);
        snapshot
    }
}

impl fmt::Debug for NamedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedPolicy")
            .field("operation", &self.name)
            .field("named", &self.named)
            .finish_non_exhaustive()
    }
}

/// The policy of a running call, as of its last decision; until something fails, nothing as a rule.
#[derive(Debug)]
pub struct Live(Option<Arc<Snapshot>>);

impl Live {
    /// No policy has a name.
    pub(crate) const NONE: Self = Self(None);

    /// Returns whether nothing has failed, and nothing counts from the start.
    #[inline(always)]
    pub const fn is_idle(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the policy. Where nothing is held, a call asks only whether it has a limit.
    #[inline(always)]
    pub fn policy(&self) -> &Policy {
        match &self.0 {
            Some(snapshot) => &snapshot.policy,
            None => const { &Policy::new() },
        }
    }

    /// Returns the name that the configuration gives it.
    #[inline(always)]
    pub(crate) fn label(&self) -> Option<&'static str> {
        self.0.as_ref().map(|snapshot| snapshot.label)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::thread;

    use super::*;

    /// Running calls look while others are set, and each finds the last one at its next decision.
    #[test]
    fn a_running_call_finds_what_was_set() {
        static SITE: NamedPolicy =
            NamedPolicy::new(Name::Given("site"), "storage", Policy::new(), false);

        let set = |max| SITE.set(Policy::new().max(max), "storage", true);
        set(3);
        let mut live = SITE.call();
        assert!(live.is_idle());
        thread::scope(|scope| {
            scope.spawn(|| (4..=1000).for_each(|max| drop(set(max))));
            for _ in 0..3 {
                scope.spawn(|| {
                    let (mut live, mut before) = (Live::NONE, 0);
                    while before < 1000 {
                        SITE.renew(&mut live);
                        let max = live.policy().values.max;
                        assert!(max >= before, "{max} after {before}");
                        before = max;
                    }
                });
            }
        });
        SITE.renew(&mut live);
        assert_eq!(live.policy().values.max, 1000);
        assert!(!SITE.is_disabled());
        SITE.set(
            Policy::new().deadline(Duration::from_secs(1)),
            "storage",
            false,
        );
        assert!(SITE.is_disabled() && !SITE.call().is_idle());
    }

    /// As long as nothing is set, a call keeps the snapshot that it has, and what it no longer has is freed.
    #[test]
    fn what_nobody_holds_is_freed() {
        static SITE: NamedPolicy =
            NamedPolicy::new(Name::Given("another"), "storage", Policy::new(), false);

        let first = SITE.set(Policy::new(), "storage", true);
        let mut live = SITE.held();
        SITE.renew(&mut live);
        assert_eq!(Arc::strong_count(&first), 3);
        SITE.set(Policy::new(), "storage", true);
        assert_eq!(Arc::strong_count(&first), 2);
        SITE.renew(&mut live);
        assert_eq!(Arc::strong_count(&first), 1);
    }
}

//! A place in the code that asks for a policy by name. Until something fails it costs a load and a
//! test; after each failure the call looks at one snapshot of its policy.

use core::fmt;
use core::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use arc_swap::ArcSwapOption;

use super::live;
use crate::operation::{Operation, UNNAMED};
use crate::policy::Policy;

/// Nobody has asked for it yet.
const UNKNOWN: u8 = 0;
/// Its policy needs nothing before something fails.
const PLAIN: u8 = 1;
/// Its policy has a limit, a budget or times, which count from the start of a call.
const FROM_START: u8 = 2;

/// What an attribute or a block with `policy = "name"` leaves in the program.
pub struct Site {
    name: &'static str,
    named: &'static str,
    inline: Policy,
    start: AtomicU8,
    now: ArcSwapOption<Operation>,
    enabled: AtomicBool,
}

impl Site {
    /// An operation under the policy `named`; `inline` holds where the configuration says nothing.
    pub const fn new(name: &'static str, named: &'static str, inline: Policy) -> Self {
        Self {
            name,
            named,
            inline,
            start: AtomicU8::new(UNKNOWN),
            now: ArcSwapOption::const_empty(),
            enabled: AtomicBool::new(true),
        }
    }

    /// A call begins. Relaxed: a call that begins while the configuration changes may be of either.
    #[inline(always)]
    pub fn call(&'static self) -> Live {
        if self.start.load(Ordering::Relaxed) == PLAIN {
            Live(None)
        } else {
            self.held()
        }
    }

    /// The same, with its policy at hand from the start.
    #[inline(never)]
    pub fn held(&'static self) -> Live {
        Live(Some(self.snapshot()))
    }

    /// Before a decision: the policy that holds now.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn renew(&'static self, before: Live) -> Live {
        drop(before);
        self.held()
    }

    fn snapshot(&'static self) -> Arc<Operation> {
        match self.now.load_full() {
            Some(operation) => operation,
            None => live::register(self),
        }
    }

    pub(super) fn known(&self) -> Option<Arc<Operation>> {
        self.now.load_full()
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) const fn named(&self) -> &'static str {
        self.named
    }

    pub(super) const fn inline(&self) -> &Policy {
        &self.inline
    }

    /// The operation under another policy, of which running calls learn at their next decision.
    pub(super) fn set(
        &'static self,
        policy: Policy,
        label: &'static str,
        enabled: bool,
    ) -> Arc<Operation> {
        let operation = Operation::new(self.name, policy)
            .under_named(label)
            .switched_by(&self.enabled);
        let operation = Arc::new(operation);
        self.enabled.store(enabled, Ordering::Relaxed);
        let start = if policy.counts_from_start() {
            FROM_START
        } else {
            PLAIN
        };
        self.now.store(Some(Arc::clone(&operation)));
        self.start.store(start, Ordering::Relaxed);
        operation
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site")
            .field("name", &self.name)
            .field("named", &self.named)
            .finish_non_exhaustive()
    }
}

/// The policy of a running call, as of its last decision; until something fails, nothing as a rule.
#[derive(Debug)]
pub struct Live(Option<Arc<Operation>>);

impl Live {
    /// Whether nothing has failed, and nothing counts from the start.
    #[inline(always)]
    pub const fn is_idle(&self) -> bool {
        self.0.is_none()
    }
}

impl Deref for Live {
    type Target = Operation;

    // Where nothing is held, nothing is asked of it but whether it has a limit.
    #[inline(always)]
    fn deref(&self) -> &Operation {
        match &self.0 {
            Some(operation) => operation,
            None => const { &Operation::new(UNNAMED, Policy::new()) },
        }
    }
}

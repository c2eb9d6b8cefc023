//! What is retried: a place in the program with a name, and the policy that holds there.

use core::panic::Location;

use crate::call::OperationId;
use crate::policy::Policy;

#[cfg(feature = "config")]
pub use crate::config::Live;
#[cfg(feature = "config")]
use crate::config::NamedPolicy;

/// A place in the program where something is retried: its name, and its slot in the configuration.
///
/// Every expansion has one as a `static`, which all instances of a generic function share.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    name: &'static str,
    identity: Identity,
    #[cfg(feature = "config")]
    named: Option<&'static NamedPolicy>,
}

/// What makes two calls those of one operation.
#[derive(Debug, Clone, Copy)]
enum Identity {
    /// The site itself: it is a `static`.
    Site,
    Name,
    Caller(&'static Location<'static>),
    #[cfg_attr(
        not(any(
            feature = "tower",
            feature = "reqwest-middleware04",
            feature = "reqwest-middleware05"
        )),
        expect(dead_code, reason = "there are no clients")
    )]
    Instance(u64),
}

impl Site {
    /// Returns the site of an expansion, which is a `static`.
    #[inline(always)]
    pub const fn new(name: &'static str) -> Self {
        Self::identified(name, Identity::Site)
    }

    /// Returns the site of all that is called by this name.
    pub(crate) const fn of_name(name: &'static str) -> Self {
        Self::identified(name, Identity::Name)
    }

    /// Returns the site of what is called where this is.
    #[track_caller]
    pub(crate) const fn of_caller() -> Self {
        Self::identified(UNNAMED, Identity::Caller(Location::caller()))
    }

    const fn identified(name: &'static str, identity: Identity) -> Self {
        Self {
            name,
            identity,
            #[cfg(feature = "config")]
            named: None,
        }
    }

    /// Returns a site whose policy has a name in the configuration.
    #[cfg(feature = "config")]
    pub const fn named(policy: &'static NamedPolicy) -> Self {
        Self {
            name: policy.operation(),
            identity: Identity::Site,
            named: Some(policy),
        }
    }

    /// Returns the name of the operation.
    #[cfg(feature = "observe")]
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns what the operation is told from others by.
    pub fn id(&self) -> OperationId {
        OperationId(match self.identity {
            Identity::Site => core::ptr::from_ref(self).addr() as u64,
            Identity::Name => hash(self.name.as_bytes(), 0),
            Identity::Caller(caller) => {
                let place = u64::from(caller.line()) << 32 | u64::from(caller.column());
                hash(caller.file().as_bytes(), place)
            }
            Identity::Instance(number) => !number,
        })
    }

    /// Begins a call under the policy that has a name.
    #[inline(always)]
    pub fn call(&self) -> Live {
        #[cfg(feature = "config")]
        return self.named.map_or(Live::NONE, NamedPolicy::call);
        #[cfg(not(feature = "config"))]
        Live
    }

    /// Begins a call that needs its policy from the start.
    #[inline(always)]
    pub fn held(&self) -> Live {
        #[cfg(feature = "config")]
        return self.named.map_or(Live::NONE, NamedPolicy::held);
        #[cfg(not(feature = "config"))]
        Live
    }

    /// Returns the policy that holds now, before a decision.
    #[inline(always)]
    #[must_use]
    pub fn renew(&self, before: Live) -> Live {
        #[cfg(feature = "config")]
        return match self.named {
            Some(named) => named.renew(before),
            None => before,
        };
        #[cfg(not(feature = "config"))]
        before
    }
}

/// FNV-1a, from `seed` on.
fn hash(bytes: &[u8], seed: u64) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// The policy of a running call, where there is no configuration.
#[cfg(not(feature = "config"))]
#[derive(Debug)]
pub struct Live;

#[cfg(not(feature = "config"))]
#[expect(clippy::unused_self, reason = "there is no configuration")]
impl Live {
    /// Returns `true`: nothing counts from the start.
    pub const fn is_idle(&self) -> bool {
        true
    }

    /// Returns the default.
    pub const fn policy(&self) -> &Policy {
        const { &Policy::new() }
    }

    const fn label(&self) -> Option<&'static str> {
        None
    }
}

/// What is retried: its name and its policy, for the moment of a decision.
#[derive(Debug, Clone, Copy)]
pub struct Operation<'a> {
    site: &'a Site,
    policy: &'a Policy,
    /// The name of the policy in the configuration.
    label: Option<&'static str>,
}

impl<'a> Operation<'a> {
    /// Returns the operation of this site under `policy`.
    #[inline(always)]
    pub const fn new(site: &'a Site, policy: &'a Policy) -> Self {
        Self {
            site,
            policy,
            label: None,
        }
    }

    /// Returns the operation of this site under the policy that the configuration has for it.
    #[inline(always)]
    pub fn live(site: &'a Site, live: &'a Live) -> Self {
        Self {
            site,
            policy: live.policy(),
            label: live.label(),
        }
    }

    /// Returns what it is told from others by.
    #[inline]
    pub(crate) fn id(&self) -> OperationId {
        self.site.id()
    }

    /// Returns the name: `module::function` unless the key `name` says otherwise.
    pub const fn name(&self) -> &'static str {
        self.site.name
    }

    /// Returns the kind of its policy in telemetry: the name in the configuration, or the backoff.
    pub const fn policy_name(&self) -> &'static str {
        match self.label {
            Some(label) => label,
            None if self.policy.decided => "strategy",
            None => self.policy.shape.as_str(),
        }
    }

    /// Returns the policy.
    #[inline(always)]
    pub const fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// Returns whether retries are switched off, all or those of this operation.
    #[cfg(feature = "config")]
    #[inline(always)]
    pub(crate) fn is_disabled(&self) -> bool {
        !crate::config::are_retries_on() || self.site.named.is_some_and(NamedPolicy::is_disabled)
    }

    /// Returns `false`: without the feature `config` there is no switch.
    #[cfg(not(feature = "config"))]
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "there is no switch")]
    pub(crate) const fn is_disabled(&self) -> bool {
        false
    }
}

/// The name of an operation that has none.
pub(crate) const UNNAMED: &str = "unnamed";

#[cfg(any(
    feature = "tower",
    feature = "reqwest-middleware04",
    feature = "reqwest-middleware05"
))]
pub(crate) use client::ClientOperation;

/// What is retried around the calls of a client.
#[cfg(any(
    feature = "tower",
    feature = "reqwest-middleware04",
    feature = "reqwest-middleware05"
))]
mod client {
    use core::sync::atomic::{AtomicU64, Ordering};

    use super::{Identity, Operation, Site, UNNAMED};
    use crate::budget::Budget;
    use crate::policy::Policy;
    #[cfg(feature = "tower")]
    use crate::rules::RuleId;
    use crate::rules::{Key, Violation};
    #[cfg(feature = "tower")]
    use reattempt_rules::Text;

    /// The operation of a client, which owns its policy.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct ClientOperation {
        site: Site,
        policy: Policy,
    }

    impl ClientOperation {
        pub(crate) const fn new(policy: Policy) -> Self {
            Self {
                site: Site::of_name(UNNAMED),
                policy,
            }
        }

        /// Returns the same, unless `policy` breaks an unsafe rule.
        #[expect(
            clippy::result_large_err,
            reason = "the message has its numbers in it; a client is made once"
        )]
        pub(crate) fn try_new(policy: Policy) -> Result<Self, Violation> {
            let policy = policy.build()?;
            Ok(Self::new(policy))
        }

        /// Returns it, unless its policy has a `timeout`, where nobody can make the error of the client.
        #[cfg(feature = "tower")]
        #[expect(
            clippy::result_large_err,
            reason = "the message has its numbers in it; a client is made once"
        )]
        pub(crate) fn uncut(self) -> Result<Self, Violation> {
            const TEXT: &str = "`timeout` of the policy cuts an attempt off, and the error of the client cannot say so; give the client a time-out, or put a layer of `tower::timeout` inside";
            match self.policy.timeout {
                Some(_) => Err(Text::new().push(TEXT).breaks(RuleId::S5)),
                None => Ok(self),
            }
        }

        /// Returns it for one more client: without a name, each is an operation of its own.
        pub(crate) fn for_instance(self) -> Self {
            static INSTANCES: AtomicU64 = AtomicU64::new(0);
            if self.site.name != UNNAMED {
                return self;
            }
            let number = INSTANCES.fetch_add(1, Ordering::Relaxed);
            Self {
                site: Site::identified(UNNAMED, Identity::Instance(number)),
                ..self
            }
        }

        pub(crate) const fn named(self, name: &'static str) -> Self {
            Self {
                site: Site::of_name(name),
                ..self
            }
        }

        pub(crate) const fn budgeted(self, budget: &'static Budget) -> Self {
            Self {
                policy: self.policy.budget(budget),
                ..self
            }
        }

        pub(crate) const fn policy(&self) -> &Policy {
            &self.policy
        }

        /// Returns its site.
        #[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
        pub(crate) const fn site(&self) -> &Site {
            &self.site
        }

        /// Returns it for a decision.
        #[inline(always)]
        pub(crate) const fn operation(&self) -> Operation<'_> {
            Operation::new(&self.site, &self.policy)
        }

        /// Returns whether the policy holds as it is for a request that says whether it may be executed twice. What
        /// the policy says of that goes first.
        #[inline(always)]
        pub(crate) const fn suits(&self, is_idempotent: bool) -> bool {
            is_idempotent || self.policy.has(Key::Idempotent)
        }

        /// Returns the operation for such a request.
        pub(crate) const fn for_request(self, is_idempotent: bool) -> Self {
            if self.suits(is_idempotent) {
                return self;
            }
            Self {
                policy: self.policy.idempotent(false),
                ..self
            }
        }

        /// Returns the operation under a policy that comes with a request; it pays from this one's budget unless it
        /// has its own.
        #[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
        pub(crate) const fn under(self, policy: Policy) -> Self {
            let operation = Self { policy, ..self };
            match self.policy.budget {
                Some(budget) if policy.budget.is_none() => operation.budgeted(budget),
                _ => operation,
            }
        }
    }
}

//! What is retried: a place in the program with a name, and the policy that holds there.

use core::panic::Location;

use crate::call::{self, OperationId};
use crate::name::Name;
use crate::policy::Policy;

#[cfg(feature = "config")]
pub use crate::named::Live;
#[cfg(feature = "config")]
use crate::named::NamedPolicy;

/// A place in the program where something is retried: its name, and its slot in the configuration.
///
/// Every expansion has one as a `static`, which all instances of a generic function share.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    name: Name,
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
    Instance(u64),
}

impl Site {
    /// Returns the site of an expansion, which is a `static`.
    #[inline(always)]
    pub const fn new(name: Name) -> Self {
        Self::identified(name, Identity::Site)
    }

    /// Returns the site of all that is called by this name.
    pub const fn of_name(name: &'static str) -> Self {
        Self::identified(Name::Given(name), Identity::Name)
    }

    /// Returns the site of what is called where this is.
    #[track_caller]
    pub(crate) const fn of_caller() -> Self {
        Self::identified(Name::Given(UNNAMED), Identity::Caller(Location::caller()))
    }

    /// Returns the site of a client without a name: each has a number of its own.
    pub const fn of_instance(number: u64) -> Self {
        Self::identified(Name::Given(UNNAMED), Identity::Instance(number))
    }

    const fn identified(name: Name, identity: Identity) -> Self {
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
            name: policy.name(),
            identity: Identity::Site,
            named: Some(policy),
        }
    }

    /// Returns the name of the operation.
    #[cfg(feature = "observe")]
    pub(crate) fn name(&self) -> &'static str {
        self.name.as_str()
    }

    /// Returns what tells the operation from others.
    pub fn id(&self) -> OperationId {
        OperationId(match self.identity {
            Identity::Site => core::ptr::from_ref(self).addr() as u64,
            Identity::Name => hash(self.name.as_str().as_bytes(), 0),
            Identity::Caller(caller) => {
                let place = u64::from(caller.line()) << 32 | u64::from(caller.column());
                hash(caller.file().as_bytes(), place)
            }
            Identity::Instance(number) => !number,
        })
    }

    /// Marks the operation in the calls around it: it has used up its retries.
    pub fn mark(&self) {
        call::mark(self.id());
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
impl Live {
    /// Returns `true`: nothing counts from the start.
    pub const fn is_idle(&self) -> bool {
        true
    }

    /// Returns the default.
    pub const fn policy(&self) -> &Policy {
        const { &Policy::new() }
    }
}

/// What is retried: its name and its policy, for the moment of a decision.
#[derive(Debug, Clone, Copy)]
pub struct Operation<'a> {
    site: &'a Site,
    policy: &'a Policy,
    /// The name of the policy in the configuration. Without it an operation is two pointers, which need no memory.
    #[cfg(feature = "config")]
    label: Option<&'static str>,
}

impl<'a> Operation<'a> {
    /// Returns the operation of this site under `policy`.
    #[inline(always)]
    pub const fn new(site: &'a Site, policy: &'a Policy) -> Self {
        Self {
            site,
            policy,
            #[cfg(feature = "config")]
            label: None,
        }
    }

    /// Returns the operation of this site under the policy that the configuration has for it.
    #[inline(always)]
    pub fn live(site: &'a Site, live: &'a Live) -> Self {
        Self {
            site,
            policy: live.policy(),
            #[cfg(feature = "config")]
            label: live.label(),
        }
    }

    /// Returns what tells it from others.
    #[inline]
    pub(crate) fn id(&self) -> OperationId {
        self.site.id()
    }

    /// Returns the name: `module::function` or `module::Type::method` unless the key `name` says otherwise.
    pub fn name(&self) -> &'static str {
        self.site.name.as_str()
    }

    /// Returns the same, unread.
    pub(crate) const fn lazy_name(&self) -> Name {
        self.site.name
    }

    /// Returns the kind of its policy in telemetry: the name in the configuration, or the backoff.
    pub const fn policy_name(&self) -> &'static str {
        #[cfg(feature = "config")]
        if let Some(label) = self.label {
            return label;
        }
        if self.policy.decided {
            return "strategy";
        }
        self.policy.backoff.as_str()
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
        !crate::switch::are_retries_on() || self.site.named.is_some_and(NamedPolicy::is_disabled)
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

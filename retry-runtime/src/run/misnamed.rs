//! Methods that people write and that a policy, a runner, a retry or an attempt does not have: those of the other one,
//! and those of other libraries, because the compiler reads `doc(alias)` of its own crate alone.
//! They cannot be called: no type meets their bound, and its message says what to write.

use reattempt_policy::{__misnamed_of_attempt, __misnamed_of_policy, __misnamed_of_runner};

use super::Runner;
use crate::attempt::{Attempt, Retry};
use crate::policy::Policy;

__misnamed_of_policy!(Policy);
__misnamed_of_runner!(<C> Runner<'_, C>);
__misnamed_of_attempt!(Retry, Attempt);

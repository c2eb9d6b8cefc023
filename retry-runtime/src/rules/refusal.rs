//! Rules about what stands beside a policy: budgets, breakers, hedges.

use core::fmt;

use crate::text::Text;

/// Why a value is refused, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal(Text);

impl Refusal {
    /// The rule with the value, then a mend.
    pub const fn message(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for Refusal {}

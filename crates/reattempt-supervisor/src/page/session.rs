//! An operator that has shown a token, and what it may do.

use sha2::{Digest, Sha256};

/// What an operator may do on the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Sees tasks without their arguments and results.
    Look,
    /// Sees everything, and gives commands.
    Act,
}

/// An operator that has shown a token.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) name: String,
    pub(super) role: Role,
    /// What each form of the session contains.
    pub(super) form: String,
}

impl Session {
    /// Returns whether the session may give the command of a form with this secret.
    pub(super) fn may_act(&self, form: &str) -> bool {
        self.role == Role::Act && hash(form) == hash(&self.form)
    }
}

/// Returns what of a token or a secret is kept and compared.
pub(super) fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

//! What the errors of redis mean.

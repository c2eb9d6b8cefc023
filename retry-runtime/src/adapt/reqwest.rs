//! What the errors of reqwest mean.

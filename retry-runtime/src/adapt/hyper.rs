//! What the errors of hyper mean.

//! `reqwest-middleware`.

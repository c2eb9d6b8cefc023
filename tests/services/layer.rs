//! `tower::RetryLayer`.

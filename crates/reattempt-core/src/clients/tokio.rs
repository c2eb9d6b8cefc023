//! What the errors of tokio mean.

use core::fmt;

use crate::verdict::{Classify, Verdict};

/// tokio 1, `tokio::time::timeout`: the dropped operation may have run.
#[diagnostic::do_not_recommend]
impl Classify for tokio::time::error::Elapsed {
    fn classify(&self) -> Verdict {
        Verdict::Transient
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        code == "timeout"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_took_too_long_may_have_run() {
        let hangs = core::future::pending::<()>();
        let late = tokio::time::timeout(core::time::Duration::from_secs(1), hangs).await;
        let late = late.expect_err("it hangs");
        assert_eq!(late.classify(), Verdict::Transient);
        assert!(late.has_code("timeout") && !late.has_code("connection"));
        assert_eq!(
            late.message().map(ToString::to_string),
            Some(late.to_string())
        );
    }
}

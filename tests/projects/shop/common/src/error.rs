use reattempt::Classify;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Classify)]
pub enum Fault {
    #[retry(transient)]
    Unreachable,
    #[retry(refused)]
    Closed,
    #[retry(permanent)]
    Unknown,
    #[retry(transient)]
    GaveUp,
}

impl From<reattempt::Interrupted> for Fault {
    fn from(_: reattempt::Interrupted) -> Self {
        Self::GaveUp
    }
}

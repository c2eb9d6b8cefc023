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

impl From<reattempt::GaveUp> for Fault {
    fn from(_: reattempt::GaveUp) -> Self {
        Self::GaveUp
    }
}

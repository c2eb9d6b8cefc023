//! Tests of code that retries, without waiting.

use crate::timer::Moment;

pub(crate) fn virtual_now() -> Option<Moment> {
    None
}

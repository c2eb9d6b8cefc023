//! What limits keep from calls of a low priority: half of each. A limit asks the thread when it is
//! asked, so that it knows in a closure of the user's, too, and no gate passes the priority on.

use reattempt_core::around;

/// Returns how many of `all` are closed here: half of them, rounded up, to a call of a low priority, and else none.
#[inline]
pub fn closed(all: u32) -> u32 {
    if around::is_low() { all.div_ceil(2) } else { 0 }
}

//! What limits keep from calls of a low priority. A limit asks when it is asked, so that it knows whoever asks it, and a call
//! with a normal priority pays for one look at a variable of its thread.

use reattempt_core::around;

/// Returns how many of `all` are closed here: half of them, rounded up, to a call of a low priority, and else none.
#[inline]
pub fn closed(all: u32) -> u32 {
    if around::is_low() { all.div_ceil(2) } else { 0 }
}

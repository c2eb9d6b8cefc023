//! What the platform has: a clock, a calendar, the number of the process.
//!
//! In a browser or node JavaScript has them, and the feature `wasm` asks it. There `target_os` is `unknown`, and nowhere
//! else where there is `std`.

use std::time::SystemTime;

#[cfg(not(all(feature = "wasm", target_os = "unknown")))]
pub(crate) use std::time::Instant;
#[cfg(all(feature = "wasm", target_os = "unknown"))]
pub(crate) use web_time::Instant;

/// Returns the time of the calendar; `None` where nothing tells it.
#[inline]
pub fn system_time() -> Option<SystemTime> {
    #[cfg(not(target_os = "unknown"))]
    return Some(SystemTime::now());
    #[cfg(all(feature = "wasm", target_os = "unknown"))]
    return web_time::SystemTime::now()
        .duration_since(web_time::UNIX_EPOCH)
        .ok()
        .and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
    #[cfg(all(not(feature = "wasm"), target_os = "unknown"))]
    None
}

/// Returns the number of this process, by which a fork knows that it is one. WebAssembly has no forks, and asking there
/// panics.
#[inline]
pub fn process_id() -> u32 {
    if cfg!(target_family = "wasm") {
        1
    } else {
        std::process::id()
    }
}

#[cfg(all(test, not(target_os = "unknown")))]
mod tests {
    use super::*;

    #[test]
    fn the_platform_is_asked() {
        assert_eq!(process_id(), std::process::id());
        let before = SystemTime::now();
        assert!(system_time() >= Some(before));
    }
}

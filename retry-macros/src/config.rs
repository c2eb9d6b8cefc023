//! Whether the feature `config` of the facade is on: names from configuration, and the kill switch. Asked here alone, so
//! that a test sees either whatever the features of its build.

#[cfg(not(test))]
pub(crate) const fn is_on() -> bool {
    cfg!(feature = "config")
}

#[cfg(test)]
pub(crate) use test::{is_on, with};

#[cfg(test)]
mod test {
    use std::cell::Cell;

    thread_local! {
        static ON: Cell<bool> = const { Cell::new(false) };
    }

    pub(crate) fn is_on() -> bool {
        ON.get()
    }

    /// As if the feature were on.
    pub(crate) fn with<R>(run: impl FnOnce() -> R) -> R {
        ON.set(true);
        let answer = run();
        ON.set(false);
        answer
    }
}

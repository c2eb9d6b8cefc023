//! Whether the feature `config` of the facade is on: names from configuration, and the kill switch. Asked here alone, so
//! that a test sees either whatever the features of its build.

use retry_runtime::rules::Entry;
use retry_syntax::check;
use retry_syntax::faults::Faults;
use retry_syntax::model::Model;

/// A name is looked up only where there is a configuration.
pub(crate) fn needed(model: &Model, faults: &mut Faults) {
    let Some(name) = &model.named else {
        return;
    };
    let text = name.value();
    if !is_on() && check::is_policy_name(&text) {
        faults.push(
            name.span(),
            Entry::X15,
            format!(
                "`policy = \"{text}\"` needs the feature `config` of `reattempt`; turn it on, or name a constant, as in `policy = STORAGE`"
            ),
        );
    }
}

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

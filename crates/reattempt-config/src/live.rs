//! What is loaded now, and the places in the code that ask for it. One lock for whoever loads and for a place
//! that is used for the first time; calls do not take it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::SystemTime;

use super::clash::Read;
use super::names::{MissingPolicy, Warnings, ignored_timeouts, missing, unused};
use super::resolve::{Resolution, resolve};
use super::span::Place;
use super::{Config, ConfigError, Diagnostic, environment, switch, text_of};
use retry_runtime::Policy;
use retry_runtime::rules::RuleId;
use retry_runtime::slots::{NamedPolicy, Snapshot, set_policy_source};

/// What is loaded, and who has asked for it.
struct State {
    sites: Vec<&'static NamedPolicy>,
    config: Option<Arc<Config>>,
    from: Option<PathBuf>,
    /// The text of the file, to tell whether it changed, and to find lines in.
    read: Option<Read>,
    loaded_at: Option<SystemTime>,
    last_error: Option<Arc<ConfigError>>,
    /// The warnings that are said once.
    said: BTreeSet<String>,
    #[cfg(feature = "watch")]
    watch: Option<(SystemTime, WatchMode)>,
}

/// How changes of a watched file are noticed.
#[cfg(feature = "watch")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchMode {
    /// The system tells of them, and the file is looked at now and then.
    Events,
    /// The file is looked at now and then, because the system does not tell.
    Polling,
}

static STATE: Mutex<State> = Mutex::new(State {
    sites: Vec::new(),
    config: None,
    from: None,
    read: None,
    loaded_at: None,
    last_error: None,
    said: BTreeSet::new(),
    #[cfg(feature = "watch")]
    watch: None,
});

/// Held by whoever reads and installs, so that an older text never comes after a newer one.
static LOADING: Mutex<()> = Mutex::new(());

// Nothing between two changes of it panics.
fn state() -> MutexGuard<'static, State> {
    static CONNECTED: Once = Once::new();

    CONNECTED.call_once(|| lock().sites.extend(set_policy_source(register)));
    lock()
}

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn loading() -> MutexGuard<'static, ()> {
    LOADING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a load came to.
enum Came {
    Installed {
        /// Whether retries are on now, where that has changed.
        switched: Option<bool>,
        warnings: Warnings,
    },
    /// It says what was there already.
    Same,
    Refused(Arc<ConfigError>),
}

impl Came {
    /// Reports it to observers, where no lock is held.
    fn report(self) -> Result<(), ConfigError> {
        match self {
            Self::Same => Ok(()),
            Self::Installed { switched, warnings } => {
                #[cfg(feature = "observe")]
                reattempt_observe::report(&reattempt_observe::Event::Reloaded {
                    from: status().from(),
                });
                if let Some(on) = switched {
                    switch::report(on);
                }
                warnings.say();
                Ok(())
            }
            Self::Refused(faults) => {
                refused(&faults);
                Err(ConfigError::clone(&faults))
            }
        }
    }
}

fn refused(faults: &ConfigError) {
    #[cfg(feature = "observe")]
    reattempt_observe::report(&reattempt_observe::Event::ReloadRefused(faults));
    #[cfg(not(feature = "observe"))]
    let _ = faults;
}

/// Reads the file at `path` and the environment, checks them, and from then on they hold for the process.
///
/// # Errors
///
/// Every fault there is; what held before holds on.
pub fn load(path: impl AsRef<Path>) -> Result<(), ConfigError> {
    let came = {
        let _loading = loading();
        read(path.as_ref(), false)
    };
    came.report()
}

/// Reads again what [`load`] has read.
///
/// A file that says what it said before changes nothing. One that looks cut off in the middle of a write is
/// refused, as is one whose values break a rule together with the keys in the code of an operation
/// that has run.
///
/// # Errors
///
/// Every fault there is; what held before holds on.
pub fn reload() -> Result<(), ConfigError> {
    let came = {
        let _loading = loading();
        let from = state().from.clone();
        from.map_or_else(nothing_to_reload, |path| read(&path, true))
    };
    came.report()
}

fn nothing_to_reload() -> Came {
    let message = "nothing was loaded from a file; call `config::load` first";
    let fault = Diagnostic::new(Place::of("reload"), "", RuleId::File, message);
    Came::Refused(Arc::new(fault.into()))
}

/// As [`reload`], whatever was loaded in between. What was refused for the same errors before is reported once: anything
/// that is written beside the file asks again.
#[cfg(feature = "watch")]
pub(super) fn load_again(path: &Path) -> Result<(), ConfigError> {
    let (came, before) = {
        let _loading = loading();
        let before = state().last_error.clone();
        (read(path, true), before)
    };
    match (came, before) {
        (Came::Refused(faults), Some(before)) if faults == before => {
            Err(ConfigError::clone(&faults))
        }
        (came, _) => came.report(),
    }
}

/// Keeps since when a file is watched, and how.
#[cfg(feature = "watch")]
pub(super) fn set_watch(watch: Option<(SystemTime, WatchMode)>) {
    state().watch = watch;
}

/// Keeps how a file is watched from now on.
#[cfg(feature = "watch")]
pub(super) fn set_watch_mode(mode: WatchMode) {
    if let Some(watch) = &mut state().watch {
        watch.1 = mode;
    }
}

/// Whether the file at `path` has lost keys since it was read.
#[cfg(feature = "watch")]
pub(super) fn has_lost_keys(path: &Path) -> bool {
    let before = state().read.clone().map(|read| read.text);
    let text = std::fs::read_to_string(path).ok();
    text.zip(before)
        .is_some_and(|(text, before)| super::cut::has_lost_keys(&text, &before))
}

/// What is loaded, if anything is.
pub fn current() -> Option<Arc<Config>> {
    state().config.clone()
}

/// Returns the policy of this name as it is now, for [`Policy::run`] and layers: a snapshot, which
/// later loads do not change.
pub fn policy(name: &str) -> Option<Policy> {
    current()?.policy(name)
}

/// When and from where the configuration was loaded, what was wrong last, and which names do not match.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Status {
    loaded_at: Option<SystemTime>,
    from: Option<PathBuf>,
    last_error: Option<Arc<ConfigError>>,
    missing: Vec<MissingPolicy>,
    unused: Vec<String>,
    ignored_timeouts: Vec<&'static str>,
    #[cfg(feature = "watch")]
    watch: Option<(SystemTime, WatchMode)>,
}

impl Status {
    /// Returns since when a file is watched; `None` while none is.
    #[cfg(feature = "watch")]
    pub fn watched_since(&self) -> Option<SystemTime> {
        self.watch.map(|(since, _)| since)
    }

    /// Returns how changes of the watched file are noticed; `None` while none is watched.
    #[cfg(feature = "watch")]
    pub fn watch_mode(&self) -> Option<WatchMode> {
        self.watch.map(|(_, mode)| mode)
    }

    /// When what holds now was loaded; `None` before anything was.
    pub const fn loaded_at(&self) -> Option<SystemTime> {
        self.loaded_at
    }

    /// Returns the file it was read from; `None` for what was not read from one.
    pub fn from(&self) -> Option<&Path> {
        self.from.as_deref()
    }

    /// Returns why the last load was refused; `None` after a good one.
    pub fn last_error(&self) -> Option<&ConfigError> {
        self.last_error.as_deref()
    }

    /// Returns the policies that code asks for and the configuration does not have, in the order of
    /// their names. None before anything is loaded; an operation asks when it runs for the first
    /// time.
    pub fn missing_policies(&self) -> impl Iterator<Item = &MissingPolicy> {
        self.missing.iter()
    }

    /// Returns the operations of the configuration that nothing has run as, in the order of their
    /// names: they have not run yet, have another name in the code, or do not ask for a policy by
    /// name.
    pub fn unused_operations(&self) -> impl Iterator<Item = &str> {
        self.unused.iter().map(|name| &**name)
    }

    /// Returns the operations whose policy has a `timeout` that is not applied, in the order of their names: sync ones, since
    /// nothing interrupts a blocked thread, and those with `cut_off = false`. An operation is known when it has run.
    pub fn ignored_timeouts(&self) -> impl Iterator<Item = &'static str> {
        self.ignored_timeouts.iter().copied()
    }
}

/// When and from where the configuration was loaded, what was wrong last, and which names do not match.
pub fn status() -> Status {
    let state = state();
    let config = state.config.as_deref();
    Status {
        missing: config.map_or_else(Vec::new, |config| missing(&state.sites, config)),
        unused: config.map_or_else(Vec::new, |config| unused(&state.sites, config)),
        ignored_timeouts: ignored_timeouts(&state.sites),
        loaded_at: state.loaded_at,
        from: state.from.clone(),
        last_error: state.last_error.clone(),
        #[cfg(feature = "watch")]
        watch: state.watch,
    }
}

impl Config {
    /// From now on this holds for the process.
    ///
    /// # Errors
    ///
    /// Rules that it breaks together with the keys in the code of operations that have run; what held before
    /// holds on.
    pub fn install(self) -> Result<(), ConfigError> {
        let came = {
            let _loading = loading();
            install(self, None, None)
        };
        came.report()
    }
}

fn read(path: &Path, again: bool) -> Came {
    let name = path.display().to_string();
    let text = match text_of(path, &name) {
        Ok(text) => text,
        Err(fault) => return refuse(fault.into()),
    };
    let before = state().read.clone().map(|read| read.text);
    if again
        && before.as_deref() != Some(&text)
        && let Some(fault) = Config::is_cut_off(&text, before.as_deref())
    {
        return refuse(fault.of_source(name).into());
    }
    match Config::from_text(&name, &text, environment()) {
        Ok(config) => install(config, Some(Read { name, text }), Some(path.to_owned())),
        Err(faults) => refuse(faults),
    }
}

fn refuse(faults: ConfigError) -> Came {
    let faults = Arc::new(faults);
    state().last_error = Some(Arc::clone(&faults));
    Came::Refused(faults)
}

fn install(config: Config, read: Option<Read>, from: Option<PathBuf>) -> Came {
    let mut state = state();
    let is_same = read.is_some() && read == state.read && from == state.from;
    let mut resolutions = Vec::new();
    let mut faults = Vec::new();
    for site in &state.sites {
        match resolve(Some(&config), read.as_ref(), site) {
            Ok(resolution) => resolutions.push(resolution),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        drop(state);
        return refuse(ConfigError::new(faults));
    }
    for (site, resolution) in state.sites.iter().zip(resolutions) {
        site.set(resolution.policy, resolution.label, resolution.enabled);
    }
    let switched = switch::set_by_file(config.is_enabled());
    let is_first = state.config.is_none();
    let mut warnings = Warnings::of(&state.sites, &config);
    // As a rule the first one is loaded before anything has run.
    if !is_first {
        warnings = warnings.and_unused(&state.sites, &config);
    }
    state.config = Some(Arc::new(config));
    state.read = read;
    state.from = from;
    state.last_error = None;
    if is_same {
        return Came::Same;
    }
    state.loaded_at = Some(SystemTime::now());
    let warnings = warnings.once(&mut state.said);
    Came::Installed { switched, warnings }
}

/// The first use of a site. With a configuration that does not go with the keys in the code, those hold.
#[cold]
fn register(site: &'static NamedPolicy) -> Arc<Snapshot> {
    let mut fault = None;
    let mut warnings = Warnings::default();
    let operation = {
        let mut state = state();
        if let Some(known) = site.known() {
            return known; // another thread was first
        }
        let resolved = resolve(state.config.as_deref(), state.read.as_ref(), site);
        let resolution = resolved.unwrap_or_else(|found| {
            fault = Some(found);
            // Switched off is off, whatever else is said there.
            let enabled = state.config.as_ref().is_none_or(|config| {
                let resolved = config.resolve(site.operation(), site.named(), site.inline());
                resolved.enabled
            });
            Resolution {
                policy: *site.inline(),
                label: site.named(),
                enabled,
            }
        });
        let set = site.set(resolution.policy, resolution.label, resolution.enabled);
        state.sites.push(site);
        if let Some(config) = &state.config {
            warnings = Warnings::of(&[site], config);
            warnings = warnings.once(&mut state.said);
        }
        if let Some(fault) = &fault {
            state.last_error = Some(Arc::new(fault.clone().into()));
        }
        set
    };
    if let Some(fault) = fault {
        refused(&fault.into());
    }
    warnings.say();
    operation
}

#[cfg(test)]
mod status_tests {
    use super::*;

    #[test]
    fn a_status_says_what_was_loaded() {
        let none = Status::default();
        assert_eq!(
            (none.loaded_at(), none.from(), none.last_error()),
            (None, None, None)
        );
        let faults = Config::from_toml("max = 3").err().map(Arc::new);
        let at = Some(SystemTime::UNIX_EPOCH);
        let status = Status {
            loaded_at: at,
            from: Some(PathBuf::from("retry.toml")),
            last_error: faults.clone(),
            unused: vec!["pay".to_owned()],
            ignored_timeouts: vec!["ship"],
            ..Status::default()
        };
        assert_eq!(
            (status.loaded_at(), status.from()),
            (at, Some(Path::new("retry.toml")))
        );
        assert_eq!(status.last_error(), faults.as_deref());
        assert!(status.last_error().is_some());
        assert!(status.unused_operations().eq(["pay"]) && status.ignored_timeouts().eq(["ship"]));
        #[cfg(feature = "watch")]
        for (watch, since, mode) in [
            (None, None, None),
            (
                at.map(|at| (at, WatchMode::Polling)),
                at,
                Some(WatchMode::Polling),
            ),
        ] {
            let status = Status {
                watch,
                ..Status::default()
            };
            assert_eq!((status.watched_since(), status.watch_mode()), (since, mode));
        }
    }
}

#[cfg(all(test, feature = "watch", feature = "observe"))]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::load_again;
    use reattempt_observe::{self as observe, Event};

    /// Whatever is written beside a broken file makes a watcher read it again: that is reported once.
    #[test]
    fn the_same_errors_are_reported_once() {
        let path =
            std::env::temp_dir().join(format!("reattempt-again-{}.toml", std::process::id()));
        let refused = Arc::new(AtomicU32::new(0));
        let (counted, name) = (Arc::clone(&refused), path.display().to_string());
        let added = observe::add(move |event: &Event<'_>| {
            if matches!(event, Event::ReloadRefused(faults) if faults.to_string().contains(&name)) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        std::fs::write(&path, "[policies.storage]\nmax = 0\n").unwrap();
        assert!(load_again(&path).is_err() && load_again(&path).is_err());
        assert_eq!(refused.load(Ordering::Relaxed), 1);
        std::fs::write(&path, "[policies.storage]\nmax = 1.5\n").unwrap();
        assert!(load_again(&path).is_err() && load_again(&path).is_err());
        assert_eq!(refused.load(Ordering::Relaxed), 2);
        added.remove();
        std::fs::remove_file(&path).unwrap();
    }
}

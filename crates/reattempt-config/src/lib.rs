#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
// What can panic is listed in `docs/panics.md`.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::disallowed_methods,
        clippy::get_unwrap,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_in_result
    )
)]

mod budget;
mod clash;
mod codes;
mod cut;
mod diagnostic;
mod file;
mod judge;
mod layer;
mod live;
mod names;
mod provider;
mod read;
mod reader;
mod resolve;
mod schema;
mod span;
mod switch;
mod syntax;
mod telemetry;
#[cfg(test)]
mod tests;
mod variable;
#[cfg(feature = "watch")]
mod watch;
#[cfg(feature = "watch")]
mod way;

use core::fmt;
use std::collections::BTreeMap;
use std::path::Path;

use figment::Figment;

use file::File;
use retry_runtime::Policy;
use retry_runtime::rules::RuleId;
use span::Place;

pub use diagnostic::{ConfigError, Diagnostic};
#[cfg(feature = "watch")]
pub use live::WatchMode;
pub use live::{Status, current, load, policy, reload, status};
pub use names::MissingPolicy;
pub use schema::schema;
#[doc(hidden)]
pub use switch::{are_retries_on, resume_retries, stop_retries};
#[cfg(feature = "watch")]
pub use watch::{WatchError, WatchHandle, watch, watch_every};

pub(crate) const ENABLED: &str = "enabled";
pub(crate) const DEFAULT: &str = "default";
const POLICIES: &str = "policies";
const OPERATIONS: &str = "operations";
/// Of an operation: the policy that it has instead of the one that the code names.
const POLICY: &str = "policy";

/// The keys at the top of a file.
const TOP: &[&str] = &[ENABLED, DEFAULT, POLICIES, OPERATIONS];

/// Named policies, and which operation has which: read, checked, and not changed any more.
///
/// The page [`configuration`](https://docs.rs/reattempt/latest/reattempt/guide/configuration) shows the file.
///
/// # Examples
///
/// ```
/// use reattempt::{Policy, config::Config};
///
/// let config = Config::from_toml(
///     r#"
///     [policies.storage]
///     max = 5
///     base = "250ms"
///
///     [operations."payments.charge"]
///     policy = "storage"
///     max = 2
///     "#,
/// )?;
/// let charge = config.resolve("payments.charge", "", &Policy::new());
///
/// assert_eq!(charge.label, "storage");
/// assert_eq!(charge.policy.attempts(), Some(2));
/// # Ok::<(), reattempt::config::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    enabled: bool,
    default: Option<String>,
    /// Layers: what the file gives, without the defaults.
    policies: BTreeMap<String, Policy>,
    operations: BTreeMap<String, Listed>,
}

/// An operation of the file.
#[derive(Debug, Clone)]
struct Listed {
    policy: Option<String>,
    layer: Policy,
    enabled: bool,
}

/// What a configuration says of one operation.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EffectivePolicy<'a> {
    /// The policy under which it runs.
    pub policy: Policy,
    /// The name of the policy that held.
    pub label: &'a str,
    /// Whether it is retried.
    pub enabled: bool,
}

impl Config {
    /// That of an empty file: nothing named, everything enabled.
    pub const fn empty() -> Self {
        Self {
            enabled: true,
            default: None,
            policies: BTreeMap::new(),
            operations: BTreeMap::new(),
        }
    }

    /// Reads a text of TOML.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        Self::from_text("TOML", text, [])
    }

    /// Reads a file of TOML, and over it the environment variables that begin with `REATTEMPT_`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them, or that the file cannot be read.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text = text_of(path, &name)?;
        Self::from_text(&name, &text, environment())
    }

    /// Reads a text of TOML that messages call `name`, and over it these environment variables.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::config::Config;
    ///
    /// let variables = [("REATTEMPT_POLICIES__STORAGE__MAX".to_owned(), "7".to_owned())];
    /// let config = Config::from_text("retry.toml", "[policies.storage]\nmax = 5\n", variables)?;
    /// assert_eq!(config.policy("storage").unwrap().attempts(), Some(7));
    /// # Ok::<(), reattempt::config::ConfigError>(())
    /// ```
    pub fn from_text(
        name: &str,
        text: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let file = File::parse(name, text)?;
        let figment = Figment::from(provider::Text { name, text });
        let (figment, faults) = provider::over(figment, variables);
        read::config(&figment, vec![file], faults)
    }

    /// Reads what a figment has in its profile.
    ///
    /// Variables of the environment are in it only if one of its providers reads them.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    ///
    /// # Examples
    ///
    /// ```
    /// use figment::{Figment, providers::Serialized};
    /// use reattempt::config::Config;
    ///
    /// let figment = Figment::from(Serialized::default("policies.storage.max", 5));
    /// let config = Config::from_figment(&figment)?;
    /// assert_eq!(config.policy("storage").unwrap().attempts(), Some(5));
    /// # Ok::<(), reattempt::config::ConfigError>(())
    /// ```
    #[cfg(feature = "figment")]
    pub fn from_figment(figment: &Figment) -> Result<Self, ConfigError> {
        read::config(figment, Vec::new(), Vec::new())
    }

    /// Returns why a file looks as if it had been read in the middle of a write: it does not end
    /// with the end of a line, or lacks the last line `# end` that its version `before` had.
    ///
    /// A file that was truncated between two lines looks right but has fewer keys. So check a file
    /// that has changed since it was read.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::config::Config;
    ///
    /// let before = "[policies.storage]\nmax = 5\n# end\n";
    /// assert!(Config::is_cut_off("[policies.storage]\nmax = 1", Some(before)).is_some());
    /// assert!(Config::is_cut_off("[policies.storage]\n", Some(before)).is_some());
    /// assert!(Config::is_cut_off("[policies.storage]\n# end\n", Some(before)).is_none());
    /// ```
    pub fn is_cut_off(text: &str, before: Option<&str>) -> Option<Diagnostic> {
        cut::fault(text, before)
    }

    /// Returns the policy of this name, as far as the file makes it: its keys over the defaults. `idempotent = true` of the
    /// file permits nothing that the code does not: a layer still asks the request. If the file has no policy
    /// `"default"`, that name stands for the one that its key [`default`](Self::default) names.
    pub fn policy(&self, name: &str) -> Option<Policy> {
        self.policies.get(self.meant(name)?).map(complete)
    }

    /// The policy of the file that this name stands for.
    fn meant<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        match name {
            _ if self.policies.contains_key(name) => Some(name),
            DEFAULT => self.default(),
            _ => None,
        }
    }

    /// Returns every policy with its name, in the order of the names.
    pub fn policies(&self) -> impl Iterator<Item = (&str, Policy)> {
        self.policies
            .iter()
            .map(|(name, layer)| (&**name, complete(layer)))
    }

    /// Returns the names of the operations of the file, in their order.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.operations.keys().map(|name| &**name)
    }

    /// Returns whether anything is retried at all.
    ///
    /// # Default
    ///
    /// `true`.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Returns the name of the policy that `"default"` stands for.
    pub fn default(&self) -> Option<&str> {
        self.default.as_deref()
    }

    /// Returns the policy under which `operation` runs, if its code names the policy `named` and
    /// has the keys `inline`.
    ///
    /// Each of these overrides the one before it: the defaults, `inline`, the policy of the file,
    /// the operation of the file. The policy is the one that the operation of the file names, or
    /// else `named`, or else, if `named` is `"default"`, the default one. If the file has none of
    /// them, `inline` stays. `idempotent = false` of `inline` stays in any case: whether an
    /// operation may run twice is a property of its code.
    ///
    /// What comes of `inline` and the file together is not judged by the rules: the file does not know the code.
    /// [`Policy::violations`] does that.
    pub fn resolve<'a>(
        &'a self,
        operation: &str,
        named: &'a str,
        inline: &Policy,
    ) -> EffectivePolicy<'a> {
        let listed = self.operations.get(operation);
        let name = listed.and_then(|listed| listed.policy.as_deref());
        let name = name.or_else(|| self.meant(named));
        let mut policy = Policy::new().merged_with(inline);
        if let Some(layer) = name.and_then(|name| self.policies.get(name)) {
            policy = policy.merged_with(layer);
        }
        if let Some(listed) = listed {
            policy = policy.merged_with(&listed.layer);
        }
        if inline.has(retry_runtime::rules::Key::Idempotent) && !inline.is_idempotent() {
            policy = policy.idempotent(false);
        }
        EffectivePolicy {
            policy,
            label: name.unwrap_or(named),
            enabled: self.enabled && listed.is_none_or(|listed| listed.enabled),
        }
    }
}

const fn complete(layer: &Policy) -> Policy {
    Policy::new().merged_with(layer).of_file()
}

/// The variables of the process; what is no Unicode in them is replaced. A browser has none, and asking there panics.
pub(crate) fn environment() -> impl Iterator<Item = (String, String)> {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let has_variables = cfg!(not(target_os = "unknown"));
    let variables = has_variables.then(std::env::vars_os).into_iter().flatten();
    variables.map(move |(name, value)| (text(name), text(value)))
}

/// The text of a file.
pub(crate) fn text_of(path: &Path, name: &str) -> Result<String, Diagnostic> {
    let unreadable = |error: &dyn fmt::Display| {
        let message = format!("cannot read the file ({error}); check the path and its permissions");
        Diagnostic::new(Place::of(name), "", RuleId::File, message)
    };
    let bytes = std::fs::read(path).map_err(|error| unreadable(&error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes());
        let message = "not TOML: a byte here is not UTF-8; save the file as UTF-8";
        Diagnostic::new(Place::at(name, &text, valid), "", RuleId::Syntax, message)
    })
}

//! A name in a configuration file -> the policy that it stands for there.

use std::fmt;
use std::path::Path;

use reattempt_config::{Config, ConfigError};
use reattempt_policy::written::nearest;
use retry_runtime::Policy;
use retry_runtime::rules::RuleId;

use super::Given;
use crate::input;

/// Why a file has no policy for a name.
#[derive(Debug)]
pub(crate) enum Refused {
    /// What is wrong with the file.
    ConfigError(ConfigError),
    /// It cannot be read, or does not know the name.
    Words(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConfigError(faults) => faults.fmt(f),
            Self::Words(words) => f.write_str(words),
        }
    }
}

/// The policy `name` of the file at `path`, or that of the operation `name`; variables of the environment hold, too.
pub(crate) fn from_file(path: &Path, name: &str) -> Result<Given, Refused> {
    let config = read(path)?;
    named(&config, name).ok_or_else(|| Refused::Words(unknown(&config, path, name)))
}

/// The same keys where the file at `path` has the policy that they name.
pub(crate) fn over(path: &Path, mut given: Given) -> Result<Given, Refused> {
    let config = read(path)?;
    let Some(name) = given.named.take() else {
        let words = "with `--config` a policy is a name in the file, or keys with `policy = \"name\"`; leave `--config` out for keys alone";
        return Err(Refused::Words(words.to_owned()));
    };
    let resolved = config.resolve(
        given.operation.as_deref().unwrap_or_default(),
        &name,
        &given.policy,
    );
    let path = path.display();
    if resolved.label == name && config.policy(&name).is_none() {
        let note = format!("`{path}` has no policy `{name}`, so the keys hold as they are here");
        given.notes.push(note);
    } else {
        given.notes.push(format!(
            "`{}` of `{path}` holds over the keys",
            resolved.label
        ));
    }
    given
        .notes
        .extend((!resolved.enabled).then(|| OFF.to_owned()));
    given.unknown.retain(|(key, _)| key != "policy");
    if given.is_read {
        given.policy = resolved.policy;
        let all = Given::known("", resolved.policy).broken;
        let own: Vec<_> = given.broken.iter().map(|it| it.rule.clone()).collect();
        let others = all.into_iter().filter(|it| !own.contains(&it.rule));
        given.broken.extend(others);
    }
    Ok(given)
}

fn read(path: &Path) -> Result<Config, Refused> {
    if let Some(why) = input::refused(path) {
        return Err(Refused::Words(format!("{}: {why}", path.display())));
    }
    Config::from_file(path).map_err(|faults| {
        if faults.iter().any(|fault| fault.rule() == RuleId::File) {
            Refused::Words(faults.to_string())
        } else {
            Refused::ConfigError(faults)
        }
    })
}

const OFF: &str = "retries are switched off (`enabled = false`): it is called once, and all this holds when they are on again";

fn named(config: &Config, name: &str) -> Option<Given> {
    let is_policy =
        config.policy(name).is_some() || (name == "default" && config.default().is_some());
    let is_operation = config.operations().any(|operation| operation == name);
    let (operation, policy) = match (is_policy, is_operation) {
        (true, _) => ("", name),
        (_, true) => (name, ""),
        _ => return None,
    };
    let resolved = config.resolve(operation, policy, &Policy::new());
    let mut given = Given::known(name, resolved.policy);
    if resolved.label.is_empty() {
        let note = format!(
            "the file gives `{name}` no policy of its own, so that of the code holds under these keys: here are the defaults in its place"
        );
        given.notes.push(note);
    } else if resolved.label != name {
        given
            .notes
            .push(format!("`{name}` has the policy `{}`", resolved.label));
    }
    given
        .notes
        .extend((!resolved.enabled).then(|| OFF.to_owned()));
    Some(given)
}

/// What there is in place of `name`.
fn unknown(config: &Config, path: &Path, name: &str) -> String {
    let policies: Vec<String> = config.policies().map(|(name, _)| name.to_owned()).collect();
    let operations: Vec<String> = config.operations().map(str::to_owned).collect();
    let all: Vec<&str> = policies
        .iter()
        .chain(&operations)
        .map(|name| &**name)
        .collect();
    let listed = |kind: &str, names: &[String]| {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        (!names.is_empty()).then(|| format!("{kind} {}", names.join(", ")))
    };
    let lists = [
        listed("policies", &policies),
        listed("operations", &operations),
    ];
    let lists: Vec<_> = lists.into_iter().flatten().collect();
    let path = path.display();
    let nothing = format!("`{path}` has no policy and no operation `{name}`");
    match nearest(name, &all) {
        _ if all.is_empty() => format!("{nothing}, and no others; write `[policies.{name}]`"),
        Some(near) => format!(
            "{nothing}; did you mean `{near}`? it has {}",
            lists.join("; ")
        ),
        None => format!("{nothing}; it has {}", lists.join("; ")),
    }
}

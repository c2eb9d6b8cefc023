//! The questions about the places of a workspace.

mod words;

use reattempt_policy::Values;
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::{Path, PathBuf};

use reattempt_config::Config;
use reattempt_syntax::model::{BudgetSource, Model};
use retry_runtime::rules::Key;

use super::file::{Checked, Summary, unless_answered};
use super::questions::{Finding, Question, no_jitter};
use crate::code::modules::Code;
use crate::code::modules::Meaning;
use crate::code::workspace::Workspace;
use crate::input;
use crate::list::Read;
use crate::list::policy::{self, Effective};
use crate::list::sites::{Callee, Form, Site};
use words::Words;

/// A client that has no time-out by default.
struct Patient {
    package: &'static str,
    /// Types and functions of it.
    names: &'static [&'static str],
    /// What sets one.
    way: &'static str,
}

const AROUND: &str = "a time-out around the request";
const OF_POSTGRES: &str = "`tcp_user_timeout(..)` and a `statement_timeout`";

const fn patient(
    package: &'static str,
    names: &'static [&'static str],
    way: &'static str,
) -> Patient {
    Patient {
        package,
        names,
        way,
    }
}

const PATIENT: &[Patient] = &[
    patient(
        "reqwest",
        &["Client", "RequestBuilder", "get"],
        "`Client::builder().timeout(..)`",
    ),
    patient(
        "ureq",
        &["Agent", "get", "post", "put", "delete", "head", "patch"],
        "`timeout_global(..)` of its agent",
    ),
    patient("hyper", &["SendRequest"], AROUND),
    patient("hyper-util", &["Client"], AROUND),
    patient("postgres", &["Client"], OF_POSTGRES),
    patient("tokio-postgres", &["Client"], OF_POSTGRES),
    patient(
        "std",
        &["TcpStream"],
        "`set_read_timeout(..)` and `connect_timeout(..)`",
    ),
];

/// Reads the code of this folder, and asks.
pub(super) fn checked(configuration: Option<&Path>) -> Result<Checked, Box<dyn Error>> {
    let workspace = Workspace::load(None)?;
    let configuration = match configuration {
        Some(file) => policy::configuration(Some(file), &workspace.root)
            .ok()
            .flatten(),
        None => None,
    };
    let read = Read::of(&workspace, configuration.as_ref());
    read.code.report_unread();
    let mut places = Places {
        words: Words::of(&read.code),
        listed: (configuration.iter().flat_map(Config::operations)).collect(),
        read: &read,
        texts: HashMap::new(),
        asked: Vec::new(),
    };
    let mut known = Vec::new();
    for number in 0..read.survey.sites.len() {
        if let Some(site) = read.survey.sites.get(number)
            // A file may be part of several targets.
            && !known.contains(&&site.place)
        {
            known.push(&site.place);
            places.ask(number, site);
        }
    }
    let mut asked = places.asked;
    asked.sort_by(|one, other| {
        (&one.file, one.line, one.column).cmp(&(&other.file, other.line, other.column))
    });
    Ok(Checked {
        file: "the code".to_owned(),
        ok: true,
        faults: Vec::new(),
        questions: asked,
        summary: Some(Summary::Code {
            places: known.len(),
        }),
    })
}

struct Places<'r> {
    read: &'r Read,
    /// The operations of the file.
    listed: HashSet<&'r str>,
    words: Words,
    texts: HashMap<PathBuf, String>,
    asked: Vec<Finding>,
}

impl Places<'_> {
    fn ask(&mut self, number: usize, site: &Site) {
        let tests = |kind: &&str| ["test", "bench"].contains(kind);
        let (Some(Some(effective)), Some(model)) =
            (self.read.effective.get(number), &site.reading.model)
        else {
            return;
        };
        if site.kinds.iter().all(tests)
            || site.conditions.iter().any(|it| it == "test")
            || effective.is_off
        {
            return;
        }
        let limits = Limits::of(effective);
        let lacking = self
            .patient(number, site)
            .filter(|_| limits.is_known && !limits.has_timeout);
        let questions = [
            (
                Question::NoLimit,
                limits.missing(site, model, |error| self.read.types.reports_limits(error)),
            ),
            (Question::NoTimeout, lacking.map(no_timeout)),
            (Question::NoJitter, fixed(effective)),
            (Question::NoBudget, no_budget(site, model, effective)),
            (Question::LoneBudget, self.lone_budget(site)),
            (Question::NoEffect, self.no_effect(site, model)),
        ];
        for (question, message) in questions {
            let Some(message) = message else { continue };
            let asked = Finding {
                file: site.place.file.shown.clone(),
                line: Some(site.place.line),
                column: Some(site.place.column),
                of: site.operation.clone(),
                question,
                message,
                why: question.why(),
            };
            let path = &site.place.file.path;
            let text = self.texts.entry(path.clone());
            let text = text.or_insert_with(|| input::text(path).unwrap_or_default());
            self.asked.extend(unless_answered(text, asked));
        }
    }

    /// A table of the file for an operation that does not ask for a policy by name.
    fn no_effect(&self, site: &Site, model: &Model) -> Option<String> {
        let name = site.operation.as_str();
        (model.named.is_none() && self.listed.contains(name))
            .then(|| format!("`[operations.\"{name}\"]` of the file has no effect here"))
    }

    /// The client that a place calls, if it has no time-out of its own and its package sets none.
    fn patient(&self, number: usize, site: &Site) -> Option<&'static Patient> {
        if self.words.has_timeout(&site.package) {
            return None;
        }
        let nodes = self.read.survey.nodes.iter();
        let calls = nodes
            .filter(|node| node.site == Some(number))
            .flat_map(|node| &node.calls);
        calls.into_iter().find_map(|call| match &call.callee {
            Callee::Path(path) => {
                let meanings = self
                    .read
                    .code
                    .meanings(path, site.module, &call.scope.uses());
                meanings.iter().find_map(|it| match it {
                    Meaning::Foreign(package, rest)
                        if !rest.iter().any(|name| name == "blocking") =>
                    {
                        named(
                            |known| known == package,
                            |names| rest.iter().any(|it| names.contains(&it.as_str())),
                        )
                    }
                    _ => None,
                })
            }
            Callee::Method(ty, _) if !is_ours(&self.read.code, ty) => {
                let uses = |package: &str| depends(&self.read.code, site.module, package);
                named(uses, |names| names.contains(&ty.as_str()))
            }
            _ => None,
        })
    }

    /// A budget that stands in a `static`, and that nothing else names.
    fn lone_budget(&self, site: &Site) -> Option<String> {
        let written = site.reading.key("budget")?.trim_start_matches('&').trim();
        let name = written.rsplit("::").next()?.trim();
        (self.words.count(name) == 2).then(|| format!("nothing but this operation names `{name}`"))
    }
}

/// Whether the crate of a module has a dependency of this name.
fn depends(code: &Code, module: usize, package: &str) -> bool {
    let krate = code
        .modules
        .get(module)
        .and_then(|it| code.crates.get(it.krate));
    krate.is_some_and(|it| it.externs.values().any(|known| known == package))
}

/// Whether a type of this name is defined in the workspace.
fn is_ours(code: &Code, ty: &str) -> bool {
    code.modules.iter().any(|module| module.names.contains(ty))
}

fn named(
    is_package: impl Fn(&str) -> bool,
    is_name: impl Fn(&[&str]) -> bool,
) -> Option<&'static Patient> {
    PATIENT
        .iter()
        .find(|it| is_package(it.package) && is_name(it.names))
}

/// What of a policy bounds the time of a call.
struct Limits {
    is_known: bool,
    has_deadline: bool,
    has_timeout: bool,
    attempts: Option<u32>,
}

impl Limits {
    fn of(effective: &Effective) -> Self {
        let Values {
            deadline, timeout, ..
        } = *effective.policy.values();
        let keys = [Key::Max, Key::Deadline, Key::Timeout];
        Self {
            is_known: keys.into_iter().all(|key| effective.knows(key)),
            has_deadline: deadline.is_some(),
            has_timeout: timeout.is_some(),
            attempts: effective.policy.attempts(),
        }
    }

    /// Finding where the answer can tell that a limit has ended the call: else a limit costs another type.
    fn missing(
        &self,
        site: &Site,
        model: &Model,
        reports: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let ends = self.has_deadline || (self.has_timeout && self.attempts.is_some());
        let goes_on = site.reading.key("reset_after").is_some() || model.strategy.is_some();
        let is_asked = match site.form {
            Form::Run => true,
            Form::Layer | Form::Step => false,
            Form::Function | Form::Method | Form::Block => {
                let limits = ["timeout", "breaker", "bulkhead", "throttle"];
                !site.reading.is_async
                    || limits
                        .into_iter()
                        .any(|key| site.reading.key(key).is_some())
                    || site.reading.error.as_deref().is_some_and(reports)
            }
        };
        if !self.is_known || ends || goes_on || !is_asked {
            return None;
        }
        let attempts = match self.attempts {
            Some(1) => return None,
            Some(max) => format!("{max} attempts, each as long as it likes"),
            None => "as many attempts as it likes".to_owned(),
        };
        Some(attempts)
    }
}

fn no_timeout(Patient { package, way, .. }: &Patient) -> String {
    format!("`{package}` has no time-out by default; set {way}")
}

/// Fixed delays of a policy of the code; those of a file are asked about there.
fn fixed(effective: &Effective) -> Option<String> {
    let is_asked = effective.label.is_none()
        && !effective.polls
        && effective.knows(Key::Max)
        && effective.knows_delays();
    no_jitter(&effective.policy).filter(|_| is_asked)
}

fn no_budget(site: &Site, model: &Model, effective: &Effective) -> Option<String> {
    let is_bounded =
        effective.policy.is_budgeted() || effective.share.is_some() || effective.budget.is_some();
    let is_run = site.form == Form::Run && effective.inherited.is_none() && !effective.polls;
    match model.budget {
        Some(BudgetSource::Never) => Some("`budget = \"none\"`".to_owned()),
        _ if is_run && !is_bounded && effective.policy.attempts() != Some(1) => {
            Some("`Policy::run` without a budget".to_owned())
        }
        _ => None,
    }
}

//! The policy that holds at a place: what is written there, with what constants and a configuration say.

use std::error::Error;
use std::path::Path;

use reattempt_config::Config;
use reattempt_syntax::model::Model;
use retry_runtime::budget::RefundBudget;
use retry_runtime::rules::{Key, Keys, Rule};
use retry_runtime::{Budget, Policy};
use syn::Expr;

use super::count::Count;
use super::sites::{Form, Site, Survey};
use super::values::{Constants, Standing, Value, with};
use crate::code::written;

/// The policy of a place, and what of it is not known.
pub(crate) struct Effective {
    pub(crate) policy: Policy,
    /// Whether a strategy decides after each failure.
    has_strategy: bool,
    /// Whether the configuration has switched its retries off.
    pub(crate) is_off: bool,
    /// Whether values can be waited for (`until`), which is no retry for what is below.
    pub(crate) polls: bool,
    /// How often one attempt is made: more than once with a `hedge`.
    pub(crate) copies: Count,
    /// Retries that its budget allows for each call, if that is a share.
    pub(crate) share: Option<f64>,
    /// That which its policy in the configuration has.
    pub(crate) budget: Option<&'static Budget>,
    /// Keys that stand beside an inherited policy.
    given: Keys,
    /// Keys whose value only the compiler or the running program knows.
    unknown: Keys,
    /// The policy that the keys override, where its values are not known.
    pub(crate) inherited: Option<String>,
    /// The name of the policy in the configuration that holds.
    pub(crate) label: Option<String>,
    /// Rules that constants break: ids and messages.
    pub(crate) violations: Vec<(&'static str, String)>,
}

impl Effective {
    pub(crate) fn knows(&self, key: Key) -> bool {
        let is_given = self.inherited.is_none() || self.given.contains(key);
        is_given && !self.unknown.contains(key)
    }

    /// Whether all that the delays depend on is known.
    pub(crate) fn knows_delays(&self) -> bool {
        !self.has_strategy && Key::DELAYS.into_iter().all(|key| self.knows(key))
    }

    /// The tokens of the budget that the operation has by default: its retries end, and nothing else bounds them.
    pub(crate) fn default_budget(&self, site: &Site) -> Option<u32> {
        let has_place = !matches!(site.form, Form::Run | Form::Step);
        let names_one = self.budget.is_some() || self.share.is_some();
        let model = site.reading.model.as_ref();
        let is_given = model.is_some_and(|it| it.budget.is_some() || it.strategy.is_some());
        let is_known = self.inherited.is_none() && self.knows(Key::Max);
        let is_exempt = self.is_off || self.polls || !self.policy.has_default_budget();
        let is_default = has_place && is_known && !names_one && !is_given && !is_exempt;
        let max = self.policy.attempts().filter(|max| is_default && *max > 1);
        max.map(RefundBudget::capacity)
    }

    /// How many attempts a call makes at most.
    pub(crate) fn attempts(&self) -> Count {
        if !self.knows(Key::Max) {
            return Count::Unknown;
        }
        let attempts = self.policy.attempts();
        attempts.map_or(Count::Unlimited, |it| Count::Known(it.into()))
    }

    /// Keys whose value is not known.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = Key> {
        Key::ALL
            .into_iter()
            .filter(|key| self.unknown.contains(*key))
    }
}

/// That of each site; nothing where not even its keys could be read.
pub(crate) fn of(
    survey: &Survey,
    constants: &Constants<'_>,
    configuration: Option<&Config>,
) -> Vec<Option<Effective>> {
    let sites = survey.sites.iter();
    sites
        .map(|site| effective(site, constants, configuration))
        .collect()
}

/// The policy that holds, as far as it is known before the program runs.
fn effective(
    site: &Site,
    constants: &Constants<'_>,
    configuration: Option<&Config>,
) -> Option<Effective> {
    let model = site.reading.model.as_ref()?;
    let at = Standing {
        module: site.module,
        scope: Some(&site.scope),
        owner: site.owner.as_deref(),
    };
    let mut effective = Effective {
        policy: Policy::of(model.known),
        has_strategy: model.strategy.is_some(),
        is_off: false,
        polls: model.until.is_some(),
        copies: copies(model, constants, at),
        share: share(site.reading.key("budget"), constants, at),
        budget: None,
        given: Keys::NONE,
        unknown: Keys::NONE,
        inherited: None,
        label: None,
        violations: Vec::new(),
    };
    for setting in &model.settings {
        effective.given = effective.given.with(setting.key);
    }
    let mut is_literal = true;
    for setting in model
        .settings
        .iter()
        .filter(|setting| setting.expression.is_some())
    {
        is_literal = false;
        let value = syn::parse2::<Expr>(setting.value.clone()).ok();
        let value = value.and_then(|expr| constants.value(&expr, at));
        match value.and_then(|value| with(effective.policy, setting.key.as_str(), value)) {
            Some(policy) => effective.policy = policy,
            None => effective.unknown = effective.unknown.with(setting.key),
        }
    }
    if model.timeout_by.is_some() {
        is_literal = false;
        effective.given = effective.given.with(Key::Timeout);
        effective.unknown = effective.unknown.with(Key::Timeout);
    }
    if let Some(inherited) = &model.inherited {
        is_literal = false;
        match constants.value(&inherited.expr, at) {
            Some(Value::Policy(base)) => {
                effective.policy = base.merged_with(&effective.policy);
            }
            _ => effective.inherited = Some(written(&inherited.expr)),
        }
    }
    if let Some(named) = &model.named {
        let named = named.value();
        // A file says more than the code.
        effective.given = Keys::NONE;
        match configuration {
            Some(configuration) if configuration.policy(&named).is_some() => {
                let resolved = configuration.resolve(&site.operation, &named, &effective.policy);
                effective.is_off = !resolved.enabled;
                let label = resolved.label.to_owned();
                effective.policy = if resolved.enabled {
                    resolved.policy
                } else {
                    resolved.policy.max(1)
                };
                effective.label = Some(label);
                if let Some(budget) = resolved.policy.shared_budget().filter(|_| resolved.enabled) {
                    effective.budget = Some(budget);
                    effective.share = effective.share.or_else(|| share_of(budget));
                }
            }
            Some(_) => {
                effective.inherited = Some(format!("\"{named}\", which the file does not have"));
            }
            None => effective.inherited = Some(format!("\"{named}\"")),
        }
    }
    if !is_literal && effective.inherited.is_none() {
        let known = Rule::ALL
            .iter()
            .filter(|rule| !rule.keys().intersects(effective.unknown));
        let broken = known.filter_map(|rule| rule.check(effective.policy.values()));
        effective.violations = broken
            .map(|it| (it.rule().as_str(), it.message().to_owned()))
            .collect();
    }
    Some(effective)
}

/// How often one attempt is made.
fn copies(model: &Model, constants: &Constants<'_>, at: Standing<'_>) -> Count {
    let Some(hedge) = &model.hedge else {
        return Count::Known(1);
    };
    if let Some(most) = hedge.most() {
        return Count::Known(most.into());
    }
    let value = syn::parse2::<Expr>(hedge.value.clone()).ok();
    match value.and_then(|expr| constants.value(&expr, at)) {
        Some(Value::Hedge(copies)) => Count::Known(copies.saturating_add(1)),
        _ => Count::Unknown,
    }
}

/// Retries for each call.
fn share(budget: Option<&str>, constants: &Constants<'_>, at: Standing<'_>) -> Option<f64> {
    match constants.value(&syn::parse_str(budget?).ok()?, at)? {
        Value::Budget(share) | Value::Number(share) => Some(share),
        _ => None,
    }
}

/// What one call that succeeds brings in; nothing for budgets that count tokens, which are full at the start.
fn share_of(budget: &Budget) -> Option<f64> {
    let budget = budget.another();
    let before = budget.balance();
    budget.account().succeeded();
    // Time passes, and the reserve grows with it.
    let share = ((budget.balance() - before) * 1e4).round() / 1e4;
    (share > 0.0).then_some(share)
}

/// The configuration: a file that is named, or the one that lies at the root.
pub(crate) fn configuration(
    named: Option<&Path>,
    root: &Path,
) -> Result<Option<Config>, Box<dyn Error>> {
    let usual = root.join("retry.toml");
    let here = std::env::current_dir().unwrap_or_default();
    let usual = usual
        .strip_prefix(here)
        .map(Path::to_owned)
        .unwrap_or(usual);
    let file = match named {
        Some(file) => file,
        None if usual.is_file() => &usual,
        None => return Ok(None),
    };
    // As the file says: the environment here is not that of the service.
    let text = crate::input::text(file)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let config = Config::from_text(&file.display().to_string(), &text, [])?;
    Ok(Some(config))
}

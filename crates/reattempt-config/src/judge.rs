//! What no key shows by itself: names of policies that are not there; and the rules, on each policy by itself and on
//! each operation with the policy below it.

use core::fmt::Write as _;
use core::time::Duration;

use figment::value::{Dict, Tag, Value};

use super::layer::Draft;
use super::read::Drafts;
use super::reader::Reader;
use super::span;
use super::{DEFAULT, OPERATIONS, POLICIES, POLICY};
use reattempt_policy::written::{listed, nearest};
use reattempt_policy::{Backoff, Jitter, KeyValue, Values};
use retry_runtime::Policy;
use retry_runtime::rules::{Key, Keys, Kind, Rule, RuleId, Violation};

impl Reader<'_> {
    /// X15: names of policies that are not there.
    pub(super) fn references(&mut self, drafts: &Drafts, top: &Dict) {
        let operations = match top.get(OPERATIONS) {
            Some(Value::Dict(_, operations)) => Some(operations),
            _ => None,
        };
        let tag =
            |table: Option<&Dict>, key| table.and_then(|table| table.get(key)).map(Value::tag);
        if let (Some(name), Some(tag)) = (&drafts.default, tag(Some(top), DEFAULT)) {
            self.within(DEFAULT, |this| this.reference(name, tag, drafts));
        }
        for (operation, read) in &drafts.operations {
            let table = match operations.and_then(|tables| tables.get(operation)) {
                Some(Value::Dict(_, table)) => Some(table),
                _ => None,
            };
            if let (Some(name), Some(tag)) = (&read.policy, tag(table, POLICY)) {
                self.path = vec![OPERATIONS.to_owned(), operation.clone(), POLICY.to_owned()];
                self.reference(name, tag, drafts);
                self.path.clear();
            }
        }
    }

    fn reference(&mut self, name: &str, tag: Tag, drafts: &Drafts) {
        if drafts.policies.contains_key(name) {
            return;
        }
        let names: Vec<_> = drafts.policies.keys().map(|name| &**name).collect();
        let fix = match nearest(name, &names) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => {
                let policy = span::shown(&[POLICIES.to_owned(), name.to_owned()]);
                format!("there is none at all, write `[{policy}]`")
            }
            None => format!("the policies are {}", listed(&names)),
        };
        self.fault(
            tag,
            RuleId::X15,
            format!("there is no policy `{name}`; {fix}"),
        );
    }

    pub(super) fn judge(&mut self, drafts: &Drafts) {
        for draft in drafts.policies.values() {
            let known = Policy::new().merged_with(&draft.policy);
            for (rule, violation) in broken(known.values(), draft.wrong) {
                self.violation(rule, &violation, draft, None);
            }
        }
        for operation in drafts.operations.values() {
            let draft = &operation.draft;
            let name = operation.policy.as_deref();
            match name.and_then(|name| drafts.policies.get(name)) {
                Some(policy) => self.together(draft, policy),
                None => self.alone(draft),
            }
        }
    }

    /// An operation whose policy is not of this file: the code may give what its own keys leave open, so that only rules
    /// are asked that look at nothing else.
    fn alone(&mut self, draft: &Draft) {
        for (rule, violation) in broken(draft.policy.values(), draft.wrong) {
            let reads = rule.keys();
            let mut read = Key::ALL.into_iter().filter(|key| reads.contains(*key));
            if read.all(|key| draft.policy.has(key)) {
                self.violation(rule, &violation, draft, None);
            }
        }
    }

    /// An operation over its policy. What the policy breaks by itself has been said.
    fn together(&mut self, draft: &Draft, policy: &Draft) {
        let below = Policy::new().merged_with(&policy.policy);
        let both = below.merged_with(&draft.policy);
        let mut wrong = draft.wrong;
        for key in Key::ALL {
            if policy.wrong.contains(key) && !draft.policy.has(key) {
                wrong = wrong.with(key);
            }
        }
        for (rule, violation) in broken(both.values(), wrong) {
            if rule.check(below.values()).as_ref() != Some(&violation) {
                self.violation(rule, &violation, draft, Some(policy));
            }
        }
    }

    /// Says it at the key that is blamed, or else at one that the rule reads, or else at the table.
    fn violation(
        &mut self,
        rule: Rule,
        violation: &Violation,
        draft: &Draft,
        policy: Option<&Draft>,
    ) {
        let Some(blamed) = violation.key() else {
            return;
        };
        let reads = rule.keys();
        let given =
            |wanted: &dyn Fn(Key) -> bool| draft.keys.iter().copied().find(|(key, _)| wanted(*key));
        let place = given(&|key| key == blamed).or_else(|| given(&|key| reads.contains(key)));
        let mut message = violation.message().to_owned();
        if let Some(policy) = policy
            && !draft.policy.has(blamed)
            && policy.policy.has(blamed)
        {
            if rule == Rule::OnlyForRetries {
                message.push_str(", or `enabled = false` in place of `max = 1`");
            }
            let table = span::shown(&policy.path);
            // Writing to a `String` does not fail.
            let _ = write!(message, " (`{blamed}` comes from `[{table}]`)");
        }
        let is_given = draft.policy.has(blamed) || policy.is_some_and(|of| of.policy.has(blamed));
        if !is_given {
            // Nobody has written the value that is spoken of.
            let _ = write!(
                message,
                " (`{blamed}` is not set here, so that its default counts)"
            );
        }
        self.path.clone_from(&draft.path);
        let mut tag = draft.tag;
        if let Some((key, of)) = place {
            self.path.push(key.as_str().to_owned());
            tag = of;
        }
        self.fault(tag, violation.rule(), message);
        self.path.clear();
    }
}

/// What a policy breaks, whatever the keys are set to whose values are no good.
fn broken(values: &Values, wrong: Keys) -> impl Iterator<Item = (Rule, Violation)> {
    Rule::ALL.iter().filter_map(move |rule| {
        let reads = rule.keys();
        let unknown = Key::ALL
            .into_iter()
            .filter(|key| reads.contains(*key) && wrong.contains(*key));
        let violation = anyway(*rule, values, &unknown.collect::<Vec<_>>())?;
        Some((*rule, violation))
    })
}

/// The violation that stays the same for each value of the `unknown` keys, and without them.
fn anyway(rule: Rule, values: &Values, unknown: &[Key]) -> Option<Violation> {
    let violation = rule.check(values)?;
    let Some((key, rest)) = unknown.split_first() else {
        return Some(violation);
    };
    // A value that leaves the other keys without an effect is not what will be written.
    let is_used = |values: &Values| {
        let rules = [Rule::OnlyForRetries, Rule::WithoutEffect];
        rules
            .into_iter()
            .all(|it| it == rule || it.check(values).is_none())
    };
    let others = samples(key.kind())
        .iter()
        .filter_map(|it| values.assign(*key, *it));
    others
        .filter(is_used)
        .all(|values| anyway(rule, &values, rest).as_ref() == Some(&violation))
        .then_some(violation)
}

/// Values between which, as far as rules go, all good ones of a key lie.
fn samples(kind: Kind) -> &'static [KeyValue] {
    const DAY: Duration = Duration::from_secs(86_400);
    const INSTANT: Duration = Duration::from_nanos(1);
    match kind {
        Kind::Attempts => &[
            KeyValue::Attempts(1),
            KeyValue::Attempts(2),
            KeyValue::Attempts(u32::MAX),
        ],
        Kind::Backoff => &[
            KeyValue::Backoff(Backoff::None),
            KeyValue::Backoff(Backoff::Fixed),
        ],
        Kind::Time => &[KeyValue::Time(INSTANT), KeyValue::Time(DAY)],
        Kind::Factor => &[KeyValue::Factor(1.01), KeyValue::Factor(1000.0)],
        Kind::Jitter => &[
            KeyValue::Jitter(Jitter::None),
            KeyValue::Jitter(Jitter::Ratio(1.0)),
        ],
        Kind::Flag => &[KeyValue::Flag(false), KeyValue::Flag(true)],
        Kind::Budget => &[KeyValue::Budget],
        Kind::Codes | Kind::Nested | Kind::Priority | Kind::Telemetry => &[],
    }
}

//! What is said of parameters that a body moves.

use super::{Move, SetBy, Way, declared};

/// What is said of parameters that are moved; `some` of them if it is not known which.
pub fn message(moved: &[&Move], cloned: &[String], set_by: SetBy, some: bool) -> String {
    let mut parameters: Vec<Parameter<'_>> = Vec::new();
    for it in moved {
        let name = declared(&it.name);
        if parameters.iter().all(|known| known.name != name) {
            parameters.push(Parameter {
                name,
                way: &it.way,
                is_captured: it.is_captured,
                is_mutable: it.mutability.is_some(),
            });
        }
    }
    let names: Vec<_> = parameters.iter().map(|it| it.name.clone()).collect();
    let quoted = quoted(&names, some);
    let them = pronoun(parameters.len());
    // Before a move at once there is nothing to retry.
    let block = moved.iter().all(|it| it.follows_failure).then_some(BLOCK);
    let advice = advice(
        &parameters,
        copied(&parameters, cloned, some),
        set_by,
        block,
    );
    format!("the body moves {quoted}, and the next attempt needs {them}; {advice}")
}

/// A parameter, and how the next attempt can have it.
struct Parameter<'m> {
    name: String,
    way: &'m Way,
    /// Whether a closure or a block that is `move` takes it.
    is_captured: bool,
    /// Whether it is declared `mut`.
    is_mutable: bool,
}

/// What is said of parameters that are moved, and whose types are not `Clone`: their parts may not be either.
pub fn message_of_unique(moved: &[&Move], set_by: SetBy) -> String {
    let names: Vec<_> = moved.iter().map(|it| declared(&it.name)).collect();
    let (quoted, list) = (quoted(&names, true), names.join(", "));
    let (are, its, types) = match names.len() {
        1 => ("is", "its", "type"),
        _ => ("are", "their", "types"),
    };
    let block = moved.iter().all(|it| it.follows_failure);
    let is_in_front = moved.iter().any(|it| it.way == Way::InFront);
    let ways = [
        // That of a method borrows `self`, and the future may not.
        (is_in_front && set_by == SetBy::Function)
            .then(|| format!("move the `let` of {quoted} into the async block")),
        block.then(|| BLOCK.to_owned()),
        Some(without(set_by, names.len())),
        (!is_in_front).then(|| {
            let made = match moved {
                [only] => only.of_block.as_ref().filter(|_| set_by != SetBy::Trait),
                _ => None,
            };
            let made = made.map_or_else(
                || format!("make {its} {types} `Clone`"),
                |name| format!("add `{name}: Clone`"),
            );
            format!("{made} and write `clone({list})` in the attribute")
        }),
    ];
    let ways: Vec<_> = ways.into_iter().flatten().collect();
    format!(
        "the body moves {quoted}, which {are} not `Clone`, and the next attempt needs {}; {}",
        pronoun(names.len()),
        alternatives(&ways)
    )
}

/// The names of parameters; `some` of them if it is not known which.
fn quoted(names: &[String], some: bool) -> String {
    let all = names.iter().map(|name| format!("`{name}`")).collect();
    let some = if some && names.len() > 1 {
        "some of "
    } else {
        ""
    };
    format!("{some}{}", listed(all, "and"))
}

const BLOCK: &str = "retry only what stands before the move with `retry_block!`";

fn advice(
    parameters: &[Parameter<'_>],
    copy: String,
    set_by: SetBy,
    block: Option<&str>,
) -> String {
    let changes = parameters.iter().any(|it| it.way.changes_signature());
    let only = match parameters {
        [only] => Some(format!("`{}`", only.name)),
        _ => None,
    };
    let without = without(set_by, parameters.len());
    let block = block.map(ToOwned::to_owned);
    if parameters.iter().all(|it| *it.way == Way::Clone) {
        let borrowed = only.unwrap_or_else(|| "them".to_owned());
        return alternatives(&[copy, format!("borrow {borrowed}")]);
    }
    if changes && set_by == SetBy::Trait {
        let types = only.map_or_else(
            || "their types".to_owned(),
            |name| format!("the type of {name}"),
        );
        let ways: Vec<_> = block.into_iter().chain([without]).collect();
        return format!("the trait sets {types}: {}", alternatives(&ways));
    }
    if parameters.iter().any(|it| *it.way == Way::Caller) {
        let ways: Vec<_> = block.into_iter().chain([without]).collect();
        return alternatives(&ways);
    }
    let way = listed(steps(parameters, copy), "and");
    if changes && set_by == SetBy::Unknown {
        return match block {
            Some(block) => format!("{block}, or, where no trait sets the signature, {way}"),
            None => format!("{way}; where a trait sets the signature, {without}"),
        };
    }
    let mut ways = vec![way];
    ways.extend(block);
    // Callers may lack the bound, and a type copies.
    if changes || parameters.iter().any(|it| it.way.may_fail()) {
        ways.push(without);
    }
    // Few types with a parameter have copies.
    if parameters
        .iter()
        .any(|it| matches!(it.way, Way::BoundInside(_)))
    {
        ways.rotate_left(1);
    }
    alternatives(&ways)
}

/// What has to be done, all of it.
fn steps(parameters: &[Parameter<'_>], copy: String) -> Vec<String> {
    let mut steps: Vec<_> = parameters.iter().flat_map(Parameter::steps).collect();
    steps.dedup();
    if parameters.iter().any(|it| it.way.is_copy()) {
        steps.push(copy);
    }
    steps
}

impl Parameter<'_> {
    fn steps(&self) -> Vec<String> {
        let name = &self.name;
        let declared = (!self.is_mutable).then(|| format!("declare `mut {name}`"));
        let mutable = |step| declared.iter().cloned().chain([step]).collect();
        match self.way {
            Way::CalledAgain(before, after)
            | Way::PassedAgain(before, after)
            | Way::MadeAgain(before, after) => {
                let mut steps = vec![format!("replace `{before}` by `{after}`")];
                steps.extend(declared);
                match self.way {
                    Way::CalledAgain(..) if !self.is_captured => {}
                    Way::MadeAgain(..) => {
                        steps.push(format!("{} each time", self.written(&format!("{name}()"))));
                    }
                    _ => steps.push(self.written(&format!("&mut {name}"))),
                }
                steps
            }
            Way::Reference("&") => vec![self.written(&format!("&{name}"))],
            Way::Reference(sign) => mutable(self.written(&format!("{sign}{name}"))),
            Way::InPlace | Way::InPlaceCalled(_) => {
                let borrow = match self.way {
                    Way::InPlaceCalled(called) if !self.is_captured => called.clone(),
                    _ => format!("&mut {name}"),
                };
                let written = self.written(&borrow);
                mutable(format!(
                    "{written}, which goes on where the failed attempt stopped"
                ))
            }
            Way::Reborrowed => vec![self.written(&format!("&mut *{name}"))],
            Way::Inside => mutable(self.written(&format!("{name}.as_deref_mut()"))),
            Way::Pinned => mutable(self.written(&format!("{name}.as_mut()"))),
            Way::Borrowed => vec![format!("take `{name}` by `&mut`")],
            Way::Bound(types) | Way::BoundInside(types) => {
                let bounds = types.iter().map(|ty| format!("`{ty}: Clone`"));
                vec![format!("add {}", listed(bounds.collect(), "and"))]
            }
            Way::InFront => vec![self.written(&format!("{name}.clone()"))],
            Way::ImplTrait => vec![format!("add `+ Clone` to the type of `{name}`")],
            Way::Clone | Way::Receiver | Way::Caller => Vec::new(),
        }
    }

    /// What stands in place of the parameter.
    fn written(&self, borrow: &str) -> String {
        if self.is_captured {
            match &*self.name {
                "self" => format!(
                    "write `let this = {borrow};` in front of what is `move`, and `this` in it"
                ),
                name => format!("write `let {name} = {borrow};` in front of what is `move`"),
            }
        } else {
            format!("write `{borrow}` in the body")
        }
    }
}

/// ``write `clone(a, b)` in the attribute``, with what is cloned already. Of `some` of them nobody knows which have copies.
fn copied(parameters: &[Parameter<'_>], cloned: &[String], some: bool) -> String {
    let copies = parameters.iter().filter(|it| it.way.is_copy());
    let of_types = copies.clone().filter(|it| it.way.is_copy_of_type());
    let but = if some && of_types.count() > 1 {
        " without those that are not `Clone`"
    } else {
        ""
    };
    let names: Vec<_> = (cloned.iter().map(String::as_str))
        .chain(copies.map(|it| it.name.as_str()))
        .collect();
    format!("write `clone({})` in the attribute{but}", names.join(", "))
}

/// What compiles whatever the types are.
fn without(set_by: SetBy, parameters: usize) -> String {
    match set_by {
        SetBy::Function => format!(
            "retry in a caller that makes {} anew, with `#[retry(never)]` here",
            pronoun(parameters)
        ),
        SetBy::Trait | SetBy::Unknown => {
            "leave the method without retries by `#[retry(never)]`".to_owned()
        }
    }
}

const fn pronoun(parameters: usize) -> &'static str {
    if parameters == 1 { "it" } else { "them" }
}

fn listed(mut all: Vec<String>, word: &str) -> String {
    match all.pop() {
        Some(last) if all.is_empty() => last,
        Some(last) => format!("{} {word} {last}", all.join(", ")),
        None => String::new(),
    }
}

fn alternatives(ways: &[String]) -> String {
    match ways {
        [one] => one.clone(),
        [rest @ .., last] => format!("{}, or {last}", rest.join(", ")),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests;

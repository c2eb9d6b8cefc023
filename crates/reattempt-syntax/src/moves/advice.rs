//! What is said of parameters that a body moves.

use super::{Move, SetBy, Way};

/// What is said of parameters that are moved; `some` of them if it is not known which.
pub fn message(moved: &[&Move], cloned: &[String], set_by: SetBy, some: bool) -> String {
    let mut parameters: Vec<(String, &Way)> = Vec::new();
    for it in moved {
        let name = it.declared();
        if parameters.iter().all(|(known, _)| *known != name) {
            parameters.push((name, &it.way));
        }
    }
    let quoted = match &*parameters {
        [(one, _)] => format!("`{one}`"),
        all => {
            let all = all.iter().map(|(name, _)| format!("`{name}`")).collect();
            let some = if some { "some of " } else { "" };
            format!("{some}{}", listed(all, "and"))
        }
    };
    let them = pronoun(parameters.len());
    // Before a move at once there is nothing to retry.
    let block = moved.iter().all(|it| it.follows_failure).then_some(BLOCK);
    let advice = advice(&parameters, cloned, set_by, block);
    format!("the body moves {quoted}, and the next attempt needs {them}; {advice}")
}

/// What is said of a parameter that is moved, and whose type is not `Clone`: its parts may not be either.
pub fn message_of_unique(moved: &Move, set_by: SetBy) -> String {
    let name = moved.declared();
    let ways = [
        moved.follows_failure.then(|| BLOCK.to_owned()),
        Some(without(set_by, 1)),
        Some(format!(
            "implement `Clone` for its type and write `clone({name})` in the attribute"
        )),
    ];
    let ways: Vec<_> = ways.into_iter().flatten().collect();
    format!(
        "the body moves `{name}`, which is not `Clone`, and the next attempt needs it; {}",
        alternatives(&ways)
    )
}

const BLOCK: &str = "retry only what stands before the move with `retry_block!`";

fn advice(
    parameters: &[(String, &Way)],
    cloned: &[String],
    set_by: SetBy,
    block: Option<&str>,
) -> String {
    let changes = parameters.iter().any(|(_, way)| way.changes_signature());
    let only = match parameters {
        [(name, way)] => Some((name, *way)),
        _ => None,
    };
    let copy = copied(parameters, cloned);
    let without = without(set_by, parameters.len());
    let block = block.map(ToOwned::to_owned);
    let or_block =
        |way: String| -> Vec<String> { [Some(way), block.clone()].into_iter().flatten().collect() };
    if parameters.iter().all(|(_, way)| matches!(way, Way::Clone)) {
        let borrowed = only.map_or_else(|| "them".to_owned(), |(name, _)| format!("`{name}`"));
        return alternatives(&[copy, format!("borrow {borrowed}")]);
    }
    if changes && set_by == SetBy::Trait {
        let types = only.map_or_else(
            || "their types".to_owned(),
            |(name, _)| format!("the type of `{name}`"),
        );
        let ways: Vec<_> = block.into_iter().chain([without]).collect();
        return format!("the trait sets {types}: {}", alternatives(&ways));
    }
    if parameters.iter().any(|(_, way)| **way == Way::Caller) {
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
    let mut ways = or_block(way);
    let in_front = parameters.iter().filter(|(_, way)| **way == Way::InFront);
    ways.extend(in_front.map(|(name, _)| format!("write `{name}.clone()` there")));
    // Callers may lack the bound, and a type copies.
    if changes || parameters.iter().any(|(_, way)| way.may_fail()) {
        ways.push(without);
    }
    alternatives(&ways)
}

/// What has to be done, all of it.
fn steps(parameters: &[(String, &Way)], copy: String) -> Vec<String> {
    let mut steps = Vec::new();
    for (name, way) in parameters {
        if let Way::CalledAgain(before, after)
        | Way::PassedAgain(before, after)
        | Way::MadeAgain(before, after) = way
        {
            steps.push(format!("replace `{before}` by `{after}`"));
        }
        match way {
            Way::CalledAgain(..) => steps.push(format!("write `mut {name}`")),
            Way::PassedAgain(..) => {
                steps.push(format!("declare `mut {name}`"));
                steps.push(format!("write `&mut {name}` in the body"));
            }
            Way::MadeAgain(..) => {
                steps.push(format!("declare `mut {name}`"));
                steps.push(format!("write `{name}()` in the body"));
            }
            _ => {}
        }
        steps.extend(step(name, way));
    }
    steps.dedup();
    if parameters.iter().any(|(_, way)| way.is_copy()) {
        steps.push(copy);
    }
    steps
}

fn step(name: &str, way: &Way) -> Option<String> {
    match way {
        Way::Reference("&") => Some(format!("write `&{name}` in the body")),
        Way::Reference(sign) => Some(format!(
            "declare `mut {name}` and write `{sign}{name}` in the body"
        )),
        Way::InPlace | Way::InPlaceCalled(_) => {
            let borrow = match way {
                Way::InPlaceCalled(called) => called.clone(),
                _ => format!("&mut {name}"),
            };
            Some(format!(
                "declare `mut {name}` and write `{borrow}` in the body, which goes on where the failed attempt stopped"
            ))
        }
        Way::Reborrowed => Some(format!("write `&mut *{name}` in the body")),
        Way::Inside => Some(format!(
            "declare `mut {name}` and write `{name}.as_deref_mut()` in the body"
        )),
        Way::Pinned => Some(format!(
            "declare `mut {name}` and write `{name}.as_mut()` in the body"
        )),
        Way::Borrowed => Some(format!("take `{name}` by `&mut`")),
        Way::Bound(types) => {
            let bounds = types.iter().map(|ty| format!("`{ty}: Clone`"));
            Some(format!("add {}", listed(bounds.collect(), "and")))
        }
        Way::InFront => Some(format!("move the `let` of `{name}` into the async block")),
        Way::ImplTrait => Some(format!("add `+ Clone` to the type of `{name}`")),
        Way::CalledAgain(..)
        | Way::PassedAgain(..)
        | Way::MadeAgain(..)
        | Way::Clone
        | Way::Receiver
        | Way::Caller => None,
    }
}

/// ``write `clone(a, b)` in the attribute``, with what is cloned already.
fn copied(parameters: &[(String, &Way)], cloned: &[String]) -> String {
    let copies = parameters.iter().filter(|(_, way)| way.is_copy());
    let names: Vec<_> = (cloned.iter().map(String::as_str))
        .chain(copies.map(|(name, _)| name.as_str()))
        .collect();
    format!("write `clone({})` in the attribute", names.join(", "))
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

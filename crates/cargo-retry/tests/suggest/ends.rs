//! What a loop does around its attempt: before it, behind it, and under which conditions.

use super::{is_sketch, only};

/// Each body has a suggestion that is a sketch, and says this.
fn are_sketches(name: &str, all: &[(&str, &str)]) {
    for (number, (body, words)) in all.iter().enumerate() {
        let (found, _) = only(&format!("{name}-{number}"), body);
        let said = found["missing"].to_string();
        assert!(
            is_sketch(&found) && said.contains(words),
            "{words}: {found}"
        );
    }
}

/// Each body has a suggestion that is whole, with this code.
fn are_whole(name: &str, all: &[(&str, &str)]) {
    for (number, (body, words)) in all.iter().enumerate() {
        let (found, code) = only(&format!("{name}-{number}"), body);
        assert!(
            !is_sketch(&found) && code.contains(words),
            "{words}: {found}"
        );
    }
}

#[test]
fn a_name_in_a_text_is_a_name() {
    let line = "debug!(\"attempt {attempt}\");";
    let (found, code) = only(
        "ends-text-turn",
        &format!(
            "for attempt in 0..5 {{ {line} match ask() {{ Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) }} }} fail()"
        ),
    );
    let body = format!("{{ let attempt = attempt.number() - 1; {line} ask() }}");
    assert!(is_sketch(&found) && code.contains(&body), "{found}");
    let counted = format!(
        "loop {{ {line} match ask() {{ Ok(it) => return Ok(it), Err(_) if attempt < 5 => {{ attempt += 1; sleep(PAUSE) }} Err(e) => return Err(e) }} }}"
    );
    let width = counted.replace("{attempt}", "{it:>attempt$}");
    are_sketches(
        "ends-text-count",
        &[
            (&counted, "what is tried uses `attempt`"),
            (&width, "what is tried uses `attempt`"),
        ],
    );
}

#[test]
fn what_is_compiled_at_times_only_is_said() {
    let arms = |arms: &str| format!("loop {{ match ask() {{ Ok(it) => return Ok(it), {arms} }} }}");
    let arm = arms(
        "#[cfg(windows)] Err(e) if e.is_denied() => sleep(PAUSE), Err(e) if e.is_busy() => sleep(PAUSE), Err(e) => return Err(e)",
    );
    let statement = arms(
        "Err(e) => { #[cfg(windows)] if e.is_denied() { sleep(PAUSE); continue; } if e.is_final() { return Err(e); } sleep(PAUSE) }",
    );
    are_sketches(
        "ends-cfg",
        &[
            (&arm, "what `#[cfg(windows)]` leaves out"),
            (&statement, "what `#[cfg(windows)]` leaves out"),
        ],
    );
    let log = arms(
        "Err(e) if is_over() => return Err(e), Err(_) => { #[cfg(feature = \"log\")] log::warn!(\"again\"); sleep(PAUSE) }",
    );
    let log_of_error = log.replace("Err(_)", "Err(e)").replace("again", "{e}");
    are_whole(
        "ends-cfg-log",
        &[
            (
                &log,
                "on_retry = |_| { #[cfg(feature = \"log\")] log::warn!(\"again\"); },",
            ),
            (
                &log_of_error,
                "if let Some(e) = retry.error() { #[cfg(feature = \"log\")] log::warn!(\"{e}\"); },",
            ),
        ],
    );
}

/// A macro of the crate may leave the loop.
#[test]
fn a_macro_that_is_not_known_decides() {
    let arms = |arms: &str| format!("loop {{ match ask() {{ Ok(it) => return Ok(it), {arms} }} }}");
    for (number, body) in [
        arms("Err(e) if e.is_final() => halt!(e), Err(_) => sleep(PAUSE)"),
        arms("Err(e) => { let next = choose!(e); sleep(next) }"),
        arms("Err(e) => { look(halt!(e)); sleep(PAUSE) }"),
    ]
    .iter()
    .enumerate()
    {
        let (found, code) = only(&format!("ends-macro-{number}"), body);
        let said = found["missing"].to_string();
        assert!(is_sketch(&found) && code.contains("on = ...,"), "{found}");
        assert!(said.contains("decides"), "{said}");
    }
    // Those that are known do not.
    let body = arms("Err(e) => { let text = format!(\"{e}\"); assert!(is_fine()); sleep(PAUSE) }");
    let (_, code) = only("ends-macro-known", &body);
    assert!(code.contains("on(_),"), "{code}");
}

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

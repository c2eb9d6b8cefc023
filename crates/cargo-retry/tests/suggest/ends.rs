//! What a loop does around its attempt: before it, behind it, and under which conditions.

use super::{is_sketch, only};

/// Each body has a suggestion that is a sketch, and says this.
pub(super) fn are_sketches(name: &str, all: &[(&str, &str)]) {
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
pub(super) fn are_whole(name: &str, all: &[(&str, &str)]) {
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
    // What decides nothing is done besides.
    let counted = arms("Err(_) => { #[cfg(feature = \"metrics\")] METRIC.add(1); sleep(PAUSE) }");
    let (found, code) = only("ends-cfg-besides", &counted);
    assert!(is_sketch(&found) && code.contains("on(_),"), "{found}");
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

#[test]
fn what_stands_between_the_attempt_and_its_match_is_kept() {
    let body = |between: &str| {
        format!(
            "loop {{ tries += 1; let result = ask(); {between} match result {{ Ok(it) => return Ok(it), Err(e) if tries > 4 => return Err(e), Err(_) => sleep(PAUSE) }} }}"
        )
    };
    are_whole(
        "ends-between",
        &[
            (&body(""), "{ ask() }"),
            // A count alone needs no more.
            (&body("seen += 1;"), "{ ask() }"),
            (
                &body("debug!(\"{result:?}\"); METRIC.add(1);"),
                "{ let result = ask(); debug!(\"{result:?}\"); METRIC.add(1); result }",
            ),
            (
                &body("let took = start.elapsed(); TIMES.add(took);"),
                "{ let result = ask(); let took = start.elapsed(); TIMES.add(took); result }",
            ),
        ],
    );
    are_sketches(
        "ends-between-left",
        &[
            (
                &body("if result.is_fatal() { return result; }"),
                "what `result.is_fatal()` decides",
            ),
            (&body("look(&result)?;"), "what `look(&result)?` decides"),
            (
                &body("debug!(\"{tries}: {result:?}\");"),
                "what is tried uses `tries`",
            ),
        ],
    );
    // What ends the loop is asked about each error, and a limit is one.
    let (found, code) = only("ends-between-ends", &body("if once { return result; }"));
    assert!(
        is_sketch(&found) && code.contains("on = |_| !once,"),
        "{found}"
    );
    let (_, code) = only(
        "ends-between-limit",
        &body("if tries > 4 { return result; } drop(it);"),
    );
    assert!(
        code.contains("max = 5,") && code.contains("on(_),"),
        "{code}"
    );
    assert!(
        code.contains("{ let result = ask(); drop(it); result }"),
        "{code}"
    );
}

#[test]
fn an_attempt_that_returns_by_itself_is_not_a_block() {
    let (found, _) = only(
        "ends-returns",
        "for _ in 0..4 { let it = match ask() { Ok(it) => Ok(it), Err(e) if e.is_final() => return Err(e), Err(e) => Err(e) }; match it { Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) } } fail()",
    );
    assert!(found["suggestion"].is_null(), "{found}");
    let said = found.to_string();
    assert!(said.contains("what is tried can leave the loop"), "{said}");
}

#[test]
fn what_a_turn_does_first_is_named() {
    let body = |first: &str| {
        format!(
            "loop {{ {first} match ask() {{ Ok(it) => return Ok(it), Err(e) if tries > 4 => return Err(e), Err(_) => {{ tries += 1; sleep(PAUSE) }} }} }}"
        )
    };
    are_sketches(
        "ends-first",
        &[
            (
                &body("if is_stopped() { return fail(); }"),
                "first: `if is_stopped() { return fail(); }`",
            ),
            (&body("sleep(FIRST);"), "first: `sleep(FIRST);`"),
            (
                &body("if tries > 0 { sleep(PAUSE); reconnect(); }"),
                "first: `if tries > 0 { sleep(PAUSE); reconnect(); }`",
            ),
            (&body("reset(3)?;"), "first: `reset(3)?;`"),
            (
                &body("halt!(is_stopped());"),
                "first: `halt!(is_stopped());`",
            ),
            (&body("let it = next()?;"), "first: `let it = next()?;`"),
        ],
    );
    // A value that is there for what its end does.
    are_whole(
        "ends-guard",
        &[(
            &body("let _permit = permit();"),
            "{ let _permit = permit(); ask() }",
        )],
    );
    // A limit is said as `max`.
    let (found, _) = only("ends-top", &body("if tries > 9 { return fail(); }"));
    assert!(!found["missing"].to_string().contains("first:"), "{found}");
}

/// The block of a loop that awaits is one, too: nothing blocks a thread.
#[test]
fn a_delay_that_is_awaited_stays_so() {
    let body = |delay: &str| {
        format!(
            "loop {{ match open(path) {{ Ok(it) => return Ok(it), Err(_) if tries < 4 => {{ tries += 1; {delay} }} Err(e) => return Err(e) }} }}"
        )
    };
    for (number, delay) in [
        "tokio::time::sleep(PAUSE).await;",
        "select! { _ = sleep(PAUSE) => {} _ = ends() => {} }",
        "within! { sleep(PAUSE).await; }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("ends-awaited-{number}"), &body(delay));
        assert!(code.contains("async { open(path) }, ).await"), "{found}");
    }
    are_whole(
        "ends-not-awaited",
        &[(&body("sleep(PAUSE);"), ", { open(path) }, )")],
    );
    let poll = "while start.elapsed() < LIMIT { if is_open() { return Ok(0); } sleep(PAUSE).await; } fail()";
    are_whole(
        "ends-awaited-poll",
        &[(poll, "async { is_open() }, ).await")],
    );
}

#[test]
fn an_attempt_behind_the_loop_counts() {
    let body = |last: &str| {
        format!(
            "for _ in 0..3 {{ match open(path) {{ Err(e) if e.is_busy() => sleep(PAUSE), other => return other }} }} {last}"
        )
    };
    are_sketches(
        "ends-last",
        &[
            (
                &body("open(path)"),
                "what follows the loop calls `open` once more",
            ),
            (
                &body("let last = self.open(path)?; Ok(last)"),
                "what follows the loop calls `open` once more",
            ),
        ],
    );
    are_whole("ends-no-last", &[(&body("Err(late(path))"), "max = 3,")]);
}

#[test]
fn a_success_that_the_last_arm_takes_is_not_final() {
    let body = |arms: &str| format!("loop {{ match read() {{ {arms} }} }}");
    are_sketches(
        "ends-any",
        &[
            (
                &body("Ok(it) if it == 1 => return Ok(it), _ => sleep(PAUSE)"),
                "`until`: the loop goes on after `_`",
            ),
            (
                &body("Ok(1) => return Ok(1), other => { warn!(\"{other:?}\"); sleep(PAUSE) }"),
                "`until`: the loop goes on after `other`",
            ),
        ],
    );
    for (number, arms) in [
        "Ok(it) => return Ok(it), _ => sleep(PAUSE)",
        "Err(e) if e.is_busy() => sleep(PAUSE), other => return other",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, _) = only(&format!("ends-final-{number}"), &body(arms));
        assert!(!found["missing"].to_string().contains("`until`"), "{found}");
    }
}

#[test]
fn what_else_a_while_asks_is_named() {
    let ask = "match ask() { Ok(it) => return Ok(it), Err(_) => { tries += 1; sleep(PAUSE) } }";
    let body = |condition: &str| format!("while {condition} {{ {ask} }} fail()");
    let poll = "while !is_stopped() && start.elapsed() < LIMIT { if is_open() { return Ok(0); } sleep(PAUSE); } fail()";
    are_sketches(
        "ends-while",
        &[
            (&body("!is_stopped()"), "the `while` asks `!is_stopped()`"),
            (
                &body("tries < 4 && !is_stopped()"),
                "the `while` asks `!is_stopped()`",
            ),
            (
                &body("is_open() && is_up()"),
                "the `while` asks `is_open() && is_up()`",
            ),
            (
                &body("tries < 4 || is_early()"),
                "the `while` asks `tries < 4 || is_early()`",
            ),
            (
                &body("tries < 4 || start.elapsed() < LIMIT"),
                "the `while` asks `tries < 4 || start.elapsed() < LIMIT`",
            ),
            (poll, "the `while` asks `!is_stopped()`"),
        ],
    );
    for (number, body) in [
        body("tries < 4"),
        body("true"),
        body("start.elapsed() < LIMIT"),
        "while let Err(e) = ask() { if e.is_final() { return Err(e); } sleep(PAUSE); } Ok(0)"
            .to_owned(),
        "while ask().is_err() { sleep(PAUSE); } Ok(0)".to_owned(),
        format!("while let Some(pause) = delays.next() {{ {ask} }} fail()"),
    ]
    .iter()
    .enumerate()
    {
        let (found, _) = only(&format!("ends-while-not-{number}"), body);
        assert!(
            !found["missing"].to_string().contains("the `while` asks"),
            "{found}"
        );
    }
}

/// An endless wait is no deadline.
#[test]
fn a_time_that_the_caller_gives_may_be_too_long() {
    let poll = |time: &str| {
        format!(
            "loop {{ if let Some(it) = find() {{ return Ok(it); }} if start.elapsed() > {time} {{ return fail(); }} sleep(PAUSE); }}"
        )
    };
    let said = |name: &str, time: &str| only(name, &poll(time)).0["unknown"].to_string();
    let words = "how long `self.limit` is: a deadline is at most 24 hours";
    assert!(said("ends-time", "self.limit").contains(words));
    assert!(!said("ends-time-known", "Duration::from_secs(9)").contains("at most 24 hours"));
}

#[test]
fn a_number_of_milliseconds_is_a_delay() {
    let body = |before: &str, time: &str, after: &str| {
        format!(
            "{before} loop {{ match ask() {{ Ok(it) => return Ok(it), Err(e) if tries >= 3 => return Err(e), Err(e) => {{ warn!(\"{{e}}, again in {{}}ms\", pause); tries += 1; sleep_ms({time}); {after} }} }} }}"
        )
    };
    are_whole(
        "ends-millis",
        &[
            (&body("", "100", ""), "base = \"100ms\","),
            (
                &body("let pause = 3_000u32;", "pause", ""),
                "base = \"3000ms\",",
            ),
            // Of whatever type.
            (
                &body("", "self.pause", ""),
                "base = std::time::Duration::from_millis(self.pause as u64),",
            ),
            (
                &body("", "pause + 1", ""),
                "base = std::time::Duration::from_millis((pause + 1) as u64),",
            ),
        ],
    );
    let grows = "base`, how long the loop sleeps: `pause`";
    are_sketches(
        "ends-millis-grow",
        &[
            (&body("let mut pause = 50;", "pause", "pause *= 3;"), grows),
            (
                &body(
                    "let mut pause = 50;",
                    "pause",
                    "pause = (pause + pause).min(2_000);",
                ),
                grows,
            ),
        ],
    );
    // In the log it is a number.
    let (_, code) = only(
        "ends-millis-log",
        &body("let pause = 3_000u32;", "pause", ""),
    );
    assert!(!code.contains("retry.delay()"), "{code}");
}

#[test]
fn what_is_known_of_delays_is_printed() {
    let failed = |failed: &str| {
        format!(
            "let mut pause = Duration::from_millis(50); loop {{ match ask() {{ Ok(it) => return Ok(it), Err(e) => {failed} }} }}"
        )
    };
    let sequence = failed("match delays.next() { Some(it) => sleep(it), None => return Err(e) }");
    are_sketches(
        "ends-next",
        &[(&sequence, "write its length plus one as `max`")],
    );
    // One that is not asked for its end has none.
    for (number, next) in [
        "sleep(delays.next().expect(\"endless\"))",
        "{ let it = delays.next(); if start.elapsed() > LIMIT { return Err(e); } sleep(it) }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("ends-endless-{number}"), &failed(next));
        assert!(code.contains("max = \"unlimited\","), "{found}");
    }
    for (number, next) in [
        "sleep(delays.next().ok_or(e)?)",
        "{ let it = delays.next(); if it.is_none() { return Err(e); } sleep(wait(it)) }",
        "{ let it = delays.next(); match it { Some(it) => sleep(it), None => return Err(e) } }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("ends-sequence-{number}"), &failed(next));
        let said = found["missing"].to_string();
        assert!(
            said.contains("write its length plus one as `max`"),
            "{found}"
        );
        assert!(!code.contains("max"), "{code}");
    }
    let twice = failed(
        "{ if tries > 3 { return Err(e); } tries += 1; sleep(pause); pause = pause + pause; }",
    );
    let (_, code) = only("ends-twice", &twice);
    assert!(code.contains("max = 5, base = \"50ms\", on(_)"), "{code}");
    // What grows before the first delay has grown in it.
    for (number, (step, keys)) in [
        (
            "pause *= 3; sleep(pause);",
            "base = \"150ms\", factor = 3.0, on(_)",
        ),
        (
            "pause = (pause * 2).min(MOST); sleep(pause);",
            "base = \"100ms\", cap = MOST, on(_)",
        ),
        ("wait *= 2; sleep(wait);", "base = wait * 2, on(_)"),
        (
            "wait = wait.mul_f64(1.5); sleep(wait);",
            "base = wait.mul_f64(1.5), factor = 1.5, on(_)",
        ),
        ("sleep(wait); wait *= 2;", "base = wait, on(_)"),
    ]
    .into_iter()
    .enumerate()
    {
        let body = failed(&format!(
            "{{ if tries > 3 {{ return Err(e); }} tries += 1; {step} }}"
        ));
        let (found, code) = only(&format!("ends-grown-{number}"), &body);
        assert!(!is_sketch(&found) && code.contains(keys), "{keys}: {found}");
    }
    // Without the delay, whether it has jitter is not known.
    let unknown = failed("{ if tries > 3 { return Err(e); } tries += 1; sleep(next(tries)); }");
    let (found, code) = only("ends-unknown", &unknown);
    assert!(is_sketch(&found) && !code.contains("jitter"), "{found}");
    assert!(
        !found["differs"].to_string().contains("no jitter"),
        "{found}"
    );
}

/// A policy ends where one limit is reached.
#[test]
fn limits_that_end_a_loop_together_are_named() {
    let body = |condition: &str, then: &str| {
        format!(
            "loop {{ match ask() {{ Ok(it) => return Ok(it), Err(e) => {{ tries += 1; if {condition} {then} }} }} }}"
        )
    };
    let leaves = "{ return Err(e); } sleep(PAUSE);";
    let again = "{ sleep(PAUSE); continue; } return Err(e);";
    let words = "the loop ends only where each limit is reached";
    are_sketches(
        "ends-both",
        &[
            (&body("tries > 4 && start.elapsed() > LIMIT", leaves), words),
            (&body("tries < 4 || start.elapsed() < LIMIT", again), words),
            (
                "loop { tries += 1; match ask() { Ok(it) => return Ok(it), Err(e) if tries > 4 && start.elapsed() > LIMIT => return Err(e), Err(_) => sleep(PAUSE) } }",
                words,
            ),
        ],
    );
    for (number, body) in [
        body("tries > 4 || start.elapsed() > LIMIT", leaves),
        body("tries < 4 && start.elapsed() < LIMIT", again),
    ]
    .iter()
    .enumerate()
    {
        let (found, code) = only(&format!("ends-either-{number}"), body);
        assert!(!found["missing"].to_string().contains(words), "{found}");
        assert!(
            code.contains("max = ") && code.contains("deadline = LIMIT,"),
            "{code}"
        );
    }
}

/// An attempt is a closure or a block: nothing in it ends the turn or the function.
#[test]
fn what_leads_out_of_an_attempt_is_not_in_it() {
    let turn = |first: &str, tried: &str| {
        format!(
            "for _ in 0..3 {{ {first} let it = {tried}; match it {{ Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) }} }} fail()"
        )
    };
    are_sketches(
        "ends-out",
        &[
            (
                &turn("if is_early() { continue; }", "ask()"),
                "first: `if is_early() { continue; }`",
            ),
            (
                &turn(
                    "for it in all() { if it.is_bad() { return fail(); } }",
                    "ask()",
                ),
                "first: `for it in all()",
            ),
            (
                &turn("for it in all() { check(it)?; }", "ask()"),
                "first: `for it in all()",
            ),
            (
                &turn(
                    "for it in all() { if it.is_bad() { continue 'outer; } }",
                    "ask()",
                ),
                "first: `for it in all()",
            ),
            (
                &turn("", "{ retry!(next()); ask() }"),
                "whether `retry!(next());` leaves the loop",
            ),
        ],
    );
    // Loops and blocks in it have ends of their own.
    let inside = turn(
        "'all: for it in all() { if it.is_bad() { break; } continue 'all; }",
        "'asked: { if is_cached() { break 'asked cached(); } ask() }",
    );
    let (found, code) = only("ends-inside", &inside);
    assert!(!found["missing"].to_string().contains("first:"), "{found}");
    assert!(
        code.contains("continue 'all; }") && code.contains("break 'asked"),
        "{found}"
    );
    for (number, tried) in [
        "match ask() { Err(e) if e.is_busy() => continue, it => it }",
        "loop { return ask(); }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, _) = only(&format!("ends-out-{number}"), &turn("", tried));
        assert!(found["suggestion"].is_null(), "{found}");
        assert!(
            found
                .to_string()
                .contains("what is tried can leave the loop"),
            "{found}"
        );
    }
    // What a condition calls may return as well.
    let (found, code) = only(
        "ends-macro-asked",
        "loop { match ask() { Ok(it) => return Ok(it), Err(e) if is_over!(e) => return Err(e), Err(_) => sleep(PAUSE) } }",
    );
    assert!(is_sketch(&found) && code.contains("on = ...,"), "{found}");
}

#[test]
fn what_is_missing_is_said_once() {
    let (found, _) = only(
        "ends-once",
        "loop { match ask() { Ok(it) => return Ok(it), Err(Error::Busy) => { refresh()?; sleep(PAUSE) } Err(_) => { refresh()?; sleep(PAUSE) } } }",
    );
    let said = found["missing"].to_string();
    assert_eq!(
        said.matches("what `refresh()?` decides").count(),
        1,
        "{said}"
    );
    assert_eq!(said.matches("between attempts").count(), 1, "{said}");
}

//! What a loop does and a policy does not do by itself: a suggestion that loses it says so.

use super::ends::{are_sketches, are_whole};
use super::{is_sketch, only};

/// A turn asks about the failure of the one before it.
#[test]
fn an_error_that_the_next_turn_returns_is_not_retried() {
    let body = |first: &str| {
        format!(
            "let mut last = match ask() {{ Ok(it) => return Ok(it), Err(e) => e }}; for turn in 1..5 {{ {first} match ask() {{ Ok(it) => return Ok(it), Err(e) => last = e }} }} Err(last)"
        )
    };
    for (number, (first, words)) in [
        (
            "let pause = match &last { Error::Busy(it) => *it, Error::Gone => return Err(last) }; sleep(pause);",
            "what `let pause = match &last {",
        ),
        (
            "if last.is_final() { return Err(last); } sleep(PAUSE);",
            "what `if last.is_final() { return Err(last); }` decides",
        ),
        (
            "look(&last)?; sleep(PAUSE);",
            "what `look(&last)?;` decides",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("kept-asked-{number}"), &body(first));
        let said = found["missing"].to_string();
        assert!(is_sketch(&found) && code.contains("on = ...,"), "{found}");
        assert!(said.contains(words), "{words}: {said}");
        assert!(
            said.contains("what stands in front of the loop calls `ask` once more"),
            "{said}"
        );
        assert!(!found["unknown"].to_string().contains("retries all"), "{found}");
    }
    // What the loop counts is not an error.
    let (found, code) = only(
        "kept-not-asked",
        &body("if turn > 9 || is_over() { return fail(); } sleep(PAUSE);"),
    );
    assert!(code.contains("on(_),"), "{found}");
}

/// What a `break` with a label ends is around the loop, and the block stands in the place of the loop.
#[test]
fn a_label_around_the_loop_is_kept() {
    let poll = |label: &str, end: &str| {
        format!(
            "'all: {{ {label} for _ in 0..9 {{ if is_open() {{ break {end}; }} sleep(PAUSE); }} panic!() }} Ok(1)"
        )
    };
    are_whole(
        "kept-label",
        &[
            (&poll("", "'all"), "if reattempt::retry_block!("),
            (&poll("", "'all"), ") { break 'all; }"),
            (&poll("'own:", "'own"), "_ = reattempt::retry_block!("),
            (&poll("", ""), "_ = reattempt::retry_block!("),
        ],
    );
    let retry = |label: &str, end: &str| {
        format!(
            "'all: loop {{ {label} loop {{ match ask() {{ Err(Error::Busy) => sleep(PAUSE), other => break {end} other }} }} }}"
        )
    };
    are_sketches(
        "kept-label-out",
        &[
            (&retry("", "'all"), "where `break 'all` leads"),
            (&retry("'own:", "'all"), "where `break 'all` leads"),
        ],
    );
    are_whole(
        "kept-label-own",
        &[
            (&retry("'own:", "'own"), "reattempt::retry_block!("),
            (&retry("", ""), "reattempt::retry_block!("),
        ],
    );
}

#[test]
fn what_the_loop_changes_and_the_code_behind_it_reads_is_named() {
    let body = |behind: &str| {
        format!(
            "let (mut tries, mut busy) = (0, 0); let answer = loop {{ match ask() {{ Ok(it) => break Ok(it), Err(e) => {{ tries += 1; busy += 1; if tries >= 3 {{ break Err(e); }} sleep(PAUSE); }} }} }}; {behind} answer"
        )
    };
    are_sketches(
        "kept-changed",
        &[
            (&body("seen(busy);"), "`busy`, which the code behind"),
            (
                &body("warn!(\"{tries} failed\");"),
                "`tries`, which the code behind",
            ),
            (
                &body("let tries = tries + 1; seen(tries);"),
                "`tries`, which the code behind",
            ),
        ],
    );
    are_whole(
        "kept-unchanged",
        &[
            (&body(""), "max = 3,"),
            (&body("let mut busy = 0; seen(busy);"), "max = 3,"),
            (&body("tries = 0; seen(tries);"), "max = 3,"),
            // What follows is not reached.
            (
                "let mut busy = 0; for _ in 0..3 { match ask() { Err(e) if e.is_busy() => { busy += 1; sleep(PAUSE) } other => return other } } seen(busy)",
                "max = 3,",
            ),
        ],
    );
}

#[test]
fn delays_that_differ_are_named() {
    let body = |failed: &str| {
        format!(
            "loop {{ tries += 1; match ask() {{ Ok(it) => return Ok(it), Err(e) if tries > 4 => return Err(e), {failed} }} }}"
        )
    };
    let words = "how long the loop sleeps after which failure: ";
    let said = |delays: &str| format!("{words}{delays};");
    are_sketches(
        "kept-delays",
        &[
            (
                &body("Err(Error::Busy) => {} Err(_) => sleep(PAUSE)"),
                &said("`PAUSE`, or not at all"),
            ),
            (
                &body("Err(Error::Busy) => continue, Err(_) => sleep(PAUSE)"),
                &said("`PAUSE`, or not at all"),
            ),
            (
                &body("Err(e) => if e.is_busy() { sleep(LONG) } else { sleep(SHORT) }"),
                &said("`SHORT`, or `LONG`"),
            ),
            (
                &body("Err(e) => { if e.is_busy() { sleep(LONG); } sleep(SHORT); }"),
                &said("`SHORT`, or `LONG` and `SHORT`"),
            ),
            (
                &body("Err(e) => match e { Error::Busy => info!(\"now\"), _ => sleep(PAUSE) }"),
                &said("`PAUSE`, or not at all"),
            ),
            (
                "loop { match ask() { Ok(it) => return Ok(it), Err(Error::Gone) => return fail(), Err(Error::Busy) => continue, Err(_) => {} } sleep(PAUSE); }",
                &said("`PAUSE`, or not at all"),
            ),
        ],
    );
    for (number, failed) in [
        "Err(Error::Busy) => { info!(\"busy\"); sleep(PAUSE) } Err(_) => sleep(PAUSE)",
        // The last attempt needs no delay.
        "Err(_) => { if tries < 4 { sleep(PAUSE); } }",
        // The error says it.
        "Err(e) => { if let Some(it) = e.after() { sleep(it) } else { sleep(PAUSE) } }",
        "Err(Error::After(it)) => sleep(it), Err(_) => sleep(PAUSE)",
        "Err(e) => { if e.is_final() { return Err(e); } sleep(PAUSE) }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, _) = only(&format!("kept-delay-{number}"), &body(failed));
        assert!(!found["missing"].to_string().contains(words), "{found}");
    }
}

/// A hook sees the failures before a retry, and the last one is none of them.
#[test]
fn what_is_logged_of_the_last_failure_is_named() {
    let arms =
        |failed: &str| format!("loop {{ match ask() {{ Ok(it) => return Ok(it), {failed} }} }}");
    let line = "warn!(\"{e}\");";
    let said = |name: &str, body: &str| {
        let (found, code) = only(name, body);
        assert!(code.contains("on_retry = "), "{found}");
        found["differs"]
            .to_string()
            .contains("the loop logs `warn!(\\\"{e}\\\")` where an error ends it")
    };
    for (number, body) in [
        arms(&format!("Err(e) => {{ {line} tries += 1; if tries >= 6 {{ return Err(e); }} sleep(PAUSE); }}")),
        arms(&format!("Err(e) => {{ {line} match delays.next() {{ Some(it) => sleep(it), None => return Err(e) }} }}")),
        format!("for _ in 0..3 {{ match ask() {{ Ok(it) => return Ok(it), Err(e) => {{ {line} sleep(PAUSE); }} }} }} fail()"),
        format!("while tries < 3 {{ match ask() {{ Ok(it) => return Ok(it), Err(e) => {{ tries += 1; {line} sleep(PAUSE); }} }} }} fail()"),
    ]
    .iter()
    .enumerate()
    {
        assert!(said(&format!("kept-logged-{number}"), body), "{body}");
    }
    for (number, body) in [
        arms(&format!("Err(e) => {{ tries += 1; if tries >= 6 {{ return Err(e); }} {line} sleep(PAUSE); }}")),
        arms(&format!("Err(e) if e.is_final() => return Err(e), Err(e) => {{ {line} sleep(PAUSE) }}")),
        format!("for turn in 1.. {{ match ask() {{ Ok(it) => return Ok(it), Err(e) if turn > 3 => return Err(e), Err(e) => {{ {line} sleep(PAUSE); }} }} }} fail()"),
    ]
    .iter()
    .enumerate()
    {
        assert!(!said(&format!("kept-not-logged-{number}"), body), "{body}");
    }
}

#[test]
fn a_clock_of_its_own_is_named() {
    let retry = |sleep: &str| {
        format!(
            "loop {{ tries += 1; match ask() {{ Ok(it) => return Ok(it), Err(e) if tries > 4 => return Err(e), Err(_) => {sleep} }} }}"
        )
    };
    let poll = |sleep: &str| {
        format!("for _ in 0..9 {{ if is_open() {{ return Ok(1); }} {sleep}; }} fail()")
    };
    let words = "`timer`: the loop sleeps by `clock.sleep`";
    are_sketches(
        "kept-clock",
        &[
            (&retry("clock.sleep(PAUSE)"), words),
            (&retry("select! { _ = clock.sleep(PAUSE) => {} }"), words),
            (&poll("clock.sleep(PAUSE)"), words),
        ],
    );
    are_whole(
        "kept-no-clock",
        &[
            (&retry("clock::sleep(PAUSE)"), "base = PAUSE,"),
            (&poll("sleep(PAUSE)"), "base = PAUSE,"),
        ],
    );
}

#[test]
fn a_delay_of_what_the_loop_changes_is_not_a_base() {
    let body = |first: &str, delay: &str| {
        format!(
            "loop {{ {first} match ask() {{ Ok(it) => return Ok(it), Err(e) if e.is_final() => return Err(e), Err(_) => {{ {delay} }} }} }}"
        )
    };
    let words = "`base`, how long the loop sleeps: ";
    are_sketches(
        "kept-delay-changes",
        &[
            (
                &body("state.advance();", "sleep(config.delay(state.turn()))"),
                words,
            ),
            (&body("advance(&mut state);", "sleep(delay(state))"), words),
            (
                &body(
                    "self.state.advance();",
                    "let pause = self.state.pause; sleep(pause)",
                ),
                words,
            ),
        ],
    );
    are_whole(
        "kept-delay-same",
        &[
            (
                &body("state.advance();", "sleep(config.delay(3))"),
                "base = config.delay(3),",
            ),
            (
                &body("self.state.advance();", "sleep(self.config.delay)"),
                "base = self.config.delay,",
            ),
        ],
    );
}

#[test]
fn a_result_that_is_asked_for_a_success_is_tried() {
    let turns = |ask: &str| format!("for _ in 0..9 {{ {ask} sleep(PAUSE); }} fail()");
    let poll = "if reattempt::retry_block!( max = 9, backoff = \"fixed\", base = PAUSE, jitter = \"none\", until = |is_so| *is_so, {";
    are_whole(
        "kept-ok-poll",
        &[
            (
                &turns("if ask().is_ok() { return Ok(1); }"),
                &format!("{poll} ask().is_ok() }}, ) {{ return Ok(1); }}"),
            ),
            (
                &turns("let it = ask(); if it.is_ok() { return Ok(1); }"),
                &format!("{poll} let it = ask(); it.is_ok() }}, ) {{ return Ok(1); }}"),
            ),
        ],
    );
    let words = "what the loop does with the answer";
    for (number, (body, code)) in [
        (
            turns("let it = ask(); if it.is_ok() { return it; }"),
            "max = 9, backoff = \"fixed\", base = PAUSE, jitter = \"none\", on(_), { ask() }",
        ),
        (
            turns("if ask().is_ok() { return Ok(1); } warn!(\"again\");"),
            "on(_), on_retry = |_| warn!(\"again\"), { ask() }",
        ),
        (
            "loop { if ask().is_ok() { break; } sleep(PAUSE); } Ok(1)".to_owned(),
            "max = \"unlimited\", backoff = \"fixed\", base = PAUSE, jitter = \"none\", on(_), { ask() }",
        ),
    ]
    .iter()
    .enumerate()
    {
        let (found, printed) = only(&format!("kept-ok-{number}"), body);
        assert!(is_sketch(&found) && printed.contains(code), "{code}: {found}");
        assert!(found["missing"].to_string().contains(words), "{found}");
    }
}

/// Neither the rules nor the delays that they ask for make a wait much longer.
#[test]
fn a_poll_takes_the_time_of_its_loop() {
    let poll = |turns: &str, pause: &str| {
        format!("for _ in 0..{turns} {{ if is_open() {{ return Ok(1); }} sleep({pause}); }} fail()")
    };
    let pause = "Duration::from_millis(100)";
    are_whole(
        "kept-total",
        &[
            (
                &poll("50", pause),
                "max = 50, backoff = \"fixed\", base = \"100ms\", jitter = \"none\", deadline = \"5s\", cut_off = false,",
            ),
            (
                &format!("const TURNS: u32 = 2005; {}", poll("TURNS", pause)),
                "max = TURNS, backoff = \"fixed\", base = \"100ms\", jitter = \"none\", deadline = \"200500ms\",",
            ),
            // The rules allow that.
            (
                &poll("9", pause),
                "max = 9, backoff = \"fixed\", base = \"100ms\", jitter = \"none\", until",
            ),
        ],
    );
    let (found, _) = only("kept-total-said", &poll("50", pause));
    let said = found["differs"].to_string();
    assert!(said.contains("the loop sleeps for 5 s in all"), "{said}");
    // Failures that hammer a service do grow.
    let retry = "loop { tries += 1; match ask() { Ok(it) => return Ok(it), Err(e) if tries >= 50 => return Err(e), Err(_) => sleep(Duration::from_millis(100)) } }";
    let (found, code) = only("kept-total-retry", retry);
    let said = found["differs"].to_string();
    assert!(code.contains("max = 50, base = \"100ms\", on"), "{code}");
    assert!(
        said.contains("take 4.9 s in all, and these up to 14 m 5.5 s"),
        "{said}"
    );
}

#[test]
fn the_default_budget_is_named_once() {
    let retry = |body: &str| {
        format!(
            "loop {{ match ask() {{ Ok(it) => return Ok(it), {body} Err(_) => sleep(PAUSE) }} }}"
        )
    };
    for (number, (body, times)) in [
        (retry("Err(e) if tries >= 3 => return Err(e), Err(_) if turn => { tries += 1; sleep(PAUSE) }"), 1),
        ("(|| ask()).retry(backon::ExponentialBuilder::new()).await".to_owned(), 1),
        // Without a limit, and for a poll, there is none.
        (retry(""), 0),
        ("for _ in 0..9 { if is_open() { return Ok(1); } sleep(PAUSE); } fail()".to_owned(), 0),
        // Nor beside one that is written.
        ("tokio_retry::Retry::spawn(FixedInterval::from_millis(0).take(times), || ask()).await".to_owned(), 0),
    ]
    .iter()
    .enumerate()
    {
        let (found, _) = only(&format!("kept-budget-{number}"), body);
        let said = found["differs"].to_string();
        assert_eq!(said.matches("default budget").count(), *times, "{found}");
    }
}

#[test]
fn what_counts_or_grows_after_some_failures_only_is_named() {
    let body = |failed: &str| {
        format!(
            "let mut pause = Duration::from_millis(50); let mut tries = 0; loop {{ match ask() {{ Ok(it) => return Ok(it), {failed} }} }}"
        )
    };
    let last = "if tries > 4 { return Err(e); } sleep(pause);";
    let grows = "where the loop does `pause *= 2`";
    let counts = "where the loop does `tries += 1`";
    are_sketches(
        "kept-steps",
        &[
            (
                &body(&format!(
                    "Err(e) => {{ tries += 1; if e.is_busy() {{ pause *= 2; }} {last} }}"
                )),
                grows,
            ),
            (
                &body(&format!(
                    "Err(e) => {{ tries += 1; if pause < MOST {{ pause *= 2; }} {last} }}"
                )),
                grows,
            ),
            (
                &body(&format!(
                    "Err(e) => {{ if e.is_busy() {{ tries += 1; }} {last} }}"
                )),
                counts,
            ),
            (
                &body(&format!(
                    "Err(Error::Busy) => sleep(pause), Err(e) => {{ tries += 1; {last} }}"
                )),
                counts,
            ),
        ],
    );
    are_whole(
        "kept-all-steps",
        &[
            (
                &body(&format!("Err(e) => {{ tries += 1; {last} pause *= 2; }}")),
                "max = 5, base = \"50ms\", on(_)",
            ),
            (
                &body(
                    "Err(e) if e.is_busy() && tries < 4 => { tries += 1; sleep(pause); pause *= 2; } Err(e) => return Err(e)",
                ),
                "max = 5, base = \"50ms\", on = |e| e.is_busy()",
            ),
        ],
    );
}

#[test]
fn a_count_that_a_loop_around_this_one_keeps_is_named() {
    let body = |outside: &str, inside: &str| {
        format!(
            "{outside} for node in nodes() {{ {inside} let it = loop {{ match ask(node) {{ Ok(it) => break Ok(it), Err(e) => {{ tries += 1; if tries > 4 {{ break Err(e); }} sleep(PAUSE); }} }} }}; add(it?); }} Ok(1)"
        )
    };
    are_sketches(
        "kept-count",
        &[(
            &body("let mut tries = 0;", ""),
            "`tries`, which the loop around this one does not set anew",
        )],
    );
    are_whole(
        "kept-count-anew",
        &[
            (&body("", "let mut tries = 0;"), "max = 5,"),
            (&body("let mut tries = 0;", "tries = 0;"), "max = 5,"),
        ],
    );
}

#[test]
fn what_else_ends_a_sleep_is_named() {
    let select = "tokio::select! { _ = sleep(PAUSE) => {} _ = woken() => {} }";
    let words = "the other branches of its `tokio::select!`";
    are_sketches(
        "kept-select",
        &[
            (
                &format!("for _ in 0..9 {{ if is_open() {{ return Ok(1); }} {select} }} fail()"),
                words,
            ),
            (
                &format!(
                    "loop {{ match ask() {{ Ok(Some(it)) => return Ok(it), Ok(None) => {select}, Err(e) => return Err(e) }} }}"
                ),
                words,
            ),
        ],
    );
}

//! Shapes that loops in public repositories have.

use super::{is_sketch, only};

/// The body of a loop that counts, around these arms.
fn arms(arms: &str) -> String {
    format!("loop {{ tries += 1; match ask() {{ Ok(it) => return Ok(it), {arms} }} }}")
}

#[test]
fn a_constant_of_the_delay_keeps_its_name() {
    let failed = "Err(_) => { warn!(\"again in {}\", PAUSE.as_secs()); sleep(PAUSE) }";
    let (_, code) = only("seen-constant", &arms(failed));
    let hook = "on_retry = |_| warn!(\"again in {}\", PAUSE.as_secs()),";
    assert!(code.contains(hook), "{code}");
}

#[test]
fn alternatives_behind_a_name_are_in_parentheses() {
    let failed = "Err(Error::Gone) => return Err(Error::Gone), Err(e @ (Error::Busy | Error::Late)) => { warn!(\"{e}\"); sleep(PAUSE) }, Err(e) => { info!(\"{e}\"); sleep(PAUSE) }";
    let (_, code) = only("seen-alternatives", &arms(failed));
    assert!(
        code.contains("if let Some(e @ (Error::Busy | Error::Late)) = retry.error()"),
        "{code}"
    );
}

#[test]
fn what_asks_the_count_cannot_be_asked_of_the_error() {
    let failed =
        "Err(e) => { if !is_worth_it(&e, tries) { return Err(e); } tries += 1; sleep(PAUSE) }";
    let body = format!("loop {{ match ask() {{ Ok(it) => return Ok(it), {failed} }} }}");
    let (found, code) = only("seen-count", &body);
    assert!(is_sketch(&found) && code.contains("on = ...,"), "{found}");
}

#[test]
fn an_error_behind_a_question_mark_ends_the_loop() {
    for (number, end) in ["Err(e)?", "{ Err(e)? }", "{ Err(e)?; }", "return Err(e)?"]
        .into_iter()
        .enumerate()
    {
        let failed = format!(
            "Err(Error::Busy) if tries < 4 => sleep(PAUSE), Err(Error::Busy) => return Err(Error::Busy)?, Err(e) => {end}"
        );
        let (found, code) = only(&format!("seen-question-{number}"), &arms(&failed));
        assert!(code.contains("on(Error::Busy),"), "{found}");
        assert!(code.ends_with(".map_err(Into::into)"), "{code}");
        assert!(!is_sketch(&found), "{found}");
    }
}

#[test]
fn a_result_that_is_bound_or_ends_the_loop_is_tried() {
    let body = "let mut tries = 1; loop { let result = ask(); let Err(e) = result else { return Ok(0); }; if !e.is_busy() || tries >= 5 { return Err(e); } warn!(\"{e}\"); sleep(PAUSE); tries += 1; }";
    let (found, code) = only("seen-else", body);
    let borrowed = body
        .replace("= result else", "= &result else")
        .replace("!e.is_busy()", "*e != Error::Busy");
    let (_, code_of_borrowed) = only("seen-else-borrowed", &borrowed);
    assert!(
        code_of_borrowed.contains("on = |e| *e == Error::Busy,"),
        "{code_of_borrowed}"
    );
    for words in [
        "max = 5,",
        "on = |e| e.is_busy(),",
        "on_retry = |retry| if let Some(e) = retry.error() { warn!(\"{e}\"); },",
        "{ ask() }",
    ] {
        assert!(code.contains(words), "{words}: {found}");
    }
}

#[test]
fn a_range_without_an_end_is_no_limit() {
    let body = "for attempt in 1.. { match ask() { Ok(it) => return Ok(it), Err(e) if attempt > self.retries => return Err(e), Err(_) => sleep(PAUSE) } } fail()";
    let (found, code) = only("seen-range", body);
    assert!(
        !is_sketch(&found) && code.contains("max = self.retries + 1,"),
        "{found}"
    );
}

#[test]
fn what_is_lost_without_a_key_is_told() {
    let failed = "Err(e) => { if tries >= 4 { error!(\"over: {e}\"); return Err(e); } sleep(pause); pause *= 2; }";
    let (found, _) = only("seen-lost", &arms(failed));
    let said = found["differs"].to_string();
    assert!(!is_sketch(&found), "{found}");
    assert!(said.contains("`error!(\\\"over: {e}\\\")`"), "{said}");
    assert!(said.contains("jitter") && said.contains("20 s"), "{said}");
}

#[test]
fn a_turn_that_only_fails_at_the_end_is_not_a_retry() {
    let body = "while start.elapsed() < MOST { if let Err(e) = send() { break; } match within(ask()) { Ok(Ok(it)) => seen += it, Ok(Err(_)) => break, Err(_) => lost += 1 } sleep(PAUSE); } Ok(0)";
    let code = format!("fn it() -> Result<u8, Error> {{ {body} }}");
    assert!(super::findings("seen-echo", &code).is_empty());
}

#[test]
fn what_follows_a_poll_names_nothing_of_a_turn() {
    let of = |over: &str| {
        format!(
            "loop {{ let a = first(); let b = next(); if a && b {{ break; }} if start.elapsed() > MOST {{ warn!(\"{over}\"); return; }} sleep(PAUSE); }}"
        )
    };
    let (found, _) = only("seen-poll", &of("{a}, {b}"));
    let said = found["missing"].to_string();
    assert!(is_sketch(&found) && said.contains("`a`"), "{found}");
    let (found, code) = only("seen-poll-plain", &of("over"));
    assert!(
        !is_sketch(&found) && code.starts_with("if !reattempt::retry_block!("),
        "{found}"
    );
    assert!(
        code.ends_with("a && b }, ) { warn!(\"over\"); return; }"),
        "{code}"
    );
}

#[test]
fn a_power_of_the_count_is_a_factor() {
    let counted = |delay: &str| {
        format!(
            "let mut tries = 0; loop {{ match ask() {{ Ok(it) => return Ok(it), Err(e) if tries >= 4 => return Err(e), Err(_) => {{ tries += 1; {delay} }} }} }}"
        )
    };
    let turns = |turns: &str, delay: &str| {
        format!(
            "for n in {turns} {{ match ask() {{ Ok(it) => return Ok(it), Err(_) => {{ {delay} }} }} }} fail()"
        )
    };
    for (number, (body, keys)) in [
        (counted("sleep(Duration::from_millis(100 * 2u64.pow(tries)));"), "base = \"200ms\", on"),
        (counted("sleep(Duration::from_millis(100 * 2u64.pow(tries - 1)));"), "base = \"100ms\", on"),
        (counted("let pause = 3u64.saturating_pow(tries as u32) * 10; sleep(Duration::from_millis(pause as u64));"), "base = \"30ms\", factor = 3.0, on"),
        (turns("0..4", "sleep(Duration::from_secs(1 << n));"), "base = \"1s\", on"),
        (turns("0..4", "sleep(Duration::from_secs(1 << n.min(5)));"), "base = \"1s\", cap = \"32s\", on"),
        (turns("1..=4", "sleep(Duration::from_secs(u64::pow(2, n)).min(MOST));"), "base = \"2s\", cap = MOST, on"),
        (turns("0..4", "sleep(PAUSE * 2u32.pow(n));"), "base = PAUSE, on"),
        (turns("1..4", "sleep(PAUSE * 2_u32.pow(n as u32));"), "base = PAUSE * 2, on"),
        (turns("0..4", "sleep(PAUSE.saturating_mul(1 << n));"), "base = PAUSE, on"),
        (turns("0..4", "sleep(Duration::from_secs_f64(2f64.powi(n)));"), "base = \"1s\", on"),
    ]
    .iter()
    .enumerate()
    {
        let (found, code) = only(&format!("seen-power-{number}"), body);
        assert!(code.contains(keys), "{keys}: {found}");
        assert!(!found["missing"].to_string().contains("base"), "{found}");
        assert!(found["differs"].to_string().contains("full jitter"), "{found}");
    }
    // Another exponent, or more is added.
    for (number, delay) in ["PAUSE * 2u32.pow(n * 2)", "PAUSE * 2u32.pow(n) + rand()"]
        .into_iter()
        .enumerate()
    {
        let (found, code) = only(
            &format!("seen-no-power-{number}"),
            &turns("0..4", &format!("sleep({delay});")),
        );
        let is_known = code.contains("base") || code.contains("factor");
        assert!(is_sketch(&found) && !is_known, "{found}");
    }
}

/// The compiler knows them, and holds the policy to its rules.
#[test]
fn a_constant_of_the_function_is_held_to_the_rules() {
    let of = |name: &str, most: u32| {
        let body = format!(
            "const MOST: usize = {most}; const WAIT: Duration = Duration::from_millis(100); let mut tries = 0; loop {{ match ask() {{ Ok(it) => return Ok(it), Err(e) => {{ tries += 1; if tries >= MOST {{ return Err(e); }} sleep(WAIT) }} }} }}"
        );
        only(name, &body)
    };
    let (found, code) = of("seen-most", 100);
    assert!(code.contains("max = MOST, base = \"100ms\", on"), "{found}");
    assert!(found["differs"].to_string().contains("rule X7"), "{found}");
    let (found, code) = of("seen-few", 9);
    assert!(
        code.contains("max = MOST, backoff = \"fixed\", base = \"100ms\","),
        "{found}"
    );
}

#[test]
fn turns_that_ask_until_it_is_so_are_a_poll() {
    let of = |ask: &str, more: &str| {
        format!("for i in 0..MOST {{ if {ask} {{ return Ok(0); }} {more} sleep(PAUSE); }} fail()")
    };
    let (found, code) = only("seen-turns", &of("is_done()", ""));
    assert!(
        !is_sketch(&found) && code.contains("max = MOST,"),
        "{found}"
    );
    let (found, _) = only("seen-turns-line", &of("is_done()", "info!(\"{i}\");"));
    assert!(is_sketch(&found), "{found}");
    // A wait that may be cut short.
    for ask in ["cancel.is_cancelled()", "self.shutdown()", "i == 3"] {
        let code = format!("fn it() -> Result<u8, Error> {{ {} }}", of(ask, ""));
        assert!(super::findings("seen-turns-cut", &code).is_empty(), "{ask}");
    }
}

#[test]
fn a_poll_gives_no_borrow_of_its_turn_away() {
    let of = |value: &str| {
        format!(
            "for _ in 0..9 {{ sleep(PAUSE); let all = list(); if let Some(it) = {value} {{ return Ok(it); }} }} fail()"
        )
    };
    let (found, _) = only("seen-borrow", &of("all.iter().find(is_it)"));
    let said = found["missing"].to_string();
    assert!(
        is_sketch(&found) && said.contains("borrows `all`"),
        "{found}"
    );
    for (number, value) in ["all.iter().find(is_it).cloned()", "find()"]
        .iter()
        .enumerate()
    {
        let (found, _) = only(&format!("seen-owned-{number}"), &of(value));
        assert!(!is_sketch(&found), "{found}");
        assert!(
            found["differs"]
                .to_string()
                .contains("sleeps before it asks"),
            "{found}"
        );
    }
}

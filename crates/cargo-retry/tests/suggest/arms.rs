//! Errors that a loop distinguishes, and what it does with them.

use serde_json::Value;

use super::{findings, is_sketch, only};

/// The body of a loop that counts, around these arms.
fn arms(arms: &str) -> String {
    format!("loop {{ tries += 1; match ask() {{ Ok(it) => return Ok(it), {arms} }} }}")
}

#[test]
fn an_error_that_ends_the_loop_is_not_retried() {
    for (number, (body, on)) in [
        // A guard.
        (arms("Err(e) if e.is_final() => return Err(e), Err(e) if tries >= 3 => return Err(e), Err(_) => sleep(PAUSE)"), "on = |e| !e.is_final(),"),
        (arms("Err(e) if is_busy(&e) && tries < 4 => sleep(PAUSE), Err(e) => return Err(e)"), "on = |e| is_busy(e),"),
        (arms("Err(e) if e != Error::Busy || tries > 4 => return Err(e), Err(_) => sleep(PAUSE)"), "on = |e| *e == Error::Busy,"),
        (arms("Err(e) if !e.is_timeout() => return Err(e), Err(e) if e.code() == 7 => return Err(e), Err(e) => { sleep(PAUSE) }"), "on = |e| e.is_timeout() && e.code() != 7,"),
        // A pattern.
        (arms("Err(Error::Gone) => return Err(Error::Gone), Err(_) => sleep(PAUSE)"), "on = |error| !matches!(error, Error::Gone),"),
        (arms("Err(Error::Gone | Error::Denied(_)) => { log(); return Err(Error::Gone) } Err(e) => { if tries > 2 { return Err(e); } sleep(PAUSE) }"), "on = |error| !matches!(error, Error::Gone | Error::Denied(_)),"),
        (arms("Err(Error::Busy { node, .. }) => sleep(PAUSE), Err(e) => return Err(e)"), "on(Error::Busy { .. }),"),
        (arms("Err(Error::Db(ref code)) if code.starts_with(\"40\") => sleep(PAUSE), other => return other"), "on(Error::Db(code) if code.starts_with(\"40\")),"),
        (arms("Err(Error::Status(it)) if it == 429 || it >= 500 => sleep(PAUSE), Err(e) => return Err(e)"), "on(Error::Status(it) if (*it == 429 || *it >= 500)),"),
        (arms("Err(Error::Io(e)) if e.kind() == TimedOut => sleep(PAUSE), Err(Error::Busy) => sleep(PAUSE), Err(e) => return Err(e)"), "on = |error| match error { Error::Io(e) if e.kind() == TimedOut => true, Error::Busy => true, _ => false },"),
        // What the arm asks.
        (arms("Err(e) => { if tries >= 5 || e.is_final() { return Err(e); } sleep(PAUSE) }"), "on = |e| !e.is_final(),"),
        (arms("Err(e) => { if !(e.is_busy() && tries < 5) { return Err(e); } sleep(PAUSE) }"), "on = |e| e.is_busy(),"),
        (arms("Err(e) => { if e.is_busy() && tries < 5 { sleep(PAUSE); continue; } return Err(e) }"), "on = |e| e.is_busy(),"),
        (arms("Err(e) => if e.is_busy() { sleep(PAUSE) } else { return Err(e) }"), "on = |e| e.is_busy(),"),
        (arms("Err(e) => { if let Error::Gone = e { return Err(e); } sleep(PAUSE) }"), "on = |error| !matches!(error, Error::Gone),"),
        (arms("Err(e) => { if matches!(e, Error::Gone) { return Err(e); } sleep(PAUSE) }"), "on = |e| !matches!(e, Error::Gone),"),
        (arms("Err(e) => match e.kind() { NotFound | Denied => return Err(e), _ => sleep(PAUSE) }"), "on = |e| !matches!(e.kind(), NotFound | Denied),"),
        (arms("Err(e) => match e { Error::Busy if tries < 3 => sleep(PAUSE), e => return Err(e) }"), "on(Error::Busy),"),
        (arms("Err(e) => match e { Error::Io(e) if e.is_timeout() => sleep(PAUSE), Error::Io(e) => return Err(Error::Io(e)), e => return Err(e) }"), "on(Error::Io(e) if e.is_timeout()),"),
        // Other forms of the loop.
        ("for _ in 0..4 { let result = ask(); if let Err(e) = &result { if e.is_final() { return result; } } else { return result; } sleep(PAUSE); } fail()".to_owned(), "on = |e| !e.is_final(),"),
        ("while let Err(e) = ask() { if e.is_final() { return Err(e); } sleep(PAUSE); } Ok(0)".to_owned(), "on = |e| !e.is_final(),"),
        ("loop { let e = match ask() { Ok(it) => return Ok(it), Err(e) => e }; if !e.is_busy() { return Err(e); } sleep(PAUSE); }".to_owned(), "on = |e| e.is_busy(),"),
        (
            "loop { match ask() { Ok(it) => return Ok(it), Err(Error::Gone) => return fail(), Err(_) => {} } if self.is_closed() { return fail(); } sleep(PAUSE); }".to_owned(),
            "on = |error| match error { Error::Gone => false, _ if self.is_closed() => false, _ => true },",
        ),
        // A loop around this one goes on.
        ("'nodes: loop { 'one: loop { match ask() { Ok(it) => return Ok(it), Err(Error::Gone) => continue 'nodes, Err(_) => { sleep(PAUSE); continue 'one; } } } }".to_owned(), "on = |error| !matches!(error, Error::Gone),"),
        // What is asked on the way out says nothing of the errors before.
        ("loop { match ask() { Ok(it) => return Ok(it), Err(_) => {} } if start.elapsed() > LIMIT { if best.is_some() { return best(); } return fail(); } sleep(PAUSE); }".to_owned(), "on(_),"),
        // No error is retried, but what is not final.
        ("loop { match ask() { Ok(it) if it.is_done() => return Ok(it), Ok(_) => sleep(PAUSE), Err(e) => return Err(e) } }".to_owned(), "on = |_| false,"),
        // Nothing distinguished.
        (arms("Err(e) if tries >= 3 => return Err(e), Err(_) => sleep(PAUSE)"), "on(_),"),
        ("for _ in 0..4 { if let Ok(it) = ask() { return Ok(it); } sleep(PAUSE); } fail()".to_owned(), "on(_),"),
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("arms-{number}"), &body);
        assert!(code.contains(on), "{body}\n{on}\n{code}\n{found}");
        assert_eq!(code.contains("on(_)"), on == "on(_),", "{code}");
    }
}

/// What decides is not the error alone, or the code does not say what it decides: a sketch, and no `on(_)`.
#[test]
fn what_is_distinguished_otherwise_is_a_sketch() {
    for (number, body) in [
        arms("Err(e) if tries > 2 && e.is_busy() => return Err(e), Err(_) => sleep(PAUSE)"),
        arms("Err(e) => { check(&e)?; sleep(PAUSE) }"),
        arms("Err(e) => { if is_final(&e).await { return Err(e); } sleep(PAUSE) }"),
        arms("Err(e) => { let is_over = look(&e); if is_over { return Err(e); } sleep(PAUSE) }"),
        arms("Err(e) => match decide(&mut state) { Verdict::Over => return Err(e), Verdict::Again => sleep(PAUSE) }"),
        "loop { let it = ask(); if !is_transient(&it) { return it; } match delays.next() { Some(pause) => sleep(pause), None => return it } }".to_owned(),
        "loop { let is_worth_it; match ask() { Ok(it) => return Ok(it), Err(e) => is_worth_it = look(&e) } if !is_worth_it { return fail(); } sleep(PAUSE); }".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("otherwise-{number}"), &body);
        assert!(is_sketch(&found) && code.contains("on = ...,"), "{found}");
        assert!(found["missing"].to_string().contains("`on`"), "{found}");
    }
    // Successes that do not end it are no errors.
    for (number, body) in [
        "loop { match ask() { Ok(it) if it.is_open() => sleep(PAUSE), Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) } }",
        "loop { match ask() { Ok(it) => { if it.is_done() { return Ok(it); } sleep(PAUSE) } Err(e) => return Err(e) } }",
        "loop { match ask() { Ok(it) => { if it.is_busy() { sleep(PAUSE); continue; } return Ok(it); } Err(e) => return Err(e) } }",
        "loop { if let Ok(Some(it)) = ask() { return Ok(it); } sleep(PAUSE); }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, _) = only(&format!("not-final-{number}"), body);
        let missing = found["missing"].to_string();
        assert!(is_sketch(&found) && missing.contains("`until`"), "{found}");
    }
    // What is tried is set elsewhere.
    let body = "let mut it = ask(); loop { match it { Ok(it) => return Ok(it), Err(_) => { sleep(PAUSE); it = ask(); } } }";
    let (found, _) = only("set-elsewhere", body);
    let said = found.to_string();
    assert!(
        found["suggestion"].is_null() && said.contains("the loop sets `it`"),
        "{found}"
    );
}

#[test]
fn what_the_loop_logs_is_a_hook() {
    for (number, (failed, hook)) in [
        ("Err(e) if tries > 3 => return Err(e), Err(_) => { eprintln!(\"again\"); sleep(PAUSE) }", "on_retry = |_| eprintln!(\"again\"),"),
        ("Err(e) => { warn!(error = %e, \"failed\"); sleep(PAUSE) }", "on_retry = |retry| if let Some(e) = retry.error() { warn!(error = %e, \"failed\"); },"),
        ("Err(error) => { error!(\"failed: {error}\"); sleep(PAUSE) }", "on_retry = |retry| if let Some(error) = retry.error() { error!(\"failed: {error}\"); },"),
        ("Err(e) => { println!(\"{tries}: {e:?}\"); sleep(PAUSE) }", "on_retry = |retry| if let Some(e) = retry.error() { let tries = retry.attempt(); println!(\"{tries}: {e:?}\"); },"),
        ("Err(e) => { log::warn!(\"{}\", tries); sleep(PAUSE) }", "on_retry = |retry| { let tries = retry.attempt(); log::warn!(\"{}\", tries); },"),
        ("Err(e) => { let wait = next(); info!(\"again in {wait:?}\"); sleep(wait) }", "on_retry = |retry| { let wait = retry.delay(); info!(\"again in {wait:?}\"); },"),
        ("Err(e) => { log_failure(&e); sleep(PAUSE) }", "on_retry = |retry| if let Some(e) = retry.error() { log_failure(e); },"),
        ("Err(Error::Busy(node)) => { info!(\"{node} is busy\"); sleep(PAUSE) } Err(e) => { warn!(\"{e}\"); sleep(PAUSE) }", "on_retry = |retry| { if let Some(Error::Busy(node)) = retry.error() { info!(\"{node} is busy\"); }; if let Some(e) = retry.error().filter(|&error| !matches!(error, Error::Busy(_))) { warn!(\"{e}\"); }; },"),
        ("Err(e) => { if e.is_busy() { info!(\"busy\"); } else { warn!(\"other\"); } sleep(PAUSE) }", "on_retry = |retry| { if let Some(e) = retry.error() { if e.is_busy() { info!(\"busy\"); }; }; if let Some(e) = retry.error() { if !e.is_busy() { warn!(\"other\"); }; }; },"),
        ("Err(e) => { match e { Error::Busy => info!(\"busy\"), e => warn!(\"{e}\") } sleep(PAUSE) }", "on_retry = |retry| { if let Some(Error::Busy) = retry.error() { info!(\"busy\"); }; if let Some(e) = retry.error().filter(|&error| !matches!(error, Error::Busy)) { warn!(\"{e}\"); }; },"),
        ("Err(e) => { match e.kind() { TimedOut => info!(\"late\"), _ => warn!(\"other\") } sleep(PAUSE) }", "on_retry = |retry| { if let Some(e) = retry.error() { if matches!(e.kind(), TimedOut) { info!(\"late\"); }; }; if let Some(e) = retry.error() { if !matches!(e.kind(), TimedOut) { warn!(\"other\"); }; }; },"),
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("logged-{number}"), &arms(failed));
        assert!(code.contains(hook), "{hook}\n{code}\n{found}");
    }
    // What is logged on the way out is not logged between attempts.
    let failed = "Err(e) if e.is_final() => { error!(\"{e}\"); return Err(e); } Err(e) => { if tries > 3 { error!(\"over\"); return Err(e); } if e.is_busy() { info!(\"busy\"); sleep(PAUSE); continue; } error!(\"other\"); return Err(e) }";
    let (found, code) = only("logged-between", &arms(failed));
    assert!(
        code.contains("on_retry = |_| info!(\"busy\"),") && !is_sketch(&found),
        "{code}"
    );
    for (number, failed) in [
        "Err(e) => { let node = next(&e); warn!(\"{node} failed\"); sleep(PAUSE) }",
        "Err(e) => { warn!(\"{} left\", most - tries); sleep(PAUSE) }",
        // Of another type, perhaps.
        "Err(e) => { log_retry(&e, tries); sleep(PAUSE) }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("not-logged-{number}"), &arms(failed));
        assert!(!code.contains("on_retry") && is_sketch(&found), "{found}");
        assert!(
            found["missing"].to_string().contains("`on_retry`"),
            "{found}"
        );
    }
}

#[test]
fn what_an_error_asks_for_is_waited_for() {
    for (number, (failed, hook)) in [
        ("Err(Error::Busy { after }) => sleep(after), other => return other", "retry_after = |error| match error { Error::Busy { after } => Some(*after), _ => None },"),
        ("Err(Error::Busy(secs)) => sleep(Duration::from_secs(secs)), other => return other", "retry_after = |error| match error { Error::Busy(secs) => Some(Duration::from_secs(*secs)), _ => None },"),
        ("Err(e) => { let wait = e.after().unwrap_or(PAUSE); sleep(wait) }", "retry_after = |e| e.after().unwrap_or(PAUSE),"),
        ("Err(e) => { if let Some(wait) = e.after { sleep(wait) } else { sleep(PAUSE) } }", "retry_after = |e| e.after,"),
        ("Err(e) => { if let Some(wait) = e.after() { sleep(wait) } else { return Err(e) } }", "on = |e| matches!(e.after(), Some(_)), retry_after = |e| e.after(),"),
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("after-{number}"), &arms(failed));
        assert!(code.contains(hook), "{hook}\n{code}\n{found}");
    }
    // What a delay is made of decides nothing.
    let failed = "Err(e) if !e.is_busy() => return Err(e), Err(e) => { let wait = match e.after() { Some(it) => it.min(MOST), None => compute(tries) }; sleep(wait) }";
    let (found, code) = only("after-match", &arms(failed));
    let said = found["missing"].to_string();
    assert!(
        is_sketch(&found) && code.contains("on = |e| e.is_busy(),"),
        "{found}"
    );
    assert!(said.contains("which names `tries` of the loop"), "{said}");
    assert!(!said.contains("between attempts"), "{said}");
    let failed = failed.replace("compute(tries)", "PAUSE");
    let (found, code) = only("after-match-whole", &arms(&failed));
    assert!(
        code.contains(
            "retry_after = |e| match e.after() { Some(it) => it.min(MOST), None => PAUSE },"
        ),
        "{found}"
    );
    let failed = "Err(e) => { let least = floor(); sleep(e.after.max(least)) }";
    let (found, _) = only("after-left", &arms(failed));
    assert!(
        found["missing"].to_string().contains("`retry_after`"),
        "{found}"
    );
}

#[test]
fn what_else_the_loop_does_is_said() {
    let failed =
        "Err(e) if tries > 3 => return Err(e), Err(_) => { self.reconnect(); sleep(PAUSE) }";
    let (found, _) = only("besides", &arms(failed));
    assert!(is_sketch(&found), "{found}");
    assert!(
        found["missing"].to_string().contains("`self.reconnect()`"),
        "{found}"
    );
    for (number, end) in ["Err(anyhow!(\"over\"))", "Err(e.context(\"over\"))"]
        .into_iter()
        .enumerate()
    {
        let failed = format!("Err(e) if tries > 3 => return {end}, Err(_) => sleep(PAUSE)");
        let (found, _) = only(&format!("ends-{number}"), &arms(&failed));
        assert!(is_sketch(&found), "{found}");
    }
}

#[test]
fn a_wait_in_a_function_that_is_called_is_found() {
    let code = "fn ask() -> Result<u8, Error> { wait(); send() }
fn wait() { std::thread::sleep(PAUSE) }
fn counted() -> Result<u8, Error> { for _ in 0..3 { match ask() { Ok(it) => return Ok(it), Err(_) => {} } } fail() }
fn between() -> Result<u8, Error> { let mut tries = 0; loop { match send() { Ok(it) => return Ok(it), Err(e) => { tries += 1; if tries > 4 { return Err(e); } wait(); } } } }
fn endless() -> Result<u8, Error> { loop { match ask() { Ok(it) => return Ok(it), Err(_) => {} } } }
fn once() -> Result<u8, Error> { for _ in 0..3 { match send() { Ok(it) => return Ok(it), Err(_) => {} } } fail() }
";
    let found = findings("suggest-callee", code);
    let lines: Vec<_> = found.iter().map(|it| it["line"].as_u64()).collect();
    assert_eq!(lines, [Some(3), Some(4)], "{found:?}");
    for (found, (max, callee)) in found
        .iter()
        .zip([("max = 3,", "`ask`"), ("max = 5,", "`wait`")])
    {
        let said = found["missing"].to_string();
        assert!(
            is_sketch(found) && said.contains(callee) && said.contains("`base`"),
            "{found}"
        );
        assert!(
            found["suggestion"]["code"].as_str().unwrap().contains(max),
            "{found}"
        );
    }
}

#[test]
fn a_limit_of_time_is_a_deadline() {
    for (number, (body, words)) in [
        ("let start = Instant::now(); while start.elapsed() < LIMIT { if let Ok(it) = ask() { return Ok(it); } sleep(PAUSE); } fail()", "deadline = LIMIT, cut_off = false, on(_),"),
        ("let start = Instant::now(); while start.elapsed() < Duration::from_secs(9) { if is_done() { break; } sleep(PAUSE); } Ok(0)", "_ = reattempt::retry_block!( max = \"unlimited\", backoff = \"fixed\", base = PAUSE, jitter = \"none\", deadline = \"9s\", cut_off = false, until = |is_so| *is_so, { is_done() }, );"),
        ("let start = Instant::now(); loop { if let Some(it) = find() { return Ok(it); } if start.elapsed() >= self.limit { return Err(late()); } sleep(PAUSE); }", "if let Some(it) = reattempt::retry_block!( max = \"unlimited\", backoff = \"fixed\", base = PAUSE, jitter = \"none\", deadline = self.limit, cut_off = false, { find() }, ) { return Ok(it); } else { return Err(late()); }"),
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("timed-{number}"), body);
        assert!(code.contains(words), "{words}\n{code}\n{found}");
    }
    // Another comparison of times is not known as a length.
    let body = "while Instant::now() < end { if let Ok(it) = ask() { return Ok(it); } sleep(PAUSE); } fail()";
    let (found, code) = only("timed-end", body);
    assert!(is_sketch(&found) && !code.contains("deadline"), "{found}");
    assert!(
        found["missing"].to_string().contains("`deadline`"),
        "{found}"
    );
}

/// `OperationResult::Err` of the crate retry ends the call, `Retry` does not.
#[test]
fn an_operation_of_the_crate_retry_keeps_its_results_apart() {
    let code = "use retry::{OperationResult, delay::Fixed, retry};
fn named() { retry(Fixed::from_millis(5).take(2), || match ask() { Ok(it) => OperationResult::Ok(it), Err(it) => OperationResult::Err(it) }) }
fn called() { retry(Fixed::from_millis(5).take(2), attempt) }
fn attempt() -> OperationResult<u8, Error> { todo!() }
fn plain() { retry(Fixed::from_millis(5).take(2), || ask()) }
fn counted() { retry::retry_with_index(Fixed::from_millis(5).take(2), |number| ask_as(number)) }
";
    let found = findings("suggest-retry-crate", code);
    assert_eq!(found.len(), 4, "{found:?}");
    for (found, words) in found.iter().zip([
        [
            "on((true, _)),",
            "::retry::OperationResult::Err(error) => Err((false, error)),",
            ".map_err(|(_, error)| error)",
        ],
        [
            "on((true, _)),",
            "match attempt() {",
            ".map_err(|(_, error)| error)",
        ],
        ["on(_),", "ask()", "max = 3,"],
        [
            "on(_),",
            "context = attempt",
            "(|number| ask_as(number))(attempt.number().into())",
        ],
    ]) {
        let code = found["suggestion"]["code"].as_str().unwrap();
        assert!(words.iter().all(|it| code.contains(it)), "{code}");
        assert!(
            is_sketch(found) && found["missing"].to_string().contains("retry::Error"),
            "{found}"
        );
    }
}

/// `adjust` of backon may end the call.
#[test]
fn what_adjusts_delays_may_tell_errors_apart() {
    let call = "(|| ask()).retry(backon::ExponentialBuilder::new()).adjust(|e, it| if e.is_final() { None } else { it }).await";
    let (found, code) = only("suggest-adjust", call);
    assert!(is_sketch(&found) && !code.contains("on(_)"), "{found}");
    assert_ne!(found["missing"], Value::Null);
}

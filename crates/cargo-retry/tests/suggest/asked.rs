//! What a loop asks, what it tries, and what only stands beside that.

use super::ends::{are_sketches, are_whole};
use super::{findings, is_sketch, only};

/// What `select!` runs may leave the loop.
#[test]
fn a_macro_that_leaves_the_loop_is_no_attempt() {
    let body = |end: &str| {
        format!(
            "loop {{ let it = select! {{ _ = stop => {end}, it = ask() => it }}; match it {{ Ok(it) => break it, Err(_) => {{}} }} sleep(PAUSE) }}"
        )
    };
    for (number, end) in ["return Ok(0)", "break 0", "continue", "stopped()?"]
        .into_iter()
        .enumerate()
    {
        let (found, _) = only(&format!("asked-select-{number}"), &body(end));
        let said = found["missing"].to_string();
        assert!(found["suggestion"].is_null(), "{end}: {found}");
        assert!(said.contains("what is tried can leave the loop"), "{said}");
    }
    let (_, code) = only("asked-select", &body("Err(Stopped)"));
    assert!(code.contains("select! {"), "{code}");
}

/// `if let Ok(Some(status)) = child.try_wait() { return Err(..) }` looks for what went wrong.
#[test]
fn what_ends_in_an_error_is_no_success() {
    let tried = "match ask() { Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) }";
    for (number, end) in [
        "Err(status.into())",
        "if status.success() { Err(Early) } else { Err(Failed(status)) }",
        "match status { Some(it) => Err(it), None => { Err(Early) } }",
        "Err(status).context(\"it stopped\")",
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!(
            "for _ in 0..5 {{ if let Ok(Some(status)) = child.try_wait() {{ return {end}; }} {tried} }} fail()"
        );
        let (found, code) = only(&format!("asked-error-{number}"), &body);
        assert!(is_sketch(&found) && code.contains("{ ask() }"), "{found}");
        let said = found["missing"].to_string();
        assert!(said.contains("what each turn does first"), "{said}");
    }
    // Nor is it what a poll waits for.
    let (found, code) = only(
        "asked-error-poll",
        "loop { if let Ok(Some(status)) = child.try_wait() { return Err(status); } if is_open && is_ready() { return Ok(0); } if start.elapsed() > LIMIT { return Err(Late); } sleep(PAUSE); }",
    );
    assert!(code.contains("{ is_open && is_ready() }"), "{found}");
    assert!(is_sketch(&found), "{found}");
    // It works until something fails, and tries nothing again.
    let work = "fn it() -> Result<u8, Error> { for _ in 0..9 { match ask() { Ok(it) => match give(it) { Ok(_) => std::thread::sleep(PAUSE), Err(e) => return Err(e) }, Err(e) => return Err(e) } } Ok(0) }";
    assert_eq!(
        findings("asked-work", work),
        Vec::<serde_json::Value>::new()
    );
}

/// A question in front of the attempt.
#[test]
fn a_success_that_is_only_asked_for_is_not_preferred() {
    let body = "loop { if stop.try_recv().is_ok() { return Ok(0); } match ask() { Ok(it) => return Ok(it), Err(e) if e.is_busy() => sleep(PAUSE), Err(e) => return Err(e) } }";
    let (found, code) = only("asked-stop", body);
    assert!(code.contains("on = |e| e.is_busy(), { ask() }"), "{found}");
    are_sketches(
        "asked-stop-said",
        &[(
            body,
            "what each turn does first: `if stop.try_recv().is_ok()",
        )],
    );
}

#[test]
fn a_delay_that_no_error_says_is_not_asked_of_one() {
    let body = |failed: &str| {
        format!(
            "for _ in 0..5 {{ match ask() {{ Ok(it) => return Ok(it), Err(e) => {{ {failed} }} }} }} fail()"
        )
    };
    let next = body(
        "if e.is_busy() { let next = delays.next(); if let Some(d) = next { sleep(d); continue; } break; } else { return Err(e); }",
    );
    let (_, code) = only("asked-next", &next);
    assert!(code.contains("on = |e| e.is_busy(),"), "{code}");
    let optional = body("if let Some(pause) = pause { sleep(pause); }");
    let (_, code_of_optional) = only("asked-optional", &optional);
    for code in [code, code_of_optional] {
        assert!(!code.contains("retry_after"), "{code}");
    }
    are_sketches(
        "asked-delay",
        &[
            (&next, "how long the loop sleeps: `d`"),
            (&optional, "`pause`, or not at all"),
        ],
    );
    // A chain asks for it as well.
    let (_, code) = only(
        "asked-chain",
        &body(
            "if e.is_busy() && let Some(d) = delays.next() { sleep(d); continue; } return Err(e);",
        ),
    );
    assert!(code.contains("on = |e| e.is_busy(),"), "{code}");
}

#[test]
fn a_poll_says_what_its_blocks_do_besides() {
    let body = |turn: &str| format!("for attempt in 0..5 {{ {turn} }} fail()");
    let ready = "if is_ready() { return Ok(0); }";
    are_whole(
        "asked-poll",
        &[(
            &body(&format!("{ready} if is_slow {{ sleep(PAUSE); }}")),
            "{ is_ready() }",
        )],
    );
    are_sketches(
        "asked-poll-said",
        &[
            // It goes on although it is so.
            (
                &body(
                    "if let Some(it) = find() { if it.is_done() { return Ok(it); } } sleep(PAUSE);",
                ),
                "`until`: the loop goes on where the block behind `let Some(it) = find()` does not leave it",
            ),
            (
                &body(&format!(
                    "{ready} if attempt < 4 {{ sleep(PAUSE); }} else {{ panic!(\"late\"); }}"
                )),
                "what the loop does besides: `if attempt < 4",
            ),
            (
                &body(&format!(
                    "{ready} if attempt < 4 {{ look(); sleep(PAUSE); }}"
                )),
                "what the loop does besides: `if attempt < 4",
            ),
        ],
    );
}

#[test]
fn an_enum_that_is_no_result_is_said() {
    let body = |name: &str| {
        format!(
            "loop {{ match ask() {{ {name}::Ok(it) => return Ok(it), {name}::Err(e) if tries > 4 => return Err(e), {name}::Err(_) => {{ tries += 1; sleep(PAUSE) }} }} }}"
        )
    };
    let (found, _) = only("asked-enum", &body("Answer"));
    assert!(found["suggestion"].is_null(), "{found}");
    let said = found["missing"].to_string();
    assert!(
        said.contains("gives `Answer`, which is not a `Result`"),
        "{said}"
    );
    let (_, code) = only("asked-result", &body("Result"));
    assert!(code.contains("{ ask() }"), "{code}");
}

/// Which errors, and with which condition of the compiler.
#[test]
fn a_condition_of_the_compiler_is_asked() {
    let body = "loop { match ask() { Ok(it) => return Ok(it), Err(e) => { tries += 1; if !cfg!(windows) || !e.is_denied() || tries > 10 { return Err(e); } sleep(PAUSE) } } }";
    let (found, code) = only("asked-cfg", body);
    let key = "on = |e| cfg!(windows) && e.is_denied(),";
    assert!(code.contains(key) && !is_sketch(&found), "{found}");
}

/// A closure of a closure sets what it captures.
#[test]
fn an_operation_that_changes_a_variable_has_to_be_mut() {
    let body = |closure: &str| {
        format!(
            "let mut from = None; let persist = || {closure}; use backon::BlockingRetryable; persist.retry(ExponentialBuilder::default()).call()"
        )
    };
    are_sketches(
        "asked-mut",
        &[(
            &body("save(&from).map_err(|e| { from = Some(e.file); e })"),
            "`mut persist`",
        )],
    );
    are_whole(
        "asked-own",
        &[(&body("{ let mut n = 0; n += 1; save(n) }"), "{ persist() }")],
    );
}

#[test]
fn delays_of_a_library_without_a_maximum_have_one_here() {
    let differs = |name: &str, delays: &str| {
        let (found, _) = only(name, &format!("retry::retry({delays}.take(9), || ask())"));
        found["differs"].to_string()
    };
    let of =
        |name: &str, made: &str| differs(name, &format!("retry::delay::{made}::from_millis(2)"));
    for (name, made) in [("asked-fib", "Fibonacci"), ("asked-exp", "Exponential")] {
        let said = of(name, made);
        assert!(said.contains("have no maximum; here it is 20 s"), "{said}");
    }
    let said = of("asked-fixed", "Fixed");
    assert!(!said.contains("maximum"), "{said}");
}

/// What a loop behind calls belongs to that.
#[test]
fn a_call_in_a_loop_behind_is_no_attempt() {
    let retry = "while let Err(e) = ask() { sleep(PAUSE); }";
    let (found, _) = only(
        "asked-behind",
        &format!("{retry} while is_open() {{ ask(); }}"),
    );
    let said = found["missing"].to_string();
    assert!(!said.contains("once more"), "{said}");
}

/// Turns that are named and follow each other at once.
#[test]
fn a_count_of_attempts_without_a_sleep_retries() {
    let failed = "Err(e) => { warn!(\"{e}\"); times += 1; continue; }";
    let (found, code) = only(
        "asked-at-once",
        &format!(
            "let mut times = 0; while times < self.max_retry {{ match ask() {{ Ok(it) => return Ok(it), {failed} }} }} fail()"
        ),
    );
    let keys = "max = self.max_retry, backoff = \"none\", budget = 0.1, on(_),";
    assert!(code.contains(keys), "{found}");
    let (_, code) = only(
        "asked-at-once-port",
        "for _ in 0..MAX_ATTEMPTS { let port = choose(); if bind(port).is_ok() { return Ok(port); } } fail()",
    );
    assert!(code.contains("backoff = \"none\","), "{code}");
    let (found, _) = only(
        "asked-at-once-field",
        "let mut times = 0; while times < most_tries { times += 1; if let Ok(it) = ask() { return Ok(it); } } Failed { times: most_tries }.fail()",
    );
    let said = found["missing"].to_string();
    assert!(
        !said.contains("which the code behind the loop reads"),
        "{said}"
    );
    // A number that has a name is one.
    let (found, code) = only(
        "asked-at-once-const",
        "const MAX_RETRIES: u32 = 3; for _ in 0..MAX_RETRIES { if let Ok(it) = ask() { return Ok(it); } } fail()",
    );
    let keys = "max = MAX_RETRIES, backoff = \"none\", on(_),";
    assert!(code.contains(keys), "{found}");
    // Each turn asks something else.
    let level = "fn it() { for attempt in 0..MAX_ATTEMPTS { match solve(attempt) { Ok(it) => return it, Err(it) => seen(it) } } }";
    assert_eq!(
        findings("asked-level", level),
        Vec::<serde_json::Value>::new()
    );
    let read = "fn it() { let mut attempts = 9; while attempts > 0 { match read() { Ok(None) => attempts -= 1, Ok(Some(it)) => break give(it), Err(_) => unreachable!() } } }";
    assert_eq!(
        findings("asked-reads", read),
        Vec::<serde_json::Value>::new()
    );
    let walk = "fn it() -> Option<u8> { for n in 0..9 { match read(n) { Ok(it) => return Some(it), Err(_) => {} } } None }";
    assert_eq!(
        findings("asked-walk", walk),
        Vec::<serde_json::Value>::new()
    );
}

/// A success that the code behind takes, and a failure that begins the next turn.
#[test]
fn a_match_that_gives_the_success_on_is_tried() {
    let body = "loop { let got = ask(); let got = match got { Ok(it) => { seen(&it); it } Err(e) => { if let Some(d) = policy.asks(&e) { sleep(d); continue; } return Err(e); } }; if got.is_empty() { break; } return Ok(got.first()); }";
    let (found, code) = only("asked-given-on", body);
    assert!(is_sketch(&found) && code.contains("{ ask() }"), "{found}");
    let said = found["missing"].to_string();
    assert!(!said.contains("the loop goes on after"), "{said}");
    assert!(
        said.contains("what the loop does with the answer"),
        "{said}"
    );
    // It reads on and on.
    let read = "fn it() { loop { let got = match read() { Ok(it) => it, Err(_) => { std::thread::sleep(PAUSE); continue; } }; give(got); } }";
    assert_eq!(
        findings("asked-read", read),
        Vec::<serde_json::Value>::new()
    );
}

/// A function whose name says that it waits needs no count beside it.
#[test]
fn a_callee_that_is_named_for_its_sleep_waits() {
    let code = "impl State { async fn sleep_backoff(&self, d: Duration) { sleep(d).await } }
fn it() -> Result<u8, Error> { loop { match ask() { Ok(it) => return Ok(it), Err(e) if let Some(d) = state.asks(&e) => state.sleep_backoff(d).await, Err(e) => return Err(e) } } }";
    let found = findings("asked-callee", code);
    assert_eq!(found.len(), 1, "{found:?}");
    let said = found[0]["missing"].to_string();
    assert!(said.contains("the loop waits in `sleep_backoff`"), "{said}");
    // One of another crate, whose name says all.
    let (_, other) = code.split_once('\n').unwrap();
    assert_eq!(findings("asked-callee-other", other).len(), 1);
    // It goes through others, and retries none.
    let each = code.replace("loop {", "for it in all {");
    assert_eq!(
        findings("asked-callee-each", &each),
        Vec::<serde_json::Value>::new()
    );
}

/// What a `let` behind a failure hands over to be changed.
#[test]
fn a_variable_that_a_callee_sets_is_said() {
    are_sketches(
        "asked-mut-ref",
        &[(
            "for _ in 0..3 { let server = all[at]; match ask(server) { Ok(it) => return Ok(it), Err(e) => { let next = choose(&e, &mut at); sleep(next.pause()); } } } fail()",
            "what the loop does between attempts: `let next = choose(&e, &mut at);`",
        )],
    );
}

/// A way that ends the loop behind a limit is none to the next attempt.
#[test]
fn a_delay_behind_the_last_one_is_no_other_delay() {
    let (found, _) = only(
        "asked-last",
        "loop { match ask() { Ok(it) => return Ok(it), Err(e) => { if let Some(d) = delays.next() { sleep(d); continue; } return Err(e); } } }",
    );
    let said = found["missing"].to_string();
    assert!(!said.contains("or not at all"), "{said}");
}

/// It waits for something else than the clock, or in a function of another crate.
#[test]
fn a_count_whose_turns_wait_has_a_delay() {
    let body = |wait: &str| {
        format!(
            "loop {{ match ask() {{ Ok(it) => return Ok(it), Err(e) => {{ tries += 1; if tries > 9 {{ return Err(e); }} {wait} }} }} }}"
        )
    };
    are_sketches(
        "asked-wait",
        &[
            (
                &body("signal.wait_timeout(PAUSE);"),
                "the loop waits in `wait_timeout`",
            ),
            (
                &body("exponential_backoff(tries).await;"),
                "the loop waits in `exponential_backoff`",
            ),
        ],
    );
    // Whether it has jitter, nobody knows.
    let (found, code) = only("asked-wait-jitter", &body("exponential_backoff(tries);"));
    assert!(!code.contains("jitter"), "{code}");
    assert!(!found["differs"].to_string().contains("jitter"), "{found}");
    // The attempt may.
    let body = "for attempt in 0..5 { let most = self.wait_timeout(); match timeout(most, ask()) { Ok(it) => return Ok(it), Err(_) => {} } } fail()";
    are_sketches(
        "asked-wait-tried",
        &[(
            body,
            "nothing sleeps between the attempts, unless `wait_timeout` does, a part of what is tried",
        )],
    );
}

/// Turns that follow at once and ask for something else than a success.
#[test]
fn a_search_is_no_retry() {
    let code = "fn it() -> Result<u8, Error> { loop { tries += 1; if tries > 9 { panic!(); } let found = map.get(); match found { Here(it) => return found, Gone => return Err(Gone), Missing => insert() } } }
fn sleep_random() { sleep(RANDOM) }
fn each_hour() { loop { if first { sleep_random(); } work(); if timeout(HOUR, stop.recv()).is_ok() { break; } } }";
    assert_eq!(
        findings("asked-search", code),
        Vec::<serde_json::Value>::new()
    );
}

#[test]
fn a_sleep_that_follows_no_failure_is_no_delay() {
    let body = |failed: &str| {
        format!(
            "loop {{ match ask() {{ Ok(true) => return Ok(0), Ok(false) => sleep(PAUSE), Err(e) => {{ warn!(\"{{e}}\"); {failed} }} }} }}"
        )
    };
    let words = "`base`: the loop sleeps for `PAUSE` elsewhere, and not after a failure";
    are_sketches("asked-elsewhere", &[(&body(""), words)]);
    let (found, _) = only("asked-everywhere", &body("sleep(PAUSE)"));
    let said = found["missing"].to_string();
    assert!(!said.contains("elsewhere"), "{said}");
}

/// `let pause = match ask() { Ok(it) => return Ok(it), Err(e) => e.pause() };`
#[test]
fn what_an_error_is_made_into_is_no_error() {
    let body = |failed: &str| {
        format!(
            "for _ in 0..9 {{ let it = match ask() {{ Ok(it) => return Ok(it), Err(e) => {failed} }}; warn!(\"{{it}}\"); sleep(it.pause()); }} fail()"
        )
    };
    let (_, code) = only("asked-same", &body("e"));
    assert!(code.contains("if let Some(it) = retry.error()"), "{code}");
    for (number, failed) in [
        "{ debug!(); e.pause() }",
        "match e.pause() { Ok(it) => it, Err(e) => return Err(e) }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("asked-made-{number}"), &body(failed));
        assert!(
            is_sketch(&found) && !code.contains("retry.error()"),
            "{found}"
        );
        assert!(!code.contains("retry_after"), "{found}");
    }
}

/// The error leaves its wrapper behind the `.await`.
#[test]
fn a_future_that_somebody_else_awaits_is_a_sketch() {
    let call = "backoff::future::retry(ExponentialBackoff::default(), || ask())";
    are_sketches(
        "asked-not-awaited",
        &[(&format!("spawn({call})"), "where the future is awaited")],
    );
    are_whole("asked-awaited", &[(&format!("{call}.await"), ".map_err(")]);
}

#[test]
fn a_limit_of_time_in_front_of_the_attempt_is_one() {
    let tried = "match ask() { Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) }";
    let (_, code) = only(
        "asked-time",
        &format!("loop {{ if start.elapsed() > LIMIT {{ return Err(Late); }} {tried} }}"),
    );
    assert!(code.contains("deadline = LIMIT,"), "{code}");
    are_sketches(
        "asked-time-now",
        &[(
            &format!("loop {{ if Instant::now() > late {{ return Err(Late); }} {tried} }}"),
            "`deadline`, the time that the loop has",
        )],
    );
}

#[test]
fn lines_of_some_attempts_are_said() {
    let arms = |first: &str| {
        format!(
            "loop {{ match ask() {{ Ok(it) => return Ok(it), {first} Err(e) if tries < 9 => warn!(\"{{e}}\"), Err(e) => return Err(e) }} sleep(PAUSE); tries += 1; }}"
        )
    };
    are_sketches(
        "asked-lines",
        &[(
            &arms("Err(e) if tries < 3 => info!(\"{e}\"),"),
            "what the loop does only where `tries < 3`",
        )],
    );
    let (found, _) = only("asked-line", &arms(""));
    let said = found["missing"].to_string();
    assert!(!said.contains("only where"), "{said}");
}

/// A long time since the attempt began is no limit.
#[test]
fn a_time_that_ends_nothing_is_no_deadline() {
    let body = |then: &str| {
        format!(
            "loop {{ match ask() {{ Ok(it) => return Ok(it), Err(e) => {{ if start.elapsed() > LIMIT {{ {then} }} sleep(PAUSE); }} }} }}"
        )
    };
    let (_, code) = only("asked-reset", &body("debug!(\"late\");"));
    assert!(!code.contains("deadline"), "{code}");
    let (_, code) = only("asked-late", &body("return Err(e);"));
    assert!(code.contains("deadline = LIMIT,"), "{code}");
}

/// `result = ask(); match &result { .. }`
#[test]
fn a_variable_that_is_set_in_front_of_the_question_is_the_attempt() {
    let body = |set: &str| {
        format!(
            "let mut result = none(); for attempt in 0..5 {{ if attempt > 0 {{ sleep(PAUSE); }} {set} result = ask(); match &result {{ Ok(_) => break, Err(e) => warn!(\"{{e}}\") }} }} result"
        )
    };
    let (found, code) = only("asked-set", &body(""));
    assert!(code.contains("base = PAUSE,"), "{found}");
    assert!(code.contains("{ ask() }"), "{found}");
    are_sketches(
        "asked-set-behind",
        &[(&body(""), "`result`, which the code behind the loop reads")],
    );
    let (found, _) = only(
        "asked-set-twice",
        &body("result = prepare(); if result.is_err() { continue; }"),
    );
    assert!(found["suggestion"].is_null(), "{found}");
}

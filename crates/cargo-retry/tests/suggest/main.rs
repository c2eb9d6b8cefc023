//! What `cargo retry suggest` prints of `before.rs` and `loops.rs`, put where it says. `tests/suggested.rs` compiles and
//! runs it. `UPDATE_EXPECT=1 cargo test -p cargo-retry --test suggest` writes `after.rs` and `loops_after.rs` anew.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod arms;
mod asked;
mod ends;
mod kept;
mod others;
mod seen;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const BEFORE: &str = include_str!("before.rs");

const MANIFEST: &str = r#"
[package]
name = "others"
edition = "2024"
[dependencies]
backon = "1"
backoff = "0.4"
tokio-retry = "0.3"
tokio-retry2 = "0.9"
retry = "2"
tower = "0.5"
tryhard = "0.5"
[workspace]
"#;

fn findings(name: &str, code: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), MANIFEST).unwrap();
    fs::write(folder.join("src/lib.rs"), code).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_cargo-retry"))
        .args(["retry", "suggest", "--json", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    serde_json::from_slice(&run.stdout).unwrap()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// The file with every suggestion in its place.
fn applied(code: &str, findings: &[Value]) -> String {
    let mut edits = Vec::new();
    for suggestion in findings.iter().map(|it| &it["suggestion"]) {
        if let Some(bytes) = suggestion["replaces"].as_array() {
            let range = number(&bytes[0])..number(&bytes[1]);
            edits.push((range, suggestion["code"].as_str().unwrap().to_owned()));
        }
        if let Some(attribute) = suggestion["attribute"].as_array() {
            let start = number(&attribute[0]);
            edits.push((
                start..start,
                format!("{}\n", attribute[1].as_str().unwrap()),
            ));
        }
    }
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = code.to_owned();
    for (range, code) in edits {
        text.replace_range(range, &code);
    }
    text
}

/// What is found in a file, which with every suggestion in its place is this other one.
fn replaced(name: &str, before: &str, after: &str) -> Vec<Value> {
    let findings = findings(name, before);
    let code = applied(before, &findings);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/suggest")
        .join(after);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &code).unwrap();
    }
    assert!(fs::read_to_string(path).unwrap() == code, "{code}");
    findings
}

#[test]
fn suggestions_are_what_after_has() {
    let findings = replaced("suggest", BEFORE, "after.rs");
    // One for each function but the last; by hand in turns is a sketch.
    let functions = BEFORE.matches("\npub async fn").count() + BEFORE.matches("\npub fn").count();
    assert_eq!(findings.len(), functions - 1);
    let sketches = findings.iter().filter(|it| is_sketch(it));
    assert_eq!(sketches.count(), 1);
}

#[test]
fn loops_are_what_after_has() {
    let loops = include_str!("loops.rs");
    let findings = replaced("suggest-loops", loops, "loops_after.rs");
    let functions = loops.matches("\npub async fn").count() + loops.matches("\npub fn").count();
    assert_eq!(findings.len(), functions);
    assert!(!findings.iter().any(is_sketch));
}

#[test]
fn a_policy_of_tower_is_a_layer() {
    let code = "struct Mine;
use tower::retry::Policy;
impl<R, E> Policy<http::Request<()>, R, E> for Mine {}
struct Ours;
trait Policies {}
impl Policies for Ours {}
";
    let found = findings("suggest-tower", code);
    assert_eq!(found.len(), 1);
    let code = found[0]["suggestion"]["code"].as_str().unwrap();
    assert!(code.contains("RetryLayer::http("), "{code}");
}

/// What it gives back at once.
#[test]
fn a_policy_of_tower_says_which_answers_it_retries() {
    let of = |name: &str, retry: &str| {
        let code = format!(
            "use tower::retry::Policy;
struct Mine;
impl<R, T, E> Policy<R, T, E> for Mine {{ fn retry(&mut self, _: &mut R, answer: &mut Result<T, E>) -> Option<Ready<()>> {{ {retry} }} }}"
        );
        findings(name, &code)
    };
    for (number, (retry, words)) in [
        (
            "match answer { Ok(_) => None, Err(e) => { if e.is_final() || self.left == 0 { return None; } warn!(\"again\"); Some(ready(())) } }",
            &["`e.is_final() || self.left == 0`", "`warn!(\"again\")`"][..],
        ),
        (
            "match answer { Err(Fault::Gone) | Ok(_) => None, Err(e) if e.code() == 7 => None, _ => Some(ready(())) }",
            &["`Err(Fault::Gone) | Ok(_)`", "`e.code() == 7`"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let [found] = &of(&format!("suggest-tower-asks-{number}"), retry)[..] else {
            panic!("{retry}");
        };
        let code = found["suggestion"]["code"].as_str().unwrap();
        assert!(is_sketch(found) && code.contains(".on_answer(...)"), "{found}");
        let missing = found["missing"].as_array().unwrap();
        for words in words {
            let is_it = |it: &Value| it.as_str().unwrap().contains(words);
            assert!(missing.iter().any(is_it), "{words}: {found}");
        }
    }
    let all = of(
        "suggest-tower-all",
        "answer.as_ref().err().map(|_| ready(()))",
    );
    let code = all[0]["suggestion"]["code"].as_str().unwrap();
    assert!(code.contains("answer.is_err()"), "{code}");
    // Another policy decides.
    let none = of("suggest-tower-other", "self.inner.retry(request, answer)");
    assert_eq!(none, Vec::<Value>::new());
}

/// Names that other things have.
#[test]
fn what_does_not_retry_is_left() {
    let code = "use backon::Retryable;
struct Queue;
impl Queue { fn retry(&self, _: u8) {} }
struct Own { queue: Queue }
impl Own { fn again(&self) { self.queue.retry(3); } }
fn poll() { loop { if done() { break; } std::thread::sleep(PAUSE); } }
fn each() { for it in all() { match it { Ok(it) => use_it(it), Err(it) => log(it) } std::thread::sleep(PAUSE); } }
fn states() { loop { let state = ask(); if state.is_done() { return state; } std::thread::sleep(PAUSE); } }
fn counted() { loop { tries += 1; let state = ask(); if state.is_done() || tries >= 3 { return state; } std::thread::sleep(PAUSE); } }
fn refresh() { loop { if let Ok(token) = fetch() { set(token); } else { break; } std::thread::sleep(PAUSE); } }
";
    assert_eq!(findings("suggest-none", code), Vec::<Value>::new());
}

/// What is found of this body of a function, and its code without blanks around.
fn only(name: &str, body: &str) -> (Value, String) {
    let code = format!("use std::thread::sleep;\nfn it() -> Result<u8, Error> {{\n{body}\n}}\n");
    let [found] = &findings(name, &code)[..] else {
        panic!("{body}");
    };
    let code = found["suggestion"]["code"].as_str().unwrap_or_default();
    let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
    (found.clone(), code)
}

/// Whether the suggestion is not all of it, which it says.
fn is_sketch(found: &Value) -> bool {
    let is_sketch =
        found["suggestion"]["code"].is_string() && found["suggestion"]["replaces"].is_null();
    assert!(
        !is_sketch || found["missing"] != Value::Array(Vec::new()),
        "{found}"
    );
    is_sketch
}

#[test]
fn an_attempt_is_made_of_what_each_turn_makes() {
    let (found, code) = only(
        "suggest-made",
        "loop { tries += 1; let request = make(); log(&request); let pause = PAUSE;
        match send(request) { Ok(it) => return Ok(it), Err(_) if tries < 4 => sleep(pause), Err(error) => return Err(error) } }",
    );
    assert!(
        code.contains("{ let request = make(); log(&request); send(request) }"),
        "{code}"
    );
    assert!(code.starts_with("return ") && !is_sketch(&found), "{found}");
    let (found, _) = only(
        "suggest-leaves",
        "loop { let place = { if is_over() { break; } next() }; match ask(place) { Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) } }",
    );
    assert!(found["suggestion"].is_null(), "{found}");
    assert!(
        found
            .to_string()
            .contains("what makes `place` can leave the loop"),
        "{found}"
    );
    // `?` leaves the function there, and would be retried here.
    let (found, _) = only(
        "suggest-question",
        "loop { match make()?.send() { Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) } }",
    );
    assert!(found["suggestion"].is_null(), "{found}");
    assert!(
        found
            .to_string()
            .contains("what is tried can leave the loop"),
        "{found}"
    );
    // So do macros that return an error.
    for end in [
        "bail!(\"over\")",
        "ensure!(is_open())",
        "anyhow::bail!(\"over\")",
    ] {
        let (found, _) = only(
            "suggest-bail",
            &format!(
                "loop {{ let it = if is_over() {{ {end}; }} else {{ ask() }}; match it {{ Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) }} }}"
            ),
        );
        let said = found.to_string();
        assert!(said.contains("can leave the loop"), "{said}");
    }
    // Part of a pattern is made, too.
    let (_, code) = only(
        "suggest-parts",
        "loop { let (place, result) = ask(); match result { Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) } }",
    );
    assert!(
        code.contains("{ let (place, result) = ask(); result }"),
        "{code}"
    );
}

#[test]
fn a_loop_that_does_more_is_a_sketch() {
    for (number, body) in [
        "loop { match ask() { Ok(it) => return Ok(it), Err(error) => { node = error.node(); sleep(PAUSE); } } }",
        "loop { match ask() { Ok(it) => return Ok(it), Err(_) => { refresh()?; sleep(PAUSE); } } }",
        "loop { if is_over() { return Err(over()); } match ask() { Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) } }",
        // One way out for a success, a final error and the last one.
        "loop { tries += 1; let it = ask(); let is_final = matches!(it, Ok(_) | Err(Error::Gone)); if is_final || tries >= 3 { break it; } sleep(PAUSE); }",
        // The last result is that of the call.
        "loop { let it = ask(); if !is_transient(&it) { return it; } match delays.next() { Some(pause) => sleep(pause), None => return it } }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("suggest-more-{number}"), body);
        assert!(is_sketch(&found) && code.contains("{ ask() }"), "{found}");
    }
    let (found, _) = only(
        "suggest-plain",
        "loop { match ask() { Ok(it) => return Ok(it), Err(error) if is_over() => return Err(error), Err(error) => { last_error = Some(error); sleep(PAUSE); } } }",
    );
    assert!(!is_sketch(&found), "{found}");
}

#[test]
fn a_count_is_what_the_loop_counts() {
    for (number, (body, code)) in [
        // Compared before it is counted, under any name.
        ("let mut i = 0; loop { match ask() { Err(e) if i < 4 => { i += 1; sleep(PAUSE) } other => return other } }", "max = 5,"),
        // Named as a count, and counted nowhere.
        ("let failure = code(); for _ in 0..3 { match ask() { Ok(it) => return Ok(it), Err(e) => { if failure == 7 { return Err(e); } sleep(PAUSE) } } } panic!()", "on = |_| failure != 7,"),
        ("for _ in 0..3 { match ask() { Ok(it) => return Ok(it), Err(e) if is_retry == 0 => return Err(e), Err(_) => sleep(PAUSE) } } panic!()", "on = |_| is_retry != 0,"),
    ]
    .into_iter()
    .enumerate()
    {
        let (found, printed) = only(&format!("suggest-count-{number}"), body);
        assert!(printed.contains(code), "{found}");
    }
    for (number, (body, code)) in [
        // Parentheses that do not belong together.
        ("let mut tries = 0; loop { tries += 1; match ask() { Ok(it) => return Ok(it), Err(e) if tries >= (a + b).min(c) => return Err(e), Err(_) => sleep(PAUSE) } }", "max = (a + b).min(c),"),
        ("let mut tries = 0; loop { match ask() { Ok(it) => return Ok(it), Err(e) if tries >= a - b => return Err(e), Err(_) => { tries += 1; sleep(PAUSE) } } }", "max = (a - b) + 1,"),
        // Asked before the attempt.
        ("let mut tries = 0; loop { if tries > 10 { return Err(over()); } match ask() { Ok(it) => return Ok(it), Err(_) => { tries += 1; sleep(PAUSE) } } }", "max = 11,"),
        ("let mut pause = Duration::from_millis(50); for _ in 0..3 { match ask() { Ok(it) => return Ok(it), Err(_) => { sleep(pause); pause *= 3; } } } panic!()", "base = \"50ms\", factor = 3.0,"),
        ("let mut pause = Duration::from_millis(50); for _ in 0..3 { match ask() { Ok(it) => return Ok(it), Err(_) => { sleep(pause); pause = (pause * 2).min(Duration::from_secs(2)); } } } panic!()", "base = \"50ms\", cap = \"2s\","),
        // A time by what it is, and no time by a part of its name.
        ("let start = now(); loop { match ask() { Ok(it) => return Ok(it), Err(e) => { let spent = start.elapsed(); if spent > MOST { return Err(e); } sleep(PAUSE) } } }", "deadline = MOST,"),
        ("for _ in 0..3 { match ask() { Ok(it) => return Ok(it), Err(e) if deadline_kind == 3 => return Err(e), Err(_) => sleep(PAUSE) } } panic!()", "on = |_| deadline_kind != 3,"),
    ]
    .into_iter()
    .enumerate()
    {
        let (found, printed) = only(&format!("suggest-number-{number}"), body);
        assert!(printed.contains(code), "{code}: {printed} {found}");
    }
    // What the counter begins with is not seen: no number is printed.
    let (found, code) = only(
        "suggest-count-down",
        "while tries > 0 { match ask() { Ok(it) => return Ok(it), Err(e) if tries == 1 => return Err(e), Err(_) => sleep(PAUSE) } tries -= 1; } panic!()",
    );
    assert!(is_sketch(&found) && !code.contains("max"), "{found}");
    // Nor is a delay that the loop makes of others.
    let (found, code) = only(
        "suggest-delay",
        "for _ in 0..3 { match ask() { Ok(it) => return Ok(it), Err(_) => { pause = next(pause); sleep(pause); } } } panic!()",
    );
    assert!(is_sketch(&found) && !code.contains("base"), "{found}");
}

#[test]
fn a_turn_that_is_counted_is_a_context_and_another_place_is_not_a_retry() {
    let of = |name: &str, turns: &str| {
        let body = format!(
            "for it in {turns} {{ match ask(it) {{ Ok(it) => return Ok(it), Err(_) => sleep(PAUSE) }} }}"
        );
        only(name, &body)
    };
    let (found, code) = of("suggest-count", "0..4");
    assert!(is_sketch(&found), "{found}");
    assert!(
        code.contains("context = it, ") && code.contains("{ let it = it.number() - 1; ask(it) }"),
        "{code}"
    );
    // One without a name is none.
    let body = "for _ in 0..4 { match ask(|| Ok::<_, E>(1)) { Err(e) if e.is_busy() => sleep(PAUSE), it => return it } } fail()";
    let (found, code) = only("suggest-no-name", body);
    assert!(!is_sketch(&found) && !code.contains("context"), "{found}");
    let (found, _) = of("suggest-places", "places()");
    assert!(found["suggestion"].is_null(), "{found}");
    assert!(
        found.to_string().contains("each turn tries another `it`"),
        "{found}"
    );
}

#[test]
fn a_count_in_the_condition_bounds_the_attempts() {
    let of = |name: &str, condition: &str| {
        let body = format!(
            "while {condition} {{ match ask() {{ Ok(it) => return Ok(it), Err(_) => {{ attempt += 1; sleep(PAUSE); }} }} }} fail()"
        );
        only(name, &body)
    };
    for (number, (condition, max)) in [("attempt < 4", 4), ("!is_over() && attempt <= 4", 5)]
        .into_iter()
        .enumerate()
    {
        let (_, code) = of(&format!("suggest-while-{number}"), condition);
        assert!(code.contains(&format!("max = {max},")), "{code}");
    }
    let (found, _) = of("suggest-while-named", "attempt < self.attempts");
    let said = found.to_string();
    assert!(
        said.contains("the loop compares with `self.attempts`"),
        "{said}"
    );
}

#[test]
fn a_count_of_what_is_left_says_nothing_of_its_start() {
    for (number, body) in [
        "while retries > 0 { match ask() { Ok(it) => return Ok(it), Err(_) => { retries -= 1; sleep(PAUSE); } } } fail()",
        "loop { match ask() { Ok(it) => return Ok(it), Err(it) if retries == 0 => return Err(it), Err(_) => { retries -= 1; sleep(PAUSE); } } }",
    ]
    .into_iter()
    .enumerate()
    {
        let (found, code) = only(&format!("suggest-left-{number}"), body);
        assert!(!code.contains("max"), "{code}");
        let said = found.to_string();
        assert!(said.contains("what `retries` begins with: write it as `max`"), "{said}");
    }
    let body = "loop { if attempt == 0 { hello(); } match ask() { Ok(it) => return Ok(it), Err(it) if attempt >= 3 => return Err(it), Err(_) => { attempt += 1; sleep(PAUSE); } } }";
    let (_, code) = only("suggest-first", body);
    assert!(code.contains("max = 4"), "{code}");
}

#[test]
fn a_result_that_is_looked_at_is_tried_as_it_is() {
    let body = "loop { let result = ask(); if let Err(it) = &result { log(it) } else { return result; } sleep(PAUSE); }";
    let (_, code) = only("suggest-reference", body);
    assert!(code.contains("{ ask() }"), "{code}");
}

#[test]
fn a_policy_from_elsewhere_is_the_default_of_a_library_that_has_one() {
    for (name, call, said) in [
        (
            "suggest-elsewhere",
            "(|| ask()).retry(mine())",
            "the keys above are the defaults of backon",
        ),
        (
            "suggest-no-default",
            "tokio_retry::Retry::start(mine(), || ask())",
            "tokio-retry has no default, so the keys above are an example",
        ),
    ] {
        let (found, _) = only(name, &format!("{call}.await"));
        assert!(found.to_string().contains(said), "{found}");
    }
}

#[test]
fn a_suggestion_keeps_the_rules() {
    for (name, policy) in [
        ("suggest-max", ".retries(u32::MAX).custom_backoff(mine)"),
        ("suggest-none", ".retries(9)"),
        (
            "suggest-fixed",
            ".retries(99).fixed_backoff(Duration::from_millis(1))",
        ),
    ] {
        let (_, code) = only(name, &format!("tryhard::retry_fn(|| ask()){policy}.await"));
        let (keys, _) = code.split_once("on(_)").unwrap();
        let keys = keys.trim_start_matches("reattempt::retry_block!( ");
        let run = Command::new(env!("CARGO_BIN_EXE_cargo-retry"))
            .args(["retry", "explain", keys.trim_end_matches([',', ' '])])
            .output()
            .unwrap();
        assert!(
            run.status.success(),
            "{keys}: {}",
            String::from_utf8_lossy(&run.stdout)
        );
    }
    let (_, code) = only(
        "suggest-unlimited",
        "tryhard::retry_fn(|| ask()).retries(u32::MAX).custom_backoff(mine).await",
    );
    assert!(code.contains("max = \"unlimited\", "), "{code}");
}

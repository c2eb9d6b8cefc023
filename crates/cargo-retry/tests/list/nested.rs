//! Retries in retries: places, loops, and what the list says of them.

use serde_json::{Value, json as value};

use crate::run::{json, list, texts, written};

const LEAF: &str = "#[reattempt::retry(max = 3, on(_))]\nfn leaf() -> Result<(), ()> { Ok(()) }\n";

/// What `outer`, with three attempts, makes of `leaf`: attempts, all of them multiplied, places, whether in a loop.
fn below(name: &str, body: &str, more: &str) -> Value {
    let outer =
        format!("#[reattempt::retry(max = 3, on(_))]\nfn outer() -> Result<(), ()> {{ {body} }}\n");
    let folder = written(name, &[("src/lib.rs", &format!("{outer}{more}{LEAF}"))]);
    let listing = json(&folder, &[]);
    let calls = listing["policies"][0]["calls"].as_array().expect("calls");
    assert_eq!(calls.len(), 1, "{calls:?}");
    let call = &calls[0];
    value!([
        call["attempts"],
        call["multiplied"],
        call["places"],
        call["in_loop"]
    ])
}

/// The real counts are up to these: with two places, 3 + 3 attempts, then 2 + 2 where each of the first comes to a
/// good end.
#[test]
fn places_add_up() {
    assert_eq!(below("once", "leaf()", ""), value!([5, 9, 1, false]));
    let twice = below("twice", "leaf()?; leaf()", "");
    assert_eq!(twice, value!([10, 18, 2, false]));
    let through = below(
        "through",
        "a()?; b()",
        "fn a() -> Result<(), ()> { b()?; leaf() }\nfn b() -> Result<(), ()> { leaf()?; leaf() }\n",
    );
    assert_eq!(through, value!([25, 45, 5, false]));
}

#[test]
fn loops_are_reported() {
    let looped = value!([5, 9, 1, true]);
    for (name, body) in [
        ("for", "for _ in 0..10 { leaf()?; } Ok(())"),
        ("while", "while leaf().is_ok() {} Ok(())"),
        ("endless", "loop { leaf()?; }"),
        ("each", "(0..10).try_for_each(|_| leaf())"),
        ("map", "all().iter().map(|_| leaf()).collect()"),
        ("given", "all().iter().map(leaf).collect()"),
    ] {
        assert_eq!(below(name, body, ""), looped, "{body}");
    }
    let plain = value!([5, 9, 1, false]);
    for (name, body) in [
        ("option", "Some(1).map(|_| leaf()).unwrap()"),
        ("head", "for _ in leaf() {} Ok(())"),
        ("own", "for _ in 0..3 { fn hidden() {} hidden(); } leaf()"),
        ("next", "all().iter().next().map(|_| leaf()).unwrap()"),
    ] {
        assert_eq!(below(name, body, ""), plain, "{body}");
    }
    let circle = "fn a() -> Result<(), ()> { leaf()?; b() }\nfn b() -> Result<(), ()> { a() }\n";
    assert_eq!(below("circle", "a()", circle), looped);
}

/// A loop further below counts for those above it.
#[test]
fn a_loop_below() {
    let folder = written(
        "loop_below",
        &[(
            "src/lib.rs",
            &format!(
                "#[reattempt::retry(max = 2, on(_))] fn top() -> Result<(), ()> {{ outer() }}\n\
                 #[reattempt::retry(max = 2, on(_))] fn outer() -> Result<(), ()> {{ for _ in 0..2 {{ leaf()? }} Ok(()) }}\n{LEAF}"
            ),
        )],
    );
    let listing = json(&folder, &[]);
    for row in 0..2 {
        assert_eq!(listing["policies"][row]["calls"][0]["in_loop"], true);
    }
    let (_, out, _) = texts(&list(&folder, &[]));
    for words in [
        "for each turn of the loop",
        "how often a loop turns nobody knows",
        "x4 below, each turn",
    ] {
        assert!(out.contains(words), "{words} in {out}");
    }
}

#[test]
fn two_on_one_line() {
    let folder = written(
        "one_line",
        &[(
            "src/lib.rs",
            "#[reattempt::retry(max = 3, on(_))]\nfn outer() -> Result<(), ()> { a()?; b() }\n\
             #[reattempt::retry(on(_))] fn a() -> Result<(), ()> { Ok(()) } #[reattempt::retry(on(_))] fn b() -> Result<(), ()> { Ok(()) }\n",
        )],
    );
    let calls = &json(&folder, &[])["policies"][0]["calls"];
    let calls: Vec<_> = calls.as_array().expect("calls").iter().collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert_eq!(calls[1]["operation"], "one_line::b");
}

/// What a function answers with has the type that it says.
#[test]
fn answers_of_functions() {
    let more = "struct Client; impl Client { fn send(&self) -> Result<(), ()> { leaf() } }\n\
        fn client() -> Client { Client }\n";
    let known = value!([5, 9, 1, false]);
    for (name, body) in [
        ("variable", "let c = client(); c.send()"),
        ("direct", "crate::client().send()"),
    ] {
        assert_eq!(below(name, body, more), known, "{body}");
    }
    // Which of two is not known here.
    let two = format!("{more}mod other {{ fn client() -> u8 {{ 0 }} }}\n");
    let folder = written(
        "two_clients",
        &[(
            "src/lib.rs",
            &format!(
                "#[reattempt::retry(on(_))]\nfn outer() -> Result<(), ()> {{ client().send() }}\n{two}{LEAF}"
            ),
        )],
    );
    assert_eq!(json(&folder, &[])["policies"][0]["calls"], Value::Null);
}

/// A decorator calls the value that it holds, not itself; what calls itself does.
#[test]
fn a_decorator_is_no_circle() {
    let code = "use std::sync::Arc;\npub trait Repo { fn find(&self) -> Result<(), ()>; }\n\
        pub struct Postgres;\nimpl Repo for Postgres { fn find(&self) -> Result<(), ()> { Ok(()) } }\n\
        pub struct Retrying { inner: Arc<dyn Repo> }\n\
        impl Repo for Retrying {\n#[reattempt::retry(on(_))]\nfn find(&self) -> Result<(), ()> { self.CALL() }\n}\n";
    for (name, call, circles) in [("decorator", "inner.find", 0), ("circle", "find", 1)] {
        let folder = written(name, &[("src/lib.rs", &code.replace("CALL", call))]);
        let calls = &json(&folder, &[])["policies"][0]["calls"];
        assert_eq!(calls.as_array().map_or(0, Vec::len), circles, "{calls}");
    }
    // `Policy::run` in a function is in no `impl`.
    let run = "pub fn f() -> bool { reattempt::Policy::new().max(3).run(|| Err::<(), ()>(())).is_ok() }\n";
    let folder = written("run_in_a_function", &[("src/lib.rs", run)]);
    let (_, out, _) = texts(&list(&folder, &[]));
    assert!(!out.contains("`impl`"), "{out}");
}

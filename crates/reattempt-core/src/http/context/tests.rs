//! The rules of the field, a table each; and what is written is what is read.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod differential;

use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{AnswerField, MAX_BYTES, RETRY_CONTEXT, RequestField};

const EXAMPLE: &str =
    r#"left=1450.25, attempt=2, used=("7f3a09c1" "5b20aa17.90e1c44d"), priority=low"#;

fn headers<L: AsRef<[u8]>>(lines: &[L]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(
            RETRY_CONTEXT,
            HeaderValue::from_bytes(line.as_ref()).unwrap(),
        );
    }
    headers
}

fn request(text: &str) -> RequestField {
    RequestField::read(&headers(&[text]))
}

fn answer(text: &str) -> AnswerField {
    AnswerField::read(&headers(&[text]))
}

fn names<S: AsRef<str>>(names: &[S]) -> Vec<Box<str>> {
    names.iter().map(|name| name.as_ref().into()).collect()
}

fn left(micros: u64) -> RequestField {
    RequestField {
        left: Some(Duration::from_micros(micros)),
        ..RequestField::default()
    }
}

fn attempt(attempt: u32) -> RequestField {
    RequestField {
        attempt,
        ..RequestField::default()
    }
}

fn used<S: AsRef<str>>(used: &[S]) -> RequestField {
    RequestField {
        used: names(used),
        ..RequestField::default()
    }
}

fn example() -> RequestField {
    RequestField {
        left: Some(Duration::from_micros(1_450_250)),
        attempt: 2,
        is_low: true,
        from: None,
        used: names(&["7f3a09c1", "5b20aa17.90e1c44d"]),
    }
}

/// Whether `left=5` is read in front of the member `other`.
fn is_dictionary_with(other: &str) -> bool {
    let field = request(&format!("left=5, {other}"));
    assert!(
        field == left(5_000) || field == RequestField::default(),
        "{other}"
    );
    field.left.is_some()
}

#[test]
fn the_example_of_the_page() {
    assert_eq!(request(EXAMPLE), example());
    let all = AnswerField {
        after: Some(Duration::from_secs(2)),
        is_final: true,
        is_expired: true,
        callers: Some(100),
        used: names(&["a.b"]),
    };
    assert_eq!(
        answer(r#"after=2000, final, used=("a.b"), callers=100, expired"#),
        all
    );
}

#[test]
fn a_missing_field_says_nothing() {
    assert_eq!(RequestField::read(&HeaderMap::new()), attempt(1));
    assert_eq!(AnswerField::read(&HeaderMap::new()), AnswerField::default());
    for empty in ["", "  ", "x=1"] {
        assert_eq!(request(empty), RequestField::default(), "{empty:?}");
        assert_eq!(answer(empty), AnswerField::default(), "{empty:?}");
    }
}

#[test]
fn a_malformed_field_is_ignored_as_a_whole() {
    let texts = [
        r", | x=1, | x=1,,y | x y | x= | x =1 | x= 1 | =1 | X | 1 | é", // Keys.
        r"x; | x;=1 | x;X | x;y= | x;y=() | x;y=(1) | x=1;y=(1) | x ;y", // Parameters.
        r#"x=()() | x=( | x=(1 | x=(1,2) | x=(1"a") | x=((1)) | x=) | x=1) | x={} | x=# | x=é"#,
        r"x=- | x=--1 | x=+1 | x=.5 | x=1. | x=-.5 | x=1.2345 | x=1234567890123.0", // Numbers.
        r"x=1234567890123456 | x=1.2.3 | x=1e3 | x=0x1 | x=-1-",
        r#"x=" | x="a | x="a\" | x="\a" | x="\ | x="é" | x='a' | x="a"b"#, // Strings.
        r#"x=a"b" | x=a{ | x=? | x=?2 | x=?10 | x=?true"#,                 // Tokens, Booleans.
        r"x=: | x=:YQ | x=:Y: | x=:YWFhY: | x=:=: | x=:YQ===: | x=:YWE==: | x=:YWFh=:",
        r"x=:Y Q=: | x=:Y=Q: | x=:_-: | x=@ | x=@1.5 | x=@a | x=@@1 | x=@1234567890123456",
        r#"x=% | x=%a" | x=%" | x=%"a | x=%"%" | x=%"%4" | x=%"%C3%A9" | x=%"%4g" | x=%"é""#,
        r#"x=%"%c3" | x=%"%c3a9" | x=%"%c3%28" | x=%"%a9" | x=%"%ff" | x=%"%f0%9f%92""#,
        r#"x=%"%ed%a0%80" | x=%"%c0%80" | x=%"%f5%80%80%80""#,
    ];
    let tabs = [
        "x=(1\t2)",
        "x=\"\t\"",
        "x=:\t:",
        "x=%\"\t\"",
        "x=\t1",
        "x;\ty",
    ];
    for text in texts
        .iter()
        .flat_map(|texts| texts.split(" | "))
        .chain(tabs)
    {
        assert!(!is_dictionary_with(text), "{text}");
        assert_eq!(
            answer(&format!("final, {text}")),
            AnswerField::default(),
            "{text}"
        );
        assert_eq!(
            request(&format!("{text}, left=5")),
            RequestField::default(),
            "{text}"
        );
    }
    assert_eq!(request("\tleft=5"), RequestField::default());
}

#[test]
fn unknown_keys_and_all_parameters_are_ignored() {
    let texts = [
        r"x | * | *a | x.y-z_*0 | x=1 | x=-1 | x=-0 | x=00012 | x=999999999999999",
        r"x=-999999999999999 | x=1.0 | x=-1.5 | x=999999999999.999 | x=000000000001.001",
        r#"x="" | x=" ,;=()" | x="\"\\" | x=a | x=* | x=A!#$%&'*+-.^_`|~:/09 | x=?0 | x=?1"#,
        r"x=:: | x=:YQ==: | x=:YQ=: | x=:YQ: | x=:YWE=: | x=:YWE: | x=:YWFh: | x=:YR==:",
        r#"x=:+/+/: | x=@0 | x=@-1659578233 | x=%"" | x=%"a,b\" | x=%"%41%22%25%00""#,
        r#"x=%"%c3%a9 %e2%82%ac %f0%9f%92%a9" | x=() | x=(  ) | x=(1) | x=( 1  2 )"#,
        r#"x=(a "b" :YQ==: @1 %"c" ?0 1.5) | x;y | x;  y | x;y;y=2;z | x=1;y=a"#,
        r#"x=1;y="a";z=:YQ:;a=@1;b=%"c";d=?0;e=1.5 | x=(1;y 2;z=3);w | x=();y | x=1  | x , y"#,
        r"x,y | lef=4 | left2=4 | x;left=4 | x=(1);left=4",
    ];
    let tabs = ["x\t", "x\t,\ty", "x \t , \t y"];
    for text in texts
        .iter()
        .flat_map(|texts| texts.split(" | "))
        .chain(tabs)
    {
        assert!(is_dictionary_with(text), "{text}");
    }
    assert_eq!(
        request("  left=5;x=1;left=4, attempt=2;y  "),
        RequestField {
            attempt: 2,
            ..left(5_000)
        }
    );
    assert_eq!(
        request("used=(\"a\";x=1 \"b\";y);z=(\"c\")"),
        RequestField::default()
    );
    assert_eq!(
        request("used=(\"a\";x=1 \"b\";y);z=\"c\""),
        used(&["a", "b"])
    );
    assert_eq!(
        request("priority=low;priority=high"),
        RequestField {
            is_low: true,
            ..attempt(1)
        }
    );
    assert!(answer("final;x=?0").is_final);
    assert_eq!(
        answer(EXAMPLE).used,
        example().used,
        "the keys of a request say nothing else"
    );
    assert_eq!(request("after=1, final, expired"), RequestField::default());
}

#[test]
fn above_2048_bytes_the_field_is_ignored() {
    let padded = |length: usize| format!("left=5, x=\"{}\"", "a".repeat(length - 12));
    assert_eq!(padded(MAX_BYTES).len(), MAX_BYTES);
    assert_eq!(request(&padded(2_048)), left(5_000));
    assert_eq!(request(&padded(2_049)), RequestField::default());
    assert_eq!(
        answer(&padded(2_049).replace("left=5", "final ")),
        AnswerField::default()
    );
    // The comma between lines counts; blanks count.
    for (length, expected) in [(2_040, left(4_000)), (2_041, RequestField::default())] {
        let field = RequestField::read(&headers(&[&padded(length), "left=4 "]));
        assert_eq!(field, expected, "{length}");
    }
    let field = RequestField::read(&headers(&vec!["x"; 1_024]));
    assert_eq!(field, RequestField::default());
    let field = RequestField::read(&headers(&[vec!["x"; 1_021], vec!["left=5"]].concat()));
    assert_eq!(field, left(5_000));
    let field = RequestField::read(&headers(&[vec!["x"; 1_022], vec!["left=5"]].concat()));
    assert_eq!(field, RequestField::default());
}

#[test]
fn several_lines_are_joined_by_commas() {
    for (lines, expected) in [
        (
            &["left=5", "attempt=2"][..],
            RequestField {
                attempt: 2,
                ..left(5_000)
            },
        ),
        (&["left=5", "left=4", "left=6"], left(6_000)),
        (&["x=\"", "\", left=5"], left(5_000)), // As RFC 9651 has it.
        (&["used=(\"a\"", "\"b\")"], RequestField::default()),
        (&["left=5", "left="], RequestField::default()),
        (&["left=5", ""], RequestField::default()),
        (&["", "left=5"], RequestField::default()),
    ] {
        assert_eq!(RequestField::read(&headers(lines)), expected, "{lines:?}");
    }
    assert_eq!(
        AnswerField::read(&headers(&["final", "after=5"])),
        answer("final, after=5")
    );
}

#[test]
fn of_a_key_the_last_member_counts() {
    for (text, expected) in [
        ("left=5, left=4", left(4_000)),
        ("left=4, left=5", left(5_000)),
        ("left=5, left=a", RequestField::default()),
        ("left=a, left=5", left(5_000)),
        ("attempt=3, attempt=2", attempt(2)),
        ("attempt=3, attempt", attempt(1)),
        ("used=(\"a\"), used=(\"b\")", used(&["b"])),
        ("used=(\"a\"), used=()", RequestField::default()),
        ("used=(\"a\"), used=(1)", RequestField::default()),
        ("used=(1), used=(\"a\")", used(&["a"])),
        ("priority=low, priority=high", RequestField::default()),
        (
            "priority=high, priority=low",
            RequestField {
                is_low: true,
                ..attempt(1)
            },
        ),
    ] {
        assert_eq!(request(text), expected, "{text}");
    }
    for (text, is_final) in [
        ("final, final=?0", false),
        ("final=?0, final", true),
        ("final, final=1", false),
    ] {
        assert_eq!(answer(text).is_final, is_final, "{text}");
        assert_eq!(
            answer(&text.replace("final", "expired")).is_expired,
            is_final,
            "{text}"
        );
    }
    assert_eq!(
        answer("after=5, after=4").after,
        Some(Duration::from_millis(4))
    );
}

#[test]
fn a_time_is_a_number_from_0() {
    for (value, micros) in [
        ("0", Some(0)),
        ("-0", Some(0)),
        ("-0.0", Some(0)),
        ("0.0", Some(0)),
        ("0.001", Some(1)),
        ("1450.25", Some(1_450_250)),
        ("007.5", Some(7_500)),
        ("999999999999.999", Some(999_999_999_999_999)),
        ("999999999999999", Some(999_999_999_999_999_000)),
        ("-1", None),
        ("-0.001", None),
        ("-999999999999999", None),
        ("?1", None),
        ("\"5\"", None),
        ("five", None),
        (":NQ==:", None),
        ("@5", None),
        ("%\"5\"", None),
        ("(5)", None),
        ("()", None),
    ] {
        let expected = micros.map(Duration::from_micros);
        assert_eq!(
            request(&format!("attempt=2, left={value}")).left,
            expected,
            "{value}"
        );
        assert_eq!(
            request(&format!("attempt=2, left={value}")).attempt,
            2,
            "{value}"
        );
        assert_eq!(
            answer(&format!("final, after={value}")).after,
            expected,
            "{value}"
        );
        assert!(answer(&format!("final, after={value}")).is_final, "{value}");
    }
    assert_eq!(request("left").left, None);
    assert_eq!(answer("after").after, None);
}

#[test]
fn an_attempt_is_an_integer_from_1() {
    for (value, expected) in [
        ("1", 1),
        ("2", 2),
        ("02", 2),
        ("4294967295", u32::MAX),
        ("4294967296", u32::MAX),
        ("999999999999999", u32::MAX),
        ("0", 1),
        ("-2", 1),
        ("2.0", 1),
        ("\"2\"", 1),
        ("?1", 1),
        ("@2", 1),
        ("(2)", 1),
        ("two", 1),
        (":Mg==:", 1),
    ] {
        let field = request(&format!("left=5, attempt={value}"));
        assert_eq!(
            field,
            RequestField {
                attempt: expected,
                ..left(5_000)
            },
            "{value}"
        );
    }
}

#[test]
fn a_priority_is_low_or_normal() {
    for (value, expected) in [
        ("=low", true),
        ("=LOW", false),
        ("=lower", false),
        ("=lo", false),
        ("=high", false),
        ("=\"low\"", false),
        ("=%\"low\"", false),
        ("=(low)", false),
        ("=?1", false),
        ("=1", false),
        ("", false),
    ] {
        let field = request(&format!("left=5, priority{value}"));
        assert_eq!(
            field,
            RequestField {
                is_low: expected,
                ..left(5_000)
            },
            "{value}"
        );
    }
}

#[test]
fn a_flag_is_a_boolean() {
    for (value, expected) in [
        ("", true),
        ("=?1", true),
        ("=?0", false),
        ("=1", false),
        ("=true", false),
        ("=\"?1\"", false),
        ("=(?1)", false),
    ] {
        let field = answer(&format!("after=5, final{value}, expired{value}"));
        let read = (field.after, field.is_final, field.is_expired);
        assert_eq!(
            read,
            (Some(Duration::from_millis(5)), expected, expected),
            "{value}"
        );
    }
}

#[test]
fn a_used_name_is_a_path() {
    let longest = ["abcdefghijklmnop"; 8].join(".");
    for path in [
        "a",
        "Z",
        "0",
        "-",
        "_",
        "--__",
        "a.b",
        "1.2.3.4.5.6.7.8",
        longest.as_str(),
    ] {
        assert_eq!(
            request(&format!("used=(\"{path}\")")),
            used(&[path]),
            "{path}"
        );
    }
    let items = r#""" | "abcdefghijklmnopq" | "." | "a." | ".a" | "a..b" | "1.2.3.4.5.6.7.8.9" | "a.abcdefghijklmnopq" | "a b" | "a/b" | "a\\" | "\"" | "a,b" | a | 1 | 1.5 | ?1 | :YQ==: | @1 | %"a""#;
    for item in items.split(" | ") {
        for list in [
            format!("({item})"),
            format!("(\"a\" {item})"),
            format!("({item} \"a\")"),
            format!("({} {item})", "\"a\" ".repeat(16)),
        ] {
            assert_eq!(
                request(&format!("left=5, used={list}")),
                left(5_000),
                "{list}"
            );
            let field = answer(&format!("final, used={list}"));
            assert_eq!((field.is_final, field.used), (true, vec![]), "{list}");
        }
    }
    for other in ["\"a\"", "a", "?1", "1", "%\"a\""] {
        assert_eq!(
            request(&format!("left=5, used={other}")),
            left(5_000),
            "{other}"
        );
    }
    assert_eq!(request("left=5, used"), left(5_000));
    assert_eq!(request("left=5, used=(  )"), left(5_000));
    assert_eq!(
        request("used=(  \"b\"   \"a\" \"b\" )"),
        used(&["b", "a", "b"])
    );
}

#[test]
fn names_after_the_sixteenth_are_ignored() {
    for count in [15, 16, 17, 40] {
        let all: Vec<_> = (0..count).map(|number| format!("n{number}")).collect();
        let list = format!("used=(\"{}\")", all.join("\" \""));
        let read = &all[..count.min(16)];
        assert_eq!(request(&list), used(read), "{count}");
        assert_eq!(answer(&list).used, names(read), "{count}");
    }
}

fn written(field: &RequestField, before: &[&str]) -> Vec<String> {
    let mut headers = headers(before);
    field.write(&mut headers);
    let lines = headers.get_all(RETRY_CONTEXT).iter();
    lines
        .map(|line| line.to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_time_is_rounded_down_to_microseconds() {
    for (time, expected) in [
        (Duration::ZERO, "0"),
        (Duration::from_nanos(999), "0"),
        (Duration::from_nanos(1_999), "0.001"),
        (Duration::from_micros(10), "0.01"),
        (Duration::from_micros(100), "0.1"),
        (Duration::from_micros(101), "0.101"),
        (Duration::from_micros(110), "0.11"),
        (Duration::from_micros(1_010), "1.01"),
        (Duration::from_nanos(1_999_999), "1.999"),
        (Duration::from_secs(30), "30000"),
        (Duration::from_micros(1_450_250), "1450.25"),
        (Duration::from_millis(999_999_999_999), "999999999999"),
        (
            Duration::from_micros(999_999_999_999_999),
            "999999999999.999",
        ),
        (Duration::from_secs(1_000_000_000), "999999999999.999"),
        (Duration::MAX, "999999999999.999"),
    ] {
        let field = RequestField {
            left: Some(time),
            ..attempt(1)
        };
        assert_eq!(written(&field, &[]), [format!("left={expected}")]);
        let mut headers = HeaderMap::new();
        AnswerField {
            after: Some(time),
            ..AnswerField::default()
        }
        .write(&mut headers);
        assert_eq!(headers[RETRY_CONTEXT], format!("after={expected}"));
    }
}

/// By the number of its attempt a caller says that it reads the answer.
#[test]
fn a_request_with_nothing_to_say_has_its_number() {
    let no_paths = used(&["", "a b", "\"", "é", "a\r\n"]);
    for field in [RequestField::default(), attempt(0), no_paths] {
        assert_eq!(written(&field, &[]), ["attempt=1"], "{field:?}");
        assert_eq!(written(&field, &["x=1"]), ["attempt=1"], "{field:?}");
    }
}

#[test]
fn an_answer_with_nothing_to_say_writes_nothing() {
    let mut headers = headers(&["final"]);
    AnswerField::default().write(&mut headers);
    assert_eq!(headers[RETRY_CONTEXT], "final");
}

#[test]
fn what_is_written_replaces_the_field_but_for_a_shorter_time() {
    for (field, before, expected) in [
        (
            example(),
            &[][..],
            r#"left=1450.25, attempt=2, priority=low, used=("7f3a09c1" "5b20aa17.90e1c44d")"#,
        ),
        (left(5_000), &["left=4"], "left=4"),
        (left(5_000), &["left=4.999"], "left=4.999"),
        (
            left(5_000),
            &["left=6, attempt=3, used=(\"a\"), priority=low"],
            "left=5",
        ),
        (left(5_000), &["left=3", "left=4"], "left=4"),
        (left(5_000), &["left=4, ;"], "left=5"),
        (left(5_000), &["left=-4"], "left=5"),
        (attempt(2), &["left=4, attempt=3"], "left=4, attempt=2"),
        (attempt(u32::MAX), &["attempt=3"], "attempt=4294967295"),
        (used(&["a", "b c", "d"]), &["x"], "used=(\"a\" \"d\")"),
    ] {
        assert_eq!(written(&field, before), [expected], "{before:?}");
    }
    let field = AnswerField {
        after: Some(Duration::from_millis(5)),
        is_final: true,
        is_expired: true,
        callers: Some(7),
        used: names(&["a"]),
    };
    let mut headers = headers(&["after=4", "x"]);
    field.write(&mut headers);
    let lines: Vec<_> = headers.get_all(RETRY_CONTEXT).iter().collect();
    assert_eq!(lines, ["after=5, final, expired, callers=7, used=(\"a\")"]);
}

#[test]
fn callers_have_names_and_a_number() {
    for (name, is_one) in [
        ("a", true),
        ("Az09-_", true),
        ("abcdefghijklmnop", true),
        ("abcdefghijklmnopq", false),
        ("a.b", false),
        ("", false),
        ("a b", false),
    ] {
        let from = is_one.then(|| Box::from(name));
        let field = request(&format!("left=5, from=\"{name}\""));
        assert_eq!((field.left, field.from), (left(5_000).left, from), "{name}");
        let from = Some(name.into());
        let text = written(&RequestField { from, ..attempt(2) }, &[]);
        assert_eq!(text[0].contains("from"), is_one, "{text:?}");
    }
    for other in ["from=a", "from", "from=1", "from=(\"a\")"] {
        assert_eq!(request(other).from, None, "{other}");
    }
    for (text, callers) in [
        ("callers=1", Some(1)),
        ("callers=4294967296", Some(u32::MAX)),
        ("callers=0", None),
        ("callers=-1", None),
        ("callers=1.5", None),
        ("callers", None),
        ("callers=a", None),
    ] {
        assert_eq!(answer(text).callers, callers, "{text}");
    }
}

#[test]
fn names_are_written_as_long_as_there_is_room() {
    let longest = ["abcdefghijklmnop"; 8].join(".");
    let field = RequestField {
        left: Some(Duration::MAX),
        attempt: u32::MAX,
        is_low: true,
        from: None,
        used: names(&[&longest; 16]),
    };
    let text = &written(&field, &[])[0];
    let read = request(text);
    assert_eq!(
        read.used,
        names(&[&longest; 14]),
        "they would have 2,208 bytes"
    );
    assert!(read.is_low && read.attempt == u32::MAX);
    // The last that fits, to the byte.
    for (last, fits) in [
        ("cccccccccccccccc.cccccccccccccccc.cccccccccccccccc", true),
        ("cccccccccccccccc.cccccccccccccccc.cccccccccccccc.cc", false),
    ] {
        let mut list = vec![longest.as_str(); 14];
        list.push(last);
        let used = names(&list);
        let text = &written(
            &RequestField {
                used,
                ..field.clone()
            },
            &[],
        )[0];
        assert_eq!(request(text).used.len(), 14 + usize::from(fits), "{last}");
        assert_eq!(text.len() == MAX_BYTES, fits, "{last}");
    }
    let many: Vec<_> = (0..20).map(|number| format!("n{number}")).collect();
    assert_eq!(request(&written(&used(&many), &[])[0]), used(&many[..16]));
}

fn time() -> impl Strategy<Value = Option<Duration>> {
    option::of((0..20_u32).prop_flat_map(|bits| {
        let most = (1_u64 << (2 * bits + 9)).min(999_999_999_999_999);
        (0..=most).prop_map(Duration::from_micros)
    }))
}

fn paths() -> impl Strategy<Value = Vec<Box<str>>> {
    let path = r"[A-Za-z0-9_-]{1,16}(\.[A-Za-z0-9_-]{1,16}){0,4}";
    vec(path.prop_map(Box::from), 0..=16)
}

const FRAGMENTS: &[&[u8]] = &[
    b"left",
    b"attempt",
    b"used",
    b"priority=low",
    b"from=\"a\"",
    b"callers=5",
    b"after",
    b"final",
    b"expired",
    b"x",
    b"=",
    b"=",
    b"-",
    b"0",
    b"999999999999",
    b"9999",
    b".",
    b"=(",
    b"used=(\"a\"",
    b"\"a.b\"",
    b")",
    b"\"",
    b"\\",
    b";",
    b"; x",
    b",",
    b", ",
    b", left=1.5",
    b" ",
    b"\t",
    b":",
    b":YQ==:",
    b"@",
    b"@1",
    b"?",
    b"?0",
    b"%\"",
    b"%",
    b"%c3",
    b"%a9",
    b"%f0",
    b"\xc3\xa9",
    b"\xff",
    b"*",
    b"A",
];

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn what_is_written_is_read(
        (left, attempt, is_low, used) in (time(), prop_oneof![Just(1), 1..=u32::MAX], any::<bool>(), paths()),
        from in option::of("[A-Za-z0-9_-]{1,16}"),
    ) {
        let from = from.map(Box::from);
        let field = RequestField { left, attempt, is_low, from, used };
        let mut headers = HeaderMap::new();
        field.write(&mut headers);
        prop_assert_eq!(RequestField::read(&headers), field);
    }

    #[test]
    fn what_an_answer_writes_is_read(
        (after, is_final, is_expired, used) in (time(), any::<bool>(), any::<bool>(), paths()),
        callers in option::of(1..=u32::MAX),
    ) {
        let field = AnswerField { after, is_final, is_expired, callers, used };
        let mut headers = HeaderMap::new();
        field.write(&mut headers);
        prop_assert_eq!(AnswerField::read(&headers), field);
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// Nothing panics, and what was read can be written and read again.
    #[test]
    fn hostile_lines(lines in vec(vec(select(FRAGMENTS), 0..12), 0..4)) {
        let lines: Vec<_> = lines.iter().map(|fragments| fragments.concat()).collect();
        let mut headers = headers(&lines);
        let (request, answer) = (RequestField::read(&headers), AnswerField::read(&headers));
        request.write(&mut headers);
        if request != RequestField::default() {
            prop_assert_eq!(RequestField::read(&headers), request);
        }
        answer.write(&mut headers);
        if answer != AnswerField::default() {
            prop_assert_eq!(AnswerField::read(&headers), answer);
        }
    }
}

//! Shapes that loops in public repositories have.

use super::{is_sketch, only};

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

//! The programmatic form.

use super::*;

const HEDGE: Hedge = Hedge::after(Duration::from_millis(50));

#[tokio::test(start_paused = true)]
async fn the_error_says_what_is_final() {
    let script = Script::new(&[(60, Err(Passing(1))), (20, Ok(2))]);
    let answer = HEDGE.runner().timer(&script.time).run(|| script.copy());
    assert_eq!(answer.await, Ok(2));
    let script = Script::new(&[(60, Err(Lasting(1))), (20, Ok(2))]);
    let answer = HEDGE.runner().timer(&script.time).run(|| script.copy());
    assert_eq!(answer.await, Err(Lasting(1)));
}

#[tokio::test(start_paused = true)]
async fn a_function_says_what_is_final() {
    let script = Script::new(&[(60, Err(Lasting(1))), (20, Ok(2))]);
    let hedge = HEDGE.on(|fault: &Fault| matches!(fault, Lasting(_)));
    let answer = hedge.timer(&script.time).run(|| script.copy());
    assert_eq!(answer.await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn copies_borrow_what_is_around_them() {
    let script = Script::new(&[(60, Err(Passing(1))), (20, Ok(2))]);
    let names = ["a".to_owned()];
    let operation = || async {
        let answer = script.copy().await?;
        Ok::<_, Fault>((answer, names.first().map(String::as_str)))
    };
    let answer = HEDGE.runner().timer(&script.time).run(operation).await;
    assert_eq!(answer, Ok((2, Some("a"))));
}

#[tokio::test(start_paused = true)]
async fn somebody_pays() {
    let script = Script::new(&[(90, Ok(1)), (0, Ok(2))]);
    let hedge = HEDGE.runner().pay(|| false).timer(&script.time);
    assert_eq!(hedge.run(|| script.copy()).await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn calls_are_measured() {
    let latencies = Latencies::new();
    let script = Script::new(&[(10, Ok(1)); 100]);
    let hedge = Hedge::quantile(0.95).runner().timer(&script.time);
    for _ in 0..100 {
        let answer = hedge.latencies(&latencies).run(|| script.copy());
        assert_eq!(answer.await, Ok(1));
    }
    let median = latencies.quantile(0.5).unwrap_or_default();
    assert!(median > 9 * MS && median < 11 * MS, "{median:?}");
}

#[test]
#[should_panic(expected = "a hedge after a quantile needs what was measured")]
fn a_quantile_of_nothing_is_refused() {
    let script = Script::new(&[]);
    let hedge = Hedge::quantile(0.95).runner().timer(&script.time);
    drop(hedge.run(|| script.copy()));
}

#[test]
#[should_panic(expected = "`hedge` of 0")]
fn no_delay_is_refused() {
    let _ = Hedge::after(Duration::ZERO);
}

#[test]
#[should_panic(expected = "but is 11")]
fn too_many_copies_are_refused() {
    let _ = HEDGE.max(11);
}

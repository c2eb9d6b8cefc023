//! Hedges after a quantile of what was measured.

use super::*;

const HEDGE: Hedge = Hedge::quantile(0.95);

async fn call(latencies: &Latencies, answers: &[(u32, Answer)]) -> (u32, Answer) {
    let script = Script::new(answers);
    let answer = script.attempt(HEDGE, Some(latencies)).await;
    assert_eq!(script.alive.get(), 0);
    (script.started.get(), answer)
}

#[tokio::test(start_paused = true)]
async fn a_hundred_answers_before_the_first_hedge() {
    let latencies = Latencies::new();
    for millis in 1..=100 {
        let slow = [(millis, Ok(1)), (0, Ok(2))];
        assert_eq!(call(&latencies, &slow).await, (1, Ok(1)), "{millis}");
    }
    // The 95th of them took 95 ms, give or take a bucket.
    assert_eq!(
        call(&latencies, &[(88, Ok(1)), (0, Ok(2))]).await,
        (1, Ok(1))
    );
    assert_eq!(
        call(&latencies, &[(102, Ok(1)), (0, Ok(2))]).await,
        (2, Ok(2))
    );
}

#[tokio::test(start_paused = true)]
async fn only_answers_are_measured() {
    let latencies = Latencies::new();
    for answer in [(1, Err(Passing(1))), (0, Err(Lasting(1)))].repeat(200) {
        assert_eq!(call(&latencies, &[answer]).await, (1, answer.1));
    }
    assert_eq!(latencies.quantile(0.5), None);
    for answer in [(0, Ok(1)), (10, Ok(1))].repeat(50) {
        assert_eq!(call(&latencies, &[answer]).await, (1, Ok(1)));
    }
    let (fast, slow) = (latencies.quantile(0.5), latencies.quantile(0.51));
    assert!(fast < Some(MS) && slow > Some(9 * MS), "{fast:?} {slow:?}");
}

#[tokio::test(start_paused = true)]
async fn the_clock_is_read_only_to_measure() {
    let latencies = Latencies::new();
    for (hedge, latencies, reads) in [
        (HEDGE, Some(&latencies), 2),
        (HEDGE, None, 0),
        (Hedge::after(MS), Some(&latencies), 0),
    ] {
        for wait in [0, 10] {
            let script = Script::new(&[(wait, Ok(1))]);
            assert_eq!(script.attempt(hedge, latencies).await, Ok(1));
            assert_eq!(script.time.reads.get(), reads);
        }
    }
}

/// Were the copy that wins measured alone, slow calls would go unseen, and the share would grow to a multiple.
#[tokio::test(start_paused = true)]
async fn hedging_does_not_lower_what_it_goes_by() {
    let latencies = Latencies::new();
    let mut hedged = 0;
    for n in 0..4000_u32 {
        // 1 to 100 ms in a mixed order; one of 20 calls hangs, whose copy does not.
        let millis = |n: u32| 1 + n * 37 % 100;
        let first = if n % 20 == 7 { 10_000 } else { millis(n) };
        let (copies, answer) = call(&latencies, &[(first, Ok(1)), (millis(n + 5), Ok(2))]).await;
        assert!(answer.is_ok());
        if n >= 1000 {
            hedged += copies - 1;
        }
    }
    let share = f64::from(hedged) / 3000.0;
    assert!((0.03..=0.075).contains(&share), "{share}");
}

#[tokio::test(start_paused = true)]
async fn a_first_copy_that_failed_is_not_measured() {
    let latencies = Latencies::new();
    for _ in 0..100 {
        latencies.record(10 * MS);
    }
    let long = [(500, Err(Passing(1))), (1000, Ok(2))];
    for _ in 0..20 {
        assert_eq!(call(&latencies, &long).await, (2, Ok(2)));
    }
    assert!(latencies.quantile(1.0) < Some(11 * MS));
}

//! What is found again of what was recorded.

use super::*;

const US: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);

fn p(latencies: &Latencies, quantile: f64) -> Duration {
    latencies.quantile(quantile).unwrap_or_default()
}

fn record(latencies: &Latencies, latency: Duration, times: u32) {
    for _ in 0..times {
        latencies.record(latency);
    }
}

fn total(latencies: &Latencies) -> u32 {
    let counts = latencies.counts.iter();
    counts.map(|count| count.load(Ordering::Relaxed)).sum()
}

/// Numbers that look random, the same each time.
fn numbers() -> impl Iterator<Item = u64> {
    let mut state: u64 = 1;
    core::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    })
}

#[test]
fn the_middle_of_a_bucket_is_near() {
    let mut latency = US;
    while latency < Duration::from_secs(3600) {
        let found = middle(bucket(latency));
        let off = found.as_secs_f64() / latency.as_secs_f64() - 1.0;
        assert!(off.abs() <= 0.0625, "{latency:?}: {found:?}");
        latency += latency / 97 + Duration::from_nanos(1);
    }
}

#[test]
fn buckets_follow_each_other() {
    for index in 0..BUCKETS {
        assert_eq!(bucket(middle(index)), index);
    }
    assert_eq!(bucket(Duration::ZERO), 0);
    assert_eq!(bucket(Duration::from_nanos(511)), 0);
    assert_eq!(
        bucket(Duration::from_secs(4_000)),
        bucket(Duration::from_secs(4_100))
    );
    assert_eq!(bucket(Duration::MAX), BUCKETS - 1);
}

#[test]
fn a_hundred_are_enough() {
    let latencies = Latencies::new();
    record(&latencies, MS, 99);
    assert_eq!(latencies.quantile(0.5), None);
    record(&latencies, MS, 1);
    assert_eq!(latencies.quantile(0.5), Some(middle(bucket(MS))));
}

#[test]
fn quantiles_are_counted_from_the_shortest() {
    let latencies = Latencies::new();
    for millis in 1..=1000 {
        latencies.record(MS * millis);
    }
    for (quantile, millis) in [
        (0.0, 1.0),
        (0.5, 500.0),
        (0.95, 950.0),
        (0.99, 990.0),
        (1.0, 1000.0),
    ] {
        let off = p(&latencies, quantile).as_secs_f64() * 1000.0 / millis;
        assert!((0.93..=1.07).contains(&off), "{quantile}: {off}");
    }
    assert_eq!(latencies.quantile(7.0), latencies.quantile(1.0));
    assert_eq!(latencies.quantile(-7.0), latencies.quantile(0.0));
    assert_eq!(latencies.quantile(f64::NAN), latencies.quantile(0.0));
}

#[test]
fn a_quantile_that_lies_between_two_calls_is_the_longer_one() {
    // 0.95 of 110 calls are 104.5: the 105th answers for them.
    let latencies = Latencies::new();
    record(&latencies, MS, 104);
    record(&latencies, 100 * MS, 6);
    assert_eq!(latencies.quantile(0.95), Some(middle(bucket(100 * MS))));
    assert_eq!(latencies.quantile(0.94), Some(middle(bucket(MS))));
}

#[test]
fn it_follows_a_change() {
    let latencies = Latencies::new();
    record(&latencies, 10 * MS, 100_000);
    record(&latencies, 100 * MS, 200);
    assert_eq!(latencies.quantile(0.95), Some(middle(bucket(100 * MS))));
    record(&latencies, 100 * MS, 100_000);
    record(&latencies, MS, 6 * HALVED);
    assert_eq!(latencies.quantile(0.95), Some(middle(bucket(MS))));
}

#[test]
fn halving_keeps_the_tail() {
    // 9 of 10 calls take 1 ms, the others 10 ms to 100 s: hardly one in each of the many buckets there.
    let latencies = Latencies::new();
    let mut sum = 0.0;
    for (n, number) in numbers().take(400_000).enumerate() {
        let share = f64::from(u32::try_from(number).unwrap_or(0)) / f64::from(1_u32 << 31);
        let tail = (share - 0.9) * 10.0;
        latencies.record(if tail < 0.0 {
            MS
        } else {
            Duration::from_secs_f64(10_f64.powf(4.0 * tail - 2.0))
        });
        if n % 1000 == 999 {
            sum += (p(&latencies, 0.95).as_secs_f64().log10() + 2.0) / 4.0;
        }
    }
    // Half of the way along the tail, on average.
    let mean = sum / 400.0;
    assert!((0.45..=0.55).contains(&mean), "{mean}");
}

#[test]
fn halving_halves() {
    let latencies = Latencies::new();
    for index in 0..BUCKETS {
        latencies.record(middle(index));
    }
    for left in [132, 66, 33, 16] {
        latencies.halve();
        assert_eq!(total(&latencies), left);
    }
}

#[test]
fn threads_lose_no_sample() {
    let latencies = Latencies::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| record(&latencies, MS, 250));
        }
    });
    let total = total(&latencies);
    assert_eq!(total, 1000);
}

#[test]
fn samples_of_many_threads_are_bounded() {
    let latencies = Latencies::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let latencies = &latencies;
            scope.spawn(move || record(latencies, MS * (thread + 1), 20_000));
        }
    });
    let total = total(&latencies);
    // 80,000 are in; without halving all of them would be there.
    assert!((HALVED / 2..=3 * HALVED).contains(&total), "{total}");
}

use core::time::Duration;

use crate::budget::Budget;

/// R11, and settings of other kinds.
#[test]
fn refused() {
    type Make = fn() -> Budget;
    const SECOND: Duration = Duration::from_secs(1);
    let cases: [(Make, &str); 24] = [
        (|| Budget::per_success(0.0), "but is 0;"),
        (
            || Budget::per_success(1.5),
            "`budget` must be a share of the successful calls above 0.0 up to 1.0, but is 1.5; write `budget = 0.1` for one retry per ten successes",
        ),
        (|| Budget::per_success(-0.1), "-0.1"),
        (|| Budget::per_request(f64::NAN), "NaN"),
        (|| Budget::per_request(1.001), "1.001"),
        (
            || Budget::per_success(0.1).ttl(Duration::from_millis(999)),
            "`ttl` of 999ms is below 1s, so hardly any success would count; leave it out for the default of 10s",
        ),
        (
            || Budget::per_success(0.1).ttl(Duration::from_millis(60_001)),
            "is above 60s",
        ),
        (
            || Budget::per_success(0.1).floor(f64::INFINITY),
            "but is infinity;",
        ),
        (
            || Budget::per_success(0.1).floor(-1.0),
            "`floor` must be a finite number of retries per second, at least 0.0, but is -1; write",
        ),
        (|| Budget::per_success(0.1).floor(f64::NAN), "NaN"),
        (|| Budget::tokens(0), "`tokens` of 0"),
        (
            || Budget::tokens(9).cost(0),
            "`cost` must be from 1 to the 9 tokens that there are, but is 0;",
        ),
        (
            || Budget::tokens(9).timeout_cost(10),
            "`timeout_cost` must be from 1",
        ),
        (
            || Budget::tokens(9).throttled_cost(10),
            "`throttled_cost` must be from 1",
        ),
        (
            || Budget::tokens(9).ttl(SECOND),
            "`ttl` is for budgets of deposits; drop it, or write `Budget::per_success(0.1)`",
        ),
        (|| Budget::grpc(0, 0.1), "`max_tokens` is from 1 to 1000"),
        (
            || Budget::grpc(9, f64::INFINITY),
            "`token_ratio` is a finite number",
        ),
        (
            || Budget::grpc(9, f64::NAN),
            "`token_ratio` is a finite number",
        ),
        (|| Budget::grpc(1001, 0.1), "`max_tokens` is from 1 to 1000"),
        (
            || Budget::grpc(9, 0.000_9),
            "`token_ratio` is a finite number from 0.001",
        ),
        (
            || Budget::grpc(9, 0.1).floor(1.0),
            "`floor` is for budgets of deposits",
        ),
        (
            || Budget::grpc(9, 0.1).initial(1),
            "`initial` is for budgets of deposits",
        ),
        (
            || Budget::per_success(0.1).cost(5),
            "`cost` is for budgets of tokens; drop it, or write `Budget::tokens(500)`",
        ),
        (
            || Budget::grpc(9, 0.1).throttled_cost(5),
            "`throttled_cost` is for budgets of tokens",
        ),
    ];
    for (make, expected) in cases {
        let panic = std::panic::catch_unwind(make).expect_err(expected);
        let formatted = panic.downcast_ref::<String>().map(String::as_str);
        let message = formatted.or_else(|| panic.downcast_ref::<&str>().copied());
        let message = message.expect("a text");
        assert!(message.contains(expected), "{message}");
    }
}

// The nearest that are accepted, as constants.
const _: Budget = Budget::per_success(1.0)
    .ttl(Duration::from_secs(1))
    .floor(0.0)
    .initial(0);
const _: Budget = Budget::per_request(1e-12)
    .ttl(Duration::from_secs(60))
    .floor(f64::MAX);
const _: [Budget; 2] = [Budget::grpc(1, 0.001), Budget::grpc(1000, 1e9)];
const _: Budget = Budget::tokens(1).cost(1).timeout_cost(1).throttled_cost(1);

/// R11: fewer tokens than a retry costs; the nearest that pay for one are accepted.
#[test]
fn tokens_that_never_pay() {
    let refused = Budget::tokens(4)
        .violation()
        .map(|refusal| refusal.to_string());
    assert!(refused.is_some_and(|text| {
        text.starts_with("`tokens` of 4 is less than the cost of a retry, which is 5,")
    }));
    assert_eq!(Budget::tokens(9).cost(9).violation(), None);
    assert_eq!(Budget::tokens(5).violation(), None);
    assert_eq!(Budget::tokens(1).cost(1).violation(), None);
    assert_eq!(Budget::per_success(0.1).violation(), None);
}

#[test]
fn a_ratio_of_grpc_has_three_digits() {
    for (ratio, thousandths) in [
        (0.001, 1),
        (0.0019, 1),
        (0.1, 100),
        (1.001, 1001),
        (0.0579, 57),
        (4.35, 4350),
        (1e30, u32::MAX),
    ] {
        assert_eq!(crate::budget::thousandths(ratio), thousandths, "{ratio}");
    }
}

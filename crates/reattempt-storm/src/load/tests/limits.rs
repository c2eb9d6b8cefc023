//! The limits that a policy brings along: its time-out, its deadline, its budget.

use super::*;

/// Nothing is ever served.
fn down() -> Scene {
    Scene {
        arrivals: Arrivals::Regular,
        trigger: Trigger::outage(0..40),
        ..scene()
    }
}

#[test]
fn the_time_out_of_the_policy_takes_the_place_of_the_scenes() {
    for (timeout, times) in [(None, secs(1)), (Some(secs(3)), secs(3))] {
        let policy = match timeout {
            Some(timeout) => Policy::new().max(1).timeout(timeout),
            None => Policy::new().max(1),
        };
        let record = run(&down(), &[Client::new(policy.without_budget())]);
        assert!(record.times.len() > 10_000);
        assert!(
            record.times.iter().all(|time| *time == times),
            "{timeout:?}"
        );
    }
}

#[test]
fn a_deadline_ends_calls() {
    let patient = IMMEDIATE.max(100);
    let deadline = Duration::from_millis(2_500);
    let record = run(
        &down(),
        &[Client::new(patient.deadline(deadline).without_budget())],
    );
    // Two whole attempts, and half of one that is cut off.
    assert!(record.times.iter().all(|time| *time == deadline));
    let (calls, attempts) = (record.total(|it| it.calls), record.total(|it| it.attempts));
    assert!(attempts <= 3 * calls && attempts > 3 * (calls - 4 * 280));

    let endless = run(&down(), &[Client::new(patient.without_budget())]);
    assert!(endless.total(|it| it.attempts) > 6 * calls);
    assert!(endless.times.is_empty());
    assert_eq!(u64::try_from(endless.open.len()), Ok(calls));
    assert_eq!(endless.open.first(), Some(&secs(40)));
}

#[test]
fn a_delay_that_would_not_end_in_time_is_not_begun() {
    let policy = Policy::new()
        .max(9)
        .base(secs(1))
        .jitter(Jitter::None)
        .deadline(secs(2));
    let record = run(&down(), &[Client::new(policy.without_budget())]);
    // One attempt of a second: the next would begin at the deadline.
    assert!(record.times.iter().all(|time| *time == secs(1)));
    assert_eq!(record.total(|it| it.attempts), record.total(|it| it.calls));
}

#[test]
fn the_server_knows_the_deadline() {
    let scene = Scene {
        stale: Stale::Dropped,
        trigger: Trigger::outage(0..2),
        ..down()
    };
    let deadline = Duration::from_millis(500);
    let policy = Policy::new().max(1).timeout(secs(5)).deadline(deadline);
    let record = run(&scene, &[Client::new(policy.without_budget())]);
    assert!(sum(&record, 2..3, |it| it.succeeded) > 200);
    assert!(record.total(|it| it.wasted) < 100);
    assert!(record.times.iter().all(|time| *time <= deadline));
    assert!(record.total(|it| it.timed_out) > 400);
}

#[test]
fn each_process_has_a_budget_of_its_own() {
    static BUDGET: Budget = Budget::per_success(0.1).floor(0.0).initial(7);
    let policy = IMMEDIATE.budget(&BUDGET);
    let retries = |processes: usize| {
        let clients: Vec<Client> = (0..processes).map(|_| Client::new(policy)).collect();
        let record = run(&down(), &clients);
        record.total(|it| it.attempts) - record.total(|it| it.calls)
    };
    assert_eq!((retries(1), retries(10)), (7, 70));
}

use super::*;
use crate::scene::Service;

/// A single call of two services, the lower without a retry, at a server that stands still.
fn attempts_of_one(upper: Client) -> Vec<u32> {
    let scene = Scene {
        calls: 0.0,
        trigger: Trigger::outage(0..40),
        ..scene()
    };
    let (upper, lower) = ([upper], [Client::new(Policy::new().max(1))]);
    let mut all = Vec::new();
    for keeps_protocol in [false, true] {
        let chain = [&upper, &lower].map(|clients| Service {
            clients,
            keeps_protocol,
        });
        let record = run_chain(&scene, &chain);
        let attempts = record.seconds.iter().map(|it| it.attempts);
        all.push(attempts.sum());
        assert_eq!(record.times.len(), 1);
    }
    all
}

/// The answer of the call below comes when its caller has timed out, and is no second failure of it.
#[test]
fn an_attempt_fails_once() {
    let policy = IMMEDIATE.max(3).without_budget();
    assert_eq!(attempts_of_one(Client::new(policy)), [3, 3]);
}

#[test]
fn each_retry_of_a_chain_is_paid() {
    for tokens in 1..=3 {
        let policy = IMMEDIATE.max(9).without_budget();
        let budget = || Budget::per_success(0.1).initial(tokens).floor(0.0);
        // Each run has what the one before has left: the second nothing.
        let client = Client::new(policy).budget(budget());
        assert_eq!(attempts_of_one(client), [tokens + 1, 1]);
    }
}

/// Names that an answer brings after its caller has timed out are lost.
#[test]
fn what_comes_too_late_is_not_known() {
    let attempts = |timeout_above: u64| {
        let scene = Scene {
            calls: 0.0,
            trigger: Trigger::outage(0..40),
            ..scene()
        };
        let upper = IMMEDIATE
            .max(2)
            .without_budget()
            .timeout(secs(timeout_above));
        let lower = IMMEDIATE.max(3).without_budget().timeout(secs(1));
        let (upper, lower) = ([Client::new(upper)], [Client::new(lower)]);
        let chain = [
            Service::with_protocol(&upper),
            Service::with_protocol(&lower),
        ];
        run_chain(&scene, &chain).total(|it| it.attempts)
    };
    // Three attempts below, and one more in the retry above.
    assert_eq!(attempts(4), 3 + 1);
    // The first answer comes too late: three attempts again, within the time that is left.
    assert_eq!(attempts(3), 3 + 3);
}

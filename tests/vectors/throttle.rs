//! Client-side throttling as the book on Site Reliability Engineering has it.

use reattempt::timer::{Clock, Timestamp};
use reattempt::{Throttle, Verdict};

struct Share {
    id: &'static str,
    requests: u32,
    accepts: u32,
    rejection: f64,
}

const SHARES: &[Share] = &[
    Share {
        id: "V62 all accepted",
        requests: 100,
        accepts: 100,
        rejection: 0.0,
    },
    Share {
        id: "V62 half",
        requests: 100,
        accepts: 50,
        rejection: 0.0,
    },
    Share {
        id: "V62 less than half",
        requests: 100,
        accepts: 49,
        rejection: 0.019_802,
    },
    Share {
        id: "V62 a quarter",
        requests: 100,
        accepts: 25,
        rejection: 0.495_05,
    },
    Share {
        id: "V62 a tenth",
        requests: 100,
        accepts: 10,
        rejection: 0.792_079,
    },
    Share {
        id: "V62 none",
        requests: 100,
        accepts: 0,
        rejection: 0.990_099,
    },
];

/// Its time stands still, and its random numbers are all the same one.
struct Fixed(u64);

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(std::time::Duration::from_secs(1))
    }

    fn random(&self) -> u64 {
        self.0
    }
}

/// The accepted calls first; with the random number 0 every call is refused that may be, with the
/// largest one none, and both count.
#[test]
fn shares() {
    for clock in [Fixed(0), Fixed(u64::MAX)] {
        for share in SHARES {
            let throttle = Throttle::adaptive();
            for request in 0..share.requests {
                match throttle.permit_with_clock(&clock) {
                    Ok(permit) if request < share.accepts => permit.succeeded_with_clock(&clock),
                    Ok(permit) => permit.failed_with_clock(Verdict::Throttled(None), &clock),
                    Err(_) => assert!(request > share.accepts, "{} {request}", share.id),
                }
            }
            let rejection = throttle.rejection_probability_with_clock(&clock);
            let off = (rejection - share.rejection).abs();
            assert!(off < 5e-7, "{}: {rejection}", share.id);
            let refused = throttle.permit_with_clock(&clock).is_err();
            assert_eq!(refused, rejection > 0.0 && clock.0 == 0, "{}", share.id);
        }
    }
}

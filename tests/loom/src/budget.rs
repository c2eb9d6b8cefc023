//! The words of a budget: never overdrawn, and nothing lost.

#[path = "../../../crates/reattempt-overload/src/budget/credit.rs"]
mod credit;
#[allow(unreachable_pub, reason = "the runtime exports it")]
#[path = "../../../crates/reattempt-overload/src/budget/refund.rs"]
mod refund;
#[path = "../../../crates/reattempt-overload/src/budget/reserve.rs"]
mod reserve;
#[path = "../../../crates/reattempt-overload/src/budget/samples.rs"]
mod samples;
#[path = "../../../crates/reattempt-overload/src/budget/share.rs"]
mod share;
#[path = "../../../crates/reattempt-overload/src/budget/token_count.rs"]
mod token_count;

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;

use credit::{Credit, TOKEN};
use reattempt_core::Timestamp;
use refund::{Payment, RefundBudget};
use reserve::Reserve;
use samples::{LIFE, Samples};
use share::Share;
use token_count::TokenCount;

/// Every order with at most so many preemptions.
fn model(preemptions: usize, act: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(act);
}

/// Runs the acts at the same time; their answers.
fn together<T: 'static, const N: usize>(shared: &Arc<T>, acts: [fn(&T) -> u64; N]) -> [u64; N] {
    let threads = acts.map(|act| {
        let shared = Arc::clone(shared);
        thread::spawn(move || act(&shared))
    });
    threads.map(|thread| thread.join().expect("no panic"))
}

fn count(taken: bool) -> u64 {
    u64::from(taken)
}

/// Halves of a token: three threads deposit, withdraw and give back.
#[test]
fn credit_is_neither_overdrawn_nor_lost() {
    model(2, || {
        let credit = Arc::new(Credit::new(TOKEN / 2));
        credit.deposit();
        credit.deposit();
        let spent = together(
            &credit,
            [
                |credit| {
                    credit.deposit();
                    count(credit.withdraw(0))
                },
                |credit| {
                    credit.deposit();
                    if credit.withdraw(0) {
                        credit.give_back();
                    }
                    0
                },
                |credit| count(credit.withdraw(0)),
            ],
        );
        let spent: u64 = spent.iter().sum();
        assert!(spent <= 2, "overdrawn");
        assert_eq!(credit.left(0), (2 - spent) * TOKEN, "lost or found");
    });
}

/// The first deposit is too old, as all know; it is taken out once, whatever else comes.
#[test]
fn credit_that_expires_is_not_spent_too() {
    model(2, || {
        let credit = Arc::new(Credit::new(TOKEN));
        credit.deposit();
        credit.deposit();
        let spent = together(
            &credit,
            [
                |credit| count(credit.withdraw(1)),
                |credit| {
                    if credit.withdraw(1) {
                        credit.give_back();
                    }
                    credit.deposit();
                    0
                },
                |credit| {
                    credit.expire(1);
                    0
                },
            ],
        );
        let spent: u64 = spent.iter().sum();
        assert_eq!(credit.left(1), (2 - spent) * TOKEN, "lost or found");
    });
}

/// A sample speaks of no deposit that whoever reads it does not see.
#[test]
fn samples_are_not_ahead_of_the_deposits() {
    struct Both {
        credit: Credit,
        samples: Samples,
    }
    impl Both {
        fn deposit(&self, tick: u32) -> u64 {
            let before = self.credit.deposit();
            assert!(self.samples.is_due(before));
            self.samples.note(tick, before);
            0
        }

        fn expired(&self, tick: u32) -> u64 {
            self.samples.expired(tick, || self.credit.deposits())
        }
    }
    const START: u32 = 77;
    model(3, || {
        let both = Arc::new(Both {
            credit: Credit::new(TOKEN),
            samples: Samples::new(),
        });
        both.deposit(START);
        let spent = together(
            &both,
            [
                |both| {
                    both.deposit(START + LIFE / 2);
                    both.deposit(START + LIFE)
                },
                |both| {
                    // The first deposit is too old; the others are not, if they are there.
                    let expired = both.expired(START + LIFE);
                    assert!((1..=2).contains(&expired), "{expired}");
                    count(both.credit.withdraw(expired))
                },
            ],
        );
        let spent: u64 = spent.iter().sum();
        let expired = both.expired(START + LIFE);
        assert_eq!(expired, 1);
        assert!(both.credit.left(expired) <= (2 - spent) * TOKEN);
    });
}

/// A late reader notes an older sample while another searches: nobody remembers the younger one.
#[test]
fn an_older_sample_is_not_missed() {
    const START: u32 = 77;
    model(3, || {
        let samples = Arc::new(Samples::new());
        samples.note(START + LIFE / 2, 2);
        together(
            &samples,
            [
                |samples| count(samples.note(START, 1)),
                |samples| {
                    let expired = samples.expired(START + LIFE / 2, || 3);
                    assert!((1..=2).contains(&expired), "{expired}");
                    0
                },
            ],
        );
        assert_eq!(samples.expired(START + LIFE / 2, || 3), 1);
    });
}

/// Three of four find a token, whatever comes back is found again.
#[test]
fn the_reserve_is_neither_overdrawn_nor_lost() {
    for period in [0, TOKEN] {
        model(3, move || {
            let reserve = Arc::new(Reserve::new(2, period));
            let spent = together(
                &reserve,
                [
                    |reserve| count(reserve.withdraw(9)),
                    |reserve| count(reserve.withdraw(9)),
                    |reserve| {
                        if reserve.withdraw(9) {
                            reserve.give_back(1);
                        }
                        0
                    },
                ],
            );
            let mut spent: u64 = spent.iter().sum();
            assert!(spent <= 2);
            while reserve.withdraw(9) {
                spent += 1;
            }
            assert_eq!(spent, 2);
            assert!(reserve.left(9, 1.0) < 0.5);
        });
    }
}

/// Never above the capacity, never below nothing.
#[test]
fn a_count_is_neither_overdrawn_nor_lost() {
    model(2, || {
        let tokens = Arc::new(TokenCount::new(10));
        assert!(tokens.take(3));
        let taken = together(
            &tokens,
            [
                |tokens| 5 * count(tokens.take(5)),
                |tokens| {
                    let taken = tokens.take(4);
                    if taken {
                        tokens.put(4);
                    }
                    assert!(tokens.balance() <= tokens.capacity());
                    0
                },
                |tokens| {
                    tokens.put(1);
                    2 * count(tokens.take(2))
                },
            ],
        );
        let taken: u64 = taken.iter().sum();
        assert_eq!(u64::from(tokens.balance()), 8 - taken);
        assert_eq!(tokens.lose(100), 0);
        assert_eq!(tokens.balance(), 0);
    });
}

#[test]
fn a_count_is_never_above_its_capacity() {
    model(3, || {
        let tokens = Arc::new(TokenCount::new(10));
        assert!(tokens.take(1));
        together(
            &tokens,
            [
                |tokens| {
                    tokens.put(2);
                    0
                },
                |tokens| {
                    tokens.put(3);
                    0
                },
            ],
        );
        assert_eq!(tokens.balance(), 10);
    });
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_origin(core::time::Duration::from_millis(100_000 + millis))
}

/// Two of three have their price in a share of two processes, and the third draws what is left.
#[test]
fn a_share_is_not_overdrawn() {
    model(2, || {
        let tokens = Arc::new(TokenCount::new(10));
        let take = |tokens: &TokenCount| count(tokens.take_share(2, 0, Share::of(2, 1)));
        assert_eq!(together(&tokens, [take; 3]), [1; 3]);
        assert_eq!(tokens.balance(), 10 - 3 * 2);
        assert_eq!(take(&tokens), 0);
    });
}

/// Who sees that a token is missing sees since when: in the first second of a fault nobody is refused.
#[test]
fn the_first_second_is_free_for_all() {
    model(2, || {
        let budget = Arc::new(RefundBudget::new());
        let acts: [fn(&RefundBudget) -> u64; 2] = [
            |budget| count(budget.pay(1, false, at(0)) == Payment::Refused),
            |budget| count(budget.pay(1, false, at(500)) == Payment::Refused),
        ];
        assert_eq!(together(&budget, acts), [0; 2]);
        assert_eq!(budget.pay(1, false, at(2_000)), Payment::Refused);
    });
}

/// Two threads take and one gives back, after the first second: as many are missing as were taken, but for the trickle.
#[test]
fn tokens_that_come_back_are_neither_overdrawn_nor_lost() {
    model(2, || {
        let budget = Arc::new(RefundBudget::new());
        assert_eq!(budget.pay(2, false, at(0)), Payment::Paid);
        let acts: [fn(&RefundBudget) -> u64; 3] = [
            |budget| count(budget.pay(2, false, at(1_500)) == Payment::Paid),
            |budget| count(budget.pay(2, false, at(1_500)) == Payment::Paid),
            |budget| {
                budget.give_back();
                0
            },
        ];
        let paid: u64 = together(&budget, acts).iter().sum();
        let missing = 2.0 - budget.balance(2);
        let taken = f64::from(u32::try_from(paid).expect("two at most"));
        assert!(
            paid >= 1 && missing <= taken && missing >= taken - 0.011,
            "{paid} {missing}"
        );
    });
}

/// What a later retry takes is never the first that is missing: since when it is, only the clock says.
#[test]
fn a_later_retry_does_not_begin_a_fault() {
    model(2, || {
        let budget = Arc::new(RefundBudget::new());
        assert_eq!(budget.pay(4, true, at(0)), Payment::Paid);
        let acts: [fn(&RefundBudget) -> u64; 2] = [
            |budget| count(budget.pays_again(4)),
            |budget| {
                budget.succeeded(1);
                0
            },
        ];
        let [paid, _] = together(&budget, acts);
        let left = if paid == 1 { 3.3 } else { 4.0 };
        assert!((budget.balance(4) - left).abs() < 0.001, "{paid}");
    });
}

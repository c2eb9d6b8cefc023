use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;
use std::{panic, thread};

use super::*;
use crate::{Breaker, Budget, Throttle};
use reattempt_core::Verdict;

#[test]
fn one_value_for_each_key() {
    static SIZES: Keyed<String, usize> = Keyed::new(|key: &String| key.len());
    assert!(SIZES.is_empty());
    assert_eq!(SIZES.remove("four"), None);
    let four = SIZES.get("four");
    assert_eq!((*four, *SIZES.get("three")), (4, 5));
    assert!(Arc::ptr_eq(&four, &SIZES.get("four")));
    assert!(Arc::ptr_eq(&four, &SIZES.get(&String::from("four"))));
    assert_eq!(SIZES.len(), 2);
    let debug = format!("{SIZES:?}");
    assert_eq!(debug, "Keyed { len: 2, capacity: 1000, idle: 600s, .. }");

    assert!(
        SIZES
            .remove("four")
            .is_some_and(|it| Arc::ptr_eq(&it, &four))
    );
    assert_eq!(SIZES.len(), 1);
    assert!(!Arc::ptr_eq(&four, &SIZES.get("four")));
}

#[test]
fn budgets_of_hosts_are_apart() {
    static HOSTS: Keyed<(String, u16), Budget> = Keyed::new(|_| Budget::grpc(10, 0.1));
    let (one, other) = ((String::from("a"), 80), (String::from("a"), 81));
    let budget = HOSTS.get(&one);
    for _ in 0..7 {
        budget.account().failed(Verdict::Transient);
    }
    let balance = |host| HOSTS.get(host).balance();
    assert!(balance(&one) < 4.0 && balance(&other) > 9.0);
}

#[test]
fn what_makes_values_may_hold_settings() {
    struct Hosts<F> {
        lengths: Keyed<String, usize, F>,
    }
    let settings = [3, 4];
    let hosts = Hosts {
        lengths: Keyed::made_by(move |key: &String| key.len() * settings[1]).capacity(1),
    };
    assert_eq!(
        (*hosts.lengths.get("four"), *hosts.lengths.get("a")),
        (16, 4)
    );
    assert_eq!(hosts.lengths.len(), 1);

    let more = 5;
    let boxed: Box<dyn Fn(&u64) -> u64 + Send + Sync> = Box::new(move |key| key + more);
    let keyed: Keyed<u64, u64, _> = Keyed::made_by(boxed);
    assert_eq!(*keyed.get(&2), 7);
}

#[test]
fn never_more_keys_than_the_capacity() {
    for capacity in [1, 2, 7, 8, 100, 1000] {
        let keyed: Keyed<u64, u64> = Keyed::new(|key| key + 1).capacity(capacity);
        let mut random = 7u64;
        for _ in 0..10_000 {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            assert_eq!(*keyed.get(&random), random + 1);
            assert!(keyed.len() <= capacity, "{} of {capacity}", keyed.len());
        }
        let least = capacity - capacity.div_ceil(8);
        assert!(keyed.len() > least, "{} of {capacity}", keyed.len());
    }
}

/// The clock of the thread stands still unless it is moved.
mod with_time {
    use super::*;
    use crate::virtual_time::virtual_time;

    const SECOND: Duration = Duration::from_secs(1);

    fn keys<T>(keyed: &Keyed<u32, T>) -> Vec<u32> {
        let mut keys = Vec::new();
        keyed.for_each(|key, _| keys.push(*key));
        keys.sort_unstable();
        keys
    }

    #[test]
    fn the_oldest_go_first() {
        let time = virtual_time();
        let keyed: Keyed<u32, ()> = Keyed::new(|_| ()).capacity(16);
        for key in 0..16 {
            time.advance(SECOND);
            keyed.get(&key);
        }
        time.advance(SECOND);
        keyed.get(&0);
        time.advance(SECOND);
        keyed.get(&16);
        let left: Vec<_> = [0].into_iter().chain(3..17).collect();
        assert_eq!(keys(&keyed), left);
        // There is room for another now.
        keyed.get(&17);
        assert_eq!(keyed.len(), 16);
    }

    #[test]
    fn those_in_use_go_last() {
        let time = virtual_time();
        let keyed: Keyed<u32, ()> = Keyed::new(|_| ()).capacity(4);
        let held: Vec<_> = [0, 1].map(|key| keyed.get(&key)).into();
        for key in 2..5 {
            time.advance(SECOND);
            keyed.get(&key);
        }
        assert_eq!(keys(&keyed), [0, 1, 3, 4]);
        assert!(Arc::ptr_eq(&held[0], &keyed.get(&0)));

        // All are in use: the oldest goes, and stays valid for its holder.
        let all: Vec<_> = [3, 4].map(|key| keyed.get(&key)).into();
        time.advance(SECOND);
        keyed.get(&5);
        assert_eq!(keys(&keyed).len(), 4);
        assert!(keys(&keyed).contains(&5));
        assert_eq!((*held[1], *all[0]), ((), ()));
    }

    /// Keys that are used once go, and the service that is down stays known.
    #[test]
    fn what_refuses_calls_goes_last() {
        let time = virtual_time();
        let breakers: Keyed<u32, Breaker> =
            Keyed::new(|_| Breaker::count_window(1).cooldown(SECOND)).capacity(8);
        let breaker = breakers.get(&0);
        assert!(
            breaker
                .permit()
                .map(|it| it.failed(Verdict::Transient))
                .is_ok()
        );
        drop(breaker); // held by no call
        for key in 1..100 {
            // Between these the cool-down ends: half-open it is no news of a service that is well.
            time.advance(SECOND / 2);
            breakers.get(&key);
        }
        assert!(breakers.len() <= 8 && keys(&breakers)[0] == 0);
        // As closed as the others, it goes by its age.
        breakers.get(&0).reset();
        for key in 100..120 {
            time.advance(SECOND);
            breakers.get(&key);
        }
        assert_ne!(keys(&breakers)[0], 0);

        let throttles: Keyed<u32, Throttle> = Keyed::new(|key| match key {
            0 => Throttle::adaptive().min_requests(1),
            // Full for longer than the test, and for a moment.
            2 => Throttle::rate(1, 3600 * SECOND),
            3 => Throttle::rate(1, SECOND / 2),
            _ => Throttle::cubic(),
        });
        let throttles = throttles.capacity(8);
        for key in 0..4 {
            let throttle = throttles.get(&key);
            let permit = throttle
                .permit()
                .map(|permit| permit.failed(Verdict::Throttled(None)));
            assert!(permit.is_ok());
        }
        for key in 4..100 {
            time.advance(SECOND / 10);
            throttles.get(&key);
        }
        let kept = keys(&throttles);
        assert!(kept[..3] == [0, 1, 2] && kept[3] > 3, "{kept:?}");
    }

    /// So many are open that there is no other: the capacity holds all the same.
    #[test]
    fn the_oldest_of_the_open_ones_go() {
        let time = virtual_time();
        let keyed: Keyed<u32, Breaker> = Keyed::new(|_| Breaker::count_window(1)).capacity(8);
        for key in 0..20 {
            time.advance(SECOND / 10);
            keyed.get(&key).force_open();
        }
        assert_eq!(keys(&keyed), [12, 13, 14, 15, 16, 17, 18, 19]);
    }

    #[test]
    fn the_program_says_what_goes_last() {
        let time = virtual_time();
        let keyed = Keyed::new(|key: &u32| *key).capacity(4);
        let keyed = keyed.keep_if(|value| value % 2 == 0);
        for key in 1..10 {
            time.advance(SECOND);
            keyed.get(&key);
        }
        assert_eq!(keys(&keyed), [4, 6, 8, 9]);
    }

    #[test]
    fn idle_keys_go_when_another_comes() {
        let time = virtual_time();
        let keyed: Keyed<u32, ()> = Keyed::new(|_| ()).idle(SECOND * 160);
        let held = keyed.get(&1);
        keyed.get(&2);
        keyed.get(&3);
        time.advance(SECOND * 100);
        keyed.get(&3);
        time.advance(SECOND * 60);
        keyed.get(&4);
        assert_eq!(keys(&keyed), [1, 2, 3, 4]); // not longer than that
        time.advance(SECOND * 10);
        assert_eq!(keyed.len(), 4); // nothing was added
        keyed.get(&5);
        assert_eq!(keys(&keyed), [1, 3, 4, 5]);
        drop(held);
        time.advance(SECOND * 161);
        keyed.get(&6);
        assert_eq!(keys(&keyed), [6]);
    }

    #[test]
    fn a_time_without_end_keeps_everything() {
        let time = virtual_time();
        let keyed: Keyed<u32, ()> = Keyed::new(|_| ()).idle(Duration::MAX);
        keyed.get(&1);
        time.advance(SECOND * 1_000_000_000);
        keyed.get(&2);
        assert_eq!(keys(&keyed), [1, 2]);
    }
}

#[test]
fn threads_get_the_same_value_made_once() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    static KEYED: Keyed<u32, u32> = Keyed::new(|key| {
        MADE.fetch_add(1, Ordering::Relaxed);
        thread::yield_now();
        *key
    });
    const KEYS: u32 = 200;
    let barrier = Barrier::new(4);
    let ask = || {
        (0..KEYS)
            .map(|key| {
                barrier.wait();
                KEYED.get(&key)
            })
            .collect::<Vec<_>>()
    };
    let all: Vec<_> = thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(ask));
        threads
            .map(|thread| thread.join().expect("it panics nowhere"))
            .into()
    });
    for values in &all[1..] {
        let same = all[0].iter().zip(values).all(|(a, b)| Arc::ptr_eq(a, b));
        assert!(same);
    }
    assert_eq!(MADE.load(Ordering::Relaxed), KEYS as usize);
    assert_eq!(KEYED.len(), KEYS as usize);
}

/// Those that are alive are the values in the map, and those that wait for their batch to be freed.
#[test]
fn what_goes_is_dropped() {
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let keyed: Keyed<u32, Counted> = Keyed::new(|_| {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Counted
    })
    .capacity(50);
    thread::scope(|scope| {
        for part in 0..4 {
            let keyed = &keyed;
            scope.spawn(move || {
                for key in 0..2000 {
                    keyed.get(&(key * 4 + part));
                }
            });
        }
    });
    let mut most = 0;
    for key in 0..10_000 {
        keyed.get(&key);
        most = most.max(ALIVE.load(Ordering::Relaxed));
    }
    assert!(keyed.len() <= 50);
    assert!(most < 1000, "{most}");
    drop(keyed);
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
}

#[test]
fn a_function_that_panics_is_called_again() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static KEYED: Keyed<u32, u32> = Keyed::new(|key| {
        assert!(CALLS.fetch_add(1, Ordering::Relaxed) > 0, "the first one");
        *key
    });
    assert!(panic::catch_unwind(|| KEYED.get(&3)).is_err());
    assert_eq!((*KEYED.get(&3), *KEYED.get(&4)), (3, 4));
}

#[test]
fn a_function_may_ask_for_other_keys() {
    static SUMS: Keyed<u32, u32> =
        Keyed::new(|key| key + key.checked_sub(1).map_or(0, |before| *SUMS.get(&before)));
    assert_eq!((*SUMS.get(&10), SUMS.len()), (55, 11));
}

#[test]
#[should_panic(expected = "`capacity` is the number of keys")]
fn no_room() {
    let _ = Keyed::<u32, ()>::new(|_| ()).capacity(0);
}

#[test]
#[should_panic(expected = "`idle` of 0 would forget every key at once")]
fn no_time() {
    let _ = Keyed::<u32, ()>::new(|_| ()).idle(Duration::ZERO);
}

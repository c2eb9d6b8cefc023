//! The samples beside a list of them that is searched from end to end.

use super::queue::Random;
use crate::budget::samples::{LIFE, Samples};
use reattempt_core::Clock as _;
use reattempt_core::process::ProcessClock;

const SLOT: u32 = LIFE / 15;

/// By clocks that stand, go on, go back and wrap, and readers that are late or early.
#[test]
fn the_oldest_of_sixteen() {
    for seed in 0..2000 {
        let mut random = Random(seed);
        let samples = Samples::new();
        let mut list = [None; 16];
        let mut tick = [0, SLOT * 3 + 1, 1 << 31, u32::MAX - LIFE][random.below(4)];
        let mut deposits = 0;
        for _ in 0..100 {
            deposits += u64::try_from(random.below(3)).unwrap_or(0);
            let step = [0, 1, SLOT / 2, SLOT, SLOT + 1, LIFE - 1, LIFE, 2 * LIFE];
            let step = step[random.below(step.len())];
            let late = [0, 1, SLOT, LIFE - 1, LIFE, LIFE + 1][random.below(6)];
            tick = match random.below(8) {
                0 => tick.wrapping_sub(step),
                _ => tick.wrapping_add(step),
            };
            if samples.note(tick, deposits) {
                list[position(tick)] = Some((tick, deposits));
            }
            for reader in [tick, tick.wrapping_sub(late), tick.wrapping_add(late)] {
                let expired = samples.expired(reader, || deposits);
                let searched = oldest(&list, reader).unwrap_or(deposits);
                assert_eq!(expired, searched, "{list:?} at {reader}, seed {seed}");
            }
        }
    }
}

/// The number in the oldest that is less than a life away, on either side.
fn oldest(list: &[Option<(u32, u64)>], tick: u32) -> Option<u64> {
    let life = i64::from(LIFE);
    let sampled = list.iter().flatten().map(|&(at, before)| {
        let age = i64::from(tick.wrapping_sub(at).cast_signed());
        (age, before)
    });
    let young = sampled.filter(|(age, _)| (-life..life).contains(age));
    young.max().map(|(_, before)| before)
}

fn position(tick: u32) -> usize {
    usize::try_from(tick / SLOT % 16).unwrap_or(0)
}

/// Many looks in each slot, by clocks that are late or go back: what is remembered from a search is
/// what another search would find.
#[test]
fn what_is_remembered_is_what_a_search_finds() {
    let start = ProcessClock.random();
    println!("seeds from {start}");
    let mut remembered = 0;
    for seed in 0..500 {
        let mut random = Random(start.wrapping_add(seed));
        let samples = Samples::new();
        let mut list = [None; 16];
        let mut tick = [0, SLOT * 3 + 1, 1 << 31, u32::MAX - LIFE][random.below(4)];
        let mut deposits = 0;
        for _ in 0..300 {
            // So few that all of them look at the clock.
            deposits += u64::from(random.below(3) == 0);
            let steps = [0, 1, 7, SLOT / 3, SLOT, 3 * SLOT, LIFE - SLOT, LIFE];
            let long = if random.below(8) == 0 { 3 } else { 0 };
            let mut step = || steps[random.below(5 + long)];
            let (on, back, late) = (step(), step(), step());
            tick = tick.wrapping_add(on);
            if random.below(6) == 0 {
                tick = tick.wrapping_sub(back);
            }
            for reader in [tick, tick.wrapping_sub(late), tick.wrapping_add(late), tick] {
                let searched = oldest(&list, reader).unwrap_or(deposits);
                if let Some(known) = samples.known_expired(reader, || deposits) {
                    assert_eq!(known, searched, "{list:?} at {reader}, start {start}");
                    // The first to look in a slot has to note it.
                    let own = list[position(reader)].map(|(at, _)| at / SLOT);
                    assert_eq!(own, Some(reader / SLOT), "start {start}");
                    remembered += 1;
                } else if random.below(2) == 0 && samples.note(reader, deposits) {
                    list[position(reader)] = Some((reader, deposits));
                }
                // Some note and do not search.
                if random.below(2) == 0 {
                    let searched = oldest(&list, reader).unwrap_or(deposits);
                    let expired = samples.expired(reader, || deposits);
                    assert_eq!(expired, searched, "{list:?} at {reader}, start {start}");
                }
            }
            if random.below(200) == 0 {
                samples.clear();
                list = [None; 16];
            }
        }
    }
    assert!(remembered > 50_000, "{remembered} of 600,000");
}

use super::*;
use crate::scene::{Arrivals, Trigger};
use crate::server::Stale;

fn scene(trigger: Trigger) -> Scene {
    Scene {
        calls: 10.0,
        arrivals: Arrivals::Regular,
        capacity: 12.0,
        stale: Stale::Served,
        timeout: Duration::from_secs(1),
        trigger,
        end: Duration::from_secs(40),
        seed: 1,
    }
}

/// Ten calls a second, of which so many succeed, with so many attempts.
fn record(seconds: &[(u32, u32)]) -> Record {
    let mut record = Record::new();
    record.seconds = seconds
        .iter()
        .map(|&(succeeded, attempts)| Second {
            calls: 10,
            attempts,
            made: attempts,
            succeeded,
            failed: 10_u32.saturating_sub(succeeded),
            timed_out: attempts,
            wasted: 5,
        })
        .collect();
    record.times = (1..=150).rev().map(Duration::from_millis).collect();
    record.open = (151..=200).map(Duration::from_millis).collect();
    record
}

const WELL: (u32, u32) = (10, 10);
const ILL: (u32, u32) = (0, 40);

#[test]
fn a_run_in_numbers() {
    let seconds = [vec![WELL; 5], vec![ILL; 10], vec![WELL; 25]].concat();
    let summary = Summary::of(&scene(Trigger::outage(5..8)), &record(&seconds));
    let expected = Summary {
        calls: 400,
        attempts: 700,
        peak_load: 40.0,
        amplification: 1.75,
        peak_amplification: 4.0,
        succeeded: 0.75,
        open: 0.125,
        wasted: 0.4,
        // One second in ten is no more than chance.
        recovered: Some(Duration::from_secs(6)),
        median: Duration::from_millis(100),
        p99: Duration::from_millis(198),
    };
    assert_eq!(summary, expected);
}

#[test]
fn it_is_back_when_it_stays() {
    let recovered = |trigger, parts: &[Vec<(u32, u32)>]| {
        Summary::of(&scene(trigger), &record(&parts.concat())).recovered
    };
    let outage = || Trigger::outage(5..8);
    let secs = |seconds| Some(Duration::from_secs(seconds));
    // Well for a moment only.
    let parts = [vec![ILL; 8], vec![WELL; 15], vec![ILL; 3], vec![WELL; 14]];
    assert_eq!(recovered(outage(), &parts), secs(17));
    // Not well for long enough to tell.
    let parts = [vec![ILL; 8], vec![ILL; 24], vec![WELL; 8]];
    assert_eq!(recovered(outage(), &parts), None);
    // Never ill; a little ill.
    assert_eq!(recovered(outage(), &[vec![WELL; 40]]), secs(0));
    assert_eq!(recovered(outage(), &[vec![(9, 11); 40]]), secs(0));
    assert_eq!(recovered(outage(), &[vec![(8, 11); 40]]), None);
    // A trigger that ends within a second.
    let trigger = Trigger {
        time: Duration::from_secs(5)..Duration::from_millis(7_500),
        ..outage()
    };
    let parts = [vec![ILL; 10], vec![WELL; 30]];
    assert_eq!(
        recovered(trigger, &parts),
        Some(Duration::from_millis(1_500))
    );
    assert_eq!(recovered(Trigger::outage(5..40), &[vec![WELL; 40]]), None);
}

#[test]
fn nothing_is_summed_up_as_nothing() {
    let summary = Summary::of(&scene(Trigger::outage(0..0)), &Record::new());
    assert_eq!((summary.calls, summary.recovered), (0, None));
    assert!(summary.amplification.abs() < 1e-9 && summary.succeeded.abs() < 1e-9);
    assert_eq!(summary.p99, Duration::ZERO);
}

//! What a run was like.

use std::collections::BTreeMap;

use crate::log::{AttemptEnd, CallEnd, What};
use crate::tales::Run;

pub(super) fn print(run: &Run<'_>) {
    let (plan, counts) = (run.plan, run.counts);
    let tales = run.tales.values();
    let ended =
        |end: fn(CallEnd) -> bool| run.tales.values().filter(move |tale| end(tale.end)).count();
    let (ok, dropped) = (
        ended(|end| end == CallEnd::Ok),
        ended(|end| end == CallEnd::Dropped),
    );
    let all = run.tales.len();
    println!(
        "seed {}, {} s: {all} calls, {ok} succeeded, {} failed, {dropped} were dropped",
        plan.seed,
        plan.length.as_secs(),
        all - ok - dropped
    );
    let bodies: usize = tales.clone().map(|tale| tale.bodies.len()).sum();
    let retries: u32 = tales
        .clone()
        .map(|tale| tale.attempts().saturating_sub(1))
        .sum();
    let cut = tales.clone().flat_map(|tale| &tale.bodies);
    let cut = cut.filter(|body| body.end == AttemptEnd::Dropped).count();
    println!("{bodies} attempts and copies, {retries} retries, {cut} cut off or dropped");
    let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
    let mut ops: BTreeMap<String, [u32; 2]> = BTreeMap::new();
    for tale in tales {
        for (_, _, reason) in tale.gave_up() {
            *reasons.entry(reason.as_str()).or_default() += 1;
        }
        let [ok, others] = ops.entry(format!("{:?}", tale.spec.op)).or_default();
        *if tale.end == CallEnd::Ok { ok } else { others } += 1;
    }
    println!(
        "gave up: {}",
        list(
            reasons
                .iter()
                .map(|(word, count)| format!("{word} {count}"))
        )
    );
    let ops = ops
        .iter()
        .map(|(op, [ok, others])| format!("{op} {ok}/{others}"));
    println!("succeeded/not: {}", list(ops));
    let count =
        |is_it: fn(&What) -> bool| run.common().filter(|record| is_it(&record.what)).count();
    println!(
        "{} faults, {} changes of breakers, {} effects, longest stall {:?}",
        count(|what| matches!(what, What::Fault(..))),
        count(|what| matches!(what, What::Breaker { .. })),
        counts.effects.values().sum::<u32>(),
        run.stalls.longest()
    );
    let (middle, end) = counts.bytes;
    println!(
        "tasks {:?}, open files {:?}, memory {} MiB in the middle, {} MiB at the end",
        counts.tasks,
        counts.sockets,
        middle >> 20,
        end >> 20
    );
}

fn list(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

//! Orders, and the shop that carries out their steps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// What a customer has ordered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The store that has it.
    pub(crate) store: u32,
    pub(crate) key: u32,
    /// 1 if it is the second one under its key.
    pub(crate) nth: u32,
}

impl Order {
    pub(crate) fn key(&self) -> String {
        format!("order {}", self.key)
    }

    /// A third of the orders end in another way each.
    fn kind(&self) -> Kind {
        match (self.key + self.nth) % 5 {
            0 => Kind::Undone,
            1 => Kind::Cycle,
            _ => Kind::Plain,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Undone,
    Cycle,
}

#[derive(Debug, Default)]
struct Books {
    /// The effect under each key.
    effects: BTreeMap<String, String>,
    /// The items of each order, the newest first.
    lists: BTreeMap<Order, Vec<u32>>,
    reads: u32,
    swallowed: Vec<String>,
}

/// A service that knows keys: it carries out the first call under a key, and answers others as that one.
#[derive(Debug, Clone)]
pub(crate) struct Shop(Arc<Mutex<Books>>, Arc<watch::Sender<usize>>);

impl Shop {
    pub(crate) fn new() -> Self {
        Self(Arc::default(), Arc::new(watch::Sender::new(0)))
    }

    fn call(&self, step: &Step, effect: &str) {
        let mut books = self.0.lock().unwrap();
        let known =
            (books.effects.entry(step.key().to_owned())).or_insert_with(|| effect.to_owned());
        if known != effect {
            let swallowed = format!("{effect:?} as {known:?}");
            books.swallowed.push(swallowed);
        }
        let count = books.effects.len();
        drop(books);
        self.1.send_replace(count);
    }

    /// Waits until the shop has done so many things.
    pub(crate) async fn reaches(&self, effects: usize) {
        let mut all = self.1.subscribe();
        let reached = all.wait_for(|all| *all >= effects);
        let reached = tokio::time::timeout(Duration::from_secs(120), reached).await;
        assert!(reached.is_ok(), "{} of {effects} effects", self.effects());
    }

    pub(crate) fn effects(&self) -> usize {
        *self.1.borrow()
    }

    fn list(&self, order: &Order) -> Vec<u32> {
        let mut books = self.0.lock().unwrap();
        books
            .lists
            .entry(order.clone())
            .or_insert_with(|| vec![1, 0])
            .clone()
    }

    /// Adds an item at the front of each third list.
    pub(crate) fn grow(&self) {
        let mut books = self.0.lock().unwrap();
        for list in books.lists.values_mut().step_by(3) {
            let next = u32::try_from(list.len()).unwrap();
            list.insert(0, next);
        }
    }

    fn count_read(&self) -> u32 {
        let mut books = self.0.lock().unwrap();
        books.reads += 1;
        // Some reads are the same after a failover, and some are not.
        books.reads / 7
    }

    /// Returns the effects that were carried out under two keys, and those that were taken for others.
    pub(crate) fn damage(&self) -> (Vec<String>, Vec<String>) {
        let books = self.0.lock().unwrap();
        let mut seen = BTreeSet::new();
        let twice = books
            .effects
            .values()
            .filter(|effect| !seen.insert(*effect));
        (twice.cloned().collect(), books.swallowed.clone())
    }

    /// Returns the effects of an order that are missing after it was processed.
    pub(crate) fn missing(&self, order: &Order) -> Vec<String> {
        let books = self.0.lock().unwrap();
        let done: BTreeSet<_> = books.effects.values().collect();
        let charges = [0, 1].map(|item| format!("charge {item} {order:?}"));
        let packs = [0, 1].map(|box_| format!("pack {box_} {order:?}"));
        let all = charges
            .into_iter()
            .chain(packs)
            .chain([format!("ship {order:?}")]);
        all.filter(|effect| !done.contains(effect)).collect()
    }
}

#[step]
async fn read(_: &Step, #[with] shop: &Shop, order: &Order) -> Result<Vec<u32>, String> {
    Ok(shop.list(order))
}

#[step(key = item, undo = refund)]
async fn charge(step: &Step, #[with] shop: &Shop, order: &Order, item: u32) -> Result<(), String> {
    shop.call(step, &format!("charge {item} {order:?}"));
    Ok(())
}

#[step]
async fn refund(
    step: &Step,
    #[with] shop: &Shop,
    order: &Order,
    item: u32,
    (): &(),
) -> Result<(), String> {
    shop.call(step, &format!("refund {item} {order:?}"));
    Ok(())
}

#[step]
async fn pack(step: &Step, #[with] shop: &Shop, order: &Order, box_: u32) -> Result<(), String> {
    shop.call(step, &format!("pack {box_} {order:?}"));
    Ok(())
}

#[step]
async fn deliver(step: &Step, #[with] shop: &Shop, order: &Order) -> Result<(), String> {
    shop.call(step, &format!("ship {order:?}"));
    Ok(())
}

#[step]
async fn count(_: &Step, #[with] shop: &Shop) -> Result<u32, String> {
    Ok(shop.count_read())
}

#[step]
async fn visit(step: &Step, #[with] shop: &Shop, order: &Order, seen: u32) -> Result<(), String> {
    shop.call(step, &format!("visit {seen} {order:?}"));
    Ok(())
}

#[step]
async fn fail(_: &Step) -> Result<(), String> {
    Err("nobody wants it".to_owned())
}

#[workflow(max_failures = 1_000)]
pub(crate) async fn ship(context: &WorkflowContext, order: Order) -> Result<(), StepError> {
    deliver(context, &order).await
}

/// Each generation visits what it has read.
#[workflow(max_failures = 1_000)]
pub(crate) async fn cycle(
    context: &WorkflowContext,
    order: Order,
    round: u32,
    seen: u32,
) -> Result<(), StepError> {
    if round > 0 {
        // The number of a round is a part of what it does.
        visit(context, &order, 1_000 * round + seen).await?;
    }
    if round == 3 {
        return Ok(());
    }
    let seen = count(context).await?;
    context.continue_as_new(cycle(order, round + 1, seen)).await
}

#[workflow(max_failures = 1_000)]
pub(crate) async fn order(context: &WorkflowContext, order: Order) -> Result<(), StepError> {
    for item in read(context, &order).await? {
        charge(context, &order, item).await?;
    }
    tokio::try_join!(pack(context, &order, 0), pack(context, &order, 1))?;
    let child = context.start(ship(order.clone())).await;
    if order.kind() == Kind::Cycle {
        let _ = context.start(cycle(order.clone(), 0, 0)).await;
    }
    if order.kind() == Kind::Undone {
        fail(context).await?;
    }
    match context.result(&child).await {
        Ok(()) => Ok(()),
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn is_undone(order: &Order) -> bool {
    order.kind() == Kind::Undone
}

//! Vectors, and a model of what a failover may lose.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::{Identity, StepKey, Which};
use crate::store::Salt;
use crate::task::{Task, processing_task};

fn task(workflow: &str, key: &str, incarnation: i32) -> Task {
    Task {
        workflow: workflow.to_owned(),
        key: key.to_owned(),
        incarnation,
        ..processing_task()
    }
}

fn step(of: Identity, step: &'static str, which: Which) -> String {
    StepKey { of, step, which }.to_string()
}

/// As `hashlib.sha256` of Python computes them, with `len(part).to_bytes(8, "big") + part` for each part.
#[test]
fn vectors() {
    let of = Identity::of(&task("order", "17", 0), Salt::from_u128(1));
    assert_eq!(of.to_string(), "00a4596c37277fc25f2fddde4a5d2ff1");
    assert_eq!(of.seed(), 0xc243_6e2c_65d2_7b31);
    assert_eq!(
        step(of, "pay", Which::Nth(2)),
        "d0777a15a760445ae30cf15f536eeaa5"
    );
    assert_eq!(
        step(of, "pay", Which::Key("a".into())),
        "3dfdb270e5c6b8133df9f32853dd8157"
    );
    assert_eq!(
        of.child("ship", 0),
        "~child-a89249dce536dea64a0cc5d7d99d8c42"
    );
    let next = Task {
        generation: 3,
        input: r#"[{"b":1,"a":2}]"#.to_owned(),
        ..task("order", "17", 0)
    };
    let next = Identity::of(&next, Salt::from_u128(1));
    assert_eq!(next.to_string(), "2236c5370a2425e0f73bc7ed21c6b2c7");
}

#[test]
fn other_parts_are_other_work() {
    let salt = Salt::from_u128(7);
    let generation = |generation, input: &str| Task {
        generation,
        input: input.to_owned(),
        ..task("w", "k", 0)
    };
    let tasks = [
        task("w", "k", 0),
        task("w", "k", 1),
        task("wk", "", 0),
        task("", "wk", 0),
        generation(1, "[1]"),
        generation(2, "[1]"),
        generation(1, "[2]"),
    ];
    let own = tasks.iter().map(|task| Identity::of(task, salt));
    let other = Identity::of(&tasks[0], Salt::from_u128(8));
    let all: Vec<_> = own.chain([other]).collect();
    let mut keys = BTreeSet::new();
    for of in &all {
        keys.insert(of.to_string());
        keys.insert(of.pseudonym().to_string());
        for which in [
            Which::Nth(0),
            Which::Nth(1),
            Which::Key("0".into()),
            Which::Key(String::new()),
        ] {
            keys.insert(step(*of, "w", which.clone()));
            keys.insert(step(*of, "v", which));
        }
        keys.insert(of.child("w", 0).replace("~child-", ""));
    }
    assert_eq!(keys.len(), all.len() * 11);
    let [first, same] = [all[0], Identity::of(&generation(0, "[9]"), salt)];
    assert!(first == same, "the arguments of a task are no part of it");
    assert_eq!(first.pseudonym().seed(), first.seed());
}

/// The rules by which keys of steps were or could be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// The one of the library.
    Incarnation,
    /// Random bits of the row.
    Row,
    /// The workflow and the key.
    Key,
    /// An epoch of the store, which each prune raises.
    Epoch,
    /// How often the key became free, counted when a prune frees it, at once.
    Freed,
    /// As the library, and calls by their place in the whole workflow.
    Place,
}

/// A row of the model. A pruned one is the line of its key.
#[derive(Debug, Clone)]
struct Row {
    bits: u64,
    incarnation: i32,
    epoch: i32,
    /// Which order of the caller it is.
    order: u32,
    /// How many items its list had when the workflow read it.
    items: Option<u32>,
    /// How many steps are recorded.
    done: u32,
    has_ended: bool,
    /// When another order may have the key of a pruned one.
    free_at: Option<u32>,
}

/// What a replica has, too.
#[derive(Debug, Clone, Default)]
struct Database {
    rows: BTreeMap<u32, Row>,
    freed: BTreeMap<u32, i32>,
    epoch: i32,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Damage {
    /// Effects that a service carried out under two keys.
    twice: u32,
    /// Effects that a service took for another one.
    swallowed: u32,
    /// Orders that the store took for an earlier one.
    mistaken: u32,
}

/// The time in which nothing is lost: a replica is at most so far behind.
const LAG: u32 = 40;

struct Model {
    rule: Rule,
    rng: StdRng,
    now: u32,
    database: Database,
    /// The states of the database that a replica may have, the newest last.
    replicas: Vec<Database>,
    /// The newest order of each key, as the caller knows it.
    orders: BTreeMap<u32, u32>,
    /// The length of the list of each order, which only grows.
    lists: BTreeMap<(u32, u32), u32>,
    /// What the service did under each key of a step: key of the order, order, item.
    service: BTreeMap<String, (u32, u32, u32)>,
    damage: Damage,
}

impl Model {
    fn run(rule: Rule, seed: u64) -> Damage {
        let mut model = Self {
            rule,
            rng: StdRng::seed_from_u64(seed),
            now: 0,
            database: Database::default(),
            replicas: Vec::new(),
            orders: BTreeMap::new(),
            lists: BTreeMap::new(),
            service: BTreeMap::new(),
            damage: Damage::default(),
        };
        for _ in 0..600 {
            model.now += 1;
            let newest = model.database.clone();
            model.replicas.push(newest);
            if model.replicas.len() > LAG as usize {
                model.replicas.remove(0);
            }
            match model.rng.random_range(0..100) {
                0..15 => model.order(),
                15..75 => model.work(),
                75..80 => model.resubmit(),
                80..85 => model.grow(),
                85..98 => model.prune(),
                _ => model.fail_over(),
            }
        }
        model.resubmit();
        for _ in 0..600 {
            model.work();
        }
        let mut effects: BTreeMap<_, u32> = BTreeMap::new();
        for effect in model.service.values() {
            *effects.entry(effect).or_default() += 1;
        }
        model.damage.twice = effects.values().map(|count| count - 1).sum();
        model.damage
    }

    /// The caller has an order, under a key whose last order is over for it.
    fn order(&mut self) {
        let key = self.rng.random_range(0..12);
        let row = self.database.rows.get(&key);
        // It waits as long as the documentation says: until the key is free.
        let is_free = match (self.rule, row) {
            (_, None) => !self.orders.contains_key(&key),
            // A failover has lost the newest order: the outbox submits it again first.
            (_, Some(row)) if self.orders.get(&key) != Some(&row.order) => false,
            (Rule::Incarnation | Rule::Place, Some(row)) => {
                row.free_at.is_some_and(|at| at <= self.now)
            }
            (_, Some(row)) => row.free_at.is_some(),
        };
        if !is_free {
            return;
        }
        let order = self.orders.get(&key).map_or(0, |order| order + 1);
        self.orders.insert(key, order);
        self.submit(key, order);
    }

    fn submit(&mut self, key: u32, order: u32) {
        let now = self.now;
        let bits = self.rng.random();
        let earlier = self.database.rows.get(&key);
        let takes_over = |row: &Row| match self.rule {
            Rule::Incarnation | Rule::Place => row.free_at.is_some_and(|at| at <= now),
            _ => row.free_at.is_some(),
        };
        if let Some(row) = earlier.filter(|row| !takes_over(row)) {
            if row.order != order && row.order < order {
                self.damage.mistaken += 1;
            }
            return;
        }
        let incarnation = earlier.map_or(0, |row| row.incarnation + 1);
        let row = Row {
            bits,
            incarnation: match self.rule {
                Rule::Freed => self.database.freed.get(&key).copied().unwrap_or_default(),
                _ => incarnation,
            },
            epoch: self.database.epoch,
            order,
            items: None,
            done: 0,
            has_ended: false,
            free_at: None,
        };
        self.database.rows.insert(key, row);
    }

    /// A worker runs a step, and may die before its record: one for each item, and one at the end.
    fn work(&mut self) {
        let open: Vec<_> = (self.database.rows.iter())
            .filter(|(_, row)| !row.has_ended)
            .map(|(key, _)| *key)
            .collect();
        if open.is_empty() {
            return;
        }
        let key = open[self.rng.random_range(0..open.len())];
        let row = self.database.rows.get_mut(&key).unwrap();
        let list = *self.lists.entry((key, row.order)).or_insert(2);
        let items = *row.items.get_or_insert(list);
        let item = row.done;
        let is_last = item == items;
        let (name, effect) = if is_last {
            ("close", u32::MAX)
        } else {
            ("charge", item)
        };
        let effect = (key, row.order, effect);
        let own = task("order", &key.to_string(), row.incarnation);
        let of = match self.rule {
            Rule::Incarnation | Rule::Freed | Rule::Place => Identity::of(&own, Salt::from_u128(3)),
            Rule::Key => Identity::of(&task("order", &own.key, 0), Salt::from_u128(3)),
            Rule::Epoch => Identity::of(&task("order", &own.key, row.epoch), Salt::from_u128(3)),
            Rule::Row => Identity::of(&own, Salt::from_u128(row.bits.into())),
        };
        let name_of = if self.rule == Rule::Place {
            "call"
        } else {
            name
        };
        let nth = if is_last && self.rule != Rule::Place {
            0
        } else {
            item
        };
        let step = step(of, name_of, Which::Nth(nth));
        let known = *self.service.entry(step).or_insert(effect);
        if known != effect {
            self.damage.swallowed += 1;
        }
        // The worker may die here.
        if self.rng.random_range(0..4) > 0 {
            row.done += 1;
            row.has_ended = is_last;
        }
    }

    /// The caller submits everything again whose row it cannot find, as an outbox does.
    fn resubmit(&mut self) {
        let all: Vec<_> = (self.orders.iter())
            .map(|(key, order)| (*key, *order))
            .collect();
        for (key, order) in all {
            let is_there = self
                .database
                .rows
                .get(&key)
                .is_some_and(|row| row.order >= order);
            if !is_there {
                self.submit(key, order);
            }
        }
    }

    /// A list grows that a workflow reads again.
    fn grow(&mut self) {
        let lists: Vec<_> = self.lists.keys().copied().collect();
        if !lists.is_empty() {
            let one = lists[self.rng.random_range(0..lists.len())];
            *self.lists.get_mut(&one).unwrap() += 1;
        }
    }

    fn prune(&mut self) {
        let ended: Vec<_> = (self.database.rows.iter())
            .filter(|(_, row)| row.has_ended && row.free_at.is_none())
            .map(|(key, _)| *key)
            .collect();
        let mut has_pruned = false;
        for key in ended {
            if self.rng.random_range(0..2) == 0 {
                self.database.rows.get_mut(&key).unwrap().free_at = Some(self.now + LAG);
                *self.database.freed.entry(key).or_default() += 1;
                has_pruned = true;
            }
        }
        self.database.epoch += i32::from(has_pruned);
    }

    /// A replica takes the place of the database.
    fn fail_over(&mut self) {
        let back = self.rng.random_range(0..self.replicas.len());
        self.database = self.replicas.swap_remove(back);
        self.replicas.clear();
        self.replicas.push(self.database.clone());
        // The caller knows what it has submitted.
        if self.rng.random_range(0..2) == 0 {
            self.resubmit();
        }
    }
}

fn total(rule: Rule, seeds: u64) -> Damage {
    let first = rand::random::<u32>();
    println!("seeds from {first}");
    let mut total = Damage::default();
    for seed in 0..seeds {
        let damage = Model::run(rule, u64::from(first) + seed);
        total.twice += damage.twice;
        total.swallowed += damage.swallowed;
        total.mistaken += damage.mistaken;
    }
    total
}

#[test]
fn nothing_is_done_twice_or_swallowed() {
    assert_eq!(total(Rule::Incarnation, 200), Damage::default());
}

#[test]
fn the_model_sees_what_is_wrong_with_other_rules() {
    for (rule, twice, swallowed) in [
        (Rule::Row, true, false),
        (Rule::Key, false, true),
        (Rule::Epoch, true, false),
        (Rule::Freed, false, true),
        (Rule::Place, false, true),
    ] {
        // Some seeds show nothing.
        let shown = (0..50).any(|_| {
            let damage = total(rule, 20);
            (damage.twice > 0 || !twice) && (damage.swallowed > 0 || !swallowed)
        });
        assert!(shown, "{rule:?}");
    }
}

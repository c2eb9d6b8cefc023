//! Who makes attempts, and what each leaves out.
#![doc = include_str!("../drivers.md")]

mod functions;
mod middleware;
mod runners;
mod simulator;

use std::sync::Arc;

use crate::case::Case;
use crate::constants;
use crate::trace::{Ending, Trace};
use crate::world::World;

const TABLE: &str = include_str!("../drivers.md");

pub(crate) type Call = fn(&Arc<World>) -> Ending;

const CALLS: &[(&str, Call)] = &[
    ("`async fn`", functions::story::asynchronous),
    ("`async fn`, plain", functions::plain::asynchronous),
    ("`async fn`, enduring", functions::enduring),
    ("`fn`", functions::story::blocking),
    ("`fn`, plain", functions::plain::blocking),
    ("`async` block", functions::async_block),
    ("block", functions::block),
    ("`async` constant", constants::story_async),
    ("`async` constant, plain", constants::plain_async),
    ("constant", constants::story),
    ("constant, plain", constants::plain),
    ("`try_run_async`", runners::try_run_async),
    ("`run_async`", runners::run_async),
    ("`try_run`", runners::try_run),
    ("`run`", runners::run),
    ("layer", runners::layer),
    ("middleware", middleware::middleware),
    ("simulator", simulator::simulator),
];

#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) name: &'static str,
    pub(crate) call: Call,
    /// What it cannot do.
    parts: Vec<&'static str>,
}

/// The rows of the table; a driver without one, or a row without one, is a mistake.
pub(crate) fn all() -> Vec<Driver> {
    let rows = TABLE.lines().filter(|line| line.starts_with('|')).skip(2);
    let drivers: Vec<_> = rows.map(Driver::read).collect();
    assert_eq!(
        drivers.len(),
        CALLS.len(),
        "a driver is missing in the table"
    );
    drivers
}

pub(crate) fn named<'d>(drivers: &'d [Driver], name: &str) -> &'d Driver {
    let driver = drivers.iter().find(|driver| driver.name == name);
    driver.unwrap_or_else(|| panic!("no driver: {name}"))
}

impl Driver {
    fn read(row: &'static str) -> Self {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let name = cells.next().unwrap_or("");
        let call = CALLS.iter().find(|(known, _)| *known == name);
        let parts = cells.flat_map(|parts| parts.split(", "));
        Self {
            name,
            call: call.unwrap_or_else(|| panic!("no driver: {name}")).1,
            parts: parts.filter(|part| !part.is_empty()).collect(),
        }
    }

    fn lacks(&self, part: &str) -> bool {
        self.parts.contains(&part)
    }

    /// Whether no attempt is ever cut off.
    pub(crate) fn endures(&self) -> bool {
        self.lacks("cut-offs")
    }

    /// Whether its calls are futures.
    pub(crate) fn is_async(&self) -> bool {
        self.name.contains("async") || ["layer", "middleware"].contains(&self.name)
    }

    /// Whether it has anything to do with this case. The middleware takes as long as all the others together.
    pub(crate) fn takes(&self, case: &Case) -> bool {
        match self.name {
            "middleware" => case.seed.is_multiple_of(4),
            name if !name.contains("constant") => true,
            _ => case.constant.is_some_and(|index| {
                constants::ALL[index].has_blocking() || !self.lacks("time-outs")
            }),
        }
    }

    /// The part of a case that it can do.
    pub(crate) fn part_of(&self, case: &Case) -> Case {
        let mut case = case.clone();
        for part in &self.parts {
            case.leave_out(part);
        }
        case
    }

    pub(crate) fn run(&self, case: &Case) -> Trace {
        World::run(case, self.call)
    }

    /// What of a trace it shows.
    pub(crate) fn shows(&self, mut trace: Trace) -> Trace {
        if self.lacks("views") {
            trace.forget_views();
        }
        trace
    }
}

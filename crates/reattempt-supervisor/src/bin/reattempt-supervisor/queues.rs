//! The commands for queues and lanes.

use std::error::Error;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use reattempt::policy::duration;
use reattempt_supervisor::{Client, TaskLimit};

use crate::show;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Replaces the limits: how many tasks run at once and begin in a period, in all processes together.
    Limit(Limits),
    /// Removes the limits.
    Unlimit {
        /// The name of the queue or lane; of lanes also `customer-*`.
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        name: String,
    },
}

/// What the commands are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Queue,
    Lane,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("limits").args(["concurrency", "rate"]).required(true).multiple(true)))]
pub(crate) struct Limits {
    /// The name of the queue or lane; of lanes also `customer-*`.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// How many tasks run at once; 0 stops all.
    #[arg(long, value_name = "TASKS")]
    concurrency: Option<u32>,
    /// How many tasks begin in a period, such as `50/1s`.
    #[arg(long, value_name = "TASKS/PERIOD", value_parser = rate)]
    rate: Option<(u32, Duration)>,
}

/// Reads a rate such as `50/1s`.
fn rate(text: &str) -> Result<(u32, Duration), String> {
    let (tasks, period) = text.split_once('/').ok_or("write it as `50/1s`")?;
    let wrong = |part: &str, what: &str| format!("`{part}` is not {what}; write it as `50/1s`");
    Ok((
        (tasks.parse()).map_err(|_| wrong(tasks, "a number of tasks"))?,
        duration::parse(period)
            .map_err(|_| wrong(period, "a number and one of `ms`, `s`, `m`, `h`"))?,
    ))
}

/// Carries out a command; without one it lists the queues, or the limits of lanes.
pub(crate) async fn run(
    client: &Client,
    (kind, command): (Kind, Option<Command>),
    as_json: bool,
) -> Result<(), Box<dyn Error>> {
    let (name, limit) = match command {
        None if kind == Kind::Lane => return show::lanes(&client.lane_limits().await?, as_json),
        None => return show::queues(&client.queues().await?, as_json),
        Some(Command::Unlimit { name }) => (name, TaskLimit::new()),
        Some(Command::Limit(limits)) => {
            let mut limit = TaskLimit::new();
            if let Some(tasks) = limits.concurrency {
                limit = limit.concurrency(tasks);
            }
            if let Some((tasks, period)) = limits.rate {
                limit = limit.rate(tasks, period);
            }
            (limits.name, limit)
        }
    };
    let what = match kind {
        Kind::Queue => {
            client.limit_queue(&*name, limit).await?;
            "queue"
        }
        Kind::Lane => {
            client.limit_lanes(&*name, limit).await?;
            "lane"
        }
    };
    if limit.is_none() {
        println!("the {what} `{name}` has no limit");
    } else {
        println!("the {what} `{name}` has the limit: {limit}");
    }
    Ok(())
}

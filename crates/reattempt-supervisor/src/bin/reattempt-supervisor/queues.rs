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

/// Carries out a command for queues; without one it lists them.
pub(crate) async fn of_queues(
    client: &Client,
    command: Option<Command>,
    as_json: bool,
) -> Result<(), Box<dyn Error>> {
    let Some(command) = command else {
        return show::queues(&client.queues().await?, as_json);
    };
    let (name, limit) = command.limit();
    client.limit_queue(&*name, limit).await?;
    report("queue", &name, limit);
    Ok(())
}

/// Carries out a command for lanes; without one it lists their limits.
pub(crate) async fn of_lanes(
    client: &Client,
    command: Option<Command>,
    as_json: bool,
) -> Result<(), Box<dyn Error>> {
    let Some(command) = command else {
        return show::lanes(&client.lane_limits().await?, as_json);
    };
    let (name, limit) = command.limit();
    client.limit_lanes(&*name, limit).await?;
    report("lane", &name, limit);
    Ok(())
}

impl Command {
    /// Returns what it is for, and the limit.
    fn limit(self) -> (String, TaskLimit) {
        match self {
            Self::Unlimit { name } => (name, TaskLimit::new()),
            Self::Limit(limits) => {
                let mut limit = TaskLimit::new();
                if let Some(tasks) = limits.concurrency {
                    limit = limit.concurrency(tasks);
                }
                if let Some((tasks, period)) = limits.rate {
                    limit = limit.rate(tasks, period);
                }
                (limits.name, limit)
            }
        }
    }
}

fn report(what: &str, name: &str, limit: TaskLimit) {
    if limit.is_none() {
        println!("the {what} `{name}` has no limit");
    } else {
        println!("the {what} `{name}` has the limit: {limit}");
    }
}

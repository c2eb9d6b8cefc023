//! The commands for queues.

use std::error::Error;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use reattempt::policy::duration;
use reattempt_supervisor::{Client, TaskLimit};

use crate::show;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Replaces the limits of a queue: how many of its tasks run at once and begin in a period, in all processes
    /// together.
    Limit(Limits),
    /// Removes the limits of a queue.
    Unlimit {
        /// The name of the queue.
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        queue: String,
    },
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("limits").args(["concurrency", "rate"]).required(true).multiple(true)))]
pub(crate) struct Limits {
    /// The name of the queue.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    queue: String,
    /// How many tasks run at once; 0 stops the queue.
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

/// Carries out a command; without one it lists the queues.
pub(crate) async fn run(
    client: &Client,
    command: Option<Command>,
    as_json: bool,
) -> Result<(), Box<dyn Error>> {
    let (queue, limit) = match command {
        None => return show::queues(&client.queues().await?, as_json),
        Some(Command::Unlimit { queue }) => (queue, TaskLimit::new()),
        Some(Command::Limit(limits)) => {
            let mut limit = TaskLimit::new();
            if let Some(tasks) = limits.concurrency {
                limit = limit.concurrency(tasks);
            }
            if let Some((tasks, period)) = limits.rate {
                limit = limit.rate(tasks, period);
            }
            (limits.queue, limit)
        }
    };
    client.limit_queue(&*queue, limit).await?;
    if limit.is_none() {
        println!("the queue `{queue}` has no limit");
    } else {
        println!("the queue `{queue}` has the limit: {limit}");
    }
    Ok(())
}

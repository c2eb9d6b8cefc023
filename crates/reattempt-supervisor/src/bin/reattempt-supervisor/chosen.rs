//! The tasks that a command is for: by their numbers, or by what fits.

use std::error::Error;

use clap::Args;
use reattempt_supervisor::store::{AdminCommand, Filter};
use reattempt_supervisor::{Client, State, SubmitError, TaskId, Time};

use crate::Signature;

/// What a task must have.
#[derive(Debug, Args)]
pub(crate) struct FilterOptions {
    /// Tasks in this state: pending, processing, waiting, processed, error, compensated, cancelled,
    /// parked, pruned.
    #[arg(long)]
    state: Option<State>,
    /// Tasks of this workflow.
    #[arg(long)]
    workflow: Option<String>,
    /// Tasks in this queue.
    #[arg(long)]
    queue: Option<String>,
    /// Tasks with this key.
    #[arg(long)]
    key: Option<String>,
    /// Tasks whose headers have this name and value.
    #[arg(long, value_name = "NAME=VALUE", value_parser = header)]
    header: Option<(String, String)>,
    /// Tasks whose last error contains this text.
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// Tasks that were submitted at this time or later, such as `2026-03-29` or
    /// `2026-03-29T01:00:00Z`.
    #[arg(long, value_name = "TIME")]
    since: Option<Time>,
    /// Tasks that were submitted before this time.
    #[arg(long, value_name = "TIME")]
    until: Option<Time>,
    /// Tasks that ended, or were parked, at this time or later.
    #[arg(long, value_name = "TIME")]
    ended_since: Option<Time>,
    /// Tasks that ended, or were parked, before this time.
    #[arg(long, value_name = "TIME")]
    ended_until: Option<Time>,
}

impl FilterOptions {
    pub(crate) fn filter(self) -> Filter {
        Filter {
            state: self.state,
            workflow: self.workflow,
            queue: self.queue,
            key: self.key,
            header: self.header,
            error: self.error,
            since: self.since,
            until: self.until,
            ended_since: self.ended_since,
            ended_until: self.ended_until,
            before: None,
            limit: 0,
        }
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("write the name, `=` and the value")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The tasks that a command is for.
#[derive(Debug, Args)]
pub(crate) struct Chosen {
    /// The numbers of the tasks.
    tasks: Vec<TaskId>,
    #[command(flatten)]
    filter: FilterOptions,
    /// Gives the command to all tasks that fit, if exactly so many do. Without it the program says how many fit.
    #[arg(long, value_name = "NUMBER", conflicts_with = "tasks")]
    expect: Option<u64>,
}

impl Chosen {
    /// Gives the tasks a command; `done` says what has become of a task.
    pub(crate) async fn send(
        self,
        (client, signature): (&Client, &Signature),
        command: &AdminCommand,
        done: &str,
    ) -> Result<(), Box<dyn Error>> {
        let operator = signature.of(client);
        let filter = self.filter.filter();
        match (&self.tasks[..], filter == Filter::default()) {
            ([], true) => {
                return Err("write the numbers of the tasks, or say which ones: --state, --workflow, --queue, --key, \
                     --header, --error, --since, --until, --ended-since, --ended-until"
                    .into());
            }
            ([], false) => {}
            (tasks, true) => {
                let mut refused = Vec::new();
                for task in tasks {
                    match operator.send(*task, command).await {
                        Ok(()) => println!("task {task} {done}"),
                        Err(SubmitError::Store(error)) => return Err(error.into()),
                        Err(error) => refused.push(error.to_string()),
                    }
                }
                // The others have got the command.
                return match &refused[..] {
                    [] => Ok(()),
                    refused => Err(refused.join("\nerror: ").into()),
                };
            }
            (_, false) => return Err("write numbers of tasks or a filter, not both".into()),
        }
        let Some(expect) = self.expect else {
            let count = operator.count(&filter).await?;
            if count == 0 {
                println!("no task fits; nothing has changed");
            } else {
                println!(
                    "{count} tasks fit; nothing has changed. With --expect {count} each of them {done}"
                );
            }
            return Ok(());
        };
        let refused = operator.send_to_all(&filter, command, expect).await?;
        for error in &refused {
            eprintln!("{error}");
        }
        let taken = expect.saturating_sub(u64::try_from(refused.len())?);
        println!("{taken} of {expect} tasks: each {done}");
        Ok(())
    }
}

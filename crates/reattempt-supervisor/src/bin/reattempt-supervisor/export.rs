//! Writes the histories of tasks for a replay.

use std::error::Error;

use rand::RngExt as _;
use reattempt_supervisor::replay;
use reattempt_supervisor::store::Filter;
use reattempt_supervisor::{Client, State, SubmitError, TaskId};

use crate::chosen::FilterOptions;

/// How many tasks one look at the store reads.
const PAGE: u32 = 500;

/// Which histories to print, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The numbers of the tasks; without them, a sample of all.
    tasks: Vec<TaskId>,
    /// How many tasks of the sample there are at most.
    #[arg(long, default_value_t = 1_000)]
    sample: usize,
    #[command(flatten)]
    filter: FilterOptions,
    /// Hides the values of these fields everywhere, and the arguments of the workflow with these numbers,
    /// from 0. Numbers that a step got, too, stay there: name their fields.
    #[arg(long, value_delimiter = ',', value_name = "FIELD")]
    redact: Option<Vec<String>>,
}

/// Prints histories, one a line.
pub(crate) async fn print(client: &Client, options: Options) -> Result<(), Box<dyn Error>> {
    let Options {
        mut tasks,
        sample: count,
        filter,
        redact,
    } = options;
    let (is_sample, filter) = (tasks.is_empty(), filter.filter());
    if is_sample {
        tasks = sample(client, filter, count).await?;
    } else if filter != Filter::default() {
        return Err("write numbers of tasks or a filter, not both".into());
    }
    for task in tasks {
        let mut history = match replay::export(client, task).await {
            // It was pruned since it was drawn.
            Err(SubmitError::UnknownTask(_) | SubmitError::NotAllowed(_, State::Pruned))
                if is_sample =>
            {
                continue;
            }
            history => history?,
        };
        if let Some(fields) = &redact {
            history.redact(fields)?;
        }
        println!("{}", serde_json::to_string(&history)?);
    }
    Ok(())
}

/// Draws at most `count` of the tasks that the filter finds; each of them is as likely as the others.
async fn sample(
    client: &Client,
    filter: Filter,
    count: usize,
) -> Result<Vec<TaskId>, Box<dyn Error>> {
    let mut drawn: Vec<TaskId> = Vec::new();
    let mut seen: usize = 0;
    let mut before = None;
    loop {
        let page = Filter {
            before,
            limit: PAGE,
            ..filter.clone()
        };
        let tasks = client.list(page).await?;
        before = tasks.last().map(|task| task.id);
        if before.is_none() {
            break;
        }
        for task in tasks {
            if task.state == State::Pruned {
                continue;
            }
            seen = seen.saturating_add(1);
            if drawn.len() < count {
                drawn.push(task.id);
            } else if let Some(place) = drawn.get_mut(rand::rng().random_range(0..seen)) {
                *place = task.id;
            }
        }
    }
    drawn.sort();
    Ok(drawn)
}

//! For operators: what tasks there are, what happened in them, and what is to become of them.

mod show;

use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use reattempt_supervisor::store::Filter;
use reattempt_supervisor::{Postgres, RunId, Sqlite, State, Tasks, page};

/// Durable tasks: see them, and say what is to become of them.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    /// Where the tasks are: the path of a SQLite file, or the URL of a database (`postgres://...`).
    #[arg(long, env = "RETRY_STORE", global = true)]
    store: Option<String>,
    /// Answers as JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lists tasks, the newest first.
    List {
        /// Only those in this state: pending, processing, waiting, processed, error, compensated, cancelled, parked.
        #[arg(long)]
        state: Option<State>,
        /// Only those of this workflow.
        #[arg(long)]
        workflow: Option<String>,
        /// Only those in this queue.
        #[arg(long)]
        queue: Option<String>,
        /// Only those older than this task.
        #[arg(long)]
        before: Option<RunId>,
        /// At most so many.
        #[arg(long, default_value_t = 50)]
        limit: u32,
    },
    /// Shows a task and what happened in it.
    Show {
        /// Its number.
        task: RunId,
    },
    /// Counts the tasks in each state.
    Counts,
    /// Has parked or failed tasks go on after their last record.
    Resubmit {
        /// Their numbers.
        #[arg(required = true)]
        tasks: Vec<RunId>,
    },
    /// Ends tasks and undoes what they did.
    Cancel {
        /// Their numbers.
        #[arg(required = true)]
        tasks: Vec<RunId>,
    },
    /// Tells a task something that it waits for.
    Signal {
        /// Its number.
        task: RunId,
        /// What it waits for.
        name: String,
        /// What goes along, as JSON.
        #[arg(default_value = "null", value_parser = json)]
        payload: serde_json::Value,
    },
    /// Takes tasks out of the way until they are resubmitted.
    Park {
        /// Their numbers.
        #[arg(required = true)]
        tasks: Vec<RunId>,
        /// Why, for whoever looks at them.
        #[arg(long, default_value = "parked by an operator")]
        why: String,
    },
    /// Deletes tasks that ended long ago.
    Prune {
        /// How long ago, in days.
        #[arg(long)]
        days: u64,
        /// At most so many.
        #[arg(long, default_value_t = 10_000)]
        limit: u32,
    },
    /// Shows tasks on a page that nothing can be done on.
    Serve {
        /// Where.
        #[arg(long, default_value = "127.0.0.1:8017")]
        listen: SocketAddr,
    },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments {
        store,
        json,
        command,
    } = arguments;
    let store = store.ok_or(
        "no store is named; add `--store tasks.db` or `--store postgres://...`, or set RETRY_STORE",
    )?;
    let tasks = open(&store).await?;
    match command {
        Command::List {
            state,
            workflow,
            queue,
            before,
            limit,
        } => {
            let filter = Filter {
                state,
                workflow,
                queue,
                before,
                limit,
            };
            show::list(&tasks.list(filter).await?, json)
        }
        Command::Show { task } => show::task(&tasks.task::<()>(task).progress().await?, json),
        Command::Counts => show::counts(&tasks.store().counts().await?, json),
        Command::Resubmit { tasks: which } => {
            for task in which {
                tasks.resubmit(task).await?;
                println!("task {task} goes on");
            }
            Ok(())
        }
        Command::Cancel { tasks: which } => {
            for task in which {
                tasks.cancel(task).await?;
                println!("task {task} is to end; what it did is undone");
            }
            Ok(())
        }
        Command::Signal {
            task,
            name,
            payload,
        } => {
            tasks.signal(task, &name, &payload).await?;
            println!("task {task} is told `{name}`");
            Ok(())
        }
        Command::Park { tasks: which, why } => {
            for task in which {
                tasks.park(task, &why).await?;
                println!("task {task} is parked");
            }
            Ok(())
        }
        Command::Prune { days, limit } => {
            let age = Duration::from_secs(days.saturating_mul(86_400));
            println!("{} tasks are deleted", tasks.prune(age, limit).await?);
            Ok(())
        }
        Command::Serve { listen } => {
            let listener = tokio::net::TcpListener::bind(listen).await?;
            println!("http://{}", listener.local_addr()?);
            Ok(page::serve(listener, tasks).await?)
        }
    }
}

async fn open(store: &str) -> Result<Tasks, Box<dyn Error>> {
    if store.starts_with("postgres://") || store.starts_with("postgresql://") {
        return Ok(Tasks::new(Postgres::connect(store).await?));
    }
    let path = store.strip_prefix("sqlite:").unwrap_or(store);
    if !std::path::Path::new(path).exists() {
        return Err(
            format!("there is no file {path}; name the one that the schedulers use").into(),
        );
    }
    Ok(Tasks::new(Sqlite::open(path).await?))
}

fn json(text: &str) -> Result<serde_json::Value, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("not JSON ({error}); a text stands in quotes: '\"{text}\"'"))
}

//! The program for operators: it shows tasks and their records, and carries out commands.

/// Prints a line, as that of `std` does, also if the reader is gone.
macro_rules! println {
    () => { $crate::print_line("") };
    ($($line:tt)+) => { $crate::print_line(&format!($($line)+)) };
}

mod chosen;
mod export;
mod queues;
mod schedules;
mod show;
mod task_command;

use std::error::Error;
use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use reattempt_supervisor::store::{Filter, Resolution, Verdict};
use reattempt_supervisor::{Client, Operator, Postgres, Retention, Sqlite, TaskId, page};

use chosen::FilterOptions;
use task_command::TaskCommand;

/// Shows durable tasks, and carries out commands on them.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    /// The store: the path of a SQLite file, or the URL of a database (`postgres://...`).
    #[arg(long, env = "RETRY_STORE", global = true)]
    store: Option<String>,
    /// Prints JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

/// Which tasks are deleted.
#[derive(Debug, Args)]
struct PruneOptions {
    /// How many days ago the tasks must have ended.
    #[arg(long)]
    days: u64,
    /// How many days after the end of a task its key stays taken, so that nobody can submit it again: `--days`, if
    /// that is longer.
    #[arg(long, value_name = "DAYS", default_value_t = 0)]
    keep_keys: u64,
    /// How many minutes a replica may be behind to which the database may fail over: no key is free earlier.
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    lag_minutes: u64,
    /// How many days the line of a free key stays: longer than services remember the keys of steps.
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    forget_keys: u64,
    /// How many days the lines of the feed of ends stay; as many as the tasks if you do not say it.
    #[arg(long, value_name = "DAYS")]
    keep_ends: Option<u64>,
    /// The largest number of tasks.
    #[arg(long, default_value_t = 10_000)]
    limit: u32,
}

/// Who gives a command, and why: `show` has both.
#[derive(Debug, Args)]
struct Signature {
    /// Who says so.
    #[arg(long, env = "USER", default_value = "unknown")]
    by: String,
    /// The reason, for other operators.
    #[arg(long, default_value = "")]
    why: String,
}

impl Signature {
    fn of(&self, client: &Client) -> Operator {
        client.operator(&*self.by, &*self.why)
    }
}

/// What to fork.
#[derive(Debug, Args)]
struct ForkOptions {
    /// The number of the task.
    task: TaskId,
    /// The number of the step.
    step: i32,
    /// The key of the new task.
    #[arg(long)]
    key: String,
    #[command(flatten)]
    signature: Signature,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lists tasks, the newest first.
    List {
        #[command(flatten)]
        filter: FilterOptions,
        /// Lists tasks that are older than this one.
        #[arg(long)]
        before: Option<TaskId>,
        /// The largest number of tasks.
        #[arg(long, default_value_t = 50)]
        limit: u32,
    },
    /// Shows a task and its records.
    Show {
        /// The number of the task.
        task: TaskId,
    },
    /// Prints the histories of tasks as lines of JSON, for a replay with the code of today.
    Export(export::Options),
    /// Counts the tasks in each state; of more than 10,000 PostgreSQL estimates the number.
    Counts,
    /// Lists what the queues have to do and their limits, and sets limits.
    Queues {
        #[command(subcommand)]
        command: Option<queues::Command>,
    },
    /// Lists the limits of lanes, and sets them.
    Lanes {
        #[command(subcommand)]
        command: Option<queues::Command>,
    },
    #[command(flatten)]
    Give(TaskCommand),
    /// Stores a task that goes on from a step of one that has ended: what came before is copied, that step and what
    /// follows run anew.
    Fork(ForkOptions),
    /// Says what became of a step that ended a task, or of which nobody knows whether it was done,
    /// and continues the task.
    #[command(group(clap::ArgGroup::new("verdict").required(true)))]
    Resolve {
        /// The number of the task.
        task: TaskId,
        /// The number of the step.
        step: i32,
        /// The step was not done: it runs again.
        #[arg(long, group = "verdict")]
        not_done: bool,
        /// The step was done, with this result as JSON, which must fit the type of the step.
        #[arg(long, group = "verdict", value_parser = json)]
        done: Option<Json>,
        /// The task turns back, and the step is undone by its `undo_unknown`.
        #[arg(long, group = "verdict")]
        undo: bool,
        /// Who says so.
        #[arg(long, env = "USER")]
        by: String,
        /// How you know.
        #[arg(long)]
        why: String,
    },
    /// Sends a signal to a task.
    Signal {
        /// The number of the task.
        task: TaskId,
        /// The name of the signal.
        name: String,
        /// The value of the signal, as JSON.
        #[arg(default_value = "null", value_parser = json)]
        payload: Json,
    },
    /// Lists schedules, and pauses, resumes or removes one.
    Schedules {
        #[command(subcommand)]
        command: Option<schedules::Command>,
    },
    /// Deletes tasks that ended long ago.
    Prune(PruneOptions),
    /// Rebuilds the small tables by which PostgreSQL finds tasks, after a restore or changes without triggers.
    Repair,
    /// Makes a copy of a store another store, whose steps have other keys, before anything runs on it.
    NewStore,
    /// Serves pages that show tasks and take commands.
    Serve {
        /// The tokens of those who may open the pages, one a line: `look NAME TOKEN` or `act NAME TOKEN`. A
        /// token has at least 24 characters, as `openssl rand -hex 24` prints them.
        #[arg(long, value_name = "FILE")]
        token_file: std::path::PathBuf,
        /// An address under which browsers reach the pages, such as `https://tasks.example`; the address
        /// of `--listen` if there is none.
        #[arg(long)]
        origin: Vec<String>,
        /// The address of the pages.
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

/// Prints a line. A reader such as `head` may stop early: the command goes on.
fn print_line(line: &str) {
    match writeln!(std::io::stdout(), "{line}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("error: the output cannot be written: {error}");
            std::process::exit(1);
        }
        _ => {}
    }
}

/// Carries out one command.
async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments {
        store,
        json,
        command,
    } = arguments;
    let store = store.ok_or(
        "no store; add `--store tasks.db` or `--store postgres://...`, or set RETRY_STORE",
    )?;
    let client = open(&store).await?;
    match command {
        Command::List {
            filter,
            before,
            limit,
        } => {
            let filter = Filter {
                before,
                limit,
                ..filter.filter()
            };
            show::list(&client.list(filter).await?, json)
        }
        Command::Show { task } => show::task(&client.task::<()>(task).progress().await?, json),
        Command::Export(options) => export::print(&client, options).await,
        Command::Counts => show::counts(&client.store().counts().await?, json),
        Command::Give(command) => command.run(&client).await,
        Command::Fork(options) => fork(&client, options).await,
        Command::Resolve {
            task,
            step: seq,
            not_done,
            done,
            undo: _,
            by,
            why,
        } => {
            let resolution = Resolution {
                seq,
                verdict: verdict(not_done, done.map(|result| result.get().to_owned())),
                by,
                why,
            };
            client.resolve(task, resolution).await?;
            println!("task {task} continues");
            Ok(())
        }
        Command::Signal {
            task,
            name,
            payload,
        } => {
            client.signal(task, &name, &payload).await?;
            println!("task {task} has the signal `{name}`");
            Ok(())
        }
        Command::Queues { command } => queues::of_queues(&client, command, json).await,
        Command::Lanes { command } => queues::of_lanes(&client, command, json).await,
        Command::Schedules { command } => schedules::run(&client, command, json).await,
        Command::Prune(options) => prune(&client, &options).await,
        Command::Repair => repair(&client).await,
        Command::NewStore => new_store(&client).await,
        Command::Serve {
            token_file,
            origin,
            listen,
        } => serve(client, &token_file, origin, listen).await,
    }
}

/// Stores a fork of a task.
async fn fork(client: &Client, options: ForkOptions) -> Result<(), Box<dyn Error>> {
    let ForkOptions {
        task,
        step,
        key,
        signature,
    } = options;
    let fork = signature.of(client).fork::<()>(task, step, key).await?;
    println!("task {} goes on from step {step} of task {task}", fork.id());
    Ok(())
}

/// Deletes tasks that ended so many days ago, and keeps their keys for others.
async fn prune(client: &Client, options: &PruneOptions) -> Result<(), Box<dyn Error>> {
    let days = |days: u64| Duration::from_secs(days.saturating_mul(86_400));
    let retention = Retention {
        tasks: days(options.days),
        keys: days(options.keep_keys),
        lag: Duration::from_secs(options.lag_minutes.saturating_mul(60)),
        forget_keys: days(options.forget_keys),
        ends: days(options.keep_ends.unwrap_or(options.days)),
    };
    match client.prune(retention, options.limit).await? {
        1 => println!("deleted 1 task"),
        count => println!("deleted {count} tasks"),
    }
    Ok(())
}

/// Rebuilds what does not fit the tasks, and says how many tasks that was about.
async fn repair(client: &Client) -> Result<(), Box<dyn Error>> {
    match client.repair().await? {
        0 => println!("all tasks are in the right places"),
        1 => println!("1 task was not in its right place, and is there now"),
        count => println!("{count} tasks were not in their right places, and are there now"),
    }
    Ok(())
}

/// Makes a copy of a store another one.
async fn new_store(client: &Client) -> Result<(), Box<dyn Error>> {
    client.new_store().await?;
    println!("the steps of this store have other keys now");
    Ok(())
}

/// Returns what the options of `resolve` say of a step.
fn verdict(not_done: bool, done: Option<String>) -> Verdict {
    match done {
        Some(result) => Verdict::Done(result),
        None if not_done => Verdict::NotDone,
        None => Verdict::Undo,
    }
}

/// Serves the pages until the program ends.
async fn serve(
    client: Client,
    token_file: &std::path::Path,
    mut origins: Vec<String>,
    listen: SocketAddr,
) -> Result<(), Box<dyn Error>> {
    let tokens = std::fs::read_to_string(token_file)
        .map_err(|error| format!("{}: {error}", token_file.display()))?;
    let listener = tokio::net::TcpListener::bind(listen).await;
    let listener = listener.map_err(|error| format!("`--listen {listen}`: {error}"))?;
    let address = format!("http://{}", listener.local_addr()?);
    if origins.is_empty() {
        if listen.ip().is_unspecified() {
            return Err(format!(
                "`--listen {listen}` stands for all addresses of this machine; say with `--origin` at which one browsers open the pages, \
                 such as `--origin http://tasks.example:{}`",
                listen.port()
            )
            .into());
        }
        // Browsers leave out the usual port.
        origins.push(address.strip_suffix(":80").unwrap_or(&address).to_owned());
    }
    let access = page::Access::parse(&tokens, origins)?;
    println!("{address}");
    Ok(page::serve(listener, client, access).await?)
}

/// Opens the store that `--store` names.
async fn open(store: &str) -> Result<Client, Box<dyn Error>> {
    if store.starts_with("postgres://") || store.starts_with("postgresql://") {
        return Ok(Client::new(Postgres::connect(store).await?));
    }
    let path = store.strip_prefix("sqlite:").unwrap_or(store);
    if path.contains("://") {
        return Err(format!(
            "`{store}` is not a store; write the path of a SQLite file, or `postgres://...`"
        )
        .into());
    }
    if !std::path::Path::new(path).exists() {
        return Err(
            format!("there is no file {path}; use the file that the schedulers use").into(),
        );
    }
    Ok(Client::new(Sqlite::open(path).await?))
}

/// A text of JSON, kept as it is written: its numbers may have more than 64 bits.
type Json = Box<serde_json::value::RawValue>;

fn json(text: &str) -> Result<Json, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("not JSON ({error}); put a string in quotes: '\"{text}\"'"))
}

//! The workflow, and a worker process that runs it until it is killed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reattempt::Policy;
use reattempt_supervisor::{
    Client, Committed, Event, Postgres, Scheduler, Step, StepError, Supervisor, WorkflowContext,
    step, workflow,
};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio_postgres::NoTls;

/// A short lease, so that tasks of dead workers continue soon.
pub(crate) const LEASE: Duration = Duration::from_millis(300);

/// The database of the application, by one of two drivers.
pub(crate) enum Database {
    Sqlx(PgPool),
    /// A connection for each transaction.
    TokioPostgres(String),
}

/// Where a plain step stops until its worker is killed.
struct Failpoint(AtomicBool);

const BOOK: &str = "INSERT INTO booking (number, kind) VALUES ($1, $2)";

type Error = Box<dyn std::error::Error + Send + Sync>;

impl Database {
    /// Writes a line and the record of the step in one transaction.
    async fn write(&self, step: &Step, number: u32, kind: &str) -> Result<Committed<u32>, Error> {
        println!("body");
        let n = i32::try_from(number)?;
        // Long enough to be killed and suspended in it.
        let pause = Duration::from_millis(u64::from(number % 3 + 1) * 40);
        match self {
            Self::Sqlx(pool) => {
                let mut transaction = pool.begin().await?;
                step.limit(&mut transaction).await?;
                let insert = sqlx::query(BOOK).bind(n).bind(kind);
                insert.execute(&mut *transaction).await?;
                tokio::time::sleep(pause).await;
                Ok(step.commit(transaction, number).await?)
            }
            Self::TokioPostgres(url) => {
                let (mut client, connection) = tokio_postgres::connect(url, NoTls).await?;
                let running = tokio::spawn(connection);
                let mut transaction = client.transaction().await?;
                step.limit(&mut transaction).await?;
                transaction.execute(BOOK, &[&n, &kind]).await?;
                tokio::time::sleep(pause).await;
                let committed = step.commit(transaction, number).await?;
                running.abort();
                Ok(committed)
            }
        }
    }
}

#[step(transaction, retry(max = 2, base = "1ms", on(_)), complete_by = "5s", undo = cancel)]
async fn book(
    step: &Step,
    #[with] database: &Database,
    number: u32,
) -> Result<Committed<u32>, Error> {
    database.write(step, number, "booked").await
}

#[step(transaction, retry(max = 2, base = "1ms", on(_)), complete_by = "5s")]
async fn cancel(
    step: &Step,
    #[with] database: &Database,
    number: u32,
    _booked: &u32,
) -> Result<Committed<u32>, Error> {
    database.write(step, number, "cancelled").await
}

/// The control: the booking is committed before the step is recorded.
#[step(complete_by = "5s")]
async fn book_plainly(
    _step: &Step,
    #[with] pool: &PgPool,
    #[with] failpoint: &Failpoint,
    number: u32,
) -> Result<u32, sqlx::Error> {
    let insert = sqlx::query(BOOK).bind(number.cast_signed()).bind("booked");
    insert.execute(pool).await?;
    if failpoint.0.load(Ordering::Relaxed) {
        println!("committed");
        std::future::pending::<()>().await;
    }
    Ok(number)
}

#[step]
async fn pay(_step: &Step, number: u32) -> Result<(), String> {
    if is_undone(number) {
        return Err("no money".to_owned());
    }
    Ok(())
}

pub(crate) const fn is_undone(number: u32) -> bool {
    number % 5 == 4
}

#[workflow(max_failures = 1_000_000)]
pub(crate) async fn order(
    context: &WorkflowContext,
    number: u32,
    is_plain: bool,
) -> Result<u32, StepError> {
    if is_plain {
        return book_plainly(context, number).await;
    }
    let booked = book(context, number).await?;
    pay(context, number).await?;
    Ok(booked)
}

/// `STORE POOL sqlx|tokio-postgres|last`; the last is not to die, also where many programs run, and
/// does not stop in plain steps.
pub(crate) fn run_worker(words: &[String]) {
    let [store, pool_url, driver] = words else {
        panic!("a worker needs the arguments store, pool and driver");
    };
    let is_last = driver == "last";
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(|event| match event {
            Event::Lost { task, .. } => println!("lost {task}"),
            Event::Failed { error, .. } if error.contains("the answer to the COMMIT") => {
                println!("unknown: {error}");
            }
            _ => {}
        });
        let store = Postgres::connect(store).await.unwrap();
        let client = Client::with_observers(store, [observer]);
        let pool = PgPoolOptions::new()
            .max_connections(4)
            .connect_lazy(pool_url)
            .unwrap();
        let database = match &**driver {
            "tokio-postgres" | "last" => Database::TokioPostgres(pool_url.clone()),
            _ => Database::Sqlx(pool.clone()),
        };
        let delays = Policy::new()
            .unlimited()
            .base(Duration::from_millis(5))
            .cap(Duration::from_millis(50));
        let every = Duration::from_millis(50);
        let supervisor = Supervisor::new(&client).every(every).delays(delays).start();
        let running = Scheduler::new(&client)
            .register(order)
            .with(database)
            .with(pool)
            .with(Failpoint(AtomicBool::new(!is_last)))
            .lease(if is_last { 20 * LEASE } else { LEASE })
            .poll(Duration::from_millis(20))
            .delays(delays)
            .unsupervised()
            .start()
            .unwrap();
        println!("ready");
        std::future::pending::<()>().await;
        drop((running, supervisor));
    });
}

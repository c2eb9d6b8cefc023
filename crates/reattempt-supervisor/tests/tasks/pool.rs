//! Tasks on PostgreSQL behind `PgBouncer` in transaction mode: `scripts/pool` builds it and runs these.
#![cfg(feature = "postgres")]

use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::kit;
use crate::servers::{self, Server};
use reattempt_supervisor::store::Store;
use reattempt_supervisor::{
    Client, Postgres, Scheduler, Step, StepError, WorkflowContext, step, workflow,
};

/// A pool before a server.
struct Pool {
    process: Child,
    port: u16,
    server: Server,
}

impl Pool {
    /// Starts both. The pool keeps so many prepared statements of each connection.
    fn start(statements: u32) -> Option<Self> {
        let server = Server::postgres_with(&["-c", "max_connections=400"])?;
        let program = env::var_os("PGBOUNCER").expect("the path of the program `pgbouncer`");
        let port = servers::free_port();
        let file = server.folder().join("pgbouncer.ini");
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={} user=postgres\n\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             default_pool_size = 10\nmax_client_conn = 500\nserver_idle_timeout = 2\nmax_prepared_statements = {statements}\n",
            server.port
        );
        fs::write(&file, settings).unwrap();
        let mut command = Command::new(program);
        command.arg("--quiet").arg(&file);
        // It does not run as root.
        if Command::new("id").arg("-u").output().unwrap().stdout == b"0\n" {
            command.args(["--user", "nobody"]);
        }
        let process = command.spawn().unwrap();
        let pool = Self {
            process,
            port,
            server,
        };
        let began = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "it does not start"
            );
            std::thread::yield_now();
        }
        Some(pool)
    }

    fn url(&self) -> String {
        servers::postgres_url(self.port)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PgBouncer"]
async fn the_store_keeps_its_contract() {
    let Some(pool) = Pool::start(200) else {
        return;
    };
    let admin = kit::session(&pool.server.url()).await;
    let count = AtomicU32::new(0);
    let make = async || {
        let database = format!("s{}", count.fetch_add(1, Ordering::Relaxed));
        let create = format!("CREATE DATABASE {database}");
        admin.batch_execute(&create).await.unwrap();
        let url = format!("postgres://postgres@127.0.0.1:{}/{database}", pool.port);
        let (one, other) = tokio::join!(Postgres::connect(&url), Postgres::connect(&url));
        [one, other].map(|store| -> Arc<dyn Store> { Arc::new(store.unwrap()) })
    };
    if let Err(broken) = reattempt_conformance::check(make).await {
        panic!("{broken}");
    }
}

#[step]
async fn ask(_step: &Step, nth: u32) -> Result<u32, String> {
    Ok(nth)
}

#[workflow]
async fn work(context: &WorkflowContext, task: u32) -> Result<u32, StepError> {
    let mut sum = 0;
    for nth in 0..5 {
        sum += ask(context, task + nth).await?;
        if nth == 2 {
            context.sleep(Duration::from_millis(1500)).await;
        }
    }
    Ok(sum)
}

/// No process reports anything, and all is found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PgBouncer"]
async fn processes_work_that_hear_nothing() {
    let Some(pool) = Pool::start(200) else {
        return;
    };
    let client = async || Client::new(Postgres::connect(&pool.url()).await.unwrap());
    let (one, other, third) = (client().await, client().await, client().await);
    let running =
        [&one, &other].map(|client| Scheduler::new(client).register(work).start().unwrap());
    let mut tasks = Vec::new();
    for task in 0..40 {
        tasks.push(third.submit(work(task)).await.unwrap());
    }
    // Connections of the pool are lost meanwhile.
    let admin = kit::session(&pool.server.url()).await;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
    admin.batch_execute(end).await.unwrap();
    for (nth, task) in (0..).zip(tasks) {
        assert_eq!(task.wait().await.unwrap(), 5 * nth + 10);
    }
    for running in running {
        running.stop(Duration::ZERO).await;
    }
}

#[tokio::test]
#[ignore = "needs PgBouncer"]
async fn a_pool_without_prepared_statements_is_named() {
    let Some(pool) = Pool::start(0) else {
        return;
    };
    let Ok(store) = Postgres::connect(&pool.url()).await else {
        panic!("without statements it connects");
    };
    let store = Client::new(store);
    let mut errors = Vec::new();
    for task in 0..20 {
        errors.extend(
            store
                .submit(work(task))
                .await
                .err()
                .map(|error| error.to_string()),
        );
    }
    let named = errors
        .iter()
        .any(|error| error.contains("max_prepared_statements"));
    assert!(named, "{errors:?}");
}

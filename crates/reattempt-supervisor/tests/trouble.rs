//! Stores with errors: the message is clear, and nothing is lost.
#![cfg(feature = "sqlite")]
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that panics has failed"
)]

#[path = "../../../examples/servers/mod.rs"]
mod servers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use reattempt_supervisor::store::Filter;
use reattempt_supervisor::{
    Client, Event, Scheduler, Sqlite, State, Step, StepError, WorkflowContext, step, workflow,
};

#[step]
async fn length(_step: &Step, text: &str) -> Result<usize, String> {
    Ok(text.len())
}

#[workflow]
async fn text_length(context: &WorkflowContext, text: String) -> Result<usize, StepError> {
    length(context, &text).await
}

/// A folder that is removed after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("retry-trouble-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("tasks.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns a client of a file, and the errors of its store.
async fn client(file: &Path) -> (Client, mpsc::Receiver<String>) {
    let (sender, errors) = mpsc::channel();
    let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(move |event| {
        if let Event::StoreError { error, .. } = event {
            let _ = sender.send(error.clone());
        }
    });
    (
        Client::with_observers(Sqlite::open(file).await.unwrap(), [observer]),
        errors,
    )
}

async fn all_are_done(client: &Client, count: usize) {
    let running = Scheduler::new(client)
        .register(text_length)
        .start()
        .unwrap();
    for task in client
        .list(Filter {
            limit: 10_000,
            ..Filter::default()
        })
        .await
        .unwrap()
    {
        client.task::<usize>(task.id).wait().await.unwrap();
    }
    running.stop(Duration::from_secs(1)).await;
    let counts = client.store().counts().await.unwrap();
    assert_eq!(counts, [(State::Processed, u64::try_from(count).unwrap())]);
}

/// Waits until everything is in the file: the last connection removes the log.
async fn wait_until_closed(folder: &Folder) {
    let gone = async {
        while folder.0.join("tasks.db-wal").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone)
        .await
        .expect("the log is left beside the file");
}

#[tokio::test]
async fn a_closed_store_is_one_file() {
    let folder = Folder::new("closed");
    for i in 0..300 {
        let (client, _) = client(&folder.file()).await;
        let task = text_length("new".to_owned()).key(i.to_string());
        client.submit(task).await.unwrap();
        client.store().counts().await.unwrap();
        drop(client);
        wait_until_closed(&folder).await;
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = Folder::new("text");
    let text = "this is somebody's diary\n".repeat(1_000);
    fs::write(folder.file(), &text).unwrap();
    let error = Sqlite::open(folder.file()).await.unwrap_err();
    assert!(!error.is_passing());
    let said = error.to_string();
    assert!(
        said.contains("tasks.db cannot be used as a store"),
        "{said}"
    );
    assert!(
        said.contains("is not a SQLite database; use another file"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(folder.file()).unwrap(), text);
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_named() {
    let folder = Folder::new("missing");
    let error = Sqlite::open(folder.0.join("no/tasks.db"))
        .await
        .unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("no/tasks.db") && said.contains("check that its folder exists"),
        "{said}"
    );
}

#[tokio::test]
async fn a_damaged_database_is_reported_and_not_written_to() {
    let folder = Folder::new("damaged");
    {
        let (client, _) = client(&folder.file()).await;
        for i in 0..200 {
            let text = "x".repeat(2_000);
            client
                .submit(text_length(text).key(i.to_string()))
                .await
                .unwrap();
        }
    }
    wait_until_closed(&folder).await;
    let mut bytes = fs::read(folder.file()).unwrap();
    let middle = 4_096..bytes.len();
    bytes[middle].fill(0xA5);
    fs::write(folder.file(), &bytes).unwrap();

    let said = match Sqlite::open(folder.file()).await {
        Err(error) => error.to_string(),
        Ok(store) => {
            let client = Client::new(store);
            let error = client
                .submit(text_length("new".to_owned()))
                .await
                .unwrap_err();
            error.to_string()
        }
    };
    assert!(
        said.contains("the database is damaged; stop its processes and restore it"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_database_is_waited_for() {
    let folder = Folder::new("locked");
    let (client, troubles) = client(&folder.file()).await;
    let lock = rusqlite::Connection::open(folder.file()).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let submitting = tokio::spawn({
        let client = client.clone();
        async move {
            client
                .submit(text_length("waits".to_owned()))
                .await
                .map(|task| task.id())
        }
    });
    // The observer got it before the client gave up.
    let error = tokio::task::spawn_blocking(move || troubles.recv().unwrap())
        .await
        .unwrap();
    assert!(
        error.starts_with("another process has locked the database"),
        "{error}"
    );
    lock.execute_batch("COMMIT").unwrap();
    submitting.await.unwrap().unwrap();
    all_are_done(&client, 1).await;
}

/// F13: a text was broken by hand, and the error says where.
#[tokio::test]
async fn a_row_that_cannot_be_read_is_named() {
    let folder = Folder::new("broken");
    let (client, _) = client(&folder.file()).await;
    let task = client.submit(text_length("a".to_owned())).await.unwrap();
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    let sql = "UPDATE retry_run SET input = CAST(x'ff' AS TEXT)";
    other.execute(sql, []).unwrap();
    let error = client.list(Filter::default()).await.unwrap_err();
    assert_eq!(error.task(), Some(task.id()));
    assert_eq!(error.table(), Some("retry_run"));
    assert!(!error.is_passing());
    let said = error.to_string();
    assert!(said.contains(&format!("(task {})", task.id())), "{said}");
}

#[workflow]
async fn large_number(_context: &WorkflowContext, number: u128) -> Result<u128, StepError> {
    Ok(number)
}

/// As 64-bit floats the two are the same.
#[tokio::test]
async fn large_numbers_under_the_same_key_differ() {
    let client = Client::new(reattempt_supervisor::Memory::new());
    let number = 1_u128 << 100;
    for (number, is_same) in [
        (number, Some(true)),
        (number, Some(true)),
        (number + 1, Some(false)),
    ] {
        let task = client.submit(large_number(number).key("x")).await.unwrap();
        assert_eq!(
            task.submitted().unwrap().same_arguments,
            is_same,
            "{number}"
        );
    }
}

/// F12: the arguments differed, and the answer did not say so.
#[tokio::test]
async fn other_arguments_under_the_same_key_are_visible() {
    let folder = Folder::new("keys");
    let (client, _) = client(&folder.file()).await;
    let task = |text: &str| text_length(text.to_owned()).key("x");
    let first = client.submit(task("a")).await.unwrap();
    assert!(first.submitted().unwrap().is_new);
    for (text, is_same) in [("a", true), ("b", false)] {
        let again = client.submit(task(text)).await.unwrap();
        let submitted = again.submitted().unwrap();
        assert_eq!((submitted.id, submitted.is_new), (first.id(), false));
        assert_eq!(submitted.same_arguments, Some(is_same));
        let strict = client.submit(task(text).strict()).await;
        assert_eq!(strict.is_ok(), is_same, "{strict:?}");
        let mut own = rusqlite::Connection::open(folder.file()).unwrap();
        let transaction = own.transaction().unwrap();
        let submitted = client.submit_in_sqlite(&transaction, task(text)).unwrap();
        assert_eq!(submitted.same_arguments, Some(is_same));
        let strict = client.submit_in_sqlite(&transaction, task(text).strict());
        assert_eq!(strict.is_ok(), is_same, "{strict:?}");
    }
    let error = client.submit(task("b").strict()).await.unwrap_err();
    let wanted = "has the same key and other arguments";
    assert!(error.to_string().contains(wanted), "{error}");
    let error = client.submit(task("a").headers("[1]")).await.unwrap_err();
    let wanted = "the headers are not a JSON object";
    assert!(error.to_string().starts_with(wanted), "{error}");
    let mut own = rusqlite::Connection::open(folder.file()).unwrap();
    let transaction = own.transaction().unwrap();
    let large = "x".repeat(4 << 20);
    let error = client
        .submit_in_sqlite(&transaction, task(&large))
        .unwrap_err();
    let wanted = "the input of `text_length` has 4194308 bytes, and the limit is 4194304";
    assert!(error.to_string().contains(wanted), "{error}");
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let folder = Folder::new("newer");
    drop(Sqlite::open(folder.file()).await.unwrap());
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    other
        .execute_batch("UPDATE retry_meta SET value = 1000 WHERE key = 'version'")
        .unwrap();
    let error = Sqlite::open(folder.file()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the tables have version 1000 and this release knows 1; update this program"),
        "{error}"
    );
}

#[tokio::test]
async fn tables_before_the_first_release_are_refused() {
    for change in [
        "INSERT INTO retry_meta VALUES ('revision', 8)",
        "DELETE FROM retry_meta WHERE key IN ('salt_2', 'store')",
    ] {
        let folder = Folder::new("unreleased");
        drop(Sqlite::open(folder.file()).await.unwrap());
        let other = rusqlite::Connection::open(folder.file()).unwrap();
        other.execute_batch(change).unwrap();
        let error = Sqlite::open(folder.file()).await.unwrap_err().to_string();
        let wanted = "the tables come from a development version before the first release; use a new database, or drop";
        assert!(error.contains(wanted), "{change}: {error}");
    }
}

/// Runs this test again in a namespace of its own, where it may mount a small file system.
#[test]
fn a_full_disk_is_reported_and_nothing_is_lost() {
    let folder = Folder::new("full");
    if std::env::var_os("RETRY_SMALL_DISK").is_some() {
        return;
    }
    let this = std::env::current_exe().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=4m none {0} || exit 77; RETRY_SMALL_DISK={0} exec {1} --exact --ignored on_a_small_disk --nocapture",
        folder.0.display(),
        this.display()
    );
    let unshare = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command
            .args(arguments)
            .args(["--mount", "sh", "-c", &script])
            .status()
    };
    for arguments in [&[][..], &["--map-root-user"]] {
        match unshare(arguments) {
            Ok(status) if status.success() => return,
            Ok(status) if status.code() == Some(101) => panic!("it failed on the small disk"),
            _ => {}
        }
    }
    servers::left_out(
        "no small file system could be mounted (util-linux's `unshare`, and the right to use it)",
        "REATTEMPT_MOUNTS",
    );
}

#[test]
#[ignore = "run by `a_full_disk_is_reported_and_nothing_is_lost`"]
fn on_a_small_disk() {
    let Some(folder) = std::env::var_os("RETRY_SMALL_DISK").map(PathBuf::from) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        fs::write(folder.join("filler"), vec![0; 3_800_000]).unwrap();
        let (client, troubles) = client(&folder.join("tasks.db")).await;
        let filling = tokio::spawn({
            let client = client.clone();
            async move {
                for i in 0..60 {
                    let text = "x".repeat(8_000);
                    client
                        .submit(text_length(text).key(i.to_string()))
                        .await
                        .unwrap();
                }
            }
        });
        let error = tokio::task::spawn_blocking(move || troubles.recv().unwrap())
            .await
            .unwrap();
        assert!(
            error.starts_with("the disk is full; make room, nothing is lost"),
            "{error}"
        );
        assert!(!filling.is_finished());
        fs::remove_file(folder.join("filler")).unwrap();
        filling.await.unwrap();
        let counts = client.store().counts().await.unwrap();
        assert_eq!(counts, [(State::Pending, 60)]);
    });
}

/// Returns the key of the step.
#[step]
async fn key(step: &Step) -> Result<String, String> {
    Ok(step.key().to_owned())
}

#[workflow]
async fn key_of_a_step(context: &WorkflowContext) -> Result<String, StepError> {
    key(context).await
}

/// Runs a task, and returns its number and the key of its step.
async fn run_one(file: &Path) -> (i64, String) {
    let (client, _) = client(file).await;
    let scheduler = Scheduler::new(&client).register(key_of_a_step);
    let running = scheduler.start().unwrap();
    let task = client.submit(key_of_a_step()).await.unwrap();
    let key = task.wait().await.unwrap();
    running.stop(Duration::ZERO).await;
    (task.id().0, key)
}

/// N4: a service that knows idempotency keys answered Bob with Alice's payment.
#[tokio::test]
async fn a_store_that_is_restored_uses_no_key_again() {
    let folder = Folder::new("restored");
    drop(Sqlite::open(folder.file()).await.unwrap());
    wait_until_closed(&folder).await;
    let backup = folder.0.join("backup.db");
    fs::copy(folder.file(), &backup).unwrap();
    let (alice, key_of_alice) = run_one(&folder.file()).await;
    wait_until_closed(&folder).await;
    fs::copy(&backup, folder.file()).unwrap();
    let (bob, key_of_bob) = run_one(&folder.file()).await;
    assert_eq!(alice, bob);
    assert_ne!(key_of_alice, key_of_bob);
}

//! What PostgreSQL cannot store gets an error that says what to change.
#![cfg(feature = "postgres")]

use crate::kit;
use crate::servers::Server;
use reattempt_supervisor::{
    Client, Postgres, StepError, Submission, TaskLimit, WorkflowContext, workflow,
};

/// Sets a part of a submission.
type Set<W> = fn(Submission<W>, String) -> Submission<W>;

#[workflow]
async fn plain(_context: &WorkflowContext) -> Result<(), StepError> {
    Ok(())
}

/// Returns a text that PostgreSQL cannot compress.
fn long() -> String {
    let number = |_| format!("{:016x}", rand::random::<u64>());
    (0..1_000).map(number).collect()
}

#[tokio::test]
async fn strings_that_postgres_cannot_store_are_refused_with_the_fix() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let url = server.url();
    let client = Client::new(Postgres::connect(&url).await.unwrap());
    let mut own = kit::session(&url).await;
    let nul = ["a string has a NUL", "cannot store it: "];
    let long_name = ["has 16000 bytes, and may have 1000", "use a shorter one"];
    let cases: [(Set<_>, String, _); 5] = [
        (Submission::key, "a\0".to_owned(), nul),
        (Submission::lane, "a\0".to_owned(), nul),
        (Submission::key, long(), long_name),
        (Submission::queue, long(), long_name),
        (Submission::lane, long(), long_name),
    ];
    for (set, text, wanted) in cases {
        let submitted = client.submit(set(plain(), text.clone())).await;
        let mut transaction = own.transaction().await.unwrap();
        let submission = set(plain(), text);
        let in_transaction = client.submit_in(&mut transaction, submission).await;
        for error in [submitted.err(), in_transaction.err()] {
            let error = error.unwrap().to_string();
            let has_all = wanted.iter().all(|part| error.contains(part));
            assert!(has_all, "{wanted:?}: {error}");
        }
    }
    let limited = client.limit_queue(long(), TaskLimit::new().concurrency(1));
    let error = limited.await.unwrap_err().to_string();
    assert!(error.contains("is too long for an index"), "{error}");
}

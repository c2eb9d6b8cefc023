//! Payloads that a store keeps encoded.
#![cfg(feature = "sqlite")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use reattempt_supervisor::store::{Encoded, PayloadCodec, Resolution, Verdict};
use reattempt_supervisor::{
    Client, Committed, Scheduler, Sqlite, State, Step, StepError, WorkflowContext, step, workflow,
};

/// Adds a byte that is another one each time, and masks the others with it.
#[derive(Clone, Default)]
struct Masked(Arc<AtomicU8>);

impl PayloadCodec for Masked {
    fn encode(&self, json: &[u8]) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        if json.windows(11).any(|word| word == b"unencodable") {
            return Err("no".into());
        }
        let mask = self.0.fetch_add(1, Ordering::SeqCst) | 1;
        let masked = json.iter().map(|byte| byte ^ mask);
        Ok(std::iter::once(mask).chain(masked).collect())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let (mask, bytes) = bytes.split_first().ok_or("nothing")?;
        Ok(bytes.iter().map(|byte| byte ^ mask).collect())
    }
}

#[step(undo = forget)]
async fn note(_: &Step, text: &str) -> Result<String, String> {
    if text == "large secret" {
        return Ok("unencodable".to_owned());
    }
    Ok(format!("{text} result"))
}

#[step]
async fn forget(_: &Step, _text: &str, result: &String) -> Result<(), String> {
    assert!(result.ends_with("secret result"));
    Ok(())
}

#[step(transaction)]
async fn book(
    step: &Step,
    #[with] store: &Sqlite,
    text: &str,
) -> Result<Committed<String>, rusqlite::Error> {
    let text = format!("{text} booking");
    step.commit_on(store, move |_| Ok(text)).await
}

#[step]
async fn fails(_: &Step) -> Result<String, String> {
    Err("no".to_owned())
}

#[workflow(max_failures = 0, on_failure = "keep")]
async fn keep(context: &WorkflowContext, text: String) -> Result<String, StepError> {
    let (noted, booked) = tokio::try_join!(note(context, &text), book(context, &text))?;
    context.sleep(Duration::from_millis(1_500)).await;
    let word: Option<String> = context.signal("word", None).await?;
    let last = fails(context).await?;
    Ok(format!(
        "{noted}, {booked}, {}, {last}",
        word.unwrap_or_default()
    ))
}

#[workflow]
async fn leaf(context: &WorkflowContext, text: String) -> Result<String, StepError> {
    note(context, &text).await
}

#[workflow]
async fn tree(
    context: &WorkflowContext,
    text: String,
    fail: bool,
) -> Result<String, Box<dyn Error + Send + Sync>> {
    let child = context.start(leaf(text)).await;
    let result = context.result(&child).await?;
    if fail {
        fails(context).await?;
    }
    Ok(result)
}

/// Panics instead of failing.
struct Panicking;

impl PayloadCodec for Panicking {
    fn encode(&self, json: &[u8]) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        assert!(!json.windows(6).any(|word| word == b"secret"), "no key");
        Ok(json.to_vec())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        assert!(!bytes.windows(6).any(|word| word == b"undone"), "no key");
        Ok(bytes.to_vec())
    }
}

#[tokio::test(start_paused = true)]
async fn a_codec_that_panics_has_failed() {
    let store = Encoded::new(reattempt_supervisor::Memory::new(), Panicking);
    let client = Client::new(store);
    let submit = async |text: &str| client.submit(leaf(text.to_owned())).await;
    let refused = submit("a secret").await.unwrap_err().to_string();
    assert!(
        refused.contains("the codec cannot encode a payload: it panicked: no key"),
        "{refused}"
    );
    let unreadable = submit("undone").await.unwrap();
    let good = submit("good").await.unwrap();
    let _running = Scheduler::new(&client).register(leaf).start().unwrap();
    assert_eq!(good.wait().await.unwrap(), "good result");
    assert_eq!(
        unreadable.follow(|_| {}).await.unwrap().state,
        State::Parked
    );
}

/// The compensation checks what it gets.
#[tokio::test(start_paused = true)]
async fn children_are_encoded_and_undone() {
    let store = Encoded::new(reattempt_supervisor::Memory::new(), Masked::default());
    let client = Client::new(store);
    let scheduler = Scheduler::new(&client).register(tree).register(leaf);
    let _running = scheduler.start().unwrap();
    let task = client
        .submit(tree("a secret".to_owned(), false))
        .await
        .unwrap();
    assert_eq!(task.wait().await.unwrap(), "a secret result");
    let task = client
        .submit(tree("my secret".to_owned(), true))
        .await
        .unwrap();
    let ended = task.follow(|_| {}).await.unwrap();
    assert_eq!(ended.state, State::Compensated, "{:?}", ended.error);
    let child = reattempt_supervisor::TaskId(ended.id.0 + 1);
    let child = client.task::<String>(child).progress().await.unwrap();
    assert_eq!(child.task.state, State::Cancelled);
    let is_undone = |record: &reattempt_supervisor::Record| record.kind.as_str() == "undone";
    assert!(child.history.iter().any(is_undone));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payloads_are_encoded_and_nothing_else() {
    let folder = std::env::temp_dir().join(format!("retry-codecs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("tasks.db");
    let plain = Sqlite::open(&file).await.unwrap();
    // One that was submitted before there was a codec.
    let before = Client::new(plain.clone())
        .submit(keep("open secret".to_owned()).key("old"))
        .await
        .unwrap();
    let client = Client::new(Encoded::new(plain.clone(), Masked::default()));
    let submission = |key: &str| {
        keep("my secret".to_owned())
            .key(key)
            .headers("{\"my\":\"trace\"}")
    };
    let task = client.submit(submission("k")).await.unwrap();
    let again = client.submit(submission("k").strict()).await.unwrap();
    assert_eq!(again.submitted().unwrap().same_arguments, Some(true));
    let other = client
        .submit(keep("other".to_owned()).key("k"))
        .await
        .unwrap();
    assert_eq!(other.submitted().unwrap().same_arguments, Some(false));
    let own = rusqlite::Connection::open(&file).unwrap();
    for (text, same) in [("my secret", Some(true)), ("other", Some(false))] {
        let submitted = client
            .submit_in_sqlite(&own, keep(text.to_owned()).key("k"))
            .unwrap();
        assert_eq!(submitted.same_arguments, same);
    }
    let refused = client
        .submit(keep("unencodable".to_owned()))
        .await
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("the codec cannot encode a payload"),
        "{refused}"
    );
    let scheduler = Scheduler::new(&client).register(keep).with(plain.clone());
    let running = scheduler.poll(Duration::from_millis(20)).start().unwrap();
    let large = client
        .submit(keep("large secret".to_owned()))
        .await
        .unwrap();
    assert_eq!(large.follow(|_| {}).await.unwrap().state, State::Parked);
    for task in [&before, &task] {
        client
            .signal(task.id(), "word", &"signalled secret")
            .await
            .unwrap();
        assert_eq!(task.follow(|_| {}).await.unwrap().state, State::Error);
        let resolution = Resolution {
            seq: 4,
            verdict: Verdict::Done("\"resolved secret\"".to_owned()),
            by: "Ada".to_owned(),
            why: "the log".to_owned(),
        };
        client.resolve(task.id(), resolution).await.unwrap();
    }
    let wanted = "my secret result, my secret booking, signalled secret, resolved secret";
    assert_eq!(task.wait().await.unwrap(), wanted);
    assert!(
        client
            .task::<String>(before.id())
            .wait()
            .await
            .unwrap()
            .starts_with("open secret result")
    );
    let progress = task.progress().await.unwrap();
    assert_eq!(progress.task.headers.as_deref(), Some("{\"my\":\"trace\"}"));
    assert!(
        progress
            .history
            .iter()
            .any(|record| record.args.as_deref() == Some("[\"my secret\"]"))
    );
    for original in [&before, &task] {
        let key = format!("a fork of {}", original.id());
        let fork = client.fork::<String>(original.id(), 4, key).await.unwrap();
        // The last step fails again, and those before are read.
        assert_eq!(fork.follow(|_| {}).await.unwrap().state, State::Error);
        let copies = fork.progress().await.unwrap().history.into_iter();
        let mut results = copies.filter_map(|record| record.result);
        assert!(results.any(|result| result == "\"signalled secret\""));
    }
    running.stop(Duration::from_secs(1)).await;
    // Without the codec no text shows a secret, but for that of the first submission.
    let texts = "SELECT input || coalesce(output, '') FROM retry_run WHERE idem_key <> 'old'
         UNION ALL SELECT coalesce(result, '') || coalesce(args, '') FROM retry_step
         UNION ALL SELECT payload FROM retry_signal";
    let mut texts = own.prepare(texts).unwrap();
    let texts = texts.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let texts: Vec<_> = texts.map(Result::unwrap).collect();
    assert!(texts.len() > 12);
    assert!(
        texts.iter().all(|text| !text.contains("secret")),
        "{texts:?}"
    );
    let _ = std::fs::remove_dir_all(&folder);
}

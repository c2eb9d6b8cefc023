//! The program and the pages for operators.
#![cfg(feature = "cli")]

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use reattempt::Policy;
use reattempt_supervisor::replay::Replay;
use reattempt_supervisor::{
    Client, Schedule, Scheduler, Sqlite, Step, StepError, TaskId, WorkflowContext, page, step,
    workflow,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const HOSTILE: &str = "<script>document.title = 'executed'</script>";

#[step(undo = undo_it)]
async fn do_it(_step: &Step, text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

#[step]
async fn undo_it(_step: &Step, _text: &str, _done: &String) -> Result<(), String> {
    Err(format!("cannot be undone: {HOSTILE}"))
}

#[step]
async fn refuse(_step: &Step, text: &str) -> Result<(), String> {
    Err(format!("refused: {text}"))
}

#[workflow(max_failures = 0)]
async fn good(context: &WorkflowContext, text: String) -> Result<String, StepError> {
    do_it(context, &text).await
}

#[workflow(max_failures = 0)]
async fn bad(context: &WorkflowContext, text: String) -> Result<(), StepError> {
    do_it(context, &text).await?;
    refuse(context, &text).await
}

/// A store with a task that was processed, and one that an operator must look at.
struct Place {
    folder: PathBuf,
    client: Client,
    good: TaskId,
    bad: TaskId,
}

impl Place {
    async fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("retry-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let client = Client::new(Sqlite::open(folder.join("tasks.db")).await.unwrap());
        let scheduler = Scheduler::new(&client)
            .register(good)
            .register(bad)
            .delays(Policy::new().unlimited().base(Duration::from_millis(1)))
            .start()
            .unwrap();
        let fine = client
            .submit(good("hello".to_owned()).key("a"))
            .await
            .unwrap();
        assert_eq!(fine.wait().await.unwrap(), "hello");
        let parked = client
            .submit(bad(HOSTILE.to_owned()).key("b"))
            .await
            .unwrap();
        parked.wait().await.unwrap_err();
        scheduler.stop(Duration::from_secs(1)).await;
        Self {
            folder,
            client,
            good: fine.id(),
            bad: parked.id(),
        }
    }

    fn program(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_reattempt-supervisor"))
            .args(arguments)
            .env("RETRY_STORE", self.folder.join("tasks.db"))
            .output()
            .unwrap()
    }

    fn says(&self, arguments: &[&str]) -> String {
        let output = self.program(arguments);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        said
    }

    fn refuses(&self, arguments: &[&str]) -> String {
        let output = self.program(arguments);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_lists_shows_and_commands() {
    let place = Place::new("program").await;
    let (good, bad) = (place.good.to_string(), place.bad.to_string());
    let list = place.says(&["list"]);
    assert!(
        list.starts_with("task  workflow  state      failures  changed"),
        "{list}"
    );
    assert_eq!(list.lines().count(), 3, "{list}");
    let parked = place.says(&["list", "--state", "parked"]);
    assert!(
        parked.contains("could not be undone") && !parked.contains("good"),
        "{parked}"
    );
    assert_eq!(
        place.says(&["counts"]),
        "state      tasks\nprocessed  1\nparked     1\n"
    );

    let shown = place.says(&["show", &bad]);
    for line in [
        "state        parked",
        "key          b",
        "0     do_it   done",
        "0     undoing    1         2",
    ] {
        assert!(shown.contains(line), "{line} is not in {shown}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&place.says(&["show", &good, "--json"])).unwrap();
    assert_eq!(json["task"]["state"], "processed");
    assert_eq!(json["history"][0]["name"], "do_it");
    let json: serde_json::Value = serde_json::from_str(&place.says(&["list", "--json"])).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 2);

    assert_eq!(
        place.says(&["resubmit", &bad]),
        format!("task {bad} continues\n")
    );
    assert_eq!(
        place.says(&["counts"]),
        "state      tasks\npending    1\nprocessed  1\n"
    );
    assert_eq!(
        place.says(&["park", &bad, "--why", "not today"]),
        format!("task {bad} is parked\n")
    );
    assert!(
        place
            .says(&["show", &bad])
            .contains("error        not today")
    );
    // What a terminal would obey is shown instead.
    place.says(&["resubmit", &bad]);
    place.says(&["park", &bad, "--why", "\u{1b}[2J\nstate  processed"]);
    let shown = place.says(&["show", &bad]);
    let why = r"\u{1b}[2J\nstate  processed";
    assert_eq!(shown.matches(why).count(), 2, "{shown}");
    assert!(place.says(&["list"]).contains(why) && !shown.contains('\u{1b}'));

    for (arguments, said) in [
        (
            &["cancel", &good][..],
            format!("error: task {good} is processed, which does not allow this: it has ended\n"),
        ),
        (
            &["signal", &good, "paid", "7"],
            format!("error: task {good} is processed, which does not allow this: it has ended\n"),
        ),
        (&["show", "99"], "error: there is no task 99\n".to_owned()),
        (
            &["export", &good, "--state", "error"],
            "error: write numbers of tasks or a filter, not both\n".to_owned(),
        ),
        (
            &["--store", "no.db", "list"],
            "error: there is no file no.db; use the file that the schedulers use\n".to_owned(),
        ),
        (
            &["--store", "mysql://no", "list"],
            "error: `mysql://no` is not a store; write the path of a SQLite file, or `postgres://...`\n".to_owned(),
        ),
    ] {
        assert_eq!(place.refuses(arguments), said);
    }
    let resolve = [
        "resolve", &bad, "0", "--done", "7", "--by", "Ada", "--why", "?",
    ];
    let refused = place.refuses(&resolve);
    assert!(
        refused.contains("has no such step that has failed"),
        "{refused}"
    );
    let refused = place.refuses(&["resolve", &bad, "0", "--why", "?"]);
    assert!(refused.contains("--not-done"), "{refused}");
    assert_eq!(
        place.says(&["undo", &bad]),
        format!("task {bad} will be undone\n")
    );
    let unknown = place.refuses(&["list", "--state", "lost"]);
    assert!(
        unknown.contains("`lost` is not a state; the states are pending, processing"),
        "{unknown}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_forks_a_task() {
    let place = Place::new("forks").await;
    let (good, bad) = (place.good.to_string(), place.bad.to_string());
    let fork = [
        "fork", &good, "0", "--key", "a again", "--by", "Ada", "--why", "a test",
    ];
    let said = place.says(&fork);
    let (new, rest) = said.strip_prefix("task ").unwrap().split_once(' ').unwrap();
    assert_eq!(rest, format!("goes on from step 0 of task {good}\n"));
    assert_eq!(place.says(&fork), said);
    let shown = place.says(&["show", new]);
    for line in [
        "state        pending".to_owned(),
        "key          a again".to_owned(),
        format!("fork of      task {good}, from step 0"),
        "-     fork     Ada".to_owned(),
    ] {
        assert!(shown.contains(&line), "{line} is not in {shown}");
    }
    let parked = format!(
        "error: task {bad} is parked, which does not allow this: resubmit it first, or give it up\n"
    );
    assert_eq!(
        place.refuses(&["fork", &bad, "0", "--key", "b again"]),
        parked
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_refuses_a_command_keeps_it_from_no_other() {
    let place = Place::new("several").await;
    let (good, bad) = (place.good.to_string(), place.bad.to_string());
    let undone = place.program(&["undo", &good, &bad, "99"]);
    assert_eq!(undone.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(undone.stdout).unwrap(),
        format!("task {bad} will be undone\n")
    );
    assert_eq!(
        String::from_utf8(undone.stderr).unwrap(),
        format!(
            "error: task {good} is processed, which does not allow this: it has ended\nerror: there is no task 99\n"
        )
    );
    let unnamed = place.refuses(&["queues", "limit", "", "--concurrency", "0"]);
    assert!(unnamed.contains("a value is required"), "{unnamed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_commands_all_tasks_that_fit_and_no_other_number() {
    let place = Place::new("filters").await;
    for nth in 0..230 {
        let headers = format!("{{\"tenant\":\"{}\"}}", nth % 2);
        let task = good(String::new())
            .key(format!("order {nth}"))
            .headers(headers);
        place.client.submit(task).await.unwrap();
    }
    let by_key = place.says(&["list", "--key", "order 17"]);
    assert_eq!(by_key.lines().count(), 2, "{by_key}");
    let by_error = place.says(&["list", "--error", "could not be undone"]);
    assert_eq!(by_error.lines().count(), 2, "{by_error}");
    assert_eq!(
        place
            .says(&["list", "--until", "2026-01-01"])
            .lines()
            .count(),
        1
    );

    let tenant = ["--state", "pending", "--header", "tenant=1"];
    let park = |more: &[&str]| -> Vec<String> {
        let words = ["park"].iter().chain(&tenant).chain(more);
        words.map(|word| (*word).to_owned()).collect()
    };
    let say = |words: &[String]| place.says(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let wanted = "115 tasks fit; nothing has changed. With --expect 115 each of them is parked\n";
    assert_eq!(say(&park(&[])), wanted);
    let nobody = ["park", "--header", "tenant=9"];
    assert_eq!(place.says(&nobody), "no task fits; nothing has changed\n");
    let wrong = park(&["--expect", "114"]);
    let refused = place.refuses(&wrong.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        refused,
        "error: 115 tasks fit, and 114 were expected; count them again\n"
    );
    assert_eq!(
        place.says(&["list", "--state", "parked"]).lines().count(),
        2
    );
    let all = park(&["--expect", "115", "--by", "Ada", "--why", "tenant 1 left"]);
    assert_eq!(say(&all), "115 of 115 tasks: each is parked\n");
    let shown = place.says(&["list", "--state", "parked", "--key", "order 229", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let id = shown[0]["id"].to_string();
    let shown = place.says(&["show", &id]);
    assert!(
        shown.contains("park") && shown.contains("Ada") && shown.contains("tenant 1 left"),
        "{shown}"
    );
    assert_eq!(
        place.says(&["give-up", &id, "--why", "enough"]),
        format!("task {id} is given up\n")
    );
    assert!(
        place
            .says(&["show", &id])
            .contains("state        cancelled")
    );

    let refused = place.refuses(&["cancel"]);
    assert!(
        refused.starts_with("error: write the numbers of the tasks, or say which ones: --state"),
        "{refused}"
    );
    let refused = place.refuses(&["cancel", "7", "--state", "pending"]);
    assert_eq!(
        refused,
        "error: write numbers of tasks or a filter, not both\n"
    );
    let refused = place.refuses(&["list", "--since", "yesterday"]);
    assert!(
        refused.contains("`yesterday` is not a time; write a date"),
        "{refused}"
    );
}

/// The commands about whole tasks come from a table.
#[tokio::test(flavor = "multi_thread")]
async fn the_program_says_what_its_commands_do() {
    let place = Place::new("help").await;
    let help = place.says(&["help"]);
    let about = |command: &str| {
        let mut lines = help.lines();
        let line = lines.find_map(|line| line.trim().strip_prefix(command));
        line.map(|about| about.trim().to_owned())
    };
    for (command, wanted) in [
        ("resubmit ", "Continues a failed or parked task"),
        ("undo ", "Undoes the steps of a failed or parked task"),
        (
            "cancel ",
            "Ends the task and undoes its steps; also a parked one",
        ),
        ("park ", "Sets the task aside until it is resubmitted"),
        ("give-up ", "Ends a parked task as cancelled, as it is"),
    ] {
        let about = about(command);
        let is_wanted = about
            .as_ref()
            .is_some_and(|about| about.starts_with(wanted) && !about.ends_with('.'));
        assert!(is_wanted, "{command}: {about:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_sends_numbers_as_they_are_written() {
    let place = Place::new("numbers").await;
    let task = place.client.submit(good("later".to_owned())).await.unwrap();
    // As a 64-bit float it would be another one.
    let number = u128::MAX.to_string();
    place.says(&["signal", &task.id().to_string(), "paid", &number]);
    let file = rusqlite::Connection::open(place.folder.join("tasks.db")).unwrap();
    let payload: String = file
        .query_row("SELECT payload FROM retry_signal", [], |row| row.get(0))
        .unwrap();
    assert_eq!(payload, number);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_goes_on_when_nobody_reads() {
    let place = Place::new("pipe").await;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = Command::new(env!("CARGO_BIN_EXE_reattempt-supervisor"))
        .args(["give-up", &place.bad.to_string()])
        .env("RETRY_STORE", place.folder.join("tasks.db"))
        .stdout(writer)
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    let said = place.says(&["show", &place.bad.to_string()]);
    assert!(said.contains("state        cancelled"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_at_all_addresses_need_an_origin() {
    let place = Place::new("origin").await;
    let tokens = place.folder.join("tokens");
    std::fs::write(&tokens, format!("act Ada {ACT}")).unwrap();
    let tokens = tokens.display().to_string();
    let refused = place.refuses(&["serve", "--token-file", &tokens, "--listen", "0.0.0.0:0"]);
    assert!(refused.contains("say with `--origin`"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_pauses_schedules() {
    let place = Place::new("schedules").await;
    let schedule = Schedule::new("nightly", "30 2 * * * Europe/Berlin", good(String::new()));
    place.client.schedule(schedule).await.unwrap();
    let list = place.says(&["schedules"]);
    assert!(
        list.starts_with("schedule  times                     missed  revision  state   next"),
        "{list}"
    );
    assert!(
        list.contains("nightly   30 2 * * * Europe/Berlin  run     1         active  2"),
        "{list}"
    );
    let pause = [
        "schedules",
        "pause",
        "nightly",
        "--by",
        "Ada",
        "--why",
        "audit",
    ];
    assert_eq!(place.says(&pause), "the schedule `nightly` is paused\n");
    assert!(place.says(&["schedules"]).trim().ends_with("Ada audit"));
    let json: serde_json::Value =
        serde_json::from_str(&place.says(&["schedules", "--json"])).unwrap();
    assert_eq!(json[0]["state"], "paused");
    assert_eq!(
        place.says(&["schedules", "resume", "nightly"]),
        "the schedule `nightly` goes on\n"
    );
    assert_eq!(
        place.says(&["schedules", "remove", "nightly"]),
        "the schedule `nightly` is removed\n"
    );
    let refused = place.refuses(&["schedules", "resume", "nightly"]);
    assert_eq!(refused, "error: there is no schedule `nightly`\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_limits_queues() {
    let place = Place::new("queues").await;
    let list = "queue    pending  oldest  in flight  parked  limit\ndefault  0        0.0s    0          1";
    assert!(place.says(&["queues"]).starts_with(list));
    let limit = ["queues", "limit", "mail", "--concurrency", "5", "--rate"];
    assert_eq!(
        place.says(&[&limit[..], &["50/1s"]].concat()),
        "the queue `mail` has the limit: 5 at once, 50 in 1s\n"
    );
    let mail = "mail     0        0.0s    0          0       5 at once, 50 in 1s\n";
    assert!(place.says(&["queues"]).ends_with(mail));
    let json: serde_json::Value = serde_json::from_str(&place.says(&["queues", "--json"])).unwrap();
    let found = ["concurrency", "rate", "period_seconds"].map(|name| json[1][name].as_f64());
    assert_eq!(found, [5.0, 50.0, 1.0].map(Some));
    for (rate, wanted) in [
        ("50", "write it as `50/1s`"),
        ("x/1s", "`x` is not a number of tasks"),
        (
            "1/s",
            "`s` is not a number and one of `ms`, `s`, `m`, `h`; write it as `50/1s`",
        ),
        ("1/1ms", "at least 100ms"),
    ] {
        let refused = place.refuses(&[&limit[..], &[rate]].concat());
        assert!(refused.contains(wanted), "{refused}");
    }
    let refused = place.refuses(&["queues", "limit", "mail"]);
    assert!(refused.contains("--concurrency"), "{refused}");
    assert_eq!(
        place.says(&["queues", "unlimit", "mail"]),
        "the queue `mail` has no limit\n"
    );
    assert!(!place.says(&["queues"]).contains("mail"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_limits_lanes() {
    let place = Place::new("lanes").await;
    let limit = ["lanes", "limit", "customer-*", "--rate", "50/1s"];
    assert_eq!(
        place.says(&limit),
        "the lane `customer-*` has the limit: 50 in 1s\n"
    );
    let list = "lanes       limit\ncustomer-*  50 in 1s\n";
    assert_eq!(place.says(&["lanes"]), list);
    let json: serde_json::Value = serde_json::from_str(&place.says(&["lanes", "--json"])).unwrap();
    assert_eq!(json[0]["lanes"], "customer-*");
    assert_eq!(json[0]["rate"], 50);
    for (name, value, wanted) in [
        ("--rate", "6000/1m", "6000 in 1m are 100 in 1s"),
        ("--concurrency", "1001", "at most 1000 tasks run at once"),
        ("--rate", "0/1s", "a rate needs at least 1 task"),
    ] {
        let refused = place.refuses(&["lanes", "limit", "l", name, value]);
        assert!(refused.contains(wanted), "{refused}");
    }
    let removed = place.says(&["lanes", "unlimit", "customer-*"]);
    assert_eq!(removed, "the lane `customer-*` has no limit\n");
    assert!(!place.says(&["lanes"]).contains("customer"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_exports_what_a_replay_reads() {
    let place = Place::new("export").await;
    let replay = Replay::new().register(good).register(bad);
    for arguments in [
        &["export"][..],
        &["export", "--redact", "0"],
        &["export", "2", "1"],
    ] {
        let lines = place.says(arguments);
        assert_eq!(lines.lines().count(), 2, "{lines}");
        let report = replay.run(lines.as_bytes()).unwrap();
        report.assert_unchanged();
        assert_eq!(
            lines.contains("[\"hello\"]"),
            arguments.len() != 3 || arguments[1] == "2",
            "{lines}"
        );
    }
    let lines = place.says(&["export", "--sample", "1", "--state", "processed"]);
    assert!(
        lines.lines().count() == 1 && lines.contains("processed"),
        "{lines}"
    );
    assert!(
        place
            .refuses(&["export", "99"])
            .contains("there is no task 99")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_prunes_tasks_and_keeps_their_keys() {
    let place = Place::new("prune").await;
    let prune = ["prune", "--days", "0", "--keep-keys", "365"];
    assert_eq!(place.says(&prune), "deleted 1 task\n");
    assert_eq!(place.says(&prune), "deleted 0 tasks\n");
    assert_eq!(place.says(&["prune", "--days", "0"]), "deleted 0 tasks\n");
    let found = place.says(&["list", "--key", "a"]);
    assert!(
        found.contains("pruned") && found.contains("key free at 20") && found.lines().count() == 2,
        "{found}"
    );
    let shown = place.says(&["show", &place.good.to_string()]);
    assert!(
        shown.contains("key free at  20") && !shown.contains("hello"),
        "{shown}"
    );
    let mut browser = Browser::open(place.client.clone()).await;
    browser.log_in(ACT).await;
    assert!(browser.get("/").await.contains("<td>key free at <time>20"));
    let page = browser.get(&format!("/tasks/{}", place.good)).await;
    assert!(
        page.contains("<dt>key free at") && !page.contains("Commands"),
        "{page}"
    );
    let again = good("other".to_owned()).key("a").strict();
    let again = place.client.submit(again).await.unwrap();
    assert_eq!(again.id(), place.good);
    assert_eq!(
        again.wait().await.unwrap_err().to_string(),
        format!(
            "task {} was pruned after its end, so nobody knows its result: only its key is left",
            place.good
        )
    );
    let refused = place.refuses(&["export", &place.good.to_string()]);
    assert!(refused.contains("only its key is left"), "{refused}");
    assert_eq!(place.says(&["export"]).lines().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_becomes_another_store_unless_a_worker_runs_on_it() {
    let place = Place::new("copy").await;
    let export = |place: &Place| -> serde_json::Value {
        let line = place.says(&["export", &place.good.to_string()]);
        serde_json::from_str(&line).unwrap()
    };
    let before = export(&place);
    let said = "the steps of this store have other keys now\n";
    assert_eq!(place.says(&["new-store"]), said);
    let after = export(&place);
    assert_ne!(before["identity"], after["identity"]);
    assert_ne!(before["random"], after["random"]);
    let lease =
        "INSERT INTO retry_worker (id, lease_until, lease) VALUES ('one', 9000000000000000000, 1)";
    let own = rusqlite::Connection::open(place.folder.join("tasks.db")).unwrap();
    own.execute(lease, []).unwrap();
    let refused = place.refuses(&["new-store"]);
    assert!(refused.contains("stop all workers"), "{refused}");
    assert_eq!(export(&place), after);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_for_what_a_role_does_not_see_is_refused() {
    let place = Place::new("oracle").await;
    let mut browser = Browser::open(place.client.clone()).await;
    browser.log_in(LOOK).await;
    let page = browser.get("/?header=email%3Dx@y").await;
    assert!(
        page.starts_with("HTTP/1.1 400") && page.contains("sees no headers"),
        "{page}"
    );
    browser.log_in(ACT).await;
    let page = browser.get("/?header=email%3Dx@y").await;
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    for field in ["key", "error", "workflow", "queue"] {
        let page = browser.get(&format!("/?{field}=a%00b")).await;
        assert!(
            page.starts_with("HTTP/1.1 400") && page.contains("a NUL"),
            "{page}"
        );
    }
}

/// The pages of a store, and how a browser talks to them.
struct Browser {
    address: std::net::SocketAddr,
    cookie: String,
}

impl Browser {
    async fn open(client: Client) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tokens = format!("look Lou {LOOK}\n\nact Ada {ACT}\n");
        let access = page::Access::parse(&tokens, [format!("http://{address}")]).unwrap();
        tokio::spawn(page::serve(listener, client, access));
        let cookie = String::new();
        Self { address, cookie }
    }

    /// Returns the answer to a request with these lines of headers.
    async fn send(&self, request: &str, headers: &str, body: &str) -> String {
        let mut stream = tokio::net::TcpStream::connect(self.address).await.unwrap();
        let length = body.len();
        let request = format!(
            "{request} HTTP/1.1\r\n{headers}content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// Returns the headers that a browser sends with a form of these pages.
    fn headers(&self) -> String {
        let (address, cookie) = (self.address, &self.cookie);
        format!("host: {address}\r\norigin: http://{address}\r\ncookie: a=b; {cookie}\r\n")
    }

    async fn get(&self, path: &str) -> String {
        self.send(&format!("GET {path}"), &self.headers(), "").await
    }

    async fn post(&self, path: &str, body: &str) -> String {
        self.send(&format!("POST {path}"), &self.headers(), body)
            .await
    }

    /// Shows a token.
    async fn log_in(&mut self, token: &str) {
        let answer = self.post("/login", &format!("token={token}")).await;
        assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
        let cookie = answer.split("set-cookie: ").nth(1).unwrap();
        let (cookie, attributes) = cookie.split_once(';').unwrap();
        assert!(
            attributes.starts_with(" HttpOnly; SameSite=Strict; Path=/\r\n"),
            "{attributes}"
        );
        cookie.clone_into(&mut self.cookie);
    }

    /// Returns the secret of the forms on a page.
    async fn form(&self, path: &str) -> String {
        let page = self.get(path).await;
        let form = page.split("name=form value=").nth(1).unwrap();
        form.split('>').next().unwrap().to_owned()
    }
}

const LOOK: &str = "look-look-look-look-look-look";
const ACT: &str = "act-act-act-act-act-act-act-act";

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_show_tasks_and_execute_nothing() {
    let place = Place::new("pages").await;
    let headers = format!("{{\"who\":\"{HOSTILE}\"}}");
    let odd = good(HOSTILE.to_owned())
        .key(HOSTILE)
        .queue(HOSTILE)
        .headers(headers);
    let odd = place.client.submit(odd).await.unwrap().id();
    let operator = place.client.operator(HOSTILE, HOSTILE);
    operator.park(odd).await.unwrap();
    let mut browser = Browser::open(place.client.clone()).await;
    browser.log_in(ACT).await;
    let list = browser.get("/").await;
    assert!(
        list.starts_with("HTTP/1.1 200") && list.contains("default-src 'none'"),
        "{list}"
    );
    assert!(
        list.contains(&format!("<a href=\"tasks/{0}\">{0}</a>", place.bad)),
        "{list}"
    );
    let parked = browser.get("/?state=parked").await;
    assert!(
        !parked.contains(&format!("tasks/{}\"", place.good)),
        "{parked}"
    );
    let found = browser.get("/?key=a").await;
    assert!(
        found.contains(&format!("tasks/{}\"", place.good)),
        "{found}"
    );
    let task = browser.get(&format!("/tasks/{}", place.bad)).await;
    let odd_task = browser.get(&format!("/tasks/{odd}")).await;
    let hostile = "%3Cscript%3Edocument.title+%3D+%27executed%27%3C%2Fscript%3E";
    let search = browser
        .get(&format!("/?key={hostile}&error={hostile}&queue={hostile}"))
        .await;
    let escaped = "&lt;script&gt;document.title = &#39;executed&#39;&lt;/script&gt;";
    for page in [&list, &task, &odd_task, &search] {
        assert!(
            page.contains(escaped) && !page.contains("<script"),
            "{page}"
        );
    }
    let missing = browser.get("/tasks/99").await;
    assert!(
        missing.starts_with("HTTP/1.1 404") && missing.contains("There is no task 99."),
        "{missing}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_opens_the_pages_without_a_token_or_from_elsewhere() {
    let place = Place::new("access").await;
    let mut browser = Browser::open(place.client.clone()).await;
    let task = format!("/tasks/{}", place.bad);
    for path in ["/", &task, "/?state=parked", "/tasks/99"] {
        let page = browser.get(path).await;
        assert!(
            page.starts_with("HTTP/1.1 401") && !page.contains("undone"),
            "{page}"
        );
    }
    let wrong = browser.post("/login", "token=wrong").await;
    assert!(
        wrong.starts_with("HTTP/1.1 401") && !wrong.contains("set-cookie"),
        "{wrong}"
    );
    browser.log_in(ACT).await;
    let (own, cookie) = (browser.address, browser.cookie.clone());
    let form = browser.form(&task).await;
    let body = format!("form={form}&command=cancel&why=because");
    let act = format!("POST /act/{}", place.bad);
    // Another name that leads to this address, and pages of others.
    for headers in [
        format!("host: evil.example\r\norigin: http://evil.example\r\ncookie: {cookie}\r\n"),
        format!("host: evil.example\r\norigin: http://{own}\r\ncookie: {cookie}\r\n"),
        format!("host: {own}.evil.example\r\norigin: http://{own}\r\ncookie: {cookie}\r\n"),
        format!(
            "host: {own}\r\nhost: evil.example\r\norigin: http://{own}\r\ncookie: {cookie}\r\n"
        ),
        format!("host: {own}\r\norigin: http://evil.example\r\ncookie: {cookie}\r\n"),
        format!("host: {own}\r\norigin: https://{own}\r\ncookie: {cookie}\r\n"),
        format!("host: {own}\r\norigin: null\r\ncookie: {cookie}\r\n"),
        format!("host: {own}\r\ncookie: {cookie}\r\n"),
    ] {
        let refused = browser.send(&act, &headers, &body).await;
        let is_refused = refused.starts_with("HTTP/1.1 403") || refused.starts_with("HTTP/1.1 400");
        assert!(is_refused, "{headers}{refused}");
    }
    let elsewhere = format!("host: evil.example\r\ncookie: {cookie}\r\n");
    let refused = browser.send("GET /", &elsewhere, "").await;
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    // Without the secret of the form, or with that of another session.
    let mut other = Browser {
        address: own,
        cookie: String::new(),
    };
    other.log_in(ACT).await;
    for body in [
        "command=cancel&why=because",
        &*format!("form=0{form}&command=cancel"),
    ] {
        let refused = browser.post(&format!("/act/{}", place.bad), body).await;
        assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    }
    let refused = other.post(&format!("/act/{}", place.bad), &body).await;
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    assert!(
        place
            .says(&["show", &place.bad.to_string()])
            .contains("state        parked")
    );
    for tokens in [
        "",
        "act Ada short",
        "see Ada 123456789012345678901234",
        "act 123456789012345678901234",
    ] {
        page::Access::parse(tokens, []).unwrap_err();
    }
    let parse = |origin: &str| {
        page::Access::parse(&format!("act Ada {ACT}"), [origin.to_owned()]).map(drop)
    };
    for origin in ["https://tasks.example", "http://[::1]:8017", "http://a:443"] {
        parse(origin).unwrap();
    }
    // Each request would be refused.
    for origin in [
        "tasks.example",
        "https://tasks.example/",
        "https://Tasks.example",
        "https://tasks.example:443",
        "http://127.0.0.1:80",
        "http://",
        "ftp://tasks.example",
    ] {
        let error = parse(origin).unwrap_err().to_string();
        let wanted = format!("no browser sends the origin `{origin}`; write ");
        assert!(error.starts_with(&wanted), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_act_gives_commands_and_who_may_look_sees_no_arguments() {
    let place = Place::new("roles").await;
    let mut browser = Browser::open(place.client.clone()).await;
    browser.log_in(LOOK).await;
    let task = browser.get(&format!("/tasks/{}", place.good)).await;
    assert!(
        task.contains("hidden from your role") && !task.contains("hello"),
        "{task}"
    );
    assert!(!task.contains("<form"), "{task}");
    browser.log_in(ACT).await;
    let path = format!("/tasks/{}", place.bad);
    let form = browser.form(&path).await;
    let act = format!("/act/{}", place.bad);
    let sent = browser
        .post(&act, &format!("form={form}&command=resubmit&why=fixed+it"))
        .await;
    assert!(
        sent.starts_with("HTTP/1.1 303")
            && sent.contains(&format!("location: ../tasks/{}", place.bad)),
        "{sent}"
    );
    let shown = browser.get(&path).await;
    assert!(
        shown.contains("<td>resubmit<td>Ada") && shown.contains("fixed it"),
        "{shown}"
    );
    let refused = browser
        .post(&act, &format!("form={form}&command=undo&why=now"))
        .await;
    assert!(
        refused.starts_with("HTTP/1.1 409") && refused.contains("is pending"),
        "{refused}"
    );
    // All that fit: first their number, then the command.
    let all = format!("form={form}&command=cancel&why=over&state=pending");
    let counted = browser.post("/all", &all).await;
    assert!(
        counted.contains("1 tasks fit") && counted.contains("name=expect value=1"),
        "{counted}"
    );
    let wrong = browser.post("/all", &format!("{all}&expect=2")).await;
    assert!(
        wrong.contains("1 tasks fit, and 2 were expected"),
        "{wrong}"
    );
    let sent = browser.post("/all", &format!("{all}&expect=1")).await;
    assert!(sent.contains("1 of 1 tasks took the command"), "{sent}");
    assert!(browser.get(&path).await.contains("<td>cancel<td>Ada"));
}

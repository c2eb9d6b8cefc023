//! What `cargo retry suggest` prints, put where it says: that compiles, and makes as many attempts as before.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

#[allow(unused, deprecated, unreachable_pub, missing_docs, clippy::all, clippy::pedantic, reason = "made by the command")]
#[rustfmt::skip]
#[path = "suggest/after.rs"]
mod after;
#[allow(unused, deprecated, unreachable_pub, missing_docs, clippy::all, clippy::pedantic, reason = "as others write it")]
#[rustfmt::skip]
#[path = "suggest/before.rs"]
mod before;
#[allow(unused, unreachable_pub, missing_docs, clippy::all, clippy::pedantic, clippy::try_err, reason = "as people write it")]
#[rustfmt::skip]
#[path = "suggest/loops.rs"]
mod loops;
#[allow(unused, unreachable_pub, missing_docs, clippy::all, clippy::pedantic, reason = "made by the command")]
#[rustfmt::skip]
#[path = "suggest/loops_after.rs"]
mod loops_after;

use std::io::ErrorKind;
use std::time::Duration;

/// The attempts of each function, before and after.
macro_rules! attempts {
    ($module:ident) => {{
        let client = &Client::default();
        let asked = || client.calls.replace(0);
        let mut all = Vec::new();
        $module::whole_body(client).await.unwrap_err();
        all.push(asked());
        $module::a_part_of_it(client).await.unwrap_err();
        all.push(asked());
        all.push(client.seen.get());
        $module::blocking(client).unwrap_err();
        all.push(asked());
        let (seen, answer) = $module::with_context(client).await;
        answer.unwrap_err();
        all.push(asked());
        assert_eq!(seen.len(), 4);
        $module::by_count(client, 7, Duration::from_millis(10))
            .await
            .unwrap_err();
        all.push(asked());
        $module::strategies(client).await.unwrap_err();
        all.push(asked());
        $module::fixed_strategy(client).await.unwrap_err();
        all.push(asked());
        let error = $module::permanent_and_transient(client).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        all.push(asked());
        $module::blocking_and_permanent(client).unwrap_err();
        all.push(asked());
        $module::by_hand(client).unwrap_err();
        all.push(asked());
        all
    }};
}

#[tokio::test(start_paused = true)]
async fn what_replaces_a_retry_makes_its_attempts() {
    let before = {
        use before::Client;
        attempts!(before)
    };
    let after = {
        use after::Client;
        attempts!(after)
    };
    assert_eq!(before, [5, 3, 2, 2, 4, 8, 5, 4, 6, 3, 4]);
    assert_eq!(after, before);
}

/// For each server and each loop: how often it was asked, what came of it, what was logged.
macro_rules! runs {
    ($module:ident) => {{
        use $module::{Fault, Server};
        let wait = Duration::from_millis(40);
        let mut all = Vec::new();
        for faults in [
            vec![Fault::Busy { wait }; 9],
            vec![Fault::Status(500); 9],
            vec![Fault::Status(404); 9],
            vec![Fault::Gone; 2],
            vec![Fault::Gone, Fault::Status(503), Fault::Busy { wait }],
        ] {
            let server = Server::default();
            let mut said = |result: String| {
                let lines = server.lines.replace(Vec::new());
                all.push((server.calls.replace(0), result, lines));
                server.answers.replace(faults.clone());
            };
            said(String::new());
            said(format!(
                "{:?}",
                $module::guard(&server).map_err(|it| it.kind())
            ));
            said(format!("{:?}", $module::counted(&server)));
            said(format!("{:?}", $module::question(&server)));
            said(format!("{:?}", $module::pattern(&server).await));
            said(format!("{:?}", $module::condition(&server).await));
            said(format!("{:?}", $module::parts(&server)));
            said(format!("{:?}", $module::nested(&server)));
            said(format!("{:?}", $module::asked(&server)));
            said(format!("{:?}", $module::between(&server).await));
            said(format!("{:?}", $module::logged_apart(&server)));
        }
        all
    }};
}

#[tokio::test(start_paused = true)]
async fn what_replaces_a_loop_tells_the_same_errors_apart() {
    let before = runs!(loops);
    let after = runs!(loops_after);
    assert_eq!(after, before);
}

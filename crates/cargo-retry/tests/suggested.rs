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
    assert_eq!(before, [5, 3, 2, 2, 4, 8, 5, 4, 6, 4]);
    assert_eq!(after, before);
}

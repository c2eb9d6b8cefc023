//! Scripts that are shared, and messages: of a wrong script, of a record that is
//! not as expected.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use reattempt::testing::{self, FaultPlan};

use crate::support::{Fault, quick, reset};

#[test]
fn a_failed_assertion_shows_what_changed() {
    let record = testing::record();
    assert!(quick(&FaultPlan::always(reset)).is_err());
    let message = message(|| {
        record.assert(
            "
            quick
              1. failed (transient), retry in 100ms
              2. failed (transient), gave up (attempts)
            slow
            ",
        );
    });
    let expected = "\
the record is not what was expected (- expected, + recorded):

 quick
-  1. failed (transient), retry in 100ms
+  1. failed (transient), retry at once
   2. failed (transient), gave up (attempts)
-slow

if the record is right, the lines without `-` are the new text; `println!(\"{record}\")` prints it";
    assert_eq!(message, expected);
}

#[test]
fn a_wrong_script_says_so() {
    assert_eq!(
        message(|| drop(FaultPlan::script("fail, sleep", reset))),
        "`sleep` is not a word of a fault script; write `fail` or `ok`, with a count if need be: `fail x3`; \
         the script is `fail, sleep`"
    );
}

fn message(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    *panic.downcast::<String>().expect("a message with values")
}

/// Tasks on several threads share one script; what they retry is not recorded here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_are_shared() {
    let record = testing::record();
    let faults = Arc::new(FaultPlan::script("fail x8, ok", reset));
    let tasks = [(); 4].map(|()| {
        let faults = Arc::clone(&faults);
        tokio::spawn(async move { quick(&faults) })
    });
    for task in tasks {
        assert_eq!(task.await.unwrap(), Err(Fault::Reset));
    }
    assert_eq!((faults.check(), faults.calls()), (Ok(()), 9));
    assert_eq!(record.calls(), []);
}

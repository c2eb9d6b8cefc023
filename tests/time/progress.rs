//! `attempt.progress()`: an attempt that moves the work on and fails starts the count and the delays anew.

use std::cell::RefCell;
use std::time::Duration;

use reattempt::{GiveUpReason, Policy, RetryError, retry, retry_block};
use tokio::time::sleep;

/// Gives three parts an attempt while it gives any, and fails.
struct Download {
    parts: u32,
    left_to_give: u32,
}

impl Download {
    const fn giving(parts: u32) -> Self {
        Self {
            parts: 0,
            left_to_give: parts,
        }
    }

    fn next(&mut self, in_this_attempt: u32) -> Result<(), &'static str> {
        if in_this_attempt == 3 || self.left_to_give == 0 {
            return Err("reset");
        }
        self.left_to_give -= 1;
        self.parts += 1;
        Ok(())
    }
}

#[retry(max = 3, base = "1s", jitter = "none", on(_), context = attempt)]
fn sync(download: &mut Download) -> Result<(), RetryError<&'static str>> {
    for part in 0.. {
        download.next(part)?;
        attempt.progress();
        if download.parts == 20 {
            break;
        }
    }
    Ok(())
}

#[retry(max = 3, base = "1s", jitter = "none", on(_), context = attempt, on_retry = |retry| seen.borrow_mut().push(retry.delay()))]
async fn asynchronous(
    download: &mut Download,
    seen: &RefCell<Vec<Duration>>,
) -> Result<(), RetryError<&'static str>> {
    for part in 0.. {
        download.next(part)?;
        attempt.progress();
        if download.parts == 20 {
            break;
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_download_goes_on_as_long_as_parts_come() {
    let mut download = Download::giving(20);
    let delays = RefCell::default();
    assert!(asynchronous(&mut download, &delays).await.is_ok());
    // Six attempts failed after a part; a count that goes on would have ended after three.
    assert_eq!(delays.into_inner(), [Duration::from_secs(1); 6]);

    let clock = reattempt::testing::virtual_time();
    let mut download = Download::giving(20);
    assert!(sync(&mut download).is_ok());
    assert_eq!(clock.elapsed(), Duration::from_secs(6));
}

/// Attempts that move nothing are counted, from the one that last did: its failure is the first.
#[tokio::test(start_paused = true)]
async fn without_progress_the_count_goes_on() {
    for (parts, attempts) in [(0, 3), (1, 3), (3, 3), (4, 3)] {
        let mut download = Download::giving(parts);
        let delays = RefCell::default();
        let error = asynchronous(&mut download, &delays).await.unwrap_err();
        assert_eq!(
            (error.attempts(), error.reason()),
            (attempts, GiveUpReason::Attempts),
            "{parts}"
        );
        let delays: Vec<_> = delays.into_inner().iter().map(Duration::as_secs).collect();
        let expected: &[u64] = if parts > 3 { &[1, 1, 2] } else { &[1, 2] };
        assert_eq!(delays, expected, "{parts}");
    }
}

/// An attempt that time cuts off has moved on, too.
#[tokio::test(start_paused = true)]
async fn a_time_out_after_progress_starts_anew() {
    #[retry(max = 2, base = "1s", timeout = "5s", on(_), context = attempt)]
    async fn steps(done: &mut u32) -> Result<(), RetryError<u8>> {
        while *done < 10 {
            sleep(Duration::from_secs(2)).await;
            *done += 1;
            attempt.progress();
        }
        Ok(())
    }
    let mut done = 0;
    assert!(steps(&mut done).await.is_ok());
    assert_eq!(done, 10);
}

#[tokio::test(start_paused = true)]
async fn a_block_says_it_too() {
    let mut done = 0;
    let answer: Result<u32, &str> =
        retry_block!(max = 2, base = "1s", on(_), context = attempt, async {
            done += 1;
            attempt.progress();
            if done < 10 { Err("reset") } else { Ok(done) }
        })
        .await;
    assert_eq!(answer, Ok(10));
}

/// A policy of the running program that nothing else bounds counts on.
#[tokio::test(start_paused = true)]
async fn without_a_bound_it_has_no_effect() {
    #[retry(policy = policy, on(_), context = attempt, cut_off = false)]
    async fn step(policy: Policy, calls: &mut u32) -> Result<(), &'static str> {
        *calls += 1;
        attempt.progress();
        if *calls < 10 { Err("reset") } else { Ok(()) }
    }
    let second = Duration::from_secs(1);
    for (policy, calls) in [
        (Policy::new(), 3),
        (Policy::new().base(second), 10),
        (Policy::new().deadline(second * 3600), 10),
        (
            Policy::new()
                .backoff(reattempt::Backoff::None)
                .deadline(second * 3600),
            3,
        ),
    ] {
        let mut made = 0;
        let answer = step(policy, &mut made).await;
        assert_eq!((made, answer.is_ok()), (calls, calls == 10), "{policy:?}");
    }
}

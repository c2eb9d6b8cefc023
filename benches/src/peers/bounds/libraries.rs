//! The libraries. Where one can be given a function that waits, this is one that does not; where it takes
//! an iterator of delays, they are drawn and then taken for zero.
#![cfg_attr(
    not(test),
    expect(clippy::wildcard_imports, reason = "the bodies and lists are for all")
)]

use std::future::ready;
use std::hint::black_box;
use std::io;
use std::time::Duration;

use super::bodies::{self, RequestResult, any, request};
use super::client::{polled, waited};
use super::lists::{
    async_functions, async_runs, async_still_functions, async_still_runs, client_runs,
    none_functions, none_runs, sizes, still_functions, still_runs, sync_functions, sync_runs,
    wait_runs,
};
use crate::cases::{Huge, Script, is_busy, is_huge, repeat};
use crate::peers::ways::Way;

fn drawn(delay: Duration) -> Duration {
    black_box(delay);
    Duration::ZERO
}

pub(super) mod backon {
    use std::sync::LazyLock;

    use ::backon::{BlockingRetryable as _, ExponentialBuilder, Retryable as _};
    use reattempt::timer::{BlockingTimer, Timer};

    use super::super::client::{Client, asleep, called, fetched};
    use super::*;
    use crate::cases::Still;
    use crate::peers::backon::{asynchronous, exponential, immediate, sync};

    pub(in super::super) const WAY: Way = Way {
        name: "backon",
        lacks: None,
        runs: &[
            sync_runs!(),
            async_runs!(),
            wait_runs!(),
            none_runs!(),
            still_runs!(),
            async_still_runs!(),
            client_runs!(exponential()),
        ],
        sizes: sizes!(exponential()),
    };

    static BUILDER: LazyLock<ExponentialBuilder> = LazyLock::new(|| black_box(exponential()));

    sync_functions!(sync);
    async_functions!(asynchronous);
    none_functions!(immediate);
    still_functions!(still);
    async_still_functions!(still_async);

    #[inline]
    fn still<T, E>(
        attempt: impl FnMut() -> Result<T, E>,
        again: impl FnMut(&E) -> bool,
    ) -> Result<T, E> {
        let sleep = |delay| BlockingTimer::sleep(&Still, delay);
        attempt.retry(exponential()).sleep(sleep).when(again).call()
    }

    #[inline]
    fn still_async<T, E, F: Future<Output = Result<T, E>>>(
        attempt: impl FnMut() -> F,
        again: impl FnMut(&E) -> bool,
    ) -> impl Future<Output = Result<T, E>> {
        let sleep = |delay| Timer::sleep(&Still, delay);
        attempt.retry(exponential()).sleep(sleep).when(again)
    }

    fn shared(script: &Script) -> RequestResult {
        (|| request(script)).retry(*BUILDER).call()
    }

    fn shared_async(script: &Script) -> impl Future<Output = RequestResult> {
        (|| bodies::fetch(script)).retry(*BUILDER)
    }

    fn own(client: &Client<ExponentialBuilder>) -> RequestResult {
        (|| request(&client.script)).retry(client.settings).call()
    }

    fn own_async(client: &Client<ExponentialBuilder>) -> impl Future<Output = RequestResult> {
        (|| bodies::fetch(&client.script)).retry(client.settings)
    }
}

pub(super) mod backoff {
    use super::*;
    use crate::peers::backoff::{asynchronous, immediate, sync};

    pub(in super::super) const WAY: Way = Way {
        name: "backoff",
        lacks: None,
        runs: &[sync_runs!(), async_runs!(), wait_runs!(), none_runs!()],
        sizes: sizes!(),
    };

    sync_functions!(sync);
    none_functions!(immediate);
    async_functions!(asynchronous);
}

pub(super) mod retry {
    use super::*;
    use crate::peers::retry::{by, exponential, immediate, sync};

    pub(in super::super) const WAY: Way = Way {
        name: "retry",
        lacks: None,
        runs: &[sync_runs!(), none_runs!(), still_runs!()],
        sizes: &[],
    };

    sync_functions!(sync);
    none_functions!(immediate);
    still_functions!(still);

    #[inline]
    fn still<T, E>(
        attempt: impl FnMut() -> Result<T, E>,
        again: impl FnMut(&E) -> bool,
    ) -> Result<T, E> {
        by(exponential().map(drawn).take(4), attempt, again)
    }
}

pub(super) mod tokio_retry {
    use super::*;
    use crate::peers::tokio_retry::asynchronous;

    pub(in super::super) const WAY: Way = Way {
        name: "tokio-retry",
        lacks: None,
        runs: &[async_runs!(), wait_runs!()],
        sizes: sizes!(),
    };

    async_functions!(asynchronous);
}

pub(super) mod tokio_retry2 {
    use super::*;
    use crate::peers::tokio_retry2::asynchronous;

    pub(in super::super) const WAY: Way = Way {
        name: "tokio-retry2",
        lacks: None,
        runs: &[async_runs!(), wait_runs!()],
        sizes: sizes!(),
    };

    async_functions!(asynchronous);
}

pub(super) mod tryhard {
    use super::*;
    use crate::peers::tryhard::asynchronous;

    pub(in super::super) const WAY: Way = Way {
        name: "tryhard",
        lacks: Some("no jitter"),
        runs: &[async_runs!(), wait_runs!()],
        sizes: sizes!(),
    };

    async_functions!(asynchronous);
}

pub(super) mod retry_block {
    use ::retry_block::{async_retry, retry};

    use super::*;
    use crate::peers::retry_block::{exponential, judged, without};

    pub(in super::super) const WAY: Way = Way {
        name: "retry-block",
        lacks: None,
        runs: &[
            sync_runs!(),
            async_runs!(),
            wait_runs!(),
            none_runs!(),
            still_runs!(),
        ],
        sizes: sizes!(),
    };

    fn inlined(script: &Script) -> RequestResult {
        retry!(exponential().take(4), { script.coded() })
    }

    fn call(script: &Script) -> RequestResult {
        retry!(exponential().take(4), { request(script) })
    }

    fn still_inlined(script: &Script) -> RequestResult {
        retry!(exponential().map(drawn).take(4), { script.coded() })
    }

    fn still_call(script: &Script) -> RequestResult {
        retry!(exponential().map(drawn).take(4), { request(script) })
    }

    fn none(script: &Script) -> RequestResult {
        retry!(without(), { script.coded() })
    }

    fn none_call(script: &Script) -> RequestResult {
        retry!(without(), { request(script) })
    }

    fn large(script: &Script) -> io::Result<[u64; 8]> {
        retry!(without(), { judged(script.large(), is_busy) })
    }

    fn large_call(script: &Script) -> io::Result<[u64; 8]> {
        retry!(without(), {
            judged(bodies::request_large(script), is_busy)
        })
    }

    fn huge(script: &Script) -> Result<u64, Huge> {
        retry!(without(), { judged(script.huge(), is_huge) })
    }

    fn huge_call(script: &Script) -> Result<u64, Huge> {
        retry!(without(), { judged(bodies::request_huge(script), is_huge) })
    }

    async fn suspended(script: &Script) -> RequestResult {
        async_retry!(exponential().take(4), { bodies::suspended(script).await })
    }

    async fn fetch_suspended(script: &Script) -> RequestResult {
        async_retry!(exponential().take(4), {
            bodies::fetch_suspended(script).await
        })
    }

    async fn small(script: &Script) -> RequestResult {
        async_retry!(exponential().take(4), { bodies::small(script).await })
    }

    async fn fetch(script: &Script) -> RequestResult {
        async_retry!(exponential().take(4), { bodies::fetch(script).await })
    }

    async fn kept(script: &Script) -> RequestResult {
        async_retry!(exponential().take(4), { bodies::kept(script).await })
    }

    async fn fetch_kept(script: &Script) -> RequestResult {
        async_retry!(exponential().take(4), { bodies::fetch_kept(script).await })
    }
}

/// Functions with an attribute: the same bodies in each.
macro_rules! attributed {
    (sync #[$attribute:meta] $inlined:ident $call:ident) => {
        #[$attribute]
        fn $inlined(script: &Script) -> RequestResult {
            script.coded()
        }

        #[$attribute]
        fn $call(script: &Script) -> RequestResult {
            request(script)
        }
    };
    (none #[$attribute:meta]) => {
        attributed!(sync #[$attribute] none none_call);

        #[$attribute]
        fn large(script: &Script) -> io::Result<[u64; 8]> {
            script.large()
        }

        #[$attribute]
        fn large_call(script: &Script) -> io::Result<[u64; 8]> {
            bodies::request_large(script)
        }

        #[$attribute]
        fn huge(script: &Script) -> Result<u64, Huge> {
            script.huge()
        }

        #[$attribute]
        fn huge_call(script: &Script) -> Result<u64, Huge> {
            bodies::request_huge(script)
        }
    };
    (async #[$attribute:meta]) => {
        #[$attribute]
        async fn suspended(script: &Script) -> RequestResult {
            bodies::suspended(script).await
        }

        #[$attribute]
        async fn fetch_suspended(script: &Script) -> RequestResult {
            bodies::fetch_suspended(script).await
        }

        #[$attribute]
        async fn small(script: &Script) -> RequestResult {
            ready(()).await;
            script.coded()
        }

        #[$attribute]
        async fn fetch(script: &Script) -> RequestResult {
            bodies::fetch(script).await
        }

        #[$attribute]
        async fn kept(script: &Script) -> RequestResult {
            let kept = [script; 32];
            ready(()).await;
            black_box(&kept);
            script.coded()
        }

        #[$attribute]
        async fn fetch_kept(script: &Script) -> RequestResult {
            bodies::fetch_kept(script).await
        }
    };
}

pub(super) mod retrying {
    use ::retrying::retry;

    use super::*;

    pub(in super::super) const WAY: Way = Way {
        name: "retrying",
        lacks: Some("no jitter"),
        runs: &[
            sync_runs!(),
            async_runs!(),
            wait_runs!(),
            none_runs!(),
            still_runs!(),
        ],
        sizes: sizes!(),
    };

    attributed!(sync #[retry(stop = attempts(5), wait = exponential(multiplier = 0.001, min = 0.0, max = 20.0, exp_base = 2))] inlined call);
    attributed!(sync #[retry(stop = attempts(5), wait = exponential(multiplier = 0.0, min = 0.0, max = 20.0, exp_base = 2))] still_inlined still_call);
    attributed!(none #[retry(stop = attempts(3), wait = fixed(0.0))]);
    attributed!(async #[retry(stop = attempts(5), wait = exponential(multiplier = 0.001, min = 0.0, max = 20.0, exp_base = 2))]);
}

pub(super) mod retry_if {
    use ::retry_if::retry;

    use super::*;
    use crate::peers::retry_if::{EXPONENTIAL, tracing};

    pub(in super::super) const WAY: Way = Way {
        name: "retry-if",
        lacks: Some("no jitter"),
        runs: &[async_runs!(), wait_runs!()],
        sizes: sizes!(),
    };

    fn again(outcome: &RequestResult) -> bool {
        outcome.is_err()
    }

    attributed!(async #[retry(EXPONENTIAL, again)]);
}

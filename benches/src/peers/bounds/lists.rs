//! The cases by their kind, which are named alike in every way, and those of libraries that take closures.

/// The sync functions `inlined` and `call`.
macro_rules! sync_runs {
    () => {
        &[
            ("sync-inlined", |k, n| repeat(k, n, inlined)),
            ("sync-call", |k, n| repeat(k, n, call)),
        ]
    };
}

/// The same with a timer that does not wait.
macro_rules! still_runs {
    () => {
        &[
            ("still-inlined", |k, n| repeat(k, n, still_inlined)),
            ("still-call", |k, n| repeat(k, n, still_call)),
        ]
    };
}

/// The sync functions without a delay: of 8 bytes, with an answer of 64 bytes and `io::Error`, with
/// an error of 128 bytes.
macro_rules! none_runs {
    () => {
        &[
            ("none-inlined", |k, n| repeat(k, n, none)),
            ("none-call", |k, n| repeat(k, n, none_call)),
            ("none-large-inlined", |k, n| repeat(k, n, large)),
            ("none-large-call", |k, n| repeat(k, n, large_call)),
            ("none-huge-inlined", |k, n| repeat(k, n, huge)),
            ("none-huge-call", |k, n| repeat(k, n, huge_call)),
        ]
    };
}

/// The async functions.
macro_rules! async_runs {
    () => {
        &[
            ("async-inlined", |k, n| polled(k, n, small)),
            ("async-call", |k, n| polled(k, n, fetch)),
            ("async-kept-inlined", |k, n| polled(k, n, kept)),
            ("async-kept-call", |k, n| polled(k, n, fetch_kept)),
            ("suspended-inlined", |k, n| polled(k, n, suspended)),
            ("suspended-call", |k, n| polled(k, n, fetch_suspended)),
        ]
    };
}

/// Those that wait on tokio's timer.
macro_rules! wait_runs {
    () => {
        &[
            ("wait-inlined", |k, n| waited(k, n, small)),
            ("wait-call", |k, n| waited(k, n, fetch)),
        ]
    };
}

/// The same with a timer that does not wait.
macro_rules! async_still_runs {
    () => {
        &[
            ("async-still-inlined", |k, n| polled(k, n, still_small)),
            ("async-still-call", |k, n| polled(k, n, still_fetch)),
        ]
    };
}

/// The functions whose policy is known when the program runs: a static, and a field of a client.
macro_rules! client_runs {
    ($settings:expr) => {
        &[
            ("static-sync", |k, n| repeat(k, n, shared)),
            ("static-async", |k, n| polled(k, n, shared_async)),
            ("field-sync", |k, n| called(k, n, $settings, own)),
            ("field-async", |k, n| fetched(k, n, $settings, own_async)),
        ]
    };
}

/// Bytes of the futures of the async functions, and of a task that sleeps.
macro_rules! sizes {
    ($($settings:expr)?) => {
        &[
            $(
                ("static-async", || size_of_val(&shared_async(&Script::default()))),
                ("field-async", || size_of_val(&own_async(&Client::new($settings)))),
                ("static-asleep", || {
                    let client = Client::failing(());
                    asleep(|| shared_async(&client.script))
                }),
                ("field-asleep", || {
                    let client = Client::failing($settings);
                    asleep(|| own_async(client))
                }),
            )?
            ("async-inlined", || size_of_val(&small(&Script::default()))),
            ("async-call", || size_of_val(&fetch(&Script::default()))),
            ("async-kept-inlined", || {
                size_of_val(&kept(&Script::default()))
            }),
            ("async-kept-call", || {
                size_of_val(&fetch_kept(&Script::default()))
            }),
        ]
    };
}

/// `inlined` and `call` of a library that takes closures.
macro_rules! sync_functions {
    ($retry:path) => {
        fn inlined(script: &Script) -> RequestResult {
            $retry(|| script.coded(), any)
        }

        fn call(script: &Script) -> RequestResult {
            $retry(|| request(script), any)
        }
    };
}

/// The same with a timer that does not wait.
macro_rules! still_functions {
    ($retry:path) => {
        fn still_inlined(script: &Script) -> RequestResult {
            $retry(|| script.coded(), any)
        }

        fn still_call(script: &Script) -> RequestResult {
            $retry(|| request(script), any)
        }
    };
}

/// The same without a delay.
macro_rules! none_functions {
    ($retry:path) => {
        fn none(script: &Script) -> RequestResult {
            $retry(|| script.coded(), any)
        }

        fn none_call(script: &Script) -> RequestResult {
            $retry(|| request(script), any)
        }

        fn large(script: &Script) -> io::Result<[u64; 8]> {
            $retry(|| script.large(), is_busy)
        }

        fn large_call(script: &Script) -> io::Result<[u64; 8]> {
            $retry(|| bodies::request_large(script), is_busy)
        }

        fn huge(script: &Script) -> Result<u64, Huge> {
            $retry(|| script.huge(), is_huge)
        }

        fn huge_call(script: &Script) -> Result<u64, Huge> {
            $retry(|| bodies::request_huge(script), is_huge)
        }
    };
}

/// The async functions of a library that takes closures and gives a future.
macro_rules! async_functions {
    ($retry:path) => {
        fn small(script: &Script) -> impl Future<Output = RequestResult> {
            $retry(move || bodies::small(script), any)
        }

        fn fetch(script: &Script) -> impl Future<Output = RequestResult> {
            $retry(move || bodies::fetch(script), any)
        }

        fn kept(script: &Script) -> impl Future<Output = RequestResult> {
            $retry(move || bodies::kept(script), any)
        }

        fn fetch_kept(script: &Script) -> impl Future<Output = RequestResult> {
            $retry(move || bodies::fetch_kept(script), any)
        }

        fn suspended(script: &Script) -> impl Future<Output = RequestResult> {
            $retry(move || bodies::suspended(script), any)
        }

        fn fetch_suspended(script: &Script) -> impl Future<Output = RequestResult> {
            $retry(move || bodies::fetch_suspended(script), any)
        }
    };
}

/// The same with a timer that does not wait.
macro_rules! async_still_functions {
    ($retry:path) => {
        fn still_small(script: &Script) -> impl Future<Output = RequestResult> {
            $retry(move || bodies::small(script), any)
        }

        fn still_fetch(script: &Script) -> impl Future<Output = RequestResult> {
            $retry(move || bodies::fetch(script), any)
        }
    };
}

pub(super) use {
    async_functions, async_runs, async_still_functions, async_still_runs, client_runs,
    none_functions, none_runs, sizes, still_functions, still_runs, sync_functions, sync_runs,
    wait_runs,
};

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

/// The async functions.
macro_rules! async_runs {
    () => {
        &[
            ("async-inlined", |k, n| polled(k, n, small)),
            ("async-call", |k, n| polled(k, n, fetch)),
            ("async-kept-inlined", |k, n| polled(k, n, kept)),
            ("async-kept-call", |k, n| polled(k, n, fetch_kept)),
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
    async_functions, async_runs, async_still_functions, async_still_runs, client_runs, sizes,
    still_functions, still_runs, sync_functions, sync_runs,
};

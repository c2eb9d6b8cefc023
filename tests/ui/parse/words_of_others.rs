use reattempt::retry;

macro_rules! functions {
    ($([$($keys:tt)*])*) => { $(
        const _: () = {
            #[retry($($keys)*)]
            fn fetch(id: u32) -> std::io::Result<u32> {
                Ok(id)
            }
        };
    )* };
}

functions! {
    [off]
    [no_retry]
    [always]
    [unlimited]
    [default]
    [interactive]
    [preset = "background"]
    [..Default::default()]
    [max = 3, ..Default::default()]
    [reraise = true]
    [on_success = |value| println!("{value}")]
    [layer = RetryLayer::new(POLICY)]
    [count = 3]
    [failure_policy = consecutive_failures(3)]
    [intervalFunction = "exponential"]
    [exponential_backoff(base = 100, max = 5)]
    [backoff(delay = 100, multiplier = 2)]
    [value = { std::io::Error }]
    [log = "warn"]
    [inspect_err = |error| eprintln!("{error}")]
    [delays = ["100ms", "2s"]]
    [before = |attempt| println!("{attempt}")]
}

fn main() {}

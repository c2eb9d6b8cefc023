// The library and the program share a module: it is listed once, with both kinds of targets.
mod shared;

use std::time::Duration;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let slow = tokio::time::sleep(Duration::from_secs(1));
    let answer = tokio::select! {
        //~ select
        page = reattempt::retry_block!(max = 2, base = "1s", jitter = "none", on(_), async { shared::page("a").await }) => page,
        () = slow => Err("slow"),
    };
    let both = tokio::join!(
        shared::page("b"),
        //~ join
        reattempt::retry_block!(
            max = 4,
            base = "50ms",
            backoff = "linear",
            jitter = "none",
            on(_),
            async { shared::page("c").await }
        ),
    );
    println!("{answer:?} {both:?}");
}

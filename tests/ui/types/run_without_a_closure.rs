use std::io;

use reattempt::Policy;

fn fetch() -> io::Result<u32> {
    Ok(1)
}

async fn send() -> io::Result<u32> {
    Ok(1)
}

async fn sync_run() {
    let _ = Policy::new().run(fetch());
    let _ = Policy::new().run(async { send().await });
    let _ = Policy::new().on(|_| true).run(send());
    let _ = Policy::new().run(|| send());
    let _ = Policy::new().run(|| fetch().unwrap());
}

async fn async_run() {
    let _ = Policy::new().run_async(send());
    let _ = Policy::new().run_async(send().await);
}

fn main() {
    let _ = (sync_run(), async_run());
}

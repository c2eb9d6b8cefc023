use reattempt::{Policy, retry, retry_block};

const POLICY: Policy = Policy::new().max(4);

#[derive(Debug)]
enum Fault {
    Busy,
    Closed,
}

struct Client;

macro_rules! functions {
    ($([$($keys:tt)*])*) => { $(
        const _: () = {
            #[retry($($keys)*)]
            fn fetch() -> Result<u32, Fault> {
                Ok(1)
            }
        };
    )* };
}

functions! {
    [POLICY]
    [Policy::new().max(5), on(_)]
    [policy(max = 5), on(_)]
    [policy = Some(POLICY), on(_)]
    [policy = POLICY.build(), on(_)]
    [policy = Policy::new().max(5).build(), on(_)]
    [until(Some(_)), on(_)]
    [on = [Fault::Busy, Fault::Closed]]
    [on = (Fault::Busy, Fault::Closed)]
    [on(Err(Fault::Busy))]
    [on(io::Error)]
    [on(std::io::Error)]
    [on(chain![std::io::Error])]
    [on(None)]
    [on = async |_| true]
    [on(_), on_retry = println!("again")]
    [on(_), on_retry = tracing::info!("again")]
    [on(_), on_retry = |retry, error| ()]
    [on(_), fallback = None]
    [on(_), fallback = Ok(3)]
    [on(_), before_retry = |_| login().await]
    [on_retry = |_| login().await, on(_)]
    [on(_), name = format!("call")]
    [on(_), name = orders::send]
    [on(_), timer = tokio]
    [on(_), backoff = exponential("100ms", 2)]
    [on(_), context = self]
    [on(_), max = 3 && base = "1s"]
    [on(_), max => 3]
    [on(_), max == 3]
    [on(_), retry-after = |_| None]
    [on(_), clone(&order)]
    [on(_), clone(order.id)]
    [on(_), initial = "1s"]
    [exceptions = Fault::Busy]
    [skip]
    [rate_limit = 10]
}

impl Client {
    #[retry(on(_), before_retry = self.refresh())]
    fn fetch(&self) -> Result<u32, Fault> {
        Ok(1)
    }

    fn refresh(&self) {}
}

async fn block() {
    let _ = retry_block!(on(_), {
        std::future::ready(()).await;
        Ok::<u32, Fault>(1)
    });
}

fn main() {}

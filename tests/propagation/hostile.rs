//! Peers that send whatever they like.

use std::cell::Cell;
use std::convert::Infallible;
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use axum::http::{HeaderValue, Request, Response};
use reattempt::protocol::{Edge, RETRY_CONTEXT};
use reattempt::tower::{ClientProtocol, ServerProtocol};
use reattempt::{deadline, retry, retry_block};
use tower::{Layer as _, ServiceExt as _, service_fn};

/// Draws values: those of the keys that mean something, and bytes.
struct Draw(u64);

impl Draw {
    fn seeded() -> Self {
        let seed = RandomState::new().hash_one(0);
        println!("seed {seed}");
        Self(seed)
    }

    // SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.next() % all.len() as u64).unwrap()]
    }

    fn header(&mut self) -> HeaderValue {
        if self.next().is_multiple_of(8) {
            let length = self.next() % 4000;
            let bytes = (0..length).map(|_| u8::try_from(32 + self.next() % 95).unwrap());
            return HeaderValue::from_bytes(&bytes.collect::<Vec<_>>()).unwrap();
        }
        let members = self.next() % 6;
        let members: Vec<String> = (0..members).map(|_| self.member()).collect();
        HeaderValue::try_from(members.join(", ")).unwrap()
    }

    fn member(&mut self) -> String {
        let key = self.of(&[
            "left", "attempt", "used", "priority", "from", "after", "final", "expired", "callers",
            "x",
        ]);
        let number = self.next() >> (self.next() % 64);
        let value = match self.next() % 6 {
            0 => number.to_string(),
            1 => format!("-{number}"),
            2 => format!("{}.{}", number % 1_000_000_000_000, number % 1000),
            3 => self
                .of(&["low", "?1", "?0", "high", ":AA==:", "@0", "\"\""])
                .to_owned(),
            _ => {
                let names = (0..self.next() % 20).map(|_| self.name());
                format!("({})", names.collect::<Vec<_>>().join(" "))
            }
        };
        format!("{key}={value}")
    }

    fn name(&mut self) -> String {
        let parts = (0..=self.next() % 8).map(|_| format!("{:08x}", self.next() >> 32));
        format!("\"{}\"", parts.collect::<Vec<_>>().join("."))
    }
}

const OWN: Duration = Duration::from_secs(5);

#[retry(max = 3, backoff = "none", on(_))]
fn fails(calls: &Cell<u32>) -> Result<(), &'static str> {
    calls.set(calls.get() + 1);
    Err("down")
}

/// Whatever a caller sends: no panic, no attempt more than without it, and no deadline beyond the own one.
#[tokio::test(start_paused = true)]
async fn ten_thousand_hostile_callers() {
    let mut draw = Draw::seeded();
    let service = ServerProtocol::new().layer(service_fn(async |_: Request<()>| {
        let calls = Cell::new(0);
        let _ = fails(&calls);
        Ok::<_, Infallible>(Response::new((calls.get(), deadline::remaining())))
    }));
    for _ in 0..10_000 {
        let header = draw.header();
        let request = Request::builder().header(RETRY_CONTEXT, header.clone());
        let request = request.body(()).unwrap();
        let answer = deadline::within(OWN, service.clone().oneshot(request)).await;
        let (calls, left) = answer.unwrap().into_body();
        assert!(calls <= 3, "{calls} attempts by {header:?}");
        assert!(
            left.is_none_or(|left| left <= OWN),
            "{left:?} by {header:?}"
        );
    }
}

/// Whatever a callee answers: no panic, and no attempt more. What its caller sends along another edge stays the same.
#[tokio::test(start_paused = true)]
async fn ten_thousand_hostile_callees() {
    let mut draw = Draw::seeded();
    let sibling = Edge::new("sibling");
    for _ in 0..10_000 {
        let (header, sent) = (draw.header(), Cell::new(0));
        let network = service_fn(|request: Request<()>| {
            sent.set(sent.get() + 1);
            assert!(request.headers()[RETRY_CONTEXT].len() <= 2048);
            let mut answer = Response::new(());
            answer.headers_mut().insert(RETRY_CONTEXT, header.clone());
            async { Ok::<_, Infallible>(answer) }
        });
        let client = ClientProtocol::to("hostile").layer(network);
        let attempts = Cell::new(0);
        let body = async || -> Result<(), &'static str> {
            attempts.set(attempts.get() + 1);
            client.clone().oneshot(Request::new(())).await.unwrap();
            let beside = sibling.headers();
            let beside = beside[RETRY_CONTEXT].to_str().unwrap();
            assert!(!beside.contains("used"), "{beside}");
            Err("down")
        };
        let result =
            retry_block!(max = 3, backoff = "none", on(_), || async { body().await }).await;
        assert_eq!((result, attempts.get(), sent.get()), (Err("down"), 3, 3));
    }
}

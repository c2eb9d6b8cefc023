//! The compatibility tests of `MicroProfile` Fault Tolerance: `RetryTest`, `RetryConditionTest`,
//! `RetryExceptionHierarchyTest`, `RetryTimeoutTest`, `CircuitBreakerTest`, `CircuitBreakerInitialSuccessTest`,
//! `CircuitBreakerLateSuccessTest`, `CircuitBreakerRetryTest`. `README.md` beside this file lists what is different here.

use std::cell::Cell;
use std::time::Duration;

use reattempt::overload::breaker::{Breaker, Rejected};
use reattempt::{GaveUp, GiveUpReason, RetryError, Verdict, retry, testing};

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// An exception, as far down the hierarchy as it is: `E2S` is an `E2` is an `E1` is an `E0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thrown {
    Exception,
    Runtime,
    Error,
    E0,
    E0S,
    E1,
    E1S,
    E2,
    E2S,
    TimedOut,
}
use Thrown::{E0, E0S, E1, E1S, E2, E2S};

const ALL: [Thrown; 9] = [
    Thrown::Exception,
    Thrown::Runtime,
    Thrown::Error,
    E0,
    E0S,
    E1,
    E1S,
    E2,
    E2S,
];

impl From<GaveUp> for Thrown {
    fn from(_: GaveUp) -> Self {
        Self::TimedOut
    }
}

/// A function that is retried.
type Call = fn(&Service, Thrown) -> Result<(), Thrown>;

/// Counts its calls, which fail.
#[derive(Default)]
struct Service(Cell<u32>);

impl Service {
    fn throw(&self, what: Thrown) -> Result<(), Thrown> {
        self.0.set(self.0.get() + 1);
        Err(what)
    }

    /// Takes 100 ms.
    fn write(&self, time: &testing::VirtualTime) -> Result<(), Thrown> {
        time.advance(100 * MS);
        self.throw(Thrown::Runtime)
    }
}

/// `testRetryMaxRetries`, `testClassLevelRetryMaxRetries`, and the overrides of methods.
#[test]
fn retry_max_retries() {
    #[retry(max = 6, on(_))]
    fn connect(service: &Service) -> Result<(), Thrown> {
        service.throw(Thrown::Runtime)
    }

    struct Client(Service);

    #[retry(max = 3, on(_))]
    impl Client {
        fn connect(&self) -> Result<(), Thrown> {
            self.0.throw(Thrown::Runtime)
        }

        #[retry(max = 5, on(_))]
        fn override_it(&self) -> Result<(), Thrown> {
            self.0.throw(Thrown::Runtime)
        }
    }

    let _time = testing::virtual_time();
    let service = Service::default();
    connect(&service).unwrap_err();
    assert_eq!(service.0.get(), 6);
    let client = Client(Service::default());
    client.connect().unwrap_err();
    assert_eq!(client.0.0.take(), 3);
    client.override_it().unwrap_err();
    assert_eq!(client.0.0.get(), 5);
}

/// `testRetryMaxDuration`, in milliseconds and in seconds: less than 11 calls of 100 ms in one second, more than 3.
#[test]
fn retry_max_duration() {
    #[retry(max = 20, base = "1ms", cap = "200ms", deadline = "1s", on(_))]
    fn write(service: &Service, time: &testing::VirtualTime) -> Result<(), Thrown> {
        service.write(time)
    }
    let time = testing::virtual_time();
    let service = Service::default();
    write(&service, &time).unwrap_err();
    assert!(time.elapsed() <= SECOND + 100 * MS);
    assert!((4..11).contains(&service.0.get()), "{}", service.0.get());
}

/// `testRetryWithDelay`: 400 ms and 400 ms of jitter, more than 4 executions in 3.2 s.
#[test]
fn retry_with_delay() {
    #[retry(
        max = 10,
        backoff = "fixed",
        base = "400ms",
        jitter = 1.0,
        cap = "800ms",
        on(_)
    )]
    fn connect(
        service: &Service,
        starts: &mut Vec<Duration>,
        time: &testing::VirtualTime,
    ) -> Result<(), Thrown> {
        starts.push(time.elapsed());
        service.throw(Thrown::Runtime)
    }
    let time = testing::virtual_time();
    let mut starts = Vec::new();
    connect(&Service::default(), &mut starts, &time).unwrap_err();
    assert_eq!(starts.len(), 10);
    for pair in starts.windows(2) {
        assert!(pair[1] <= pair[0] + 800 * MS, "{starts:?}");
    }
}

/// `RetryConditionTest`: an error that is retried, one that is not, one that ends the call; on a function and on an `impl` block.
#[test]
fn retry_conditions() {
    #[retry(max = 4, on(Thrown::Runtime))]
    fn retry_on(service: &Service, what: Thrown) -> Result<(), Thrown> {
        service.throw(what)
    }
    #[retry(max = 4, on(_), except(Thrown::Runtime))]
    fn abort_on(service: &Service, what: Thrown) -> Result<(), Thrown> {
        service.throw(what)
    }

    struct Client(Service);

    #[retry(max = 4, on(Thrown::Runtime))]
    impl Client {
        fn inherited(&self) -> Result<(), Thrown> {
            self.0.throw(Thrown::Runtime)
        }

        #[retry(max = 4, on(Thrown::Exception))]
        fn overridden(&self) -> Result<(), Thrown> {
            self.0.throw(Thrown::Runtime)
        }
    }

    let _time = testing::virtual_time();
    let cases: [(&str, Call, Thrown, u32); 4] = [
        ("testRetryOnTrue", retry_on, Thrown::Runtime, 4),
        ("testRetryOnFalse", retry_on, Thrown::Exception, 1),
        ("testRetryWithAbortOnFalse", abort_on, Thrown::Exception, 4),
        ("testRetryWithAbortOnTrue", abort_on, Thrown::Runtime, 1),
    ];
    for (name, call, what, executions) in cases {
        let service = Service::default();
        assert_eq!(call(&service, what), Err(what), "{name}");
        assert_eq!(service.0.get(), executions, "{name}");
    }
    let client = Client(Service::default());
    client.inherited().unwrap_err();
    assert_eq!(client.0.0.take(), 4, "testClassLevelRetryOnTrue");
    client.overridden().unwrap_err();
    assert_eq!(client.0.0.get(), 1, "testClassLevelRetryOnFalse");
}

/// `testAsyncRetryExceptionally`, `testRetrySuccess`, `testRetryChainExceptionally`.
#[tokio::test(start_paused = true)]
async fn retry_async() {
    #[retry(max = 3, on(_))]
    async fn call(service: &Service, faults: u32) -> Result<&'static str, Thrown> {
        if service.0.get() < faults {
            service.throw(Thrown::Runtime)?;
        }
        service.0.set(service.0.get() + 1);
        Ok("Success")
    }
    for (faults, answer) in [(9, Err(Thrown::Runtime)), (2, Ok("Success"))] {
        let service = Service::default();
        assert_eq!(call(&service, faults).await, answer);
        assert_eq!(service.0.get(), 3);
    }
}

/// `RetryExceptionHierarchyTest`: what ends the call counts first, then what is retried, and all else ends it.
#[test]
fn retry_exception_hierarchy() {
    #[retry(max = 2, on(E0 | E0S | E1 | E1S | E2 | E2S), except(E1 | E1S | E2 | E2S))]
    fn service_a(service: &Service, what: Thrown) -> Result<(), Thrown> {
        service.throw(what)
    }
    #[retry(max = 2, on = |what: &Thrown| *what != Thrown::Error, except(E0 | E0S | E1 | E1S | E2 | E2S))]
    fn service_b(service: &Service, what: Thrown) -> Result<(), Thrown> {
        service.throw(what)
    }
    // As patterns this does not compile (X9): nothing would be retried.
    #[retry(max = 2, on = |what: &Thrown| matches!(what, E1 | E1S | E2 | E2S), except(E0 | E0S | E1 | E1S | E2 | E2S))]
    fn service_c(service: &Service, what: Thrown) -> Result<(), Thrown> {
        service.throw(what)
    }
    let _time = testing::virtual_time();
    let cases: [(&str, Call, &[Thrown]); 3] = [
        ("serviceA", service_a, &[E0, E0S]),
        ("serviceB", service_b, &[Thrown::Exception, Thrown::Runtime]),
        ("serviceC", service_c, &[]),
    ];
    for (name, call, retried) in cases {
        for what in ALL {
            let service = Service::default();
            assert_eq!(call(&service, what), Err(what));
            let executions = if retried.contains(&what) { 2 } else { 1 };
            assert_eq!(service.0.get(), executions, "{name}throws{what:?}");
        }
    }
}

/// `RetryTimeoutTest`. A time-out is retried, whatever `on` says: nobody but the policy made it.
#[tokio::test(start_paused = true)]
async fn retry_timeout() {
    #[retry(max = 2, timeout = "500ms", on(_))]
    async fn service_a(service: &Service, takes: Duration) -> Result<(), Thrown> {
        service.0.set(service.0.get() + 1);
        tokio::time::sleep(takes).await;
        Err(Thrown::Runtime)
    }
    #[retry(
        max = 2,
        timeout = "500ms",
        on(Thrown::Runtime),
        except(Thrown::TimedOut)
    )]
    async fn with_abort_on(service: &Service) -> Result<(), Thrown> {
        service.0.set(service.0.get() + 1);
        tokio::time::sleep(SECOND).await;
        Ok(())
    }
    let service = Service::default();
    assert_eq!(service_a(&service, SECOND).await, Err(Thrown::TimedOut));
    assert_eq!(service.0.take(), 2, "testRetryTimeout");
    assert_eq!(service_a(&service, 10 * MS).await, Err(Thrown::Runtime));
    assert_eq!(service.0.take(), 2, "testRetryNoTimeout");
    // There 1, in testRetryWithoutRetryOn and testRetryWithAbortOn.
    assert_eq!(with_abort_on(&service).await, Err(Thrown::TimedOut));
    assert_eq!(service.0.get(), 2, "testRetryWithAbortOn");
}

struct Circuit {
    test: &'static str,
    breaker: Breaker,
    /// `F`ails, `S`ucceeds, is `R`efused; `~` is a pause above the cool-down.
    calls: &'static str,
}

const fn circuit(
    test: &'static str,
    window: u32,
    ratio: f64,
    probes: u32,
    calls: &'static str,
) -> Circuit {
    Circuit {
        test,
        breaker: Breaker::count_window(window)
            .failure_ratio(ratio)
            .probes(probes)
            .cooldown(SECOND),
        calls,
    }
}

#[test]
fn circuit_breakers() {
    let circuits = [
        circuit("testCircuitClosedThenOpen", 4, 0.75, 2, "FFFFRRR"),
        circuit("testCircuitReClose", 4, 0.75, 2, "FFFF~SSS"),
        circuit(
            "testCircuitDefaultSuccessThreshold",
            4,
            0.75,
            1,
            "FFFFR~SFFFFR",
        ),
        circuit("testCircuitHighSuccessThreshold", 4, 0.75, 3, "FFFFR~SSFR"),
        circuit("testClassLevelCircuitOverride", 2, 1.0, 2, "FFRRRRR"),
        circuit("testRollingWindowCircuitOpen", 4, 0.5, 1, "SFFSR"),
        circuit("testRollingWindowCircuitOpen2", 4, 0.5, 1, "SFSSFR"),
        circuit(
            "testCircuitInitialSuccessDefaultSuccessThreshold",
            4,
            0.75,
            1,
            "SFFFR~SSFFFR",
        ),
        circuit(
            "testCircuitLateSuccessDefaultSuccessThreshold",
            4,
            0.75,
            1,
            "FFFSR~SFFFSR",
        ),
    ];
    for Circuit {
        test,
        breaker,
        calls,
    } in circuits
    {
        let time = testing::virtual_time();
        for (number, call) in calls.chars().enumerate() {
            if call == '~' {
                time.advance(2 * SECOND);
                continue;
            }
            let answer = breaker.call_on(
                |_: &Thrown| Verdict::Transient,
                || {
                    if call == 'S' {
                        Ok(())
                    } else {
                        Err(Thrown::Runtime)
                    }
                },
            );
            let found = match answer {
                Ok(()) => 'S',
                Err(Rejected::Open(_)) => 'R',
                Err(_) => 'F',
            };
            assert_eq!(found, call, "{test}: call {number}");
        }
    }
}

/// `CircuitBreakerRetryTest`: with more retries than open it, with fewer, with failures that are time-outs.
#[tokio::test(start_paused = true)]
async fn circuit_breaker_and_retry() {
    const fn window() -> Breaker {
        Breaker::count_window(4)
            .failure_ratio(0.75)
            .cooldown(SECOND)
    }
    static MORE: Breaker = window();
    static FEW: Breaker = window();
    static HANGS: Breaker = window();

    #[retry(max = 8, base = "1ms", breaker = &MORE, on(_))]
    async fn more(service: &Service) -> Result<(), RetryError<Thrown>> {
        service.throw(Thrown::Runtime)
    }
    #[retry(max = 3, base = "1ms", breaker = &FEW, on(_))]
    async fn few(service: &Service) -> Result<(), RetryError<Thrown>> {
        service.throw(Thrown::Runtime)
    }
    #[retry(max = 8, base = "1ms", timeout = "100ms", breaker = &HANGS, on(_))]
    async fn hangs(service: &Service) -> Result<(), RetryError<Thrown>> {
        service.0.set(service.0.get() + 1);
        tokio::time::sleep(SECOND).await;
        Ok(())
    }

    let service = Service::default();
    let end = more(&service).await.unwrap_err();
    assert_eq!(
        (end.reason(), service.0.take()),
        (GiveUpReason::BreakerOpen, 4)
    );
    let end = few(&service).await.unwrap_err();
    assert_eq!(
        (end.reason(), service.0.take()),
        (GiveUpReason::Attempts, 3)
    );
    let end = hangs(&service).await.unwrap_err();
    assert_eq!(
        (end.reason(), service.0.take()),
        (GiveUpReason::BreakerOpen, 4)
    );

    // testRetriesSucceedWhenCircuitCloses: there the refused call is retried until the breaker lets it through.
    let end = more(&service).await.unwrap_err();
    assert_eq!(
        (end.reason(), end.attempts()),
        (GiveUpReason::BreakerOpen, 0)
    );
    assert_eq!(service.0.get(), 0);
}

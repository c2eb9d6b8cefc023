//! The shapes of functions, and the forms of the key.

use super::*;

#[retry(on(_), strategy = &FOUR, timer = timer)]
fn blocking(timer: &Recorder, service: &Service) -> Result<u32, Fault> {
    service.call()
}

/// A state for each call, and none of the others' delays.
#[test]
fn each_call_has_a_state_of_its_own() {
    let timer = Recorder::default();
    let service = Service::failing(u32::MAX);
    assert_eq!(blocking(&timer, &service), Err(Fault(4)));
    assert_eq!(blocking(&timer, &service), Err(Fault(8)));
    assert_eq!(timer.seconds(), [1, 2, 3, 1, 2, 3]);
}

#[test]
fn a_success_ends_it() {
    let timer = Recorder::default();
    assert_eq!(blocking(&timer, &Service::failing(2)), Ok(3));
    assert_eq!(timer.seconds(), [1, 2]);
}

/// Nothing is asked, and nothing made, before something fails.
#[test]
fn a_success_at_once_pays_nothing() {
    struct Never;

    impl Strategy<Fault> for Never {
        type State = ();

        fn start(&self) {
            unreachable!("nothing has failed");
        }

        fn failed(&self, (): &mut (), _: &FailedAttempt<'_, Fault>) -> Decision {
            unreachable!("nothing has failed");
        }
    }

    #[retry(on(_), strategy = Never)]
    fn fetch() -> Result<u32, Fault> {
        Ok(1)
    }

    #[retry(on(Fault(2)), strategy = Never)]
    fn permanent() -> Result<u32, Fault> {
        Err(Fault(1))
    }

    assert_eq!(fetch(), Ok(1));
    assert_eq!(permanent(), Err(Fault(1)));
}

#[retry(on(_), strategy = FOUR)]
async fn asynchronous(service: &mut Service) -> Result<u32, RetryError<Fault>> {
    service.failures = u32::MAX;
    tokio::task::yield_now().await;
    service.call()
}

fn sendable<F: Future + Send>(future: F) -> F {
    future
}

#[tokio::test(start_paused = true)]
async fn async_function() {
    let start = tokio::time::Instant::now();
    let mut service = Service::default();
    let failed = sendable(asynchronous(&mut service)).await.unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Strategy, 4)
    );
    assert_eq!(failed.last(), Some(&Fault(4)));
    assert_eq!(start.elapsed().as_secs(), 6);
}

/// What a dropped future has begun nobody sees: the next call begins anew.
#[tokio::test(start_paused = true)]
async fn a_dropped_future_leaves_nothing() {
    let mut service = Service::default();
    let half = tokio::time::timeout(Duration::from_millis(2500), asynchronous(&mut service)).await;
    assert!(half.is_err());
    assert_eq!(service.calls.get(), 2);
    let start = tokio::time::Instant::now();
    assert!(asynchronous(&mut service).await.is_err());
    assert_eq!((service.calls.get(), start.elapsed().as_secs()), (6, 6));
}

struct Client<S> {
    service: Service,
    strategy: S,
    refreshed: u32,
}

impl<S: Strategy<Fault>> Client<S> {
    fn new(strategy: S) -> Self {
        Self {
            service: Service::failing(u32::MAX),
            strategy,
            refreshed: 0,
        }
    }

    #[retry(on(_), strategy = &self.strategy, timer = Recorder::default())]
    fn fetch(&self) -> Result<u32, Fault> {
        self.service.call()
    }

    // Not moved, though nothing says so.
    #[retry(on(_), strategy = self.strategy, timer = Recorder::default(), before_retry = |_| self.refreshed += 1)]
    fn change(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.refreshed, self.service.calls.get());
        self.service.call()
    }

    #[retry(on(_), strategy = &self.strategy, before_retry = async |_| self.refreshed += 1)]
    async fn change_later(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.refreshed, self.service.calls.get());
        self.service.call()
    }
}

#[test]
fn methods() {
    let mut client = Client::new(FOUR);
    assert_eq!(client.fetch(), Err(Fault(4)));
    client.refreshed = 4;
    assert_eq!(client.change(), Err(Fault(8)));
}

#[tokio::test(start_paused = true)]
async fn async_method() {
    let mut client = Client::new(&FOUR);
    assert_eq!(client.change_later().await, Err(Fault(4)));
    assert_eq!(client.refreshed, 3);
}

/// Of any error, and borrowed from the caller.
#[retry(on(_), strategy = strategy, timer = Recorder::default())]
fn generic<E: From<u32>, S: Strategy<E>>(calls: &Cell<u32>, strategy: &S) -> Result<(), E> {
    calls.set(calls.get() + 1);
    Err(calls.get().into())
}

#[test]
fn generic_error() {
    assert_eq!(generic::<u64, _>(&Cell::default(), &FOUR), Err(4));
    let twice = strategy::from_fn(|failure: &FailedAttempt<'_, u64>| match failure.error() {
        Some(1) => Decision::Retry(Duration::ZERO),
        _ => Decision::Stop,
    });
    assert_eq!(generic::<u64, _>(&Cell::default(), &twice), Err(2));
}

#[retry(on(_), strategy = from, timer = timer)]
fn behind_a_pointer(
    timer: &Recorder,
    service: &Service,
    from: &dyn Strategy<Fault, State = u32>,
) -> Result<u32, Fault> {
    service.call()
}

#[test]
fn trait_object() {
    let timer = Recorder::default();
    let answer = behind_a_pointer(&timer, &Service::failing(9), &FOUR);
    assert_eq!(answer, Err(Fault(4)));
}

fn decide(failure: &FailedAttempt<'_, Fault>) -> Decision {
    match failure.retry() {
        0 => Decision::Retry(SECOND),
        _ => Decision::Stop,
    }
}

#[retry(on(_), strategy = strategy::from_fn(decide), timer = timer)]
fn by_a_function(timer: &Recorder, service: &Service) -> Result<u32, Fault> {
    service.call()
}

// A closure sees the parameters, and may change them.
#[retry(on(_), timer = timer, strategy = |failure| {
    seen.push((failure.attempt(), failure.error().map(|fault| fault.0)));
    if seen.len() == 3 { Decision::Stop } else { Decision::Retry(SECOND.mul_f64(failure.random())) }
})]
fn by_a_closure(
    timer: &Recorder,
    service: &Service,
    seen: &mut Vec<(u32, Option<u32>)>,
) -> Result<u32, Fault> {
    service.call()
}

#[retry(on(_), timer = Recorder::default(), strategy = || Decision::Stop)]
fn by_a_bare_closure(service: &Service) -> Result<u32, Fault> {
    service.call()
}

#[test]
fn functions_and_closures() {
    let (timer, service) = (Recorder::default(), Service::failing(9));
    assert_eq!(by_a_function(&timer, &service), Err(Fault(2)));
    assert_eq!(timer.seconds(), [1]);

    let (timer, service) = (Recorder::default(), Service::failing(9));
    let mut seen = Vec::new();
    assert_eq!(by_a_closure(&timer, &service, &mut seen), Err(Fault(3)));
    assert_eq!(seen, [(1, Some(1)), (2, Some(2)), (3, Some(3))]);
    assert_eq!(*timer.sleeps.borrow(), [SECOND / 2; 2]);
    assert_eq!(by_a_bare_closure(&service), Err(Fault(4)));
}

#[async_trait::async_trait(?Send)]
trait Fetch {
    async fn fetch(&self) -> Result<u32, Fault>;
}

struct Patient(Service, u32);

#[async_trait::async_trait(?Send)]
impl Fetch for Patient {
    #[retry(on(_), strategy = |failure| {
        if failure.attempt() < self.1 { Decision::Retry(SECOND) } else { Decision::Stop }
    })]
    async fn fetch(&self) -> Result<u32, Fault> {
        self.0.call()
    }
}

/// Its `self` has another name where `async_trait` came first.
#[tokio::test(start_paused = true)]
async fn a_closure_of_self_in_a_trait() {
    let patient = Patient(Service::failing(9), 3);
    assert_eq!(patient.fetch().await, Err(Fault(3)));
}

#[tokio::test(start_paused = true)]
async fn blocks() {
    let (timer, service) = (Recorder::default(), Service::failing(9));
    let answer = retry_block!(on(_), strategy = FOUR, timer = timer, { service.call() });
    assert_eq!((answer, timer.seconds()), (Err(Fault(4)), vec![1, 2, 3]));
    let mut asked = 0;
    let answer = retry_block!(
        on(_),
        strategy = |_| {
            asked += 1;
            Decision::Stop
        },
        async || -> Result<u32, Fault> { service.call() }
    );
    assert_eq!(answer.await, Err(Fault(5)));
    assert_eq!(asked, 1);
}

struct Impl(Service);

#[retry(on(_), strategy = Longer { stop: 2 }, timer = Recorder::default())]
impl Impl {
    fn fetch(&self) -> Result<u32, Fault> {
        self.0.call()
    }
}

#[test]
fn impl_block() {
    assert_eq!(Impl(Service::failing(9)).fetch(), Err(Fault(2)));
}

#[retry(strategy = Longer { stop: 3 }, timer = Recorder::default())]
fn option(calls: &Cell<u32>) -> Option<u32> {
    calls.set(calls.get() + 1);
    None
}

/// A value that is not final is a failure to a strategy; a whole value is never an error.
#[retry(until = |number| *number == 9, timer = timer, strategy = |failure| {
    assert!(failure.error().is_none());
    match failure.attempt() {
        attempt @ ..3 => Decision::Retry(SECOND * attempt),
        _ => Decision::Stop,
    }
})]
fn whole_value(timer: &Recorder, calls: &Cell<u32>) -> u32 {
    calls.set(calls.get() + 1);
    calls.get()
}

#[retry(until = |number| *number == 9, on(_), timer = timer, strategy = Longer { stop: 3 })]
fn polled(timer: &Recorder, calls: &Cell<u32>) -> Result<u32, RetryError<Fault>> {
    calls.set(calls.get() + 1);
    Ok(calls.get())
}

#[test]
fn other_answers() {
    assert_eq!(option(&Cell::default()), None);
    let timer = Recorder::default();
    assert_eq!(whole_value(&timer, &Cell::default()), 3);
    assert_eq!(timer.seconds(), [1, 2]);
    let timer = Recorder::default();
    assert_eq!(whole_value(&timer, &Cell::new(7)), 9);
    let failed = polled(&timer, &Cell::default()).unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Strategy, 3)
    );
    assert!(failed.last().is_none());
}

#[tokio::test(start_paused = true)]
async fn runners() {
    const BOUND: Policy = Policy::new().max(3);
    let policy = Policy::new();
    let (timer, service) = (Recorder::default(), Service::failing(u32::MAX));
    let runner = policy.on(|_: &Fault| true).timer(&timer);
    let answer = runner.strategy(&FOUR).run(|| service.call());
    assert_eq!((answer, timer.seconds()), (Err(Fault(4)), vec![1, 2, 3]));

    let failed = runner.strategy(FOUR).try_run(|| service.call());
    let failed = failed.unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Strategy, 4)
    );

    // What the policy has given holds.
    let bound = BOUND.on(|_: &Fault| true).timer(&timer).strategy(FOUR);
    let failed = bound.try_run(|| service.call()).unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Attempts, 3)
    );
    assert_eq!(timer.seconds()[6..], [1, 2]);

    let start = tokio::time::Instant::now();
    let later = policy.on(|_: &Fault| true);
    let service = Service::failing(u32::MAX);
    let answer = later
        .strategy(FOUR)
        .try_run_async(async || service.call())
        .await;
    assert_eq!(answer.map_err(RetryError::into_last), Err(Some(Fault(4))));
    let decide = strategy::from_fn(|_: &FailedAttempt<'_, Fault>| Decision::Stop);
    let failed = later
        .strategy(decide)
        .try_run_async(async || service.call())
        .await
        .unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Strategy, 1)
    );
    assert_eq!(start.elapsed().as_secs(), 6);
}

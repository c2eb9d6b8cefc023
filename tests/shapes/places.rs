//! `policy = expr`: a place is read where it stands, and nothing borrows it while an attempt runs.

use std::cell::Cell;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use reattempt::{Policy, RetryError, retry};

const THREE: Policy = Policy::new().max(3).base(Duration::from_nanos(1));
static SHARED: LazyLock<Policy> = LazyLock::new(|| THREE);

struct Client<P> {
    policy: P,
    calls: Cell<u32>,
}

impl<P> Client<P> {
    fn new(policy: P) -> Self {
        let calls = Cell::new(0);
        Self { policy, calls }
    }

    fn fail(&self) -> Result<(), u32> {
        self.calls.set(self.calls.get() + 1);
        Err(self.calls.get())
    }
}

impl Client<Policy> {
    #[retry(policy = self.policy, on(_))]
    fn by_reference(&self) -> Result<(), u32> {
        self.fail()
    }

    #[retry(policy = self.policy, on(_))]
    async fn by_reference_async(&self) -> Result<(), RetryError<u32>> {
        self.fail()
    }

    /// Allows one attempt less each time.
    fn shrink(&mut self) -> Result<(), u32> {
        let left = self.policy.attempts().unwrap_or(1);
        self.policy = self.policy.max(left - 1);
        self.fail()
    }

    #[retry(policy = self.policy, on(_))]
    fn by_unique_reference(&mut self) -> Result<(), u32> {
        self.shrink()
    }

    #[retry(policy = self.policy, on(_))]
    async fn by_unique_reference_async(&mut self) -> Result<(), RetryError<u32>> {
        self.shrink()
    }

    #[retry(policy = self.policy, max = 2, on(_))]
    async fn overridden(&mut self) -> Result<(), RetryError<u32>> {
        self.fail()
    }

    #[retry(policy = self.policy, on(_))]
    fn in_arc(self: &Arc<Self>) -> Result<(), u32> {
        self.fail()
    }

    #[retry(policy = self.policy, on(_))]
    async fn in_arc_async(self: Arc<Self>) -> Result<(), RetryError<u32>> {
        self.fail()
    }
}

impl<P: AsRef<Policy>> Client<P> {
    #[retry(policy = self.policy, on(_))]
    fn generic(&self) -> Result<(), u32> {
        self.fail()
    }

    #[retry(policy = self.policy, on(_))]
    async fn generic_async(&self) -> Result<(), RetryError<u32>> {
        self.fail()
    }
}

#[retry(policy = *SHARED, on(_))]
fn of_a_static(client: &Client<()>) -> Result<(), u32> {
    client.fail()
}

#[retry(policy = *SHARED, on(_))]
async fn of_a_static_async(client: &Client<()>) -> Result<(), RetryError<u32>> {
    client.fail()
}

fn made(times: &Cell<u32>) -> Policy {
    times.set(times.get() + 1);
    THREE
}

#[retry(policy = made(times), on(_))]
fn of_a_temporary(client: &Client<()>, times: &Cell<u32>) -> Result<(), u32> {
    client.fail()
}

#[retry(policy = made(times), on(_))]
async fn of_a_temporary_async(
    client: &Client<()>,
    times: &Cell<u32>,
) -> Result<(), RetryError<u32>> {
    client.fail()
}

#[test]
fn a_place_is_read_where_it_stands() {
    assert_eq!(Client::new(THREE).by_reference(), Err(3));
    assert_eq!(Arc::new(Client::new(THREE)).in_arc(), Err(3));
    assert_eq!(Client::new(&THREE).generic(), Err(3));
    assert_eq!(Client::new(Box::new(THREE)).generic(), Err(3));
    assert_eq!(of_a_static(&Client::new(())), Err(3));
    // Of five attempts, one less after each: the third failure is the last.
    assert_eq!(Client::new(THREE.max(5)).by_unique_reference(), Err(3));
}

#[tokio::test(start_paused = true)]
async fn a_place_is_read_where_it_stands_in_async_functions() {
    let last = |answer: Result<(), RetryError<u32>>| answer.map_err(RetryError::into_last);
    let three = Err(Some(3));
    assert_eq!(last(Client::new(THREE).by_reference_async().await), three);
    assert_eq!(
        last(Arc::new(Client::new(THREE)).in_arc_async().await),
        three
    );
    assert_eq!(
        last(Client::new(Arc::new(THREE)).generic_async().await),
        three
    );
    assert_eq!(last(of_a_static_async(&Client::new(())).await), three);
    let mut client = Client::new(THREE.max(5));
    assert_eq!(last(client.by_unique_reference_async().await), three);
    assert_eq!(last(Client::new(THREE).overridden().await), Err(Some(2)));
}

#[tokio::test(start_paused = true)]
async fn any_other_expression_is_evaluated_once() {
    let times = Cell::new(0);
    assert_eq!(of_a_temporary(&Client::new(()), &times), Err(3));
    let client = Client::new(());
    let answer = of_a_temporary_async(&client, &times).await;
    assert_eq!(
        (answer.map_err(RetryError::into_last), times.get()),
        (Err(Some(3)), 2)
    );
}

/// Beside the sleep of tokio's there is no room for a policy, but for the one form that keeps one.
#[test]
fn no_policy_is_copied_into_a_future() {
    let (mut client, mut other) = (Client::new(THREE), Client::new(THREE));
    let (nobody, times) = (Client::new(()), Cell::new(0));
    let most = size_of::<tokio::time::Sleep>() + size_of::<Policy>();
    let sizes = [
        size_of_val(&client.by_unique_reference_async()),
        size_of_val(&other.overridden()),
        size_of_val(&of_a_static_async(&nobody)),
    ];
    assert!(sizes.iter().all(|size| *size < most), "{sizes:?} {most}");
    assert!(size_of_val(&of_a_temporary_async(&nobody, &times)) > most);
}

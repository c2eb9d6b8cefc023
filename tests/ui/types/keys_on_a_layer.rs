use reattempt::Policy;
use reattempt::tower::RetryLayer;

fn main() {
    drop(RetryLayer::new(Policy::new()).max_retries(3));
    drop(RetryLayer::http(Policy::new()).on(|error: &std::io::Error| true));
    drop(RetryLayer::http(Policy::new()).build());
}

use reattempt::Policy;
use reattempt::tower::RetryLayer;
use tower::{Layer, Service, service_fn};

struct Broken;

fn serve<S: Service<u32>>(_: S) {}

fn main() {
    let service = service_fn(async |number: u32| Err::<u32, _>((number, Broken).1));
    // Of the whole answer, not of the error alone.
    serve(RetryLayer::new(Policy::new()).on_answer(|_: &Broken| true).layer(service));
}

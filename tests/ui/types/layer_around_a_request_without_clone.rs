use http::{Request, Response};
use reattempt::Policy;
use reattempt::tower::RetryLayer;
use std::convert::Infallible;
use tower::{Layer, Service, service_fn};

struct Stream;

fn serve<S: Service<Request<Stream>>>(_: S) {}

fn main() {
    let service = service_fn(async |_: Request<Stream>| Ok::<_, Infallible>(Response::new(())));
    serve(RetryLayer::http(Policy::new()).layer(service));
}

use http::{Request, Response};
use reattempt::Policy;
use reattempt::tower::RetryLayer;
use tower::{Layer, Service, service_fn};

#[derive(Debug)]
struct Broken;

fn serve<S: Service<Request<()>>>(_: S) {}

fn main() {
    let service = service_fn(async |_: Request<()>| Err::<Response<()>, _>(Broken));
    serve(RetryLayer::http(Policy::new()).layer(service));
}

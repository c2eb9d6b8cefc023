//! A health service that is not ready, then names a moment at which to come back, and only then
//! serves. Its client says nothing about any of that: a `Status` knows what it means.
//!
//! `cargo run -p service-examples --example grpc`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures::stream::Pending;
use reattempt::{Retry, retry};
use tokio::net::TcpListener;
use tonic::transport::server::{Server, TcpIncoming};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

#[retry(max = 5, base = "50ms", on_retry = report)]
async fn check(client: &mut HealthClient<Channel>) -> Result<ServingStatus, Status> {
    let mut request = Request::new(HealthCheckRequest::default());
    request.set_timeout(Duration::from_secs(5)); // of one attempt
    let answer = client.check(request).await?;
    Ok(answer.into_inner().status())
}

fn report(retry: &Retry<'_, Status>) {
    let (attempt, delay) = (retry.attempt(), retry.delay().as_millis());
    println!(
        "attempt {attempt}: {}; the next in {delay} ms",
        retry.cause()
    );
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let service = HealthServer::new(Warming::default());
    let server = Server::builder().add_service(service);
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
    let mut client = HealthClient::new(Endpoint::from_shared(url)?.connect_lazy());

    let start = Instant::now();
    let answer = check(&mut client).await?;
    println!("attempt 3: {}", answer.as_str_name());
    assert_eq!(answer, ServingStatus::Serving);
    assert!(start.elapsed() >= PUSHBACK, "earlier than it asked for");

    // An answer that is final is one attempt, and the caller's to judge.
    let answer = check(&mut client).await;
    assert!(answer.is_err_and(|status| status.message() == "done, after 4 calls"));
    Ok(())
}

const PUSHBACK: Duration = Duration::from_millis(300);

#[derive(Default)]
struct Warming {
    calls: AtomicU32,
}

#[tonic::async_trait]
impl Health for Warming {
    async fn check(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        match self.calls.fetch_add(1, Ordering::Relaxed) + 1 {
            1 => Err(Status::unavailable("still warming up")),
            2 => {
                let mut status = Status::resource_exhausted("everybody asks");
                let millis = PUSHBACK.as_millis().to_string().parse();
                let millis = millis.map_err(|_| Status::internal("no number"))?;
                status
                    .metadata_mut()
                    .insert("grpc-retry-pushback-ms", millis);
                Err(status)
            }
            3 => Ok(Response::new(HealthCheckResponse {
                status: ServingStatus::Serving.into(),
            })),
            calls => Err(Status::failed_precondition(format!(
                "done, after {calls} calls"
            ))),
        }
    }

    type WatchStream = Pending<Result<HealthCheckResponse, Status>>;

    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("it only checks"))
    }
}

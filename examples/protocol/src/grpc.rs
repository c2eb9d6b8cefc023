//! The front of a service that speaks gRPC: it is asked for its health.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;

use reattempt::tower::ServerProtocol;
use tokio::net::TcpListener;
use tonic::transport::server::{Server, TcpIncoming};
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use crate::{Mode, Service};

pub(crate) async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
) -> Result<(), Box<dyn Error>> {
    let mode = service.mode;
    let health = HealthServer::new(Front(service));
    let incoming = TcpIncoming::from(listener);
    match mode {
        Mode::Polite => {
            let mut server = Server::builder().layer(ServerProtocol::new());
            server
                .add_service(health)
                .serve_with_incoming(incoming)
                .await?;
        }
        Mode::Deaf => {
            let mut server = Server::builder();
            server
                .add_service(health)
                .serve_with_incoming(incoming)
                .await?;
        }
        Mode::Forward | Mode::Lossy => return Err("that is for `http`".into()),
    }
    Ok(())
}

struct Front(Arc<Service>);

type Watched =
    Pin<Box<dyn futures_core::Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

#[tonic::async_trait]
impl Health for Front {
    type WatchStream = Watched;

    async fn check(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        self.0
            .handle(&mut None)
            .await
            .map_err(Status::unavailable)?;
        let status = ServingStatus::Serving.into();
        Ok(Response::new(HealthCheckResponse { status }))
    }

    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("ask with `check`"))
    }
}

//! The client of a next service.

use std::error::Error;
use std::sync::Mutex;
use std::time::Duration;

use axum::http::HeaderValue;
use reattempt::Policy;
use reattempt::http::ProtocolMiddleware;
use reattempt::tower::{ClientProtocol, ClientService};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tower::Layer as _;

use crate::Mode;
use crate::http::RETRY_CONTEXT;

#[derive(Debug)]
pub(crate) struct Callee {
    policy: Policy,
    /// One operation for each callee.
    name: &'static str,
    client: Client,
    mode: Mode,
}

#[derive(Debug)]
enum Client {
    Http(ClientWithMiddleware, String),
    Grpc(HealthClient<ClientService<Channel>>),
    DeafGrpc(HealthClient<Channel>),
}

impl Callee {
    pub(crate) fn new(url: &str, attempts: u32, mode: Mode) -> Result<Self, Box<dyn Error>> {
        let client = if let Some(address) = url.strip_prefix("grpc://") {
            let channel = Endpoint::from_shared(format!("http://{address}"))?.connect_lazy();
            if mode == Mode::Deaf {
                Client::DeafGrpc(HealthClient::new(channel))
            } else {
                // A client of tonic names no host in its requests.
                let client = ClientProtocol::to(url).layer(channel);
                Client::Grpc(HealthClient::new(client))
            }
        } else {
            let mut builder = ClientBuilder::new(reqwest::Client::builder().no_proxy().build()?);
            if matches!(mode, Mode::Polite | Mode::Lossy) {
                builder = builder.with(ProtocolMiddleware::new());
            }
            Client::Http(builder.build(), url.to_owned())
        };
        Ok(Self {
            policy: Policy::new().max(attempts).base(Duration::from_millis(1)),
            name: format!("call {url}").leak(),
            client,
            mode,
        })
    }

    /// Calls it, and retries that.
    pub(crate) async fn call(&self, forwarded: &mut Option<HeaderValue>) -> Result<(), String> {
        let sent = forwarded.clone();
        let answered = Mutex::new(None);
        let call = self.policy.on(|_: &String| true).name(self.name);
        let result = call
            .try_run_async(async || {
                let answer = self.attempt(sent.as_ref(), &answered).await;
                answer.map_err(|error| error.to_string())
            })
            .await;
        if self.mode == Mode::Forward {
            *forwarded = answered.into_inner().unwrap_or_default();
        }
        result.map_err(|error| error.to_string())
    }

    async fn attempt(
        &self,
        sent: Option<&HeaderValue>,
        answered: &Mutex<Option<HeaderValue>>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        match &self.client {
            Client::Http(client, url) => {
                let mut request = client.get(url);
                if let Some(sent) = sent {
                    request = request.header(RETRY_CONTEXT, sent);
                }
                let response = request.send().await?;
                if let Some(header) = response.headers().get(RETRY_CONTEXT) {
                    *answered.lock().map_err(|_| "poisoned")? = Some(header.clone());
                }
                response.error_for_status()?;
            }
            Client::Grpc(client) => {
                client.clone().check(HealthCheckRequest::default()).await?;
            }
            Client::DeafGrpc(client) => {
                client.clone().check(HealthCheckRequest::default()).await?;
            }
        }
        Ok(())
    }
}

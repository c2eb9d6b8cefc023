//! Which workflows a process serves to Restate, and what their steps are given.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reattempt::{Jitter, Policy};
use reattempt_supervisor::engine::{Execution, Lent};
use reattempt_supervisor::{Starts, Workflow};
use restate_sdk::discovery::{
    Handler, HandlerName, HandlerType, InputPayload, OutputPayload, Service as Discovered,
    ServiceName, ServiceType,
};
use restate_sdk::endpoint::{ContextInternal, Endpoint, Error};
use restate_sdk::service::Service;
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};

use crate::delays::{Delays, DelaysError};
use crate::handler::{self, Served};
use crate::signal;
use crate::wire::{RUN, SIGNAL};

const DELAYS: Policy = Policy::new()
    .base(Duration::from_secs(1))
    .cap(Duration::from_secs(300))
    .jitter(Jitter::None);

/// Workflows as services of Restate: one of type *workflow* for each, under its name, with the handlers `run` and `signal`.
#[derive(Default)]
#[must_use = "handlers serve nothing before `endpoint`"]
pub struct Handlers {
    served: BTreeMap<&'static str, Served>,
    twice: Option<&'static str>,
    lent: Lent,
    delays: Option<Policy>,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("workflows", &self.served.keys())
            .finish_non_exhaustive()
    }
}

impl Handlers {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Serves this workflow: the function with `#[workflow]`.
    pub fn register<W: Workflow, Arguments>(mut self, _: impl Starts<W, Arguments>) -> Self {
        let served = Served {
            execution: Execution::new::<W>,
            max_failures: u32::try_from(W::MAX_FAILURES).unwrap_or_default(),
        };
        if self.served.insert(W::NAME, served).is_some() {
            self.twice = Some(W::NAME);
        }
        self
    }

    /// What parameters of steps with `#[with]` of this type are given.
    pub fn with<T: Send + Sync + 'static>(mut self, resource: T) -> Self {
        self.lent.insert(resource);
        self
    }

    /// How long Restate waits after a step has given up, before it is run again: the delays of a policy, which become the retry policy of
    /// the step's entry in the journal. The attempts of the step's own policy are made within.
    ///
    /// # Units and ranges
    ///
    /// Delays that grow by one factor, without jitter; [`endpoint`](Self::endpoint) refuses others.
    ///
    /// # Default
    ///
    /// Exponential from 1 s to 5 min.
    pub fn delays(mut self, delays: Policy) -> Self {
        self.delays = Some(delays);
        self
    }

    /// What Restate's HTTP server serves.
    ///
    /// # Errors
    ///
    /// See [`SetupError`].
    pub fn endpoint(self) -> Result<Endpoint, SetupError> {
        if let Some(name) = self.twice {
            return Err(SetupError::Twice(name));
        }
        if self.served.is_empty() {
            return Err(SetupError::Nothing);
        }
        let delays = Delays::of(&self.delays.unwrap_or(DELAYS)).map_err(SetupError::Delays)?;
        let lent = Arc::new(self.lent);
        let mut endpoint = Endpoint::builder();
        for (name, served) in self.served {
            let found = discovered(name).ok_or(SetupError::Name(name))?;
            let task = TaskService {
                served,
                delays,
                lent: Arc::clone(&lent),
            };
            endpoint = endpoint.bind(service_definition(task, found));
        }
        Ok(endpoint.build())
    }
}

/// Why workflows cannot be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetupError {
    /// Two have the same name. Restate keeps the old code of tasks that are under way by itself: register each version as a deployment of its own.
    Twice(&'static str),
    /// There is none.
    Nothing,
    /// Restate has no such names: letters, digits, `_`, `-` and `.`, with a letter first.
    Name(&'static str),
    /// It cannot wait like this.
    Delays(DelaysError),
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(name) => write!(
                f,
                "two workflows are called `{name}`; Restate runs tasks that are under way with the deployment they began with, so serve each version \
                 as a deployment of its own"
            ),
            Self::Nothing => f.write_str("there is no workflow to serve; add `.register(...)`"),
            Self::Name(name) => write!(
                f,
                "Restate has no services called `{name}`; give the workflow a `name` of letters, digits, `_`, `-` and `.`, with a letter first"
            ),
            Self::Delays(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SetupError {}

struct TaskService {
    served: Served,
    delays: Delays,
    lent: Arc<Lent>,
}

impl Service for TaskService {
    type Future = ServiceBoxFuture;

    fn handle(&self, context: ContextInternal) -> Self::Future {
        let (served, delays, lent) = (self.served, self.delays, Arc::clone(&self.lent));
        Box::pin(async move {
            match context.handler_name() {
                RUN => {
                    let (input, metadata) = context.input::<Vec<u8>>().await;
                    let task = handler::Invocation { input, metadata };
                    let outcome = handler::run(&context, task, served, delays, &lent).await;
                    context.handle_handler_result(outcome);
                }
                SIGNAL => {
                    let (signal, metadata) = context.input::<Vec<u8>>().await;
                    let outcome = signal::tell(&context, &signal, &metadata.invocation_id).await;
                    context.handle_handler_result(outcome);
                }
                other => return Err(Error::unknown_handler(context.service_name(), other)),
            }
            context.end();
            Ok(())
        })
    }
}

/// What Restate is told of a workflow.
fn discovered(name: &str) -> Option<Discovered> {
    let json = || {
        Some(InputPayload {
            content_type: Some("application/json".to_owned()),
            json_schema: None,
            required: Some(true),
        })
    };
    let handlers = vec![
        Handler {
            input: json(),
            output: Some(OutputPayload {
                content_type: Some("application/json".to_owned()),
                json_schema: None,
                set_content_type_if_empty: Some(true),
            }),
            ..empty(RUN, HandlerType::Workflow)?
        },
        Handler {
            input: json(),
            output: Some(OutputPayload::empty()),
            ..empty(SIGNAL, HandlerType::Shared)?
        },
    ];
    Some(Discovered {
        ty: ServiceType::Workflow,
        name: ServiceName::try_from(name).ok()?,
        handlers,
        documentation: None,
        metadata: std::collections::HashMap::default(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    })
}

fn empty(name: &str, kind: HandlerType) -> Option<Handler> {
    Some(Handler {
        name: HandlerName::try_from(name).ok()?,
        ty: Some(kind),
        input: None,
        output: None,
        documentation: None,
        metadata: std::collections::HashMap::default(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        workflow_completion_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    })
}

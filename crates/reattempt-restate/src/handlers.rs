//! The workflows that a process serves to Restate, and their resources.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reattempt::{Jitter, Policy};
use reattempt_supervisor::engine::{Execution, Resources};
use reattempt_supervisor::{Workflow, WorkflowFn};
use restate_sdk::discovery::{
    Handler, HandlerName, HandlerType, InputPayload, OutputPayload, Service as Description,
    ServiceName, ServiceType,
};
use restate_sdk::endpoint::{ContextInternal, Endpoint, Error};
use restate_sdk::service::Service;
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};

use crate::delays::{Delays, DelaysError};
use crate::handler::{self, ServedWorkflow};
use crate::signal;
use crate::wire::{RUN, SIGNAL};

const DELAYS: Policy = Policy::new()
    .base(Duration::from_secs(1))
    .cap(Duration::from_secs(300))
    .jitter(Jitter::None);

/// Workflows as services of Restate. Each is a service of type *workflow* with its name and the
/// handlers `run` and `signal`.
#[derive(Default)]
#[must_use = "handlers serve nothing before `endpoint`"]
pub struct Handlers {
    workflows: BTreeMap<&'static str, ServedWorkflow>,
    duplicate: Option<&'static str>,
    resources: Resources,
    delays: Option<Policy>,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("workflows", &self.workflows.keys())
            .finish_non_exhaustive()
    }
}

impl Handlers {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a workflow: the function with `#[workflow]`.
    pub fn register<W: Workflow, Arguments>(mut self, _: impl WorkflowFn<W, Arguments>) -> Self {
        let served = ServedWorkflow {
            execution: Execution::new::<W>,
            max_failures: u32::try_from(W::MAX_FAILURES).unwrap_or_default(),
        };
        if self.workflows.insert(W::NAME, served).is_some() {
            self.duplicate = Some(W::NAME);
        }
        self
    }

    /// Adds the value for parameters `#[with] name: &T` of steps.
    pub fn with<T: Send + Sync + 'static>(mut self, resource: T) -> Self {
        self.resources.insert(resource);
        self
    }

    /// Sets how long Restate waits before it runs a step again that has given up: the delays of a
    /// policy. They become the retry policy of the step's entry in the journal. The attempts of the
    /// step's own policy run within the entry.
    ///
    /// # Units and ranges
    ///
    /// The delays must grow by one factor, without jitter; [`endpoint`](Self::endpoint) refuses
    /// others.
    ///
    /// # Default
    ///
    /// Exponential from 1 s to 5 min.
    pub fn delays(mut self, delays: Policy) -> Self {
        self.delays = Some(delays);
        self
    }

    /// Returns the endpoint for Restate's HTTP server.
    ///
    /// # Errors
    ///
    /// Fails for the reasons in [`SetupError`].
    pub fn endpoint(self) -> Result<Endpoint, SetupError> {
        if let Some(name) = self.duplicate {
            return Err(SetupError::Duplicate(name));
        }
        if self.workflows.is_empty() {
            return Err(SetupError::NoWorkflow);
        }
        let delays = Delays::of(&self.delays.unwrap_or(DELAYS)).map_err(SetupError::Delays)?;
        let resources = Arc::new(self.resources);
        let mut endpoint = Endpoint::builder();
        for (name, served) in self.workflows {
            let description = describe(name).ok_or(SetupError::Name(name))?;
            let task = TaskService {
                served,
                delays,
                resources: Arc::clone(&resources),
            };
            endpoint = endpoint.bind(service_definition(task, description));
        }
        Ok(endpoint.build())
    }
}

/// Why workflows cannot be served.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupError {
    /// Two workflows have this name. Restate itself keeps the old code for unfinished tasks:
    /// register each version as a deployment of its own.
    Duplicate(&'static str),
    /// There is no workflow.
    NoWorkflow,
    /// This is not a name for a service of Restate: those have letters, digits, `_`, `-` and `.`,
    /// with a letter first.
    Name(&'static str),
    /// Restate cannot wait these delays.
    Delays(DelaysError),
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(name) => write!(
                f,
                "two workflows are called `{name}`; Restate runs tasks that are under way with the deployment they began with, so serve each version \
                 as a deployment of its own"
            ),
            Self::NoWorkflow => f.write_str("there is no workflow to serve; add `.register(...)`"),
            Self::Name(name) => write!(
                f,
                "`{name}` is not a name for a service of Restate; give the workflow a `name` of letters, digits, `_`, `-` and `.`, with a letter first"
            ),
            Self::Delays(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SetupError {}

/// The service of one workflow.
struct TaskService {
    served: ServedWorkflow,
    delays: Delays,
    resources: Arc<Resources>,
}

impl Service for TaskService {
    type Future = ServiceBoxFuture;

    fn handle(&self, context: ContextInternal) -> Self::Future {
        let (served, delays, resources) = (self.served, self.delays, Arc::clone(&self.resources));
        Box::pin(async move {
            match context.handler_name() {
                RUN => {
                    let (input, metadata) = context.input::<Vec<u8>>().await;
                    let invocation = handler::Invocation { input, metadata };
                    let result =
                        handler::run_task(&context, invocation, served, delays, &resources).await;
                    context.handle_handler_result(result);
                }
                SIGNAL => {
                    let (signal, metadata) = context.input::<Vec<u8>>().await;
                    let result = signal::send(&context, &signal, &metadata.invocation_id).await;
                    context.handle_handler_result(result);
                }
                other => return Err(Error::unknown_handler(context.service_name(), other)),
            }
            context.end();
            Ok(())
        })
    }
}

/// Describes a workflow to Restate.
fn describe(name: &str) -> Option<Description> {
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
            ..plain_handler(RUN, HandlerType::Workflow)?
        },
        Handler {
            input: json(),
            output: Some(OutputPayload::empty()),
            ..plain_handler(SIGNAL, HandlerType::Shared)?
        },
    ];
    Some(Description {
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

/// Returns a handler without settings.
fn plain_handler(name: &str, kind: HandlerType) -> Option<Handler> {
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

//! The calls that every assembly answers to, for Rust callers.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{Assembly, AssemblyKind};
use crate::agent::AskOptions;
use crate::error::Result;
use crate::run::{Entrypoint, Opened, Outbox, RunCore, RunStream, Scope};
use crate::runtime::Runtime;
use crate::session::Session;

/// An assembly and the runtime that it runs on.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) assembly: Arc<dyn Assembly>,
    pub(crate) runtime: Option<Arc<Runtime>>,
}

/// Opens an assembly that needs nothing to be made ready.
struct Ready(Arc<dyn Assembly>);

#[async_trait]
impl Entrypoint for Ready {
    async fn open(&self, _run: &Arc<RunCore>) -> Result<Opened> {
        Ok(Opened::Assembly(Arc::clone(&self.0)))
    }
}

impl Entry {
    pub(crate) fn new(assembly: Arc<dyn Assembly>) -> Self {
        Self {
            assembly,
            runtime: None,
        }
    }

    pub(crate) fn with_runtime(&self, runtime: Arc<Runtime>) -> Self {
        Self {
            assembly: Arc::clone(&self.assembly),
            runtime: Some(runtime),
        }
    }

    /// The events of a run. `wrapped`: those of every agent come too, where the request does not say.
    pub(crate) fn stream(&self, options: AskOptions, wrapped: bool) -> Result<RunStream> {
        let mut invocation = options.invocation?;
        if wrapped && self.assembly.kind() != AssemblyKind::Agent {
            invocation.default_agent_events(true);
        }
        let core = new_run(
            self.runtime.as_ref(),
            invocation,
            options.cancellation_token,
        )?;
        core.use_session(Session::of_invocation(
            &core.invocation,
            Arc::clone(core.runtime.session_store()),
        ));
        let entrypoint = Arc::new(Ready(Arc::clone(&self.assembly)));
        Ok(RunStream::new(core, entrypoint, Scope::Run))
    }
}

/// A run that waits for its start.
pub(crate) fn new_run(
    runtime: Option<&Arc<Runtime>>,
    invocation: crate::run::Invocation,
    token: Option<CancellationToken>,
) -> Result<Arc<RunCore>> {
    let runtime = match runtime {
        Some(runtime) => Arc::clone(runtime),
        None => Runtime::shared()?,
    };
    Ok(RunCore::new(
        runtime,
        invocation,
        token.unwrap_or_default().child_token(),
        CancellationToken::new(),
        Outbox::for_task(),
    ))
}

/// Gives a type with a field `entry` the calls that every assembly answers to.
macro_rules! callable {
    ($type:ident $(, $field:ident)*) => {
        impl $type {
            /// The stable identifier.
            #[must_use]
            pub fn id(&self) -> &str {
                self.entry.assembly.id()
            }

            /// What it is for.
            #[must_use]
            pub fn description(&self) -> &str {
                self.entry.assembly.description()
            }

            /// The same on another runtime.
            #[must_use]
            pub fn with_runtime(&self, runtime: std::sync::Arc<crate::Runtime>) -> Self {
                Self {
                    entry: self.entry.with_runtime(runtime),
                    $($field: self.$field.clone(),)*
                }
            }

            /// Answers `request` and returns the ended run, whatever its outcome.
            ///
            /// # Errors
            /// As [`Agent::ask`](crate::Agent::ask).
            pub async fn ask(
                &self,
                request: impl Into<crate::AskOptions>,
            ) -> crate::Result<crate::Run> {
                self.entry.stream(request.into(), false)?.run_to_end().await
            }

            /// Answers `request` as a stream of events: those of the coordination, of the final
            /// participant, and, as [`AgentStream`](crate::StreamEvent::AgentStream), those of every
            /// agent unless the request says otherwise. Nothing happens before the first poll.
            ///
            /// # Errors
            /// As [`Agent::ask`](crate::Agent::ask), before a run exists.
            pub fn stream_ask(
                &self,
                request: impl Into<crate::AskOptions>,
            ) -> crate::Result<crate::RunStream> {
                self.entry.stream(request.into(), true)
            }

            /// Answers `request` in the background, at once. `on_event` gets each event as it happens.
            ///
            /// # Errors
            /// As [`Agent::start_execution`](crate::Agent::start_execution).
            pub fn start_execution(
                &self,
                request: impl Into<crate::AskOptions>,
                on_event: impl FnMut(crate::StreamEvent) + Send + 'static,
            ) -> crate::Result<crate::Execution> {
                crate::Execution::start(self.stream_ask(request)?, on_event)
            }

            pub(crate) fn assembly(&self) -> std::sync::Arc<dyn crate::assembly::Assembly> {
                std::sync::Arc::clone(&self.entry.assembly)
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter
                    .debug_struct(stringify!($type))
                    .field("id", &self.id())
                    .finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use callable;

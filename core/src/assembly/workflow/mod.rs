//! Workflows: code of the application coordinates.

mod context;
mod invocation;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::entry::{Entry, callable};
use super::{Assembly, AssemblyKind, Composite};
use crate::error::Result;
use crate::panics::caught;
use crate::run::{RunCore, RunResult};

pub use context::WorkflowContext;
pub use invocation::WorkflowInvocation;

/// How long a body may go on when its run is over. Its participants end by themselves, and it sees how.
const PATIENCE: Duration = Duration::from_secs(1);

/// The code of a workflow.
#[async_trait]
pub(crate) trait WorkflowBody: Send + Sync {
    /// Coordinates, and returns the final invocation without having consumed it.
    async fn perform(&self, workflow: &WorkflowContext) -> Result<WorkflowInvocation>;
}

/// A body that is a Rust function.
struct Function<F>(F);

#[async_trait]
impl<F, W> WorkflowBody for Function<F>
where
    F: Fn(WorkflowContext) -> W + Send + Sync,
    W: Future<Output = Result<WorkflowInvocation>> + Send,
{
    async fn perform(&self, workflow: &WorkflowContext) -> Result<WorkflowInvocation> {
        let body = async { (self.0)(workflow.clone()).await };
        let late = async {
            let error = workflow.part().over().await;
            tokio::time::sleep(PATIENCE).await;
            Err(error)
        };
        tokio::select! {
            result = caught("the body of a workflow", body) => result,
            result = late => result,
        }
    }
}

/// Several participants, coordinated by ordinary code.
///
/// The body invokes agents and other assemblies, reads the answers it needs, and returns the final
/// invocation without reading it, so that its answer streams to the caller.
///
/// ```no_run
/// use little_ghost::{Agent, Workflow};
///
/// # async fn example(research: Agent, support: Agent) -> little_ghost::Result<()> {
/// let workflow = Workflow::new("response", move |workflow| {
///     let (research, support) = (research.clone(), support.clone());
///     async move {
///         let evidence = workflow.invoke(&research).text().await?;
///         let question = workflow.input().text();
///         Ok(workflow
///             .invoke(&support)
///             .input(format!("{question}\n\nVerified research:\n{evidence}")))
///     }
/// });
/// let run = workflow.ask("Why is transfer 481 pending?").await?;
/// println!("{}", run.response());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Workflow {
    entry: Entry,
}

callable!(Workflow);

impl Workflow {
    /// A workflow of that identifier with `body`, which may be called any number of times at once.
    pub fn new<F, W>(id: impl Into<String>, body: F) -> Self
    where
        F: Fn(WorkflowContext) -> W + Send + Sync + 'static,
        W: Future<Output = Result<WorkflowInvocation>> + Send + 'static,
    {
        Self::of(id.into(), String::new(), Arc::new(Function(body)))
    }

    fn of(id: String, description: String, body: Arc<dyn WorkflowBody>) -> Self {
        Self {
            entry: Entry::new(Arc::new(WorkflowAssembly {
                id: id.into(),
                description,
                body,
            })),
        }
    }

    /// Says what it is for, where it serves as a tool.
    #[must_use]
    pub fn describe(self, description: impl Into<String>) -> Self {
        let described = Described {
            assembly: self.assembly(),
            description: description.into(),
        };
        Self {
            entry: Entry {
                assembly: Arc::new(described),
                ..self.entry
            },
        }
    }
}

/// An assembly under another description.
struct Described {
    assembly: Arc<dyn Assembly>,
    description: String,
}

#[async_trait]
impl Assembly for Described {
    fn id(&self) -> &Arc<str> {
        self.assembly.id()
    }

    fn kind(&self) -> AssemblyKind {
        self.assembly.kind()
    }

    fn description(&self) -> &str {
        &self.description
    }

    async fn answer(&self, part: &Arc<RunCore>, parent: &Arc<str>) -> Result<Arc<RunResult>> {
        self.assembly.answer(part, parent).await
    }
}

/// A workflow as an assembly.
pub(crate) struct WorkflowAssembly {
    pub(crate) id: Arc<str>,
    pub(crate) description: String,
    pub(crate) body: Arc<dyn WorkflowBody>,
}

#[async_trait]
impl Assembly for WorkflowAssembly {
    fn id(&self) -> &Arc<str> {
        &self.id
    }

    fn kind(&self) -> AssemblyKind {
        AssemblyKind::Workflow
    }

    fn description(&self) -> &str {
        &self.description
    }

    async fn answer(&self, part: &Arc<RunCore>, parent: &Arc<str>) -> Result<Arc<RunResult>> {
        let composite = Arc::new(Composite::new(self, part, parent));
        let context = WorkflowContext::new(Arc::clone(&composite));
        let last = self.body.perform(&context).await?;
        let done = last.run_last().await?;
        Ok(composite.recorder.conclude(part, &done.result))
    }
}

//! Workflows: code of the application coordinates.

mod context;
mod invocation;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::entry::{Entry, callable};
use super::{Assembly, AssemblyKind, Composite, check_name};
use crate::error::{Error, ErrorKind, Result};
use crate::panics::caught;
use crate::prompt::PromptLocals;
#[cfg(feature = "prompts")]
use crate::run::Run;
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

/// Waits until a body that can be dropped has to be; why.
pub(crate) async fn too_late(workflow: &WorkflowContext) -> Error {
    let error = workflow.part().over().await;
    tokio::time::sleep(PATIENCE).await;
    error
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
        tokio::select! {
            result = caught("the body of a workflow", body) => result,
            error = too_late(workflow) => Err(error),
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
    definition: WorkflowAssembly,
}

callable!(Workflow, definition);

impl Workflow {
    /// A workflow of that identifier with `body`, which may be called any number of times at once. A blank identifier fails
    /// its runs.
    pub fn new<F, W>(id: impl Into<String>, body: F) -> Self
    where
        F: Fn(WorkflowContext) -> W + Send + Sync + 'static,
        W: Future<Output = Result<WorkflowInvocation>> + Send + 'static,
    {
        let definition = WorkflowAssembly {
            id: id.into().into(),
            description: String::new(),
            body: Arc::new(Function(body)),
            locals: PromptLocals::default(),
        };
        Self {
            entry: Entry::new(Arc::new(definition.clone())),
            definition,
        }
    }

    /// Says what it is for, where it serves as a tool.
    #[must_use]
    pub fn describe(self, description: impl Into<String>) -> Self {
        self.changed(|definition| definition.description = description.into())
    }

    /// A value that templates of participants may use by `name`. Where a participant declares the same name, its own value
    /// counts.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for a name that no template can use, and for a value without a plain form.
    #[cfg(feature = "prompts")]
    pub fn prompt_local(
        self,
        name: impl Into<String>,
        value: impl serde::Serialize,
    ) -> Result<Self> {
        let declared = self.changed(|definition| definition.locals.add(name.into(), value));
        declared.definition.locals.check()?;
        Ok(declared)
    }

    /// As [`prompt_local`](Self::prompt_local), with a function that gives the value in each run. Its error fails the run.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for a name that no template can use.
    #[cfg(feature = "prompts")]
    pub fn prompt_local_with(
        self,
        name: impl Into<String>,
        resolve: impl Fn(&Run) -> Result<serde_json::Value> + Send + Sync + 'static,
    ) -> Result<Self> {
        let declared =
            self.changed(|definition| definition.locals.add_resolver(name.into(), resolve));
        declared.definition.locals.check()?;
        Ok(declared)
    }

    fn changed(mut self, change: impl FnOnce(&mut WorkflowAssembly)) -> Self {
        change(&mut self.definition);
        self.entry.assembly = Arc::new(self.definition.clone());
        self
    }
}

/// A workflow as an assembly.
#[derive(Clone)]
pub(crate) struct WorkflowAssembly {
    pub(crate) id: Arc<str>,
    pub(crate) description: String,
    pub(crate) body: Arc<dyn WorkflowBody>,
    /// Values for the prompts of participants.
    pub(crate) locals: PromptLocals,
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
        check_name("the id of a workflow", &self.id)?;
        let composite = Arc::new(Composite::new(self, &self.locals, part, parent)?);
        let context = WorkflowContext::new(Arc::clone(&composite));
        let last = self.body.perform(&context).await?;
        if !last.belongs_to(&composite) {
            return Err(Error::new(
                ErrorKind::Argument,
                format!(
                    "the body of the workflow {:?} returned an invocation of another run; return one that this \
                     workflow made",
                    self.id
                ),
            ));
        }
        let done = last.run_last().await?;
        Ok(composite.recorder.conclude(part, &done.result))
    }
}

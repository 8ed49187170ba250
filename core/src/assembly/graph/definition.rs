//! What a graph is made of, as it was declared.

use std::sync::Arc;

use async_trait::async_trait;

use super::GraphState;
use crate::assembly::{Assembly, ErrorMatcher, StepPolicy};
use crate::error::Result;
use crate::message::Message;
use crate::prompt::PromptLocals;

/// Whether a route is taken.
#[async_trait]
pub(crate) trait Condition: Send + Sync {
    async fn holds(&self, state: &GraphState) -> Result<bool>;
}

/// What a node is asked.
#[async_trait]
pub(crate) trait Mapper: Send + Sync {
    async fn map(&self, state: &GraphState) -> Result<Message>;
}

/// What a graph is made of.
pub(crate) struct GraphDefinition {
    pub(crate) id: Arc<str>,
    pub(crate) description: String,
    pub(crate) nodes: Vec<NodeDefinition>,
    pub(crate) edges: Vec<EdgeDefinition>,
    pub(crate) error_edges: Vec<ErrorEdge>,
    pub(crate) start: Option<Arc<str>>,
    pub(crate) finish: Option<Arc<str>>,
    pub(crate) max_steps: u32,
    pub(crate) max_concurrency: usize,
    /// Values for the prompts of nodes.
    pub(crate) locals: PromptLocals,
}

impl GraphDefinition {
    /// Executions of nodes, unless said otherwise.
    pub(crate) const MAX_STEPS: u32 = 20;
    /// Branches at once, unless said otherwise.
    pub(crate) const MAX_CONCURRENCY: usize = 8;
}

/// A named stop.
pub(crate) struct NodeDefinition {
    pub(crate) name: Arc<str>,
    pub(crate) assembly: Arc<dyn Assembly>,
    pub(crate) policy: StepPolicy,
    /// Whether it gets the caller's history.
    pub(crate) history: bool,
    /// Whether it gets the caller's context.
    pub(crate) context: bool,
    pub(crate) mapper: Option<Arc<dyn Mapper>>,
}

/// A route: from one node to one, from one to several, or from several to one.
pub(crate) struct EdgeDefinition {
    pub(crate) from: Vec<Arc<str>>,
    pub(crate) to: Vec<Arc<str>>,
    pub(crate) condition: Option<Arc<dyn Condition>>,
    pub(crate) mapper: Option<Arc<dyn Mapper>>,
    /// Of a route to several.
    pub(crate) max_concurrency: Option<usize>,
    /// Whether several were written, even if it is only one.
    pub(crate) fans_out: bool,
    pub(crate) fans_in: bool,
}

/// A route for failures.
pub(crate) struct ErrorEdge {
    pub(crate) from: Arc<str>,
    pub(crate) to: Arc<str>,
    pub(crate) on: Arc<dyn ErrorMatcher>,
    pub(crate) mapper: Option<Arc<dyn Mapper>>,
}

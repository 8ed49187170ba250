//! The tools of a case for the crate's own front door.

use std::sync::Arc;

use little_ghost::{CancellationToken, Error, RunContext, Tool, ToolDefinition, async_trait};
use serde_json::{Map, Value, json};

use super::behaviour::{Stage, Surroundings};
use super::case::{Behaviour, ToolSpec};

/// One tool of a case.
pub(super) struct CaseTool {
    definition: ToolDefinition,
    behaviour: Behaviour,
    stage: Arc<Stage>,
}

impl CaseTool {
    pub(super) fn new(spec: &ToolSpec, stage: &Arc<Stage>) -> Result<Self, Error> {
        let schema = match &spec.input_schema {
            Value::Null => json!({}),
            schema => schema.clone(),
        };
        let definition = ToolDefinition::new(&*spec.name, &*spec.description, schema)?;
        Ok(Self {
            definition: definition.exclusive(spec.exclusive),
            behaviour: spec.behaviour.clone(),
            stage: Arc::clone(stage),
        })
    }
}

#[async_trait]
impl Tool for CaseTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Map<String, Value>, context: &RunContext) -> Result<Value, Error> {
        self.stage
            .perform(self.definition.name(), &self.behaviour, &input, context)
            .await
    }
}

impl Surroundings for RunContext {
    fn with_state(&self, change: &mut (dyn FnMut(&mut Map<String, Value>) + Send)) {
        RunContext::with_state(self, change);
    }

    fn token(&self) -> CancellationToken {
        self.run().cancellation_token().clone()
    }
}

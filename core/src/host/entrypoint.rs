//! The agent as a host describes it.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::assembly::Reader;
use super::callbacks::HostCallbacks;
use super::channel::{HostCallKind, HostChannel};
use super::code_mode::adopt;
use super::door::Door;
use super::model::HostModel;
use super::models::registered_model;
use super::participant::HostParticipant;
use super::sandbox::premises;
use super::substituted_model::SubstitutedModel;
use crate::agent::{CallbackChain, Features, Limits, ModelSelection, PreparedAgent, ToolSet};
use crate::assembly::{AssemblyTool, Participant};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Model, ModelRequest};
use crate::run::{Entrypoint, Opened, Resource, RunCore};
use crate::tool::{IntoTool, RunContext, Tool, ToolDefinition};
use crate::tools::{Operation, SandboxTool};

/// Asks the host for the agent, or the assembly, once the run or its part has started.
pub(crate) struct HostEntrypoint {
    pub(crate) channel: Arc<HostChannel>,
    /// Whom to ask for, of the participants in the host's table; `None` is whatever answers the run.
    pub(super) participant: Option<HostParticipant>,
}

#[async_trait]
impl Entrypoint for HostEntrypoint {
    async fn open(&self, run: &Arc<RunCore>) -> Result<Opened> {
        let door = Door::new(&self.channel, run.place.scope);
        let opening = match &self.participant {
            None => json!({}),
            Some(participant) => {
                HostParticipant::close_with(&self.channel, run)?;
                participant.opening(run)
            }
        };
        let answer = door.call(HostCallKind::Entrypoint, opening).await?;
        self.channel.parts.opened(run.place.scope);
        let Value::Object(agent) = answer else {
            return Err(unusable("the entrypoint must be an object"));
        };
        if self.participant.is_none()
            && let Some(Value::Object(state)) = agent.get("state")
        {
            run.with_state(|live| live.clone_from(state));
            self.channel.was_touched();
        }
        if let Some(premises) = premises(&door, &agent)? {
            run.use_premises(premises);
        }
        if let Some(assembly) = agent.get("assembly") {
            let assembly = Reader::new(&self.channel).assembly(assembly)?;
            return Ok(Opened::Assembly(assembly));
        }
        if let Some(manager) = agent.get("manager") {
            return Ok(Opened::Assembly(self.channel.serve(run, manager)?));
        }
        let mut tools = match agent.get("tools") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(tools)) => tools
                .iter()
                .map(|tool| match tool.get("assembly") {
                    None | Some(Value::Null) => match tool.get("builtin") {
                        Some(Value::String(name)) => builtin_tool(name, tool),
                        _ => host_tool(&door, tool),
                    },
                    Some(assembly) => self.assembly_tool(tool, assembly),
                })
                .collect::<Result<_>>()?,
            Some(_) => return Err(unusable("tools must be an array")),
        };
        let limits = match agent.get("limits") {
            None | Some(Value::Null) => Limits::default(),
            Some(Value::Object(limits)) => Limits::from_map(limits)?,
            Some(_) => return Err(unusable("limits must be an object")),
        };
        if let Some(subagents) = agent.get("subagents").filter(|value| !value.is_null())
            && let Some(manager) = self.channel.manager(run, subagents, None)?
        {
            tools.extend(manager.tools()?);
        }
        let mut features = Features::from_map(&agent)?;
        if let Some(mode) = features.code_mode.take() {
            features.code_mode = Some(adopt(mode, &door)?);
        }
        let names = agent.get("callbacks").unwrap_or(&Value::Null);
        let mut callbacks = CallbackChain::default();
        if let Some(of_host) = HostCallbacks::from_value(&door, names)? {
            callbacks.append(Arc::new(of_host));
        }
        let mut prepared = PreparedAgent {
            id: agent
                .get("agent_id")
                .and_then(Value::as_str)
                .unwrap_or("agent")
                .into(),
            model: self.model(run, &door, agent.get("model"))?,
            system_prompt: agent
                .get("system_prompt")
                .and_then(Value::as_str)
                .map(str::to_owned),
            tools: ToolSet::new(tools)?,
            limits,
            callbacks,
            capture_diagnostics: agent
                .get("capture_diagnostics")
                .and_then(Value::as_bool)
                .unwrap_or(true),
            contract: None,
            locals: Arc::default(),
            ends: None,
            code_mode: None,
        };
        features.install(&mut prepared).await?;
        Ok(Opened::Agent(Box::new(prepared)))
    }

    async fn final_state(&self, part: &Arc<RunCore>) -> Result<Map<String, Value>> {
        let door = Door::new(&self.channel, part.place.scope);
        match door.call(HostCallKind::State, json!({})).await? {
            Value::Object(state) => Ok(state),
            _ => Err(unusable("the state of a part must be an object")),
        }
    }

    async fn open_model(&self, run: &Arc<RunCore>) -> Result<(Arc<dyn Model>, ModelRequest)> {
        let answer = self
            .channel
            .call(HostCallKind::Entrypoint, json!({}))
            .await?;
        let request = answer
            .get("request")
            .ok_or_else(|| unusable("the entrypoint must hold a request"))?;
        let request = ModelRequest::from_value(request)?;
        let door = Door::new(&self.channel, run.place.scope);
        Ok((self.model(run, &door, answer.get("model"))?, request))
    }
}

impl HostEntrypoint {
    /// The tool that asks an assembly: `{name, description, assembly, preserve_context?}`.
    fn assembly_tool(&self, tool: &Value, assembly: &Value) -> Result<Arc<dyn Tool>> {
        let text = |key: &str| tool.get(key).and_then(Value::as_str);
        let participant = Participant(Reader::new(&self.channel).assembly(assembly)?);
        let mut asking = AssemblyTool::new(participant);
        if let Some(name) = text("name") {
            asking = asking.named(name);
        }
        if let Some(description) = text("description") {
            asking = asking.describe(description);
        }
        if tool.get("preserve_context") == Some(&Value::Bool(true)) {
            asking = asking.preserve_context();
        }
        asking.open()
    }

    fn model(&self, run: &RunCore, door: &Door, value: Option<&Value>) -> Result<Arc<dyn Model>> {
        if let Some(model) = run.runtime.model_override() {
            return Ok(Arc::clone(model));
        }
        match value.and_then(|value| value.get("host")) {
            Some(host) => Ok(Arc::new(HostModel::from_value(door, host)?)),
            None => {
                let model = selection(value)?.resolve(&run.runtime, &run.invocation)?;
                Ok(SubstitutedModel::over(model, door, value))
            }
        }
    }
}

/// A tool of the engine that works in the sandbox of the run: `{builtin, exclusive}`.
fn builtin_tool(name: &str, value: &Value) -> Result<Arc<dyn Tool>> {
    let operation = Operation::from_name(name)
        .ok_or_else(|| unusable(&format!("the engine has no tool {name:?}")))?;
    let exclusive = value.get("exclusive") == Some(&Value::Bool(true));
    SandboxTool::new(operation).exclusive(exclusive).into_tool()
}

/// The tool that the host describes.
fn host_tool(door: &Door, value: &Value) -> Result<Arc<dyn Tool>> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let flag = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or_default();
    let anything = json!({});
    let schema = value.get("input_schema").unwrap_or(&anything);
    let definition = ToolDefinition::known(text("name"), text("description"), schema)?
        .exclusive(flag("exclusive"))
        .strict(flag("strict"));
    Ok(Arc::new(HostTool {
        door: door.clone(),
        definition,
    }))
}

/// The model of an answer: `{"native": id}` is one of the engine's, anything else selects one.
fn selection(model: Option<&Value>) -> Result<ModelSelection> {
    match model.and_then(|model| model.get("native")) {
        Some(id) => {
            let id = id
                .as_u64()
                .ok_or_else(|| unusable("native must be a number"))?;
            registered_model(id).map(ModelSelection::Model)
        }
        None => Ok(ModelSelection::from(model.cloned().unwrap_or_default())),
    }
}

fn unusable(problem: &str) -> Error {
    Error::new(ErrorKind::Configuration, problem)
}

/// A tool whose body is user code of the host.
struct HostTool {
    door: Door,
    definition: ToolDefinition,
}

#[async_trait]
impl Tool for HostTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Map<String, Value>, context: &RunContext) -> Result<Value> {
        let payload = json!({
            "name": self.definition.name(),
            "tool_use_id": context.tool_use_id(),
            "input": input,
            "operation_id": context.operation_id(),
            "concurrent": context.is_concurrent(),
        });
        self.door.call(HostCallKind::Tool, payload).await
    }
}

/// A resource that the host closes.
pub(crate) struct HostResource {
    pub(crate) channel: Arc<HostChannel>,
    pub(crate) id: u64,
}

#[async_trait]
impl Resource for HostResource {
    async fn close(&self) -> Result<()> {
        self.channel
            .call(HostCallKind::Close, json!({"resource": self.id}))
            .await
            .map(drop)
    }
}

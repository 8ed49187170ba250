//! The agents and assemblies that a case declares, with the crate's own types.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use little_ghost::{
    Agent, AssemblyTool, Error, ErrorKind, Graph, GraphEdge, GraphNode, GraphState, Limits,
    Participant, ResultSchema, Runtime, StepPolicy, Swarm, SwarmMember, Workflow,
};
use serde_json::{Map, Value, json};

use super::super::behaviour::Stage;
use super::super::case::ToolSpec;
use super::super::toolbox::CaseTool;
use super::body::{Body, Ending};
use super::case::AssemblyCase;
use super::direct::WorkflowFlow;
use super::template::of_state;

/// One of them.
#[derive(Clone)]
pub(super) enum Made {
    Agent(Agent),
    Workflow(Workflow),
    Swarm(Swarm),
    Graph(Graph),
}

impl Made {
    pub(super) fn participant(&self) -> Participant {
        match self {
            Made::Agent(agent) => agent.into(),
            Made::Workflow(workflow) => workflow.into(),
            Made::Swarm(swarm) => swarm.into(),
            Made::Graph(graph) => graph.into(),
        }
    }

    pub(super) fn with_runtime(&self, runtime: &Arc<Runtime>) -> Self {
        let runtime = Arc::clone(runtime);
        match self {
            Made::Agent(agent) => Made::Agent(agent.with_runtime(runtime)),
            Made::Workflow(workflow) => Made::Workflow(workflow.with_runtime(runtime)),
            Made::Swarm(swarm) => Made::Swarm(swarm.with_runtime(runtime)),
            Made::Graph(graph) => Made::Graph(graph.with_runtime(runtime)),
        }
    }
}

/// Makes them, each once.
pub(super) struct Cast<'a> {
    case: &'a AssemblyCase,
    stage: Arc<Stage>,
    made: HashMap<String, Made>,
}

impl<'a> Cast<'a> {
    pub(super) fn new(case: &'a AssemblyCase) -> Self {
        Self {
            case,
            stage: Arc::default(),
            made: HashMap::new(),
        }
    }

    /// The agent or assembly called `name`.
    pub(super) fn get(&mut self, name: &str) -> Result<Made, Error> {
        if let Some(made) = self.made.get(name) {
            return Ok(made.clone());
        }
        let made = match self.case.agents.get(name) {
            Some(spec) => Made::Agent(self.agent(name, spec)?),
            None => self.assembly(name)?,
        };
        self.made.insert(name.to_owned(), made.clone());
        Ok(made)
    }

    fn agent(&mut self, name: &str, spec: &Value) -> Result<Agent, Error> {
        let mut builder = Agent::builder(name)
            .description(description(name, spec))
            .model(crate::MODEL)
            .system_prompt(format!("You are {name}."));
        if let Some(limits) = spec["limits"].as_object() {
            builder = builder.limits(Limits::from_map(limits)?);
        }
        for tool in spec["tools"].as_array().into_iter().flatten() {
            let tool: ToolSpec = serde_json::from_value(tool.clone()).unwrap();
            builder = builder.tool(CaseTool::new(&tool, &self.stage));
        }
        for asked in spec["asks"].as_array().into_iter().flatten() {
            let asked = named(asked);
            let mut tool =
                AssemblyTool::new(self.get(asked["run"].as_str().unwrap())?.participant());
            if let Some(name) = asked["name"].as_str() {
                tool = tool.named(name);
            }
            if let Some(text) = asked["description"].as_str() {
                tool = tool.describe(text);
            }
            if asked["preserve_context"] == true {
                tool = tool.preserve_context();
            }
            builder = builder.tool_provider(tool);
        }
        if let Some(schema) = spec.get("result_schema") {
            builder = builder.result_schema(ResultSchema::from_value(schema)?);
        }
        builder.build()
    }

    fn assembly(&mut self, name: &str) -> Result<Made, Error> {
        let case = self.case;
        let parts = case.assemblies[name].as_object().unwrap();
        let (kind, parts) = parts.iter().next().unwrap();
        let about = format!("Does {name}.");
        Ok(match kind.as_str() {
            "workflow" => Made::Workflow(self.workflow(name, parts)?.describe(about)),
            "swarm" => Made::Swarm(self.swarm(name, about, parts)?),
            "graph" => Made::Graph(self.graph(name, about, parts)?),
            other => panic!("there is no kind {other}"),
        })
    }

    fn workflow(&mut self, name: &str, statements: &Value) -> Result<Workflow, Error> {
        let mut participants = HashMap::new();
        for mentioned in texts(statements) {
            if self.case.agents.contains_key(&mentioned)
                || self.case.assemblies.contains_key(&mentioned)
            {
                let made = self.get(&mentioned)?;
                participants.insert(mentioned, made.participant());
            }
        }
        let participants = Arc::new(participants);
        let statements = Arc::new(statements.clone());
        Ok(Workflow::new(name, move |workflow| {
            let (participants, statements) = (Arc::clone(&participants), Arc::clone(&statements));
            async move {
                let flow = WorkflowFlow {
                    workflow,
                    participants,
                };
                match Body::new(&flow).run(&statements).await? {
                    Ending::Call(call) => Ok(call),
                    Ending::Other | Ending::Nothing => panic!("only hosts can return that"),
                }
            }
        }))
    }

    fn swarm(&mut self, name: &str, about: String, parts: &Value) -> Result<Swarm, Error> {
        let mut builder = Swarm::builder(name).description(about);
        for member in parts["members"].as_array().unwrap() {
            let spec = named(member);
            let Made::Agent(agent) = self.get(spec["run"].as_str().unwrap())? else {
                panic!("only hosts can name that as a member");
            };
            let mut member = SwarmMember::from(&agent).policy(policy(&spec));
            if let Some(name) = spec["as"].as_str() {
                member = member.named(name);
            }
            if spec["history"] == true {
                member = member.with_history();
            }
            if spec["context"] == true {
                member = member.with_context();
            }
            builder = builder.member(member);
        }
        if let Some(start) = parts["start"].as_str() {
            builder = builder.start(start);
        }
        for (from, to) in parts["handoffs"].as_object().into_iter().flatten() {
            builder = builder.handoff(
                from,
                to.as_array().unwrap().iter().map(|to| to.as_str().unwrap()),
            );
        }
        if let Some(steps) = number(parts, "max_steps") {
            builder = builder.max_steps(steps);
        }
        if let Some(repeats) = number(parts, "max_handoff_repeats") {
            builder = builder.max_handoff_repeats(repeats);
        }
        builder.build()
    }

    fn graph(&mut self, name: &str, about: String, parts: &Value) -> Result<Graph, Error> {
        let mut builder = Graph::builder(name).description(about);
        for (name, node) in parts["nodes"].as_object().unwrap() {
            let spec = named(node);
            let participant = self.get(spec["run"].as_str().unwrap())?.participant();
            let mut node = GraphNode::new(participant).policy(policy(&spec));
            if spec["history"] == true {
                node = node.with_history();
            }
            if spec["context"] == true {
                node = node.with_context();
            }
            if let Some(mapper) = mapper(&spec) {
                node = node.input(mapper);
            }
            builder = builder.node(name, node);
        }
        for edge in parts["edges"].as_array().into_iter().flatten() {
            builder = builder.edge(route(edge));
        }
        for edge in parts["error_edges"].as_array().into_iter().flatten() {
            let (from, to) = edge["edge"].as_str().unwrap().split_once('>').unwrap();
            let kinds = kinds(&edge["on"]);
            builder = match mapper(edge) {
                Some(mapper) => builder.error_edge_with_input(from, to, kinds, mapper),
                None => builder.error_edge(from, to, kinds),
            };
        }
        if let Some(start) = parts["start"].as_str() {
            builder = builder.start(start);
        }
        if let Some(finish) = parts["finish"].as_str() {
            builder = builder.finish(finish);
        }
        if let Some(steps) = number(parts, "max_steps") {
            builder = builder.max_steps(steps);
        }
        if let Some(branches) = number(parts, "max_concurrency") {
            builder = builder.max_concurrency(branches as usize);
        }
        builder.build()
    }
}

/// What an agent is for.
pub(super) fn description(name: &str, spec: &Value) -> String {
    let given = spec["description"].as_str().map(str::to_owned);
    given.unwrap_or_else(|| format!("Does {name}."))
}

/// `{"run": name}` for a name.
pub(super) fn named(spec: &Value) -> Value {
    if spec.is_string() {
        json!({"run": spec})
    } else {
        spec.clone()
    }
}

/// The ends of `"a>b,c"`.
pub(super) fn ends(spec: &Value) -> (Vec<&str>, Vec<&str>) {
    let text = spec.as_str().or_else(|| spec["edge"].as_str()).unwrap();
    let (from, to) = text.split_once('>').unwrap();
    (from.split(',').collect(), to.split(',').collect())
}

fn route(spec: &Value) -> GraphEdge {
    let (from, to) = ends(spec);
    let mut edge = match (from.as_slice(), to.as_slice()) {
        ([from], [to]) => GraphEdge::new(from, to),
        ([from], several) => GraphEdge::fork(from, several.iter().copied()),
        (several, [to]) => GraphEdge::join(several.iter().copied(), to),
        _ => panic!("{spec} has several nodes at both ends"),
    };
    if let Some(condition) = spec.get("if").cloned() {
        edge = edge.when(move |state| match &condition {
            Value::Bool(fixed) => *fixed,
            condition => of_state(condition["that"].as_str().unwrap(), state) == condition["is"],
        });
    }
    if let Some(mapper) = mapper(spec) {
        edge = edge.input(mapper);
    }
    if let Some(branches) = number(spec, "max_concurrency") {
        edge = edge.max_concurrency(branches as usize);
    }
    edge
}

fn mapper(spec: &Value) -> Option<impl Fn(&GraphState) -> String + Send + Sync + 'static> {
    let text = spec.get("input")?.as_str()?.to_owned();
    Some(move |state: &GraphState| of_state(&text, state))
}

fn number(spec: &Value, key: &str) -> Option<u32> {
    spec.get(key)?
        .as_u64()
        .map(|number| u32::try_from(number).unwrap())
}

/// How long and how often.
pub(super) fn policy(spec: &Value) -> StepPolicy {
    let mut policy = StepPolicy::default();
    let seconds = |key: &str| {
        spec.get(key)
            .and_then(Value::as_f64)
            .map(Duration::from_secs_f64)
    };
    if let Some(timeout) = seconds("timeout") {
        policy = policy.timeout(timeout);
    }
    if let Some(retries) = number(spec, "retries") {
        policy = policy.retries(retries, kinds(&spec["retry_on"]));
    }
    if let Some(delay) = seconds("retry_delay") {
        policy = policy.retry_delay(delay);
    }
    policy
}

fn kinds(names: &Value) -> Vec<ErrorKind> {
    let names = names.as_array().into_iter().flatten();
    names
        .filter_map(|name| kind(name.as_str().unwrap()))
        .collect()
}

/// The kind of errors with that class name; `None` for an exception of the application.
pub(super) fn kind(name: &str) -> Option<ErrorKind> {
    ErrorKind::ALL
        .iter()
        .copied()
        .find(|kind| kind.name() == name && *kind != ErrorKind::Host)
}

/// Every text in `value`.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(map) => texts_of(map),
        _ => Vec::new(),
    }
}

fn texts_of(map: &Map<String, Value>) -> Vec<String> {
    map.values().flat_map(texts).collect()
}

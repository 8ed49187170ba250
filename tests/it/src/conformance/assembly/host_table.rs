//! What a host knows of the assemblies of a case: participants and functions by number.

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::super::case::ToolSpec;
use super::case::AssemblyCase;
use super::cast::{description, ends, named};

/// What the engine knows only by its key.
#[derive(Clone)]
pub(super) enum Entry {
    Participant(String),
    Condition(Value),
    Mapper(String),
    Classes(Vec<String>),
}

/// The host's table for one run.
pub(super) struct Table {
    pub(super) agents: Map<String, Value>,
    pub(super) assemblies: Map<String, Value>,
    entries: Mutex<Vec<Entry>>,
}

impl Table {
    pub(super) fn new(case: &AssemblyCase) -> Self {
        Self {
            agents: case.agents.clone(),
            assemblies: case.assemblies.clone(),
            entries: Mutex::default(),
        }
    }

    pub(super) fn entry(&self, key: &Value) -> Entry {
        let place = usize::try_from(key.as_u64().unwrap()).unwrap();
        self.entries.lock()[place].clone()
    }

    fn key(&self, entry: Entry) -> usize {
        let mut entries = self.entries.lock();
        entries.push(entry);
        entries.len() - 1
    }

    /// The participant `name` as the engine takes it.
    pub(super) fn describe(&self, name: &str) -> Value {
        let key = || self.key(Entry::Participant(name.to_owned()));
        if let Some(spec) = self.agents.get(name) {
            let text = description(name, spec);
            return json!({"kind": "agent", "id": name, "description": text, "key": key()});
        }
        let parts = self.assemblies[name].as_object().unwrap();
        let (kind, parts) = parts.iter().next().unwrap();
        let mut described = match kind.as_str() {
            "swarm" => self.swarm(parts),
            "graph" => self.graph(parts),
            _ => json!({"key": key()}),
        };
        described["kind"] = json!(kind);
        described["id"] = json!(name);
        described["description"] = json!(format!("Does {name}."));
        described
    }

    /// How the agent `name` answers an `entrypoint` call.
    pub(super) fn agent(&self, name: &str) -> Value {
        let spec = &self.agents[name];
        let own = spec["tools"].as_array().into_iter().flatten().map(|tool| {
            let tool = tool_spec(tool);
            let mut value = json!({
                "name": tool.name, "description": tool.description, "exclusive": tool.exclusive,
            });
            if !tool.input_schema.is_null() {
                value["input_schema"] = tool.input_schema;
            }
            value
        });
        let asks = spec["asks"].as_array().into_iter().flatten().map(|asked| {
            let asked = named(asked);
            let assembly = self.describe(asked["run"].as_str().unwrap());
            let or = |key: &str, other: &Value| asked.get(key).unwrap_or(other).clone();
            json!({
                "name": or("name", &assembly["id"]), "description": or("description", &assembly["description"]),
                "preserve_context": asked["preserve_context"] == true, "assembly": assembly,
            })
        });
        json!({
            "agent_id": name, "model": crate::MODEL, "system_prompt": format!("You are {name}."),
            "tools": own.chain(asks).collect::<Vec<_>>(),
            "limits": spec.get("limits").cloned().unwrap_or_else(|| json!({})),
            "result_schema": spec.get("result_schema"),
        })
    }

    /// The tool `tool` of the agent `name`.
    pub(super) fn tool(&self, name: &str, tool: &Value) -> ToolSpec {
        let mut tools = self.agents[name]["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(tool_spec);
        tools
            .find(|spec| *tool == spec.name)
            .expect("the engine calls a declared tool")
    }

    fn swarm(&self, parts: &Value) -> Value {
        let members = parts["members"].as_array().unwrap().iter().map(|member| {
            let spec = named(member);
            json!({
                "name": spec.get("as").unwrap_or(&spec["run"]),
                "agent": self.describe(spec["run"].as_str().unwrap()), "policy": self.policy(&spec),
                "history": spec["history"] == true, "context": spec["context"] == true,
            })
        });
        let handoffs = parts["handoffs"].as_object().into_iter().flatten();
        json!({
            "members": members.collect::<Vec<_>>(), "start": parts["start"],
            "handoffs": handoffs.map(|(from, to)| json!({"from": from, "to": to})).collect::<Vec<_>>(),
            "max_steps": parts["max_steps"], "max_handoff_repeats": parts["max_handoff_repeats"],
        })
    }

    fn graph(&self, parts: &Value) -> Value {
        let nodes = parts["nodes"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, node)| {
                let spec = named(node);
                json!({
                    "name": name, "participant": self.describe(spec["run"].as_str().unwrap()),
                    "policy": self.policy(&spec), "input": self.mapper(&spec),
                    "history": spec["history"] == true, "context": spec["context"] == true,
                })
            });
        let edges = parts["edges"].as_array().into_iter().flatten().map(|edge| {
            let (from, to) = ends(edge);
            let condition = edge.get("if").map(|spec| self.key(Entry::Condition(spec.clone())));
            json!({
                "fans_in": from.len() > 1, "fans_out": to.len() > 1, "from": from, "to": to,
                "condition": condition, "input": self.mapper(edge), "max_concurrency": edge.get("max_concurrency"),
            })
        });
        let errors = parts["error_edges"].as_array().into_iter().flatten().map(|edge| {
            let (from, to) = ends(edge);
            json!({"from": from[0], "to": to[0], "on": self.classes(&edge["on"]), "input": self.mapper(edge)})
        });
        json!({
            "nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>(),
            "error_edges": errors.collect::<Vec<_>>(), "start": parts["start"], "finish": parts["finish"],
            "max_steps": parts["max_steps"], "max_concurrency": parts["max_concurrency"],
        })
    }

    pub(super) fn policy(&self, spec: &Value) -> Value {
        json!({
            "timeout": spec["timeout"], "retries": spec["retries"], "retry_delay": spec["retry_delay"],
            "retry_on": spec.get("retry_on").map(|names| self.classes(names)),
        })
    }

    fn classes(&self, names: &Value) -> usize {
        self.key(Entry::Classes(
            serde_json::from_value(names.clone()).unwrap(),
        ))
    }

    fn mapper(&self, spec: &Value) -> Option<usize> {
        let text = spec.get("input")?.as_str()?;
        Some(self.key(Entry::Mapper(text.to_owned())))
    }
}

fn tool_spec(tool: &Value) -> ToolSpec {
    serde_json::from_value(tool.clone()).unwrap()
}

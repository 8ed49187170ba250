//! Assemblies as a host describes them.

use std::sync::Arc;

use serde_json::Value;

use super::assembly_code::HostCode;
use super::assembly_fields::{
    code, count, description, flag, invalid, list, names, optional, seconds, text, unusable,
};
use super::channel::HostChannel;
use super::entrypoint::HostEntrypoint;
use super::participant::HostParticipant;
use super::workflow::HostBody;
use crate::assembly::{
    AgentAssembly, Assembly, Condition, DEEPEST, EdgeDefinition, ErrorEdge, ErrorMatcher,
    GraphAssembly, GraphDefinition, Mapper, MemberDefinition, NodeDefinition, StepPolicy,
    SwarmDefinition, WorkflowAssembly, too_deep,
};
use crate::error::Result;
use crate::message::Message;
use crate::prompt::PromptLocals;
use crate::run::Outbox;

/// Checks an assembly as the entrypoint would answer it, without running any of it. For a graph, its routes as
/// source of a Mermaid flowchart.
///
/// # Errors
/// [`Configuration`](crate::ErrorKind::Configuration) for an unsound swarm or graph, here or further in, and for an unusable
/// description; [`Argument`](crate::ErrorKind::Argument) for an unusable policy or limit.
pub fn check_assembly(described: &Value) -> Result<Option<String>> {
    let channel = HostChannel::new(Outbox::for_task());
    let reader = Reader::new(&channel).with_inner(described)?;
    if described.get("kind").and_then(Value::as_str) == Some("graph") {
        let graph = GraphAssembly::new(reader.graph(described)?)?;
        return Ok(Some(graph.to_mermaid()));
    }
    reader.one(described).map(|_| None)
}

/// Fails for an assembly that is inside of more others than can be around one, so that a host ends describing what has no end.
///
/// # Errors
/// [`AssemblyLimit`](crate::ErrorKind::AssemblyLimit).
pub fn check_nesting(kind: &str, id: &str, depth: usize) -> Result<()> {
    if depth > DEEPEST {
        return Err(too_deep(kind, id));
    }
    Ok(())
}

/// Reads descriptions of assemblies; what is code in them is asked through a channel.
pub(super) struct Reader<'a> {
    channel: &'a Arc<HostChannel>,
    /// Those that a description has beside itself.
    inner: Vec<Arc<dyn Assembly>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(channel: &'a Arc<HostChannel>) -> Self {
        Self {
            channel,
            inner: Vec::new(),
        }
    }

    /// The assembly that `value` describes: `{kind, id, description, ...}`. Graphs further in are beside it, as `inner`, each
    /// after those that it refers to by `{kind: "inner", place}`: nothing that reads or moves a description needs a stack
    /// for each of them.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) for an unusable description, or an unsound swarm or graph.
    pub(super) fn assembly(&self, value: &Value) -> Result<Arc<dyn Assembly>> {
        Reader::new(self.channel).with_inner(value)?.one(value)
    }

    /// One that knows what `value` has beside itself.
    fn with_inner(mut self, value: &Value) -> Result<Self> {
        for described in list(value, "inner")? {
            let inner = self.one(described)?;
            self.inner.push(inner);
        }
        Ok(self)
    }

    fn one(&self, value: &Value) -> Result<Arc<dyn Assembly>> {
        match text(value, "kind")? {
            "inner" => {
                let place = count(value, "place")?.map(|place| place as usize);
                let inner = place.and_then(|place| self.inner.get(place));
                inner.map(Arc::clone).ok_or_else(|| {
                    unusable("a participant must be described before what it takes part in".into())
                })
            }
            "agent" => Ok(self.agent(value)?),
            "workflow" => Ok(Arc::new(WorkflowAssembly {
                id: text(value, "id")?.into(),
                description: description(value),
                body: Arc::new(HostBody {
                    channel: Arc::clone(self.channel),
                    participant: participant(value),
                    can_be_dropped: value.get("can_be_dropped") == Some(&Value::Bool(true)),
                }),
                // Prompts of a host's participants get their values there.
                locals: PromptLocals::default(),
            })),
            "swarm" => {
                let swarm = self.swarm(value)?;
                swarm.validate()?;
                Ok(Arc::new(swarm))
            }
            "graph" => Ok(Arc::new(GraphAssembly::new(self.graph(value)?)?)),
            other => Err(unusable(format!("there is no kind of assembly {other:?}"))),
        }
    }

    fn agent(&self, value: &Value) -> Result<Arc<AgentAssembly>> {
        Ok(Arc::new(AgentAssembly {
            id: text(value, "id")?.into(),
            description: description(value),
            entrypoint: Arc::new(HostEntrypoint {
                channel: Arc::clone(self.channel),
                participant: Some(participant(value)),
            }),
        }))
    }

    /// A swarm that is not checked yet.
    pub(super) fn swarm(&self, value: &Value) -> Result<SwarmDefinition> {
        let members = list(value, "members")?.iter().map(|member| {
            let agent = member.get("agent").unwrap_or(&Value::Null);
            let name = text(member, "name")?;
            if text(agent, "kind")? != "agent" {
                return Err(unusable(format!(
                    "the member {name:?} of the swarm {:?} is no agent: members of a swarm are agents",
                    text(value, "id")?
                )));
            }
            Ok(MemberDefinition {
                id: name.into(),
                agent: self.agent(agent)?,
                policy: self.policy(member.get("policy"))?,
                history: flag(member, "history"),
                context: flag(member, "context"),
            })
        });
        let handoffs = list(value, "handoffs")?.iter().map(|handoff| {
            let to = names(handoff, "to")?;
            Ok((text(handoff, "from")?.into(), to))
        });
        Ok(SwarmDefinition {
            id: text(value, "id")?.into(),
            description: description(value),
            members: members.collect::<Result<_>>()?,
            start: optional(value, "start"),
            handoffs: handoffs.collect::<Result<_>>()?,
            max_steps: count(value, "max_steps")?.unwrap_or(SwarmDefinition::MAX_STEPS),
            max_handoff_repeats: count(value, "max_handoff_repeats")?
                .unwrap_or(SwarmDefinition::MAX_HANDOFF_REPEATS),
            locals: PromptLocals::default(),
        })
    }

    /// A graph that is not checked yet.
    pub(super) fn graph(&self, value: &Value) -> Result<GraphDefinition> {
        let nodes = list(value, "nodes")?.iter().map(|node| {
            Ok(NodeDefinition {
                name: text(node, "name")?.into(),
                assembly: self.one(node.get("participant").unwrap_or(&Value::Null))?,
                policy: self.policy(node.get("policy"))?,
                history: flag(node, "history"),
                context: flag(node, "context"),
                mapper: self.mapper(node),
            })
        });
        let edges = list(value, "edges")?.iter().map(|edge| {
            let condition = code(edge, "condition")
                .map(|key| Arc::new(HostCode::new(self.channel, key)) as Arc<dyn Condition>);
            let branches = count(edge, "max_concurrency")?;
            Ok(EdgeDefinition {
                from: names(edge, "from")?,
                to: names(edge, "to")?,
                condition,
                mapper: self.mapper(edge),
                max_concurrency: branches.map(|branches| branches as usize),
                fans_out: flag(edge, "fans_out"),
                fans_in: flag(edge, "fans_in"),
            })
        });
        let error_edges = list(value, "error_edges")?.iter().map(|edge| {
            Ok(ErrorEdge {
                from: text(edge, "from")?.into(),
                to: text(edge, "to")?.into(),
                on: self
                    .matcher(edge, "on")
                    .ok_or_else(|| unusable("an error edge must say for which errors".into()))?,
                mapper: self.mapper(edge),
            })
        });
        let branches = count(value, "max_concurrency")?;
        Ok(GraphDefinition {
            id: text(value, "id")?.into(),
            description: description(value),
            nodes: nodes.collect::<Result<_>>()?,
            edges: edges.collect::<Result<_>>()?,
            error_edges: error_edges.collect::<Result<_>>()?,
            start: optional(value, "start"),
            finish: optional(value, "finish"),
            max_steps: count(value, "max_steps")?.unwrap_or(GraphDefinition::MAX_STEPS),
            max_concurrency: branches.map_or(GraphDefinition::MAX_CONCURRENCY, |branches| {
                branches as usize
            }),
            locals: PromptLocals::default(),
        })
    }

    /// A policy: `{timeout?, retries?, retry_on?, retry_delay?}`, times in seconds.
    pub(super) fn policy(&self, value: Option<&Value>) -> Result<StepPolicy> {
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return Ok(StepPolicy::default());
        };
        let timeout = seconds(value, "timeout")?;
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(invalid("timeout must be more than 0 seconds"));
        }
        let retries = count(value, "retries")?.unwrap_or_default();
        let retry_on = self.matcher(value, "retry_on");
        if retries > 0 && retry_on.is_none() {
            return Err(invalid(
                "retries need retry_on: name the failures after which it is safe to try again",
            ));
        }
        Ok(StepPolicy {
            timeout,
            retries,
            retry_on,
            retry_delay: seconds(value, "retry_delay")?.unwrap_or_default(),
        })
    }

    fn mapper(&self, value: &Value) -> Option<Arc<dyn Mapper>> {
        let key = code(value, "input")?;
        Some(Arc::new(HostCode::new(self.channel, key)))
    }

    fn matcher(&self, value: &Value, key: &str) -> Option<Arc<dyn ErrorMatcher>> {
        let key = code(value, key)?;
        Some(Arc::new(HostCode::new(self.channel, key)))
    }
}

/// A message as a host gives it: complete, or a text.
pub(super) fn message(value: &Value) -> Result<Message> {
    match value {
        Value::String(text) => Ok(Message::from(text.as_str())),
        other => Message::from_value(other),
    }
}

fn participant(value: &Value) -> HostParticipant {
    HostParticipant {
        key: value.get("key").cloned().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ErrorKind;

    #[test]
    fn graphs_further_in_are_beside_the_outermost_each_after_those_in_it() {
        let agent = json!({"kind": "agent", "key": 1, "id": "one"});
        let around = |id: &str, place: u64| {
            json!({
                "kind": "graph", "id": id, "start": "a", "finish": "a",
                "nodes": [{"name": "a", "participant": {"kind": "inner", "place": place}}],
            })
        };
        let mut flat = around("outer", 1);
        flat["inner"] = json!([agent, around("middle", 0)]);
        assert!(check_assembly(&flat).unwrap().is_some());
        flat["inner"] = json!([around("middle", 1), agent]);
        for unsound in [flat, around("outer", 0)] {
            let error = check_assembly(&unsound).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
        }
        assert!(check_nesting("graph", "g", 100).is_ok());
        let error = check_nesting("graph", "g", 101).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AssemblyLimit);
    }
}

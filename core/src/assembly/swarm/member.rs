//! A member of a swarm at work.

use std::sync::Arc;

use async_trait::async_trait;

use super::MemberDefinition;
use super::handoff::{HandoffTool, Slot};
use crate::assembly::{AgentAssembly, Assembly, AssemblyKind, ask};
use crate::error::Result;
use crate::run::{Hold, RunCore, RunResult};

/// A member's agent with the tool to hand off.
pub(super) struct MemberAssembly {
    agent: Arc<AgentAssembly>,
    tool: Option<Result<Arc<HandoffTool>>>,
    slot: Slot,
    /// Where its events wait until it is known that the answer is final.
    hold: Option<Hold>,
}

impl MemberAssembly {
    pub(super) fn new(
        member: &MemberDefinition,
        targets: Vec<&MemberDefinition>,
        slot: &Slot,
        held: bool,
        hold: &Hold,
    ) -> Self {
        Self {
            agent: Arc::clone(&member.agent),
            tool: (!targets.is_empty()).then(|| HandoffTool::new(&targets, slot).map(Arc::new)),
            slot: slot.clone(),
            hold: held.then(|| hold.clone()),
        }
    }
}

#[async_trait]
impl Assembly for MemberAssembly {
    fn id(&self) -> &Arc<str> {
        &self.agent.id
    }

    fn kind(&self) -> AssemblyKind {
        AssemblyKind::Agent
    }

    fn description(&self) -> &str {
        &self.agent.description
    }

    async fn answer(&self, part: &Arc<RunCore>, parent: &Arc<str>) -> Result<Arc<RunResult>> {
        // A further attempt starts afresh.
        self.slot.clear();
        if let Some(hold) = &self.hold {
            hold.clear();
            part.hold_events(hold.clone());
        }
        let mut agent = self.agent.open(part).await?;
        if let Some(tool) = &self.tool {
            agent
                .tools
                .add(Arc::clone(tool.as_ref().map_err(Clone::clone)?) as _)?;
            let slot = self.slot.clone();
            agent.ends = Some(Arc::new(move || slot.is_taken()));
        }
        ask(part, parent, agent).await
    }
}

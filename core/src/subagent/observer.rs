//! What is seen of a turn while it works.

use std::sync::{Arc, Weak};

use async_trait::async_trait;

use super::answer::cut;
use super::event::{SubagentEvent, SubagentEventKind};
use super::manager::Manager;
use crate::event::StreamEvent;
use crate::message::ToolUse;
use crate::run::EventObserver;

/// Characters of what a subagent said on the way.
const MAX_MESSAGE_CHARS: usize = 160;

/// Watches the events of one turn.
pub(super) struct Observer {
    pub(super) manager: Weak<Manager>,
    pub(super) path: Arc<str>,
}

#[async_trait]
impl EventObserver for Observer {
    async fn see(&self, event: &StreamEvent) {
        let Some(manager) = self.manager.upgrade() else {
            return;
        };
        let seen = match event {
            StreamEvent::ModelStop { response, .. }
                if response.message.tool_uses().next().is_some() =>
            {
                let said = response.message.text();
                self.note(&manager, SubagentEventKind::Activity, Some(&said), None)
            }
            StreamEvent::ToolStart { tool_use } => self.note(
                &manager,
                SubagentEventKind::ToolStarted,
                None,
                Some(tool_use),
            ),
            StreamEvent::ToolStop { tool_use, .. } => self.note(
                &manager,
                SubagentEventKind::ToolFinished,
                None,
                Some(tool_use),
            ),
            _ => return,
        };
        if let Some(event) = seen {
            manager.tell(event).await;
        }
    }
}

impl Observer {
    fn note(
        &self,
        manager: &Manager,
        kind: SubagentEventKind,
        said: Option<&str>,
        call: Option<&ToolUse>,
    ) -> Option<SubagentEvent> {
        manager.with(&self.path, |identity| {
            identity.progress.sequence += 1;
            let said = said.map(|said| said.split_whitespace().collect::<Vec<_>>().join(" "));
            if let Some(said) = said.filter(|said| !said.is_empty()) {
                identity.progress.message = Some(cut(said, MAX_MESSAGE_CHARS).0);
            }
            SubagentEvent {
                tool_call_id: call.map(|call| call.id.clone()),
                tool_name: call.map(|call| call.name.clone()),
                ..identity.event(kind)
            }
        })
    }
}

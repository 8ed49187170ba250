//! Tool calls of a model that its consumers are not shown while it makes them.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::event::StreamEvent;

/// Hides the calls of some tools from a stream of a model's events.
#[derive(Clone, Debug)]
pub(super) struct Curtain {
    names: &'static [&'static str],
    /// Positions of such calls in the response that comes in.
    hidden: Arc<Mutex<HashSet<u32>>>,
}

impl Curtain {
    pub(super) fn before(names: &'static [&'static str]) -> Self {
        Self {
            names,
            hidden: Arc::default(),
        }
    }

    pub(super) fn hides(&self, event: &StreamEvent) -> bool {
        match event {
            StreamEvent::MessageStart { .. } => {
                self.hidden.lock().clear();
                false
            }
            StreamEvent::ToolCallStart { index, name, .. } => {
                let hides = self.names.contains(&name.as_str());
                if hides {
                    self.hidden.lock().insert(*index);
                }
                hides
            }
            StreamEvent::ToolCallDelta { index, .. } => self.hidden.lock().contains(index),
            StreamEvent::ToolCallStop { tool_use, .. } => {
                self.names.contains(&tool_use.name.as_str())
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_calls_of_the_named_tools_are_hidden() {
        let curtain = Curtain::before(&["exec"]);
        let start = |index, name: &str| StreamEvent::ToolCallStart {
            index,
            id: "1".into(),
            name: name.into(),
        };
        let delta = |index| StreamEvent::ToolCallDelta {
            index,
            arguments: "{}".into(),
        };
        assert!(curtain.hides(&start(1, "exec")));
        assert!(!curtain.hides(&start(2, "look")));
        assert!(curtain.hides(&delta(1)));
        assert!(!curtain.hides(&delta(2)));
        let next = StreamEvent::MessageStart {
            id: None,
            model: "m".into(),
        };
        assert!(!curtain.hides(&next));
        assert!(
            !curtain.hides(&delta(1)),
            "the positions are those of one response"
        );
    }
}

//! The steps of a result, short: what is usual is left out, and steps are named by their participants.

use std::collections::HashMap;

use little_ghost::{Step, StepStatus, Trajectory};
use serde_json::{Value, json};

use super::super::compact::counts;

/// The steps of one result.
#[derive(Debug)]
pub(super) struct Steps {
    steps: Vec<Step>,
    names: HashMap<String, String>,
}

impl Steps {
    pub(super) fn new(steps: &[Step]) -> Self {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut names = HashMap::new();
        for step in steps {
            let number = seen.entry(&*step.participant).or_default();
            *number += 1;
            let name = match *number {
                1 => step.participant.to_string(),
                number => format!("{} {number}", step.participant),
            };
            names.insert(step.id.to_string(), name);
        }
        Self {
            steps: steps.to_vec(),
            names,
        }
    }

    pub(super) fn shorten(&self) -> Vec<Value> {
        self.check();
        self.steps.iter().map(|step| self.short(step)).collect()
    }

    /// Whether the steps of these names went on at the same time.
    pub(super) fn concurrent(&self, first: &str, second: &str) -> bool {
        let id = |wanted: &str| {
            self.names
                .iter()
                .find(|(_, name)| *name == wanted)
                .unwrap()
                .0
        };
        Trajectory::new(&self.steps).concurrent(id(first), id(second))
    }

    fn short(&self, step: &Step) -> Value {
        let mut entry = json!({
            "step": self.names[&*step.id],
            "ran": format!("{} {}", step.assembly_kind.as_str(), step.assembly_id),
            "output": step.output,
        });
        if !step.predecessor_ids.is_empty() {
            let names = step
                .predecessor_ids
                .iter()
                .map(|id| self.names[&**id].as_str());
            entry["after"] = names.collect();
        }
        if let Some(parent) = &step.parent_id {
            entry["in"] = json!(self.names[&**parent]);
        }
        if let Some(branch) = &step.branch_id {
            entry["branch"] = json!(**branch);
        }
        let attempts: Vec<&str> = step
            .attempts
            .iter()
            .map(|attempt| attempt.error.as_deref().unwrap_or("completed"))
            .collect();
        if attempts != ["completed"] {
            entry["attempts"] = json!(attempts);
        }
        if step.status != StepStatus::Completed {
            entry["status"] = json!(step.status.as_str());
        }
        let counts = counts(&step.usage.to_value()).unwrap();
        if counts != json!([10, 5]) {
            entry["usage"] = counts;
        }
        if step.output_truncated {
            entry["truncated"] = json!(true);
        }
        entry
    }

    /// What must hold of every trajectory.
    fn check(&self) {
        let trajectory = Trajectory::new(&self.steps);
        let links = self.steps.iter().flat_map(|step| {
            let ids = step.predecessor_ids.iter();
            ids.map(|id| (id.clone(), step.id.clone()))
        });
        assert_eq!(trajectory.transitions(), links.collect::<Vec<_>>());
        for step in &self.steps {
            assert_eq!(trajectory.step(&step.id), Some(step));
            let numbers = step.attempts.iter().map(|attempt| attempt.number as usize);
            assert!(
                numbers.eq(1..=step.attempts.len()),
                "attempts are not numbered"
            );
            let total: u64 = step
                .attempts
                .iter()
                .map(|attempt| attempt.usage.total_tokens())
                .sum();
            assert_eq!(total, step.usage.total_tokens(), "attempts do not add up");
            assert!(
                step.attempts
                    .iter()
                    .all(|attempt| attempt.started_at <= attempt.finished_at)
            );
            let inside = self
                .steps
                .iter()
                .filter(|inner| inner.parent_id.as_ref() == Some(&step.id));
            assert!(
                trajectory.children(&step.id).eq(inside),
                "the inside is wrong"
            );
        }
    }
}

//! What a swarm is made of.

use std::collections::HashSet;
use std::sync::Arc;

use crate::assembly::{AgentAssembly, StepPolicy, check_name};
use crate::error::{Error, ErrorKind, Result};
use crate::prompt::PromptLocals;

/// What a swarm is made of. Checked before it runs.
pub(crate) struct SwarmDefinition {
    pub(crate) id: Arc<str>,
    pub(crate) description: String,
    pub(crate) members: Vec<MemberDefinition>,
    pub(crate) start: Option<Arc<str>>,
    /// Who may hand off to whom. Without any, everybody may hand off to everybody else.
    pub(crate) handoffs: Vec<(Arc<str>, Vec<Arc<str>>)>,
    pub(crate) max_steps: u32,
    pub(crate) max_handoff_repeats: u32,
    /// Values for the prompts of members.
    pub(crate) locals: PromptLocals,
}

/// One member of a swarm.
pub(crate) struct MemberDefinition {
    pub(crate) id: Arc<str>,
    pub(crate) agent: Arc<AgentAssembly>,
    pub(crate) policy: StepPolicy,
    /// Whether it gets the caller's history.
    pub(crate) history: bool,
    /// Whether it gets the caller's context.
    pub(crate) context: bool,
}

impl SwarmDefinition {
    /// Executions of members, unless said otherwise.
    pub(crate) const MAX_STEPS: u32 = 20;
    /// The same handoff, unless said otherwise.
    pub(crate) const MAX_HANDOFF_REPEATS: u32 = 3;

    /// The member that begins.
    pub(super) fn first(&self) -> Result<&MemberDefinition> {
        let start = self.start.as_ref();
        start
            .and_then(|start| self.find(start))
            .ok_or_else(|| self.wrong("has no start; name the member that begins"))
    }

    /// The member `id`.
    pub(super) fn member(&self, id: &str) -> Result<&MemberDefinition> {
        self.find(id)
            .ok_or_else(|| self.wrong(&format!("has no member {id:?}")))
    }

    fn find(&self, id: &str) -> Option<&MemberDefinition> {
        self.members.iter().find(|member| *member.id == *id)
    }

    /// The members that `id` may hand off to.
    pub(super) fn targets(&self, id: &str) -> Vec<&MemberDefinition> {
        if self.handoffs.is_empty() {
            return self
                .members
                .iter()
                .filter(|member| *member.id != *id)
                .collect();
        }
        let declared = self.handoffs.iter().find(|(from, _)| **from == *id);
        declared
            .map(|(_, to)| to.iter().filter_map(|to| self.find(to)).collect())
            .unwrap_or_default()
    }

    /// Checks the members and the routes between them.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] with what is wrong.
    pub(crate) fn validate(&self) -> Result<()> {
        check_name("the id of a swarm", &self.id)?;
        if self.members.len() < 2 {
            return Err(self.wrong("needs at least two members"));
        }
        if self.max_steps == 0 {
            return Err(self.wrong("needs max_steps of at least 1"));
        }
        let mut seen = HashSet::new();
        for member in &self.members {
            check_name(
                &format!("the name of a member of the swarm {:?}", self.id),
                &member.id,
            )?;
            if !seen.insert(&*member.id) {
                return Err(self.wrong(&format!(
                    "has two members called {:?}; name one of them otherwise",
                    member.id
                )));
            }
        }
        match &self.start {
            None => return Err(self.wrong("has no start; name the member that begins")),
            Some(start) if !seen.contains(&**start) => {
                return Err(self.wrong(&format!("starts with {start:?}, which is no member")));
            }
            Some(_) => {}
        }
        let mut sources = HashSet::new();
        for (from, targets) in &self.handoffs {
            if !sources.insert(&**from) {
                return Err(self.wrong(&format!("declares handoffs of {from:?} twice")));
            }
            for name in std::iter::once(from).chain(targets) {
                if !seen.contains(&**name) {
                    return Err(self.wrong(&format!(
                        "names {name:?} in its handoffs, which is no member"
                    )));
                }
            }
            if targets.contains(from) {
                return Err(self.wrong(&format!("lets {from:?} hand off to itself")));
            }
        }
        Ok(())
    }

    fn wrong(&self, problem: &str) -> Error {
        Error::new(
            ErrorKind::Configuration,
            format!("the swarm {:?} {problem}", self.id),
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::agent::Agent;
    use crate::assembly::Swarm;

    #[test]
    fn a_swarm_takes_at_least_one_step() {
        let agent = |id: &str| Agent::builder(id).model("a:b").build().unwrap();
        let (a, b) = (agent("a"), agent("b"));
        let swarm = |steps| {
            Swarm::builder("s")
                .member(&a)
                .member(&b)
                .start("a")
                .max_steps(steps)
                .build()
        };
        assert!(swarm(1).is_ok());
        let error = swarm(0).unwrap_err();
        assert!(
            error.message().contains("max_steps of at least 1"),
            "{error}"
        );
    }
}

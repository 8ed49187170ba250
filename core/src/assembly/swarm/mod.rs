//! Swarms: agents hand the request to one another.

mod builder;
mod definition;
mod handoff;
mod member;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Map;
use tokio_util::sync::CancellationToken;

use super::entry::{Entry, callable};
use super::{Assembly, AssemblyEvent, AssemblyKind, Composite, StepPlan};
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Content, Message, Role};
use crate::run::{Audience, Hold, RunCore, RunResult};

pub use builder::{SwarmBuilder, SwarmMember};
pub(crate) use definition::{MemberDefinition, SwarmDefinition};
use handoff::{Handoff, Slot};
use member::MemberAssembly;

/// Agents that hand one request to one another until one of them answers it.
///
/// ```no_run
/// use little_ghost::{Agent, Swarm};
///
/// # async fn example(triage: Agent, billing: Agent, account: Agent) -> little_ghost::Result<()> {
/// let swarm = Swarm::builder("problem_solver")
///     .member(&triage)
///     .member(&billing)
///     .member(&account)
///     .start("triage")
///     .handoff("triage", ["billing", "account"])
///     .build()?;
/// let run = swarm.ask("Why was I charged twice?").await?;
/// println!("{}", run.response());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Swarm {
    entry: Entry,
}

callable!(Swarm);

impl Swarm {
    /// Starts a swarm of that identifier.
    pub fn builder(id: impl Into<String>) -> SwarmBuilder {
        SwarmBuilder::new(id.into())
    }
}

#[async_trait]
impl Assembly for SwarmDefinition {
    fn id(&self) -> &Arc<str> {
        &self.id
    }

    fn kind(&self) -> AssemblyKind {
        AssemblyKind::Swarm
    }

    fn description(&self) -> &str {
        &self.description
    }

    async fn answer(&self, part: &Arc<RunCore>, parent: &Arc<str>) -> Result<Arc<RunResult>> {
        Passage {
            swarm: self,
            composite: Composite::new(self, &self.locals, part, parent)?,
            repeats: HashMap::new(),
            last_step: None,
        }
        .run()
        .await
    }
}

/// One request on its way through a swarm.
struct Passage<'a> {
    swarm: &'a SwarmDefinition,
    composite: Composite,
    /// How often each directed handoff happened.
    repeats: HashMap<(Arc<str>, Arc<str>), u32>,
    last_step: Option<Arc<str>>,
}

impl Passage<'_> {
    async fn run(mut self) -> Result<Arc<RunResult>> {
        let part = Arc::clone(&self.composite.part);
        let mut member = self.swarm.first()?;
        let mut message = part.invocation.message().clone();
        for number in 1..=self.swarm.max_steps {
            let slot = Slot::default();
            let hold = Hold::default();
            let targets = self.swarm.targets(&member.id);
            // A member that cannot hand off any more gives the final answer, which is heard as it comes.
            let is_last = targets.is_empty() || number == self.swarm.max_steps;
            let plan = StepPlan {
                participant: Arc::clone(&member.id),
                target: Arc::new(MemberAssembly::new(member, targets, &slot, !is_last, &hold)),
                policy: member.policy.clone(),
                message,
                history: if member.history {
                    part.history()
                } else {
                    Vec::new()
                },
                context: if member.context {
                    part.with_state(|state| state.clone())
                } else {
                    Map::new()
                },
                audience: Audience::Answer,
                branch_id: None,
                number: Some(number),
                predecessors: self.last_step.take().into_iter().collect(),
                beside: CancellationToken::new(),
                output: Some(slot.as_output()),
            };
            let done = self.composite.run(plan).await?;
            let Some(handoff) = slot.take() else {
                hold.release(&part).await?;
                return Ok(self.composite.recorder.conclude(&part, &done.result));
            };
            let next = self.swarm.member(&handoff.agent_id)?;
            self.count(&member.id, &next.id).await?;
            self.composite
                .tell(AssemblyEvent::Transition {
                    assembly: (Arc::clone(&self.swarm.id), AssemblyKind::Swarm),
                    step: number,
                    from: Arc::clone(&member.id),
                    to: Arc::clone(&next.id),
                    route: None,
                    partial_text: false,
                })
                .await;
            message = handed_over(&member.id, &handoff);
            self.last_step = Some(done.step.id);
            member = next;
        }
        Err(Error::new(
            ErrorKind::AssemblyLimit,
            format!(
                "the swarm {} did not answer within {} steps (max_steps)",
                self.swarm.id, self.swarm.max_steps
            ),
        ))
    }

    async fn count(&mut self, from: &Arc<str>, to: &Arc<str>) -> Result<()> {
        let key = (Arc::clone(from), Arc::clone(to));
        let count = self.repeats.entry(key).or_default();
        *count += 1;
        let count = *count;
        if count <= self.swarm.max_handoff_repeats {
            return Ok(());
        }
        self.composite
            .tell(AssemblyEvent::HandoffLoop {
                assembly_id: Arc::clone(&self.swarm.id),
                from: Arc::clone(from),
                to: Arc::clone(to),
                count,
            })
            .await;
        Err(Error::new(
            ErrorKind::AssemblyLimit,
            format!(
                "{from} handed off to {to} more than {} times (max_handoff_repeats)",
                self.swarm.max_handoff_repeats
            ),
        ))
    }
}

/// What the next member is asked.
fn handed_over(from: &str, handoff: &Handoff) -> Message {
    let mut text = format!("Handoff from {from}:\n{}", handoff.message);
    if let Some(context) = &handoff.context {
        text.push_str("\n\nHandoff context (JSON):\n");
        text.push_str(&context.to_string());
    }
    Message::new(Role::User, vec![Content::text(text)])
}

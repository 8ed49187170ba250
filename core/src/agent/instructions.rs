//! The system prompt of an agent: inline, or from a template.

use std::sync::Arc;

#[cfg(feature = "prompts")]
use serde_json::json;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::panics::caught_call;
use crate::prompt::PromptLocals;
use crate::run::{Run, RunCore};

/// Where an agent's system prompt comes from: what is written inline, else the named template, else
/// the template `system` in the agent's own folder, if there is one.
#[derive(Clone, Default)]
pub(super) struct Instructions {
    pub(super) inline: Option<Inline>,
    #[cfg(feature = "prompts")]
    pub(super) template: Option<String>,
    pub(super) locals: PromptLocals,
}

/// Instructions that are not in a template.
#[derive(Clone)]
pub(super) enum Inline {
    Text(String),
    Written(Arc<Writer>),
}

/// Writes the instructions of one run.
type Writer = dyn Fn(&Run) -> Result<String> + Send + Sync;

impl Inline {
    fn text(&self, run: &Arc<RunCore>) -> Result<Option<String>> {
        match self {
            Inline::Text(text) => Ok(Some(text.clone())),
            Inline::Written(write) => {
                let run = Run::new(Arc::clone(run));
                caught_call("the function that writes the system prompt", || write(&run)).map(Some)
            }
        }
    }
}

impl Instructions {
    /// Takes `inline` in place of a template.
    pub(super) fn write_inline(&mut self, inline: Inline) {
        self.inline = Some(inline);
        #[cfg(feature = "prompts")]
        {
            self.template = None;
        }
    }

    /// Refuses what no run could use.
    pub(super) fn check(&self) -> Result<(), Error> {
        #[cfg(feature = "prompts")]
        if let Some(template) = &self.template {
            crate::prompt::check_template_name(template)?;
        }
        self.locals.check()
    }

    /// The text for `run` of the agent `id`; `None` is no system prompt.
    #[cfg(not(feature = "prompts"))]
    pub(super) fn text(
        &self,
        run: &Arc<RunCore>,
        _id: &str,
        _description: &str,
        _own: Option<Map<String, Value>>,
    ) -> Result<Option<String>> {
        match &self.inline {
            Some(inline) => inline.text(run),
            None => Ok(None),
        }
    }

    /// The text for `run` of the agent `id`; `None` is no system prompt.
    #[cfg(feature = "prompts")]
    pub(super) fn text(
        &self,
        run: &Arc<RunCore>,
        id: &str,
        description: &str,
        own: Option<Map<String, Value>>,
    ) -> Result<Option<String>> {
        if let Some(inline) = &self.inline {
            return inline.text(run);
        }
        let prompts = run.runtime.prompts();
        let paths = run.invocation.template_paths();
        let usual = format!("{id}/system");
        let name = match &self.template {
            Some(template) => template,
            None if is_conventional(id) && prompts.find(&usual, paths)?.is_some() => &usual,
            None => return Ok(None),
        };
        let own = match own {
            Some(own) => own,
            None => self.locals.resolve(run)?,
        };
        let locals = locals(run, id, description, own);
        prompts
            .render_with(name, &Value::Object(locals), paths)
            .map(Some)
    }
}

/// What a template may use: what every one may, what came from the agents around, and the agent's own.
#[cfg(feature = "prompts")]
fn locals(
    run: &RunCore,
    id: &str,
    description: &str,
    own: Map<String, Value>,
) -> Map<String, Value> {
    let invocation = &run.invocation;
    let mut request = invocation.to_value();
    if let Value::Object(request) = &mut request {
        request.insert("text".into(), json!(invocation.message().text()));
    }
    let mut locals = Map::new();
    locals.insert("invocation".into(), request);
    locals.insert(
        "run".into(),
        json!({
            "run_id": invocation.run_id(),
            "invocation_id": invocation.invocation_id(),
            "session_id": invocation.session_id(),
        }),
    );
    locals.insert(
        "agent".into(),
        json!({"agent_id": id, "name": id, "description": description}),
    );
    locals.extend(Map::clone(&run.place.locals));
    locals.extend(own);
    locals
}

/// Whether an agent's identifier can name a folder of templates.
#[cfg(feature = "prompts")]
fn is_conventional(id: &str) -> bool {
    id.split('/').all(|part| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    })
}

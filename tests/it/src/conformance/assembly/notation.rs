//! Events as short texts. An event whose data is not what its text and those before it imply is written in
//! full. The rules are in `tests/conformance/ASSEMBLIES.md`.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::super::compact::counts;
use super::case::AssemblyCase;
use super::observation::{Observation, Seen};
use super::template::{shown, text_of};

/// What a model does in detail; the other cases check it.
const QUIET: [&str; 9] = [
    "model_start",
    "model_stop",
    "message_start",
    "message_stop",
    "usage",
    "tool_call_start",
    "tool_call_delta",
    "tool_call_stop",
    "trace_context",
];

/// Whose request it is.
pub(super) fn agent_of(body: &Value) -> String {
    let prompt = spoken_text(&body["messages"][0]);
    let name = prompt
        .strip_prefix("You are ")
        .and_then(|rest| rest.split_once('.'));
    name.unwrap_or_else(|| panic!("whose is {body}"))
        .0
        .to_owned()
}

/// The messages of a request after the instructions; one from the user is written as its text.
pub(super) fn conversation(body: &Value) -> Value {
    let messages = &body["messages"].as_array().unwrap()[1..];
    if let [only] = messages
        && only["role"] == "user"
    {
        return json!(spoken(only));
    }
    let line =
        |message: &Value| format!("{}: {}", message["role"].as_str().unwrap(), spoken(message));
    messages.iter().map(line).collect()
}

fn spoken(message: &Value) -> String {
    let calls = message["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| {
            let part = |key: &str| call["function"][key].as_str().unwrap_or_default();
            format!("{}{}", part("name"), part("arguments"))
        });
    let mut parts: Vec<String> = std::iter::once(spoken_text(message)).chain(calls).collect();
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

fn spoken_text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        _ => text_of(message),
    }
}

/// What the events so far imply about the next ones. Without `seen`, the ending is not compared.
pub(super) struct Notation<'a> {
    case: &'a AssemblyCase,
    seen: Option<&'a Observation>,
    steps: HashMap<String, Value>,
}

impl<'a> Notation<'a> {
    pub(super) fn new(case: &'a AssemblyCase, seen: Option<&'a Observation>) -> Self {
        Self {
            case,
            seen,
            steps: HashMap::new(),
        }
    }

    /// The events of the run, and by participant those of agents.
    pub(super) fn shorten(mut self, events: &[Seen]) -> (Vec<Value>, BTreeMap<String, Vec<Value>>) {
        let mut own = Vec::new();
        let mut agents: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let mut wrapped: HashMap<String, usize> = HashMap::new();
        for event in events.iter().filter(|event| !QUIET.contains(&&*event.kind)) {
            let Seen { kind, data, source } = event;
            let agents_own = agent_event(kind, data);
            let Some(source) = source else {
                // Assemblies have no wrappers for their failures.
                if let Some(text) = &agents_own
                    && self.case.asked().agent_events() == Some(true)
                    && !text.starts_with("failed ")
                {
                    let left = wrapped.get_mut(text).filter(|left| **left > 0);
                    *left.unwrap_or_else(|| panic!("{text} came without its wrapper")) -= 1;
                }
                own.push(match self.short(kind, data) {
                    Some(text) => json!(text),
                    None => json!({"type": kind, "data": data}),
                });
                continue;
            };
            let mut text = agents_own.unwrap_or_else(|| panic!("no short form for {kind} {data}"));
            *wrapped.entry(text.clone()).or_default() += 1;
            if let Some(asked) = source["input"].as_str() {
                text = format!("{text}: {asked}");
            }
            agents
                .entry(self.name_of(source))
                .or_default()
                .push(json!(text));
        }
        (own, agents)
    }

    /// The text of one event, for the steps of a case.
    pub(super) fn note(&mut self, event: &Seen) -> Option<String> {
        let Seen { kind, data, source } = event;
        if QUIET.contains(&&**kind) {
            return None;
        }
        match source {
            Some(source) => Some(format!(
                "{}: {}",
                self.name_of(source),
                agent_event(kind, data)?
            )),
            None => self.short(kind, data),
        }
    }

    fn name_of(&self, source: &Value) -> String {
        let mut names = Vec::new();
        for step in source["path"].as_array().unwrap() {
            if let Some(known) = self.steps.get(step["step_id"].as_str().unwrap()) {
                for (key, value) in step.as_object().unwrap() {
                    assert_eq!(known.get(key).unwrap_or(&Value::Null), value, "{step}");
                }
            }
            names.push(step["participant"].as_str().unwrap());
        }
        names.push(source["agent_id"].as_str().unwrap());
        names.join("/")
    }

    fn short(&mut self, kind: &str, data: &Value) -> Option<String> {
        let map = data.as_object()?;
        match kind {
            "assembly_step_start" => {
                let id = data["step_id"].as_str()?.to_owned();
                let fits = self.place(data) == *data && id.len() > 8;
                let is_new = fits && self.steps.insert(id, data.clone()).is_none();
                is_new.then(|| format!("start {}", step(data)))
            }
            "assembly_step_stop" => {
                let mut rest = map.clone();
                rest.shift_remove("usage");
                let known = self.steps.get(data["step_id"].as_str()?)?;
                (*known == Value::Object(rest))
                    .then(|| format!("stop {} {}", step(data), usage(data)))
            }
            "assembly_step_error" | "assembly_step_retry" => self.failed(kind, map),
            _ => self
                .routed(kind, map)
                .or_else(|| agent_event(kind, data))
                .or_else(|| self.ending(kind, data)),
        }
    }

    fn failed(&self, kind: &str, map: &Map<String, Value>) -> Option<String> {
        let known = self.steps.get(map["step_id"].as_str()?)?;
        if map.get("participant") != known.get("participant") {
            return None;
        }
        let what = format!(
            "{} {} {}",
            step(known),
            map.get("attempt")?,
            map.get("error_type")?.as_str()?
        );
        if kind == "assembly_step_error" {
            has(
                map,
                &[
                    "attempt",
                    "error_type",
                    "participant",
                    "step_id",
                    "terminal",
                    "usage",
                ],
            )?;
            let end = if map["terminal"] == true {
                " final"
            } else {
                ""
            };
            return Some(format!(
                "error {what} {}{end}",
                usage(&json!({"usage": map["usage"]}))
            ));
        }
        has(
            map,
            &[
                "attempt",
                "delay",
                "error_type",
                "partial_text",
                "participant",
                "step_id",
            ],
        )?;
        let pause = match map["delay"].as_f64()? {
            0.0 => String::new(),
            delay => format!(" after {delay:?}"),
        };
        let mark = if map["partial_text"] == true {
            " superseded"
        } else {
            ""
        };
        Some(format!("retry {what}{pause}{mark}"))
    }

    fn routed(&self, kind: &str, map: &Map<String, Value>) -> Option<String> {
        let id = map.get("assembly_id")?.as_str()?;
        if map.get("assembly_kind")? != self.case.kind(id) {
            return None;
        }
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
        let list = |key: &str| {
            map.get(key)
                .map(shown)
                .unwrap_or_default()
                .replace(", ", ",")
        };
        match kind {
            "assembly_transition" => {
                let mut fields = vec!["assembly_id", "assembly_kind", "step", "from", "to"];
                if self.case.kind(id) == "graph" {
                    fields.extend(["error", "branch_id"]);
                }
                let mut marks = String::new();
                if map.get("error").is_some_and(|error| *error == true) {
                    fields.push("partial_text");
                    marks.push_str(" error");
                    if map.get("partial_text")? == true {
                        marks.push_str(" superseded");
                    }
                }
                has(map, &fields)?;
                let branch = branch(map.get("branch_id"));
                Some(format!(
                    "move {id} {}>{} {}{marks}{branch}",
                    text("from"),
                    text("to"),
                    map["step"]
                ))
            }
            "assembly_handoff_loop" => {
                has(
                    map,
                    &["assembly_id", "assembly_kind", "from", "to", "count"],
                )?;
                Some(format!(
                    "loop {id} {}>{} {}",
                    text("from"),
                    text("to"),
                    map["count"]
                ))
            }
            "assembly_fork" => {
                has(map, &["assembly_id", "assembly_kind", "from", "branches"])?;
                Some(format!("fork {id} {}>{}", text("from"), list("branches")))
            }
            "assembly_join" => {
                has(map, &["assembly_id", "assembly_kind", "from", "to"])?;
                Some(format!("join {id} {}>{}", list("from"), text("to")))
            }
            _ => None,
        }
    }

    fn ending(&self, kind: &str, data: &Value) -> Option<String> {
        let outcome = |name: &str| json!({"outcome": name});
        let (text, mut expected) = match kind {
            "run_start" => {
                let thread = self.case.asked().session_id.as_ref();
                let thread = thread.map_or_else(|| data["run_id"].clone(), |id| json!(id));
                let fits = *data == json!({"run_id": data["run_id"], "thread_id": thread});
                return fits.then(|| kind.to_owned());
            }
            "run_stop" => (kind.to_owned(), outcome("completed")),
            "run_cancel" => (kind.to_owned(), outcome("cancelled")),
            "run_error" => (
                format!("run_error {}", data["error"]["class"].as_str()?),
                outcome("failed"),
            ),
            "run_partial" => {
                let text = format!("run_partial {}", data["response"].as_str()?);
                (text.trim_end().to_owned(), outcome("partial"))
            }
            other => return (!other.starts_with("assembly_")).then(|| other.to_owned()),
        };
        let Some(seen) = self.seen else {
            return Some(text);
        };
        match kind {
            "run_error" => {
                expected["message"] = data["message"].clone();
                expected["cleanup_failed"] = json!(false);
            }
            _ => expected["response"] = json!(seen.response),
        }
        match kind {
            "run_stop" => expected["result"] = seen.result.clone(),
            _ => expected["error"] = json!(seen.error),
        }
        (*data == expected).then_some(text)
    }

    /// The data of a step that begins.
    fn place(&self, data: &Value) -> Value {
        let kind = self
            .case
            .kind(data["assembly_id"].as_str().unwrap_or_default());
        let mut place = json!({
            "assembly_id": data["assembly_id"], "assembly_kind": kind,
            "participant": data["participant"], "step_id": data["step_id"],
        });
        match kind {
            "swarm" => place["step"] = data["step"].clone(),
            "graph" => place["branch_id"] = data["branch_id"].clone(),
            _ => {}
        }
        place
    }
}

fn agent_event(kind: &str, data: &Value) -> Option<String> {
    let map = data.as_object()?;
    let tool = || data["tool_use"]["name"].as_str();
    Some(match kind {
        "invocation_start" => {
            has(map, &["agent_id"])?;
            format!("begin {}", data["agent_id"].as_str()?)
        }
        "text_delta" => {
            has(map, &["text"])?;
            format!("text {}", data["text"].as_str()?)
        }
        "tool_start" => format!("call {}", tool()?),
        "tool_stop" => {
            let result = &data["result"];
            let status = result["status"].as_str()?;
            format!("called {} {status}: {}", tool()?, shown(&result["content"]))
        }
        "invocation_stop" => format!("end {}", usage(&data["result"])),
        "invocation_error" => {
            has(map, &["error", "metadata", "usage"])?;
            format!(
                "failed {} {}",
                data["error"]["class"].as_str()?,
                usage(data)
            )
        }
        "model_retry" => kind.to_owned(),
        _ => return None,
    })
}

/// `Some` when the object has these keys and no others.
fn has(map: &Map<String, Value>, keys: &[&str]) -> Option<()> {
    let fits = map.len() == keys.len() && keys.iter().all(|key| map.contains_key(*key));
    fits.then_some(())
}

fn step(data: &Value) -> String {
    let text = |key: &str| data[key].as_str().unwrap_or_default();
    let number = match data.get("step") {
        Some(number) => format!(" #{number}"),
        None => String::new(),
    };
    format!(
        "{}/{}{number}{}",
        text("assembly_id"),
        text("participant"),
        branch(data.get("branch_id"))
    )
}

fn branch(id: Option<&Value>) -> String {
    match id.and_then(Value::as_str) {
        Some(id) => format!(" @{id}"),
        None => String::new(),
    }
}

fn usage(data: &Value) -> String {
    counts(&data["usage"])
        .unwrap_or_else(|| data["usage"].clone())
        .to_string()
}

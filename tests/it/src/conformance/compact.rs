//! Events in the short notation of the cases.
//!
//! An event whose data is what the case and the earlier events imply is written short; any other is
//! written in full, so that nothing is lost. The rules are in `tests/conformance/README.md`.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::case::Case;
use super::observation::Observation;

const COUNTERS: [&str; 5] = [
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
];

/// What the events so far imply about the next ones.
struct Context<'a> {
    case: &'a Case,
    error: Value,
    run_id: Value,
    turns: usize,
    started: Value,
    reasoning: String,
    text: String,
    calls: Vec<Value>,
    usage: Value,
    lost: [u64; 5],
    total: [u64; 5],
    response: Value,
    results: HashMap<String, Value>,
    messages: Vec<Value>,
    result: Value,
}

/// All events of `observation`, short.
pub(super) fn compact(case: &Case, observation: &Observation) -> Vec<Value> {
    let mut context = Context::new(case, observation);
    let mut list: Vec<Value> = Vec::new();
    for (kind, data) in &observation.events {
        let entry = match context.short(kind, data) {
            Some(entry) => entry,
            None => json!({"type": kind, "data": data}),
        };
        context.advance(kind, data);
        let joined = list.last_mut().is_some_and(|last| join(last, &entry));
        if !joined {
            list.push(entry);
        }
    }
    list
}

/// Token counts without the zeros at the end; `None` when they are not consistent.
pub(super) fn counts(usage: &Value) -> Option<Value> {
    let mut list: Vec<u64> = Vec::with_capacity(5);
    for counter in COUNTERS {
        list.push(usage.get(counter)?.as_u64()?);
    }
    let total: u64 = list.iter().sum();
    if usage.as_object()?.len() != 6 || usage["total_tokens"] != total {
        return None;
    }
    while list.last() == Some(&0) {
        list.pop();
    }
    Some(json!(list))
}

/// Adds a delta to the entry before it, if that is of the same kind and place.
fn join(last: &mut Value, entry: &Value) -> bool {
    for kind in ["text_delta", "reasoning_delta"] {
        if let (Some(previous), Some(piece)) = (last.get_mut(kind), entry.get(kind)) {
            match previous {
                Value::Array(pieces) => pieces.push(piece.clone()),
                single => *single = json!([single.take(), piece]),
            }
            return true;
        }
    }
    let kind = "tool_call_delta";
    if let (Some(Value::Array(previous)), Some(Value::Array(next))) =
        (last.get_mut(kind), entry.get(kind))
        && previous.first() == next.first()
    {
        previous.extend(next.iter().skip(1).cloned());
        return true;
    }
    false
}

impl<'a> Context<'a> {
    fn new(case: &'a Case, observation: &Observation) -> Self {
        let mut messages = Vec::new();
        let text = |role: &str, text: &Value| json!({"role": role, "content": [{"type": "text", "text": text}], "metadata": {}});
        if let Some(prompt) = &case.agent.system_prompt {
            messages.push(text("system", &json!(prompt)));
        }
        let history = match &case.session {
            Some(session) => &session.messages,
            None => &case.invocation.history,
        };
        messages.extend(history.iter().cloned());
        messages.push(match &case.invocation.message {
            Value::String(_) => text("user", &case.invocation.message),
            message => message.clone(),
        });
        Self {
            case,
            error: observation.error.clone().unwrap_or_default(),
            run_id: Value::Null,
            turns: 0,
            started: Value::Null,
            reasoning: String::new(),
            text: String::new(),
            calls: Vec::new(),
            usage: zero(),
            lost: [0; 5],
            total: [0; 5],
            response: Value::Null,
            results: HashMap::new(),
            messages,
            result: Value::Null,
        }
    }

    /// The short form of an event, if its data is what was to be expected.
    fn short(&self, kind: &str, data: &Value) -> Option<Value> {
        let bare = |fits: bool| fits.then(|| json!(kind));
        let with = |value: Value| Some(json!({kind: value}));
        match kind {
            "run_start" => {
                let session = self.case.invocation.session_id.as_ref();
                let thread = session.map_or_else(|| data["run_id"].clone(), |id| json!(id));
                let run_id = data["run_id"].as_str().unwrap_or_default();
                bare(!run_id.is_empty() && *data == json!({"run_id": run_id, "thread_id": thread}))
            }
            "invocation_start" => bare(*data == json!({"agent_id": self.case.agent.id})),
            "model_start" => bare(*data == json!({"turn": self.turns})),
            "message_start" => {
                let id = if self.case.is_responses() {
                    "resp_1"
                } else {
                    "chatcmpl-1"
                };
                if *data == json!({"id": id, "model": "scripted-model"}) {
                    return bare(true);
                }
                only(data, &["id", "model"]).and_then(with)
            }
            "text_delta" | "reasoning_delta" => {
                only(data, &["text"]).and_then(|mut values| with(values[0].take()))
            }
            "tool_call_start" => only(data, &["index", "id", "name"]).and_then(with),
            "tool_call_delta" => only(data, &["index", "arguments"]).and_then(with),
            "tool_call_stop" => {
                let call = &data["tool_use"];
                let fits = only(data, &["index", "tool_use"]).is_some()
                    && only(call, &["type", "id", "name", "input"]).is_some()
                    && call["type"] == "tool_use";
                fits.then(
                    || json!({kind: [data["index"], call["id"], call["name"], call["input"]]}),
                )
            }
            "usage" => {
                only(data, &["usage"])?;
                counts(&data["usage"]).and_then(with)
            }
            "message_stop" => {
                only(data, &["response"])?;
                let response = &data["response"];
                let reason = response["stop_reason"].clone();
                if *response == self.implied_response(&reason) {
                    return with(reason);
                }
                let mut redacted = self.implied_response(&reason);
                redacted["message"] = self.placeholder();
                if *response == redacted {
                    return with(json!([reason, "redacted"]));
                }
                with(response.clone())
            }
            "model_stop" => {
                let turn = self.turns.checked_sub(1)?;
                bare(*data == json!({"turn": turn, "response": self.response}))
            }
            "tool_start" => {
                let call = self.call(&data["tool_use"]["id"])?;
                (*data == json!({"tool_use": call})).then(|| json!({kind: call["id"]}))
            }
            "tool_stop" => {
                let call = self.call(&data["tool_use"]["id"])?;
                let (status, content) = (&data["result"]["status"], &data["result"]["content"]);
                let result = json!({
                    "type": "tool_result", "tool_use_id": call["id"],
                    "content": content, "status": status,
                });
                (*data == json!({"tool_use": call, "result": result}))
                    .then(|| json!({kind: [call["id"], status, content]}))
            }
            "model_retry" => with(data.clone()),
            "invocation_stop" if data["result"].get("structured").is_some() => {
                let result = &data["result"];
                let value = &result["structured"]["value"];
                let written: Value =
                    serde_json::from_str(&text_of(&result["message"])).unwrap_or_default();
                let last = result["messages"].as_array().and_then(|list| list.last());
                let whole = json!({
                    "message": result["message"], "stop_reason": "structured_result",
                    "usage": usage_value(&self.total), "messages": result["messages"],
                    "structured": {"name": self.case.agent.result_name(), "value": value},
                });
                let fits = *result == whole
                    && *value == written
                    && last == Some(&result["message"])
                    && self.names_model(&data["metadata"]);
                fits.then(|| json!({kind: value}))
            }
            "invocation_stop" => {
                let result = json!({
                    "message": self.response["message"],
                    "stop_reason": self.response["stop_reason"],
                    "usage": usage_value(&self.total),
                    "messages": self.messages,
                });
                bare(
                    only(data, &["result", "metadata"]).is_some()
                        && data["result"] == result
                        && self.names_model(&data["metadata"]),
                )
            }
            "run_stop" => bare(
                *data
                    == json!({
                        "outcome": "completed", "response": text_of(&self.result["message"]),
                        "result": self.result,
                    }),
            ),
            "invocation_error" => {
                let fits = only(data, &["error", "usage", "metadata"]).is_some()
                    && data["error"] == self.error
                    && data["usage"] == usage_value(&self.total_now())
                    && self.names_model(&data["metadata"]);
                fits.then(|| json!({kind: self.error["class"]}))
            }
            "run_error" => {
                let fits = *data
                    == json!({
                        "outcome": "failed", "error": self.error,
                        "message": data["message"], "cleanup_failed": false,
                    });
                fits.then(|| json!({kind: [self.error["class"], data["message"]]}))
            }
            "run_cancel" => bare(
                self.error["class"] == "CancelledError"
                    && *data
                        == json!({"outcome": "cancelled", "response": "", "error": self.error}),
            ),
            "run_partial" => {
                let response = &data["response"];
                let fits = self.error["class"] == "DeadlineExceededError"
                    && *data
                        == json!({"outcome": "partial", "response": response, "error": self.error});
                fits.then(|| json!({kind: response}))
            }
            _ => None,
        }
    }

    fn advance(&mut self, kind: &str, data: &Value) {
        let piece = || data["text"].as_str().unwrap_or_default();
        match kind {
            "run_start" => self.run_id = data["run_id"].clone(),
            "model_start" => {
                self.turns += 1;
                if !self.results.is_empty() {
                    let answered = self.response["message"]["content"].as_array();
                    let content: Vec<Value> = answered
                        .into_iter()
                        .flatten()
                        .filter(|block| block["type"] == "tool_use")
                        .map(|call| self.results.remove(key(&call["id"])).unwrap_or_default())
                        .collect();
                    self.results.clear();
                    self.messages
                        .push(json!({"role": "tool", "content": content, "metadata": {}}));
                }
                self.reset();
                self.lost = [0; 5];
            }
            "message_start" => {
                self.reset();
                self.started = data.clone();
            }
            "model_retry" => {
                self.lost = add(self.lost, &self.usage);
                self.usage = zero();
            }
            "text_delta" => self.text.push_str(piece()),
            "reasoning_delta" => self.reasoning.push_str(piece()),
            "tool_call_stop" => self.calls.push(data["tool_use"].clone()),
            "usage" => self.usage = data["usage"].clone(),
            "message_stop" => {
                self.response = data["response"].clone();
                self.total = add(self.total, &self.response["usage"]);
                self.lost = [0; 5];
                self.usage = zero();
                let mut message = self.response["message"].clone();
                let mut content = message["content"].as_array().into_iter().flatten();
                if content.any(|block| block["type"] == "reasoning") {
                    message["metadata"]["little_ghost_model"] =
                        json!(self.case.expect.model.target);
                }
                self.messages.push(message);
            }
            "tool_stop" => {
                let result = data["result"].clone();
                self.results
                    .insert(key(&result["tool_use_id"]).to_owned(), result);
            }
            "invocation_stop" => self.result = data["result"].clone(),
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.reasoning.clear();
        self.text.clear();
        self.calls.clear();
        self.usage = zero();
    }

    /// Usage so far, with that of the message in progress and of attempts at it.
    fn total_now(&self) -> [u64; 5] {
        add(add(self.total, &usage_value(&self.lost)), &self.usage)
    }

    fn implied_response(&self, stop_reason: &Value) -> Value {
        let mut content = Vec::new();
        if !self.reasoning.is_empty() {
            content.push(json!({"type": "reasoning", "text": self.reasoning}));
        }
        if !self.text.is_empty() {
            content.push(json!({"type": "text", "text": self.text}));
        }
        content.extend(self.calls.iter().cloned());
        json!({
            "message": {"role": "assistant", "content": content, "metadata": {}},
            "stop_reason": stop_reason, "usage": usage_value(&add(self.lost, &self.usage)),
            "metadata": self.started,
        })
    }

    /// The message that stands for a structured result.
    fn placeholder(&self) -> Value {
        let text = format!(
            "[structured result {:?} redacted]",
            self.case.agent.result_name()
        );
        json!({"role": "assistant", "content": [{"type": "text", "text": text}], "metadata": {}})
    }

    fn call(&self, id: &Value) -> Option<&Value> {
        let content = self.response["message"]["content"].as_array()?;
        content
            .iter()
            .find(|block| block["type"] == "tool_use" && block["id"] == *id)
    }

    fn names_model(&self, metadata: &Value) -> bool {
        let facts = &self.case.expect.model;
        metadata["target"] == facts.target.as_str()
            && metadata.get("model_role") == Some(&json!(facts.role))
            && metadata.get("provenance").is_some_and(Value::is_object)
            && metadata.get("observed_at").is_some()
    }
}

/// The values of exactly these keys; `None` when there are others.
fn only(data: &Value, keys: &[&str]) -> Option<Value> {
    let map: &Map<String, Value> = data.as_object()?;
    let values: Option<Vec<Value>> = keys.iter().map(|key| map.get(*key).cloned()).collect();
    (map.len() == keys.len()).then(|| json!(values.unwrap_or_default()))
}

fn key(id: &Value) -> &str {
    id.as_str().unwrap_or_default()
}

fn text_of(message: &Value) -> String {
    let blocks = message["content"].as_array();
    blocks
        .into_iter()
        .flatten()
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect()
}

fn add(mut sum: [u64; 5], usage: &Value) -> [u64; 5] {
    for (sum, counter) in sum.iter_mut().zip(COUNTERS) {
        *sum += usage[counter].as_u64().unwrap_or_default();
    }
    sum
}

fn usage_value(total: &[u64; 5]) -> Value {
    let mut usage = Map::new();
    for (counter, count) in COUNTERS.iter().zip(total) {
        usage.insert((*counter).to_owned(), json!(count));
    }
    usage.insert("total_tokens".to_owned(), json!(total.iter().sum::<u64>()));
    usage.into()
}

fn zero() -> Value {
    usage_value(&[0; 5])
}

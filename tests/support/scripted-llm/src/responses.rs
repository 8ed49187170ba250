//! The stream of OpenAI's Responses API.

use serde_json::{Map, Value, json};

use crate::completion::{Completion, Part, Pieces, Usage};
use crate::frames::Frame;

/// A fixed time keeps streams equal from run to run.
const CREATED: u64 = 1_700_000_000;

pub(crate) fn frames(completion: &Completion) -> Vec<Frame> {
    let mut events = Events {
        completion,
        frames: Vec::new(),
        sequence: 0,
        output: Vec::new(),
    };
    let started = events.response("in_progress", &[]);
    events.event("response.created", json!({ "response": started }));
    events.event("response.in_progress", json!({ "response": started }));
    events.reasoning();
    events.message();
    events.function_calls();
    events.end();
    events.frames
}

struct Events<'a> {
    completion: &'a Completion,
    frames: Vec<Frame>,
    sequence: u64,
    /// The items that are done, for the last event.
    output: Vec<Value>,
}

impl Events<'_> {
    /// Adds an event: its type and sequence number come first in the data.
    fn event(&mut self, kind: &str, fields: Value) {
        let mut data = Map::new();
        data.insert("type".to_owned(), kind.into());
        data.insert("sequence_number".to_owned(), self.sequence.into());
        if let Value::Object(fields) = fields {
            data.extend(fields);
        }
        self.sequence += 1;
        self.frames
            .push(Frame::named(kind, Value::Object(data).to_string()));
    }

    /// Adds a delta event for each piece and gives the text they make.
    fn deltas(&mut self, kind: &str, pieces: &Pieces, fields: &Value) -> String {
        let mut whole = String::new();
        for part in pieces.parts() {
            match part {
                Part::Delay(duration) => self.frames.push(Frame::Delay(duration)),
                Part::WaitFor(label) => self.frames.push(Frame::WaitFor(label)),
                Part::Text(text, count) => {
                    for _ in 0..count {
                        whole.push_str(&text);
                        self.event(kind, with(fields, json!({ "delta": text })));
                    }
                }
            }
        }
        whole
    }

    fn item_added(&mut self, item: &Value) {
        let fields = json!({"output_index": self.output.len(), "item": item});
        self.event("response.output_item.added", fields);
    }

    fn item_done(&mut self, item: Value) {
        let fields = json!({"output_index": self.output.len(), "item": item});
        self.event("response.output_item.done", fields);
        self.output.push(item);
    }

    fn reasoning(&mut self) {
        let completion = self.completion;
        let silent = completion.reasoning.parts().is_empty();
        if silent && completion.encrypted_content.is_none() {
            return;
        }
        let id = "rs_1";
        self.item_added(&json!({"id": id, "type": "reasoning", "summary": []}));
        let mut summary = Vec::new();
        if !silent {
            let place = json!({
                "item_id": id, "output_index": self.output.len(), "summary_index": 0,
            });
            let part = |text: &str| json!({"type": "summary_text", "text": text});
            self.event(
                "response.reasoning_summary_part.added",
                with(&place, json!({"part": part("")})),
            );
            let text = self.deltas(
                "response.reasoning_summary_text.delta",
                &completion.reasoning,
                &place,
            );
            self.event(
                "response.reasoning_summary_text.done",
                with(&place, json!({ "text": text })),
            );
            self.event(
                "response.reasoning_summary_part.done",
                with(&place, json!({"part": part(&text)})),
            );
            summary.push(part(&text));
        }
        let mut item = json!({"id": id, "type": "reasoning", "summary": summary});
        if let Some(content) = &completion.encrypted_content {
            item = with(&item, json!({ "encrypted_content": content }));
        }
        self.item_done(item);
    }

    fn message(&mut self) {
        let completion = self.completion;
        if completion.text.parts().is_empty() {
            return;
        }
        let id = "msg_1";
        let item = |status: &str, content: Value| {
            json!({
                "id": id, "type": "message", "status": status,
                "content": content, "role": "assistant",
            })
        };
        let part = |text: &str| json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
        self.item_added(&item("in_progress", json!([])));
        let place = json!({
            "item_id": id, "output_index": self.output.len(), "content_index": 0,
        });
        self.event(
            "response.content_part.added",
            with(&place, json!({"part": part("")})),
        );
        let logged = with(&place, json!({"logprobs": []}));
        let text = self.deltas("response.output_text.delta", &completion.text, &logged);
        self.event(
            "response.output_text.done",
            with(&logged, json!({ "text": text })),
        );
        self.event(
            "response.content_part.done",
            with(&place, json!({"part": part(&text)})),
        );
        let status = self.item_status();
        self.item_done(item(status, json!([part(&text)])));
    }

    fn function_calls(&mut self) {
        let completion = self.completion;
        for (index, call) in completion.tool_calls.iter().enumerate() {
            let id = format!("fc_{}", index + 1);
            let item = |status: &str, arguments: &str| {
                json!({
                    "id": id, "type": "function_call", "status": status,
                    "arguments": arguments, "call_id": call.id(index), "name": call.name,
                })
            };
            self.item_added(&item("in_progress", ""));
            let place = json!({"item_id": id, "output_index": self.output.len()});
            for fragment in call.fragments() {
                self.event(
                    "response.function_call_arguments.delta",
                    with(&place, json!({ "delta": fragment })),
                );
            }
            let arguments = call.arguments();
            self.event(
                "response.function_call_arguments.done",
                with(&place, json!({"arguments": arguments, "name": call.name})),
            );
            let status = self.item_status();
            self.item_done(item(status, &arguments));
        }
    }

    fn item_status(&self) -> &'static str {
        if self.incomplete_reason().is_some() {
            "incomplete"
        } else {
            "completed"
        }
    }

    fn incomplete_reason(&self) -> Option<&'static str> {
        match self.completion.finish_reason() {
            "length" => Some("max_output_tokens"),
            "content_filter" => Some("content_filter"),
            _ => None,
        }
    }

    fn end(&mut self) {
        let completion = self.completion;
        let output = std::mem::take(&mut self.output);
        let usage = completion.usage.as_ref().map(usage_json);
        let (status, outcome) = if let Some(error) = &completion.error {
            ("failed", json!({ "error": error }))
        } else if let Some(reason) = self.incomplete_reason() {
            let details = json!({"incomplete_details": {"reason": reason}, "usage": usage});
            ("incomplete", details)
        } else {
            ("completed", json!({ "usage": usage }))
        };
        let response = with(&self.response(status, &output), outcome);
        self.event(
            &format!("response.{status}"),
            json!({ "response": response }),
        );
    }

    fn response(&self, status: &str, output: &[Value]) -> Value {
        json!({
            "id": self.completion.id.as_deref().unwrap_or("resp_1"),
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "background": false,
            "error": null,
            "incomplete_details": null,
            "instructions": null,
            "max_output_tokens": null,
            "model": self.completion.model,
            "output": output,
            "parallel_tool_calls": true,
            "previous_response_id": null,
            "reasoning": {"effort": null, "summary": null},
            "store": false,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": null,
            "user": null,
            "metadata": {},
        })
    }
}

/// `base` with the fields of `more` set.
fn with(base: &Value, more: Value) -> Value {
    let mut object = base.as_object().cloned().unwrap_or_default();
    if let Value::Object(more) = more {
        object.extend(more);
    }
    Value::Object(object)
}

fn usage_json(usage: &Usage) -> Value {
    let mut json = json!({
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cached,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    });
    if let Some(json) = json.as_object_mut() {
        json.extend(usage.rest.clone());
    }
    json
}

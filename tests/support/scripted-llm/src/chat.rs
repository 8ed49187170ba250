//! The stream of OpenAI's Chat Completions API.

use serde_json::{Map, Value, json};

use crate::completion::{Completion, Part, Pieces, Usage};
use crate::frames::Frame;

/// A fixed time keeps streams equal from run to run.
const CREATED: u64 = 1_700_000_000;

pub(crate) fn frames(completion: &Completion) -> Vec<Frame> {
    let chunks = Chunks {
        completion,
        id: completion.id.as_deref().unwrap_or("chatcmpl-1"),
    };
    let mut frames = vec![chunks.role()];
    for entry in &completion.reasoning_details {
        frames.push(chunks.delta(json!({"reasoning_details": [entry]})));
    }
    chunks.pieces(
        &completion.reasoning,
        &completion.reasoning_field,
        &mut frames,
    );
    chunks.pieces(&completion.text, "content", &mut frames);
    chunks.tool_calls(&mut frames);
    if let Some(error) = &completion.error {
        frames.push(Frame::data(json!({ "error": error }).to_string()));
        return frames;
    }
    frames.push(chunks.choice(json!({}), completion.finish_reason().into()));
    if let Some(usage) = &completion.usage {
        frames.push(chunks.chunk(json!([]), usage_json(usage)));
    }
    if completion.done {
        frames.push(Frame::data("[DONE]"));
    }
    frames
}

struct Chunks<'a> {
    completion: &'a Completion,
    id: &'a str,
}

impl Chunks<'_> {
    fn chunk(&self, choices: Value, usage: Value) -> Frame {
        let mut chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": self.completion.model,
            "system_fingerprint": "fp_scripted",
            "choices": choices,
        });
        // With include_usage, every chunk has the field, and only the last
        // has a value in it.
        if let (Some(_), Some(chunk)) = (&self.completion.usage, chunk.as_object_mut()) {
            chunk.insert("usage".to_owned(), usage);
        }
        Frame::data(chunk.to_string())
    }

    fn choice(&self, delta: Value, finish_reason: Value) -> Frame {
        let choice = json!({
            "index": 0,
            "delta": delta,
            "logprobs": null,
            "finish_reason": finish_reason,
        });
        self.chunk(json!([choice]), Value::Null)
    }

    fn delta(&self, delta: Value) -> Frame {
        self.choice(delta, Value::Null)
    }

    /// The first chunk: the role, and null content when only calls follow.
    fn role(&self) -> Frame {
        let calls_only =
            !self.completion.tool_calls.is_empty() && self.completion.text.parts().is_empty();
        let content = if calls_only { Value::Null } else { "".into() };
        self.delta(json!({"role": "assistant", "content": content, "refusal": null}))
    }

    fn pieces(&self, pieces: &Pieces, field: &str, frames: &mut Vec<Frame>) {
        for part in pieces.parts() {
            frames.push(match part {
                Part::Delay(duration) => Frame::Delay(duration),
                Part::WaitFor(label) => Frame::WaitFor(label),
                Part::Text(text, count) => {
                    let delta = Map::from_iter([(field.to_owned(), Value::String(text))]);
                    let frame = self.delta(Value::Object(delta));
                    if count == 1 {
                        frame
                    } else {
                        Frame::Repeat {
                            frame: Box::new(frame),
                            count,
                        }
                    }
                }
            });
        }
    }

    fn tool_calls(&self, frames: &mut Vec<Frame>) {
        for (index, call) in self.completion.tool_calls.iter().enumerate() {
            frames.push(self.delta(json!({"tool_calls": [{
                "index": index,
                "id": call.id(index),
                "type": "function",
                "function": {"name": call.name, "arguments": ""},
            }]})));
            for fragment in call.fragments() {
                frames.push(self.delta(json!({"tool_calls": [{
                    "index": index,
                    "function": {"arguments": fragment},
                }]})));
            }
        }
    }
}

fn usage_json(usage: &Usage) -> Value {
    let mut json = Map::from_iter([
        ("prompt_tokens".to_owned(), usage.input.clone()),
        ("completion_tokens".to_owned(), usage.output.clone()),
        ("total_tokens".to_owned(), usage.total.clone()),
        (
            "prompt_tokens_details".to_owned(),
            json!({"cached_tokens": usage.cached, "audio_tokens": 0}),
        ),
        (
            "completion_tokens_details".to_owned(),
            json!({"reasoning_tokens": usage.reasoning, "audio_tokens": 0}),
        ),
    ]);
    if usage.cache_write != 0
        && let Some(Value::Object(details)) = json.get_mut("prompt_tokens_details")
    {
        details.insert("cache_write_tokens".to_owned(), usage.cache_write.clone());
    }
    json.extend(usage.rest.clone());
    Value::Object(json)
}

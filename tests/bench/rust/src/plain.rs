//! The loop one would write without a library: reqwest and `serde_json`, one connection kept alive.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use reqwest::Client;
use serde_json::{Value, json};

pub struct PlainClient {
    base_url: String,
    client: Client,
}

impl PlainClient {
    pub fn new(base_url: &str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            base_url: base_url.to_owned(),
            client: Client::new(),
        }
    }

    /// Calls `each` with every decoded chunk of one streamed chat completion.
    pub async fn stream(
        &self,
        messages: &Value,
        tools: Option<&Value>,
        mut each: impl FnMut(Value),
    ) {
        let mut body = json!({
            "model": "scripted-model", "stream": true, "messages": messages,
            "stream_options": {"include_usage": true},
        });
        if let Some(tools) = tools {
            body["tools"] = tools.clone();
        }
        let mut response = self
            .client
            .post(format!("{}chat/completions", self.base_url))
            .header("content-type", "application/json")
            .header("accept", "text/event-stream")
            .bearer_auth("test")
            .body(body.to_string())
            .send()
            .await
            .unwrap();
        let mut buffer: Vec<u8> = Vec::new();
        while let Some(chunk) = response.chunk().await.unwrap() {
            buffer.extend_from_slice(&chunk);
            let mut start = 0;
            while let Some(length) = buffer[start..].windows(2).position(|pair| pair == b"\n\n") {
                let data = &buffer[start + 6..start + length];
                if data != b"[DONE]" {
                    each(serde_json::from_slice(data).unwrap());
                }
                start += length + 2;
            }
            buffer.drain(..start);
        }
    }

    pub async fn text(&self, each: impl FnMut(&str)) {
        self.answer(&[], each).await;
    }

    /// One answer to a conversation of `history` and a question.
    pub async fn answer(&self, history: &[Value], mut each: impl FnMut(&str)) {
        let mut messages = history.to_vec();
        messages.push(json!({"role": "user", "content": "Hello"}));
        self.stream(&Value::Array(messages), None, |chunk| {
            if let Some(text) = chunk["choices"][0]["delta"]["content"].as_str() {
                each(text);
            }
        })
        .await;
    }

    /// One run with one tool, which answers `result`: two model calls.
    pub async fn run_with_tool(&self, result: Option<&str>) -> String {
        let tools = json!([{"type": "function", "function": {
            "name": "help_center_lookup", "description": "Look up a help center entry by topic.",
            "parameters": {"type": "object", "properties": {"topic": {"type": "string"}},
                "required": ["topic"], "additionalProperties": false},
        }}]);
        let mut messages = json!([
            {"role": "system", "content": "Answer clearly."},
            {"role": "user", "content": "Can I get a refund?"},
        ]);
        loop {
            let mut answer = String::new();
            let mut calls: BTreeMap<u64, (String, String, String)> = BTreeMap::new();
            self.stream(&messages, Some(&tools), |chunk| {
                let delta = &chunk["choices"][0]["delta"];
                answer.push_str(delta["content"].as_str().unwrap_or_default());
                for call in delta["tool_calls"].as_array().into_iter().flatten() {
                    let entry = calls.entry(call["index"].as_u64().unwrap()).or_default();
                    entry.0.push_str(call["id"].as_str().unwrap_or_default());
                    entry
                        .1
                        .push_str(call["function"]["name"].as_str().unwrap_or_default());
                    entry
                        .2
                        .push_str(call["function"]["arguments"].as_str().unwrap_or_default());
                }
            })
            .await;
            if calls.is_empty() {
                return answer;
            }
            let list = messages.as_array_mut().unwrap();
            let requested: Vec<Value> = calls
                .values()
                .map(|(id, name, arguments)| {
                    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
                })
                .collect();
            list.push(json!({"role": "assistant", "content": answer, "tool_calls": requested}));
            for (id, _, arguments) in calls.values() {
                let input: Value = serde_json::from_str(arguments).unwrap();
                let topic = input["topic"].as_str().unwrap();
                let content =
                    result.map_or_else(|| format!("{topic}: within 30 days."), str::to_owned);
                list.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
            }
        }
    }
}

/// A conversation in a file, as one would keep it: read, change, write beside it, rename.
pub struct PlainSession {
    pub path: PathBuf,
}

impl PlainSession {
    pub fn append(&self, messages: &[Value]) {
        let mut stored: Vec<Value> = match fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap(),
            Err(_) => Vec::new(),
        };
        stored.extend_from_slice(messages);
        let temporary = self.path.with_extension("tmp");
        let mut file = fs::File::create(&temporary).unwrap();
        file.write_all(&serde_json::to_vec(&stored).unwrap())
            .unwrap();
        file.sync_all().unwrap();
        fs::rename(temporary, &self.path).unwrap();
    }
}

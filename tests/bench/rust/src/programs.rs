//! How long programs of code mode take to start, and to call a tool.

use std::sync::Arc;
use std::time::Instant;

use little_ghost::code_mode::Engine;
use little_ghost::code_mode::{
    Answer, Broker, Dispatch, JavascriptEngine, PythonEngine, RubyEngine, SandboxFactory, Session,
    Source,
};
use little_ghost::sandbox::{self, Sandbox};

use little_ghost::{Result, ToolUse, Workspace, async_trait};
use serde_json::{Map, Value, json};

const CALLS: usize = 200;

struct Echo;

#[async_trait]
impl Dispatch for Echo {
    async fn dispatch(&self, call: ToolUse) -> Result<Answer> {
        Ok(Answer::value(Value::Object(call.input)))
    }
}

struct Sandboxes(String);

#[async_trait]
impl SandboxFactory for Sandboxes {
    async fn create(
        &self,
        workspace: &Arc<Workspace>,
        paths: &[String],
    ) -> Result<Arc<dyn Sandbox>> {
        let paths: Map<String, Value> = paths
            .iter()
            .map(|name| (name.clone(), json!("read_only")))
            .collect();
        let policy = json!({"files": {"root": "read_write"}, "runtime_paths": paths});
        let options = json!({"policy": policy});
        sandbox::build(&self.0, Arc::clone(workspace), options.as_object().unwrap())
    }
}

/// Of `language:sandbox`: the median of whole programs that do nothing, and of a call in one with many.
pub async fn measure(what: &str, count: usize) -> Value {
    let (language, sandbox) = what.split_once(':').unwrap();
    let engine: Arc<dyn Engine> = match language {
        "javascript" => Arc::new(JavascriptEngine),
        "ruby" => Arc::new(RubyEngine::default()),
        _ => Arc::new(PythonEngine::default()),
    };
    let calls = match language {
        "javascript" => format!("for (let i = 0; i < {CALLS}; i++) await tools.echo({{i}})"),
        "ruby" => format!("{CALLS}.times {{ |i| tools.echo(i: i) }}"),
        _ => format!("for i in range({CALLS}):\n  tools.echo(i=i)"),
    };
    let catalog = vec![json!({"name": "echo", "description": "Echoes."})];
    let broker = Arc::new(Broker::new(catalog.clone(), Arc::new(Echo)));
    let sandboxes = Arc::new(Sandboxes(sandbox.to_owned()));
    let limits = match language {
        "javascript" => json!({}),
        _ => json!({"programs": 10_000}),
    };
    let limits = limits.as_object().unwrap().clone();
    let session = engine
        .open_session(broker, sandboxes, limits)
        .await
        .unwrap();
    let catalog: Arc<[Value]> = catalog.into();
    let start = median(&*session, &catalog, "1", count).await;
    let called = median(&*session, &catalog, &calls, count.min(10)).await;
    session.close().await.unwrap();
    let call = (called - start).max(0.0) * 1e3 / CALLS as f64;
    json!({"milliseconds": start, "microseconds": call})
}

async fn median(session: &dyn Session, catalog: &Arc<[Value]>, text: &str, count: usize) -> f64 {
    let mut times = Vec::with_capacity(count);
    // The first one also finds the interpreter.
    for _ in 0..=count {
        let begun = Instant::now();
        let source = Source {
            source: text.to_owned(),
            catalog: Arc::clone(catalog),
            ..Source::default()
        };
        let result = session.execute(source).await.unwrap();
        assert!(result.is_completed(), "{result:?}");
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.remove(0);
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

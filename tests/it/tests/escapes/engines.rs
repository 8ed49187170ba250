//! Programs of code mode that try to get out.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use little_ghost::code_mode::{
    Answer, Broker, Dispatch, Engine, JavascriptEngine, ProgramStatus, RubyEngine, SandboxFactory,
    Source,
};
use little_ghost::sandbox::{Access, Bubblewrap, Policy};
use little_ghost::{Result, Sandbox, ToolUse, Workspace, async_trait};
use serde_json::{Map, Value, json};

use super::check_held;
use super::place::{Place, eventually, marked, marker};

pub(super) const PROGRAMS: &[&str] = &["ruby_program.rb", "javascript_program.js"];

/// The sandbox of code mode, without anything else in its place.
struct Sandboxes;

#[async_trait]
impl SandboxFactory for Sandboxes {
    async fn create(
        &self,
        workspace: &Arc<Workspace>,
        runtime_paths: &[String],
    ) -> Result<Arc<dyn Sandbox>> {
        let policy = Policy {
            files: vec![("root".to_owned(), Access::ReadWrite)],
            runtime_paths: runtime_paths
                .iter()
                .map(|name| (name.clone(), Access::ReadOnly))
                .collect(),
            ..Policy::default()
        };
        Ok(Arc::new(Bubblewrap::new(Arc::clone(workspace), policy)?))
    }
}

/// The one tool that programs have.
struct Echo;

#[async_trait]
impl Dispatch for Echo {
    async fn dispatch(&self, call: ToolUse) -> Result<Answer> {
        assert_eq!(call.name, "echo");
        Ok(Answer::value(Value::Object(call.input)))
    }
}

async fn attempt(engine: impl Engine, name: &str) {
    let Some(place) = Place::new().await else {
        return;
    };
    let echo = json!({"name": "echo", "description": "Says it again.", "input_schema": {"type": "object"}});
    let broker = Arc::new(Broker::new(vec![echo.clone()], Arc::new(Echo)));
    let session = engine
        .open_session(broker, Arc::new(Sandboxes), Map::new())
        .await
        .unwrap();
    let marker = marker();
    let source = Source {
        source: fs::read_to_string(place.attempts().join(name)).unwrap(),
        catalog: Arc::new([echo]),
        frame: Some(place.frame(&marker)),
        ..Source::default()
    };
    let result = session.execute(source).await.unwrap();
    assert_eq!(
        result.status,
        ProgramStatus::Completed,
        "{name}: {result:?}"
    );
    check_held(name, &result.output);
    session.close().await.unwrap();
    eventually("what it started is gone", || marked(&marker).is_empty()).await;
    place.check_untouched();
}

/// The Ruby of the tests, or one on the search path.
fn ruby() -> Option<PathBuf> {
    let chosen = std::env::var_os("RUBY").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("ruby"));
    chosen
        .into_iter()
        .chain(on_path)
        .find(|place| place.is_file() && place.is_absolute())
}

#[tokio::test]
async fn programs_in_ruby_stay_inside() {
    match ruby() {
        Some(ruby) => attempt(RubyEngine::with_interpreter(ruby), PROGRAMS[0]).await,
        None => eprintln!("skipped: there is no ruby"),
    }
}

#[tokio::test]
async fn programs_in_javascript_stay_inside() {
    attempt(JavascriptEngine, PROGRAMS[1]).await;
}

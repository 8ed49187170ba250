//! Code of the application that panics, answers nonsense or never answers: it fails the run that it
//! belongs to, and the error says whose it is.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the application's code panics"
)]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, AgentBuilder, AskOptions, BeforeModel, Callbacks, Deadline, Decision, Error, ErrorKind,
    EventSender, Invocation, Message, Model, ModelRequest, ModelResponse, Outcome, Resource,
    Result, Run, RunContext, Runtime, SessionGuard, SessionKey, SessionStore, Snapshot, StopReason,
    StreamEvent, Tool, ToolProvider, Usage, tool_with_schema,
};
use serde_json::{Map, Value, json};

const SECRET: &str = "sk-of-the-panic";

struct Panicking(&'static str);

#[async_trait]
impl Model for Panicking {
    fn target(&self) -> &'static str {
        "own:panicking"
    }

    async fn stream(&self, _: &ModelRequest, _: &EventSender) -> Result<ModelResponse> {
        panic!("{SECRET}")
    }
}

#[async_trait]
impl Callbacks for Panicking {
    async fn before_model(
        &self,
        _: &BeforeModel,
        _: &RunContext,
    ) -> Result<Decision<ModelRequest>> {
        panic!("{SECRET}")
    }
}

#[async_trait]
impl ToolProvider for Panicking {
    async fn tools(&self, _: &Run) -> Result<Vec<Arc<dyn Tool>>> {
        panic!("{SECRET}")
    }
}

struct Silent;

#[async_trait]
impl ToolProvider for Silent {
    async fn tools(&self, _: &Run) -> Result<Vec<Arc<dyn Tool>>> {
        std::future::pending().await
    }
}

#[async_trait]
impl Resource for Panicking {
    async fn close(&self) -> Result<()> {
        panic!("{SECRET}")
    }
}

#[async_trait]
impl SessionStore for Panicking {
    async fn load(&self, _: &SessionKey) -> Result<Option<Snapshot>> {
        assert!(self.0 != "load", "{SECRET}");
        Ok(None)
    }

    async fn append(&self, _: &SessionKey, _: Snapshot, _: usize) -> Result<()> {
        assert!(self.0 != "append", "{SECRET}");
        tokio::task::yield_now().await;
        assert!(self.0 != "append later", "{SECRET}");
        Ok(())
    }

    async fn replace(&self, _: &SessionKey, _: Snapshot) -> Result<()> {
        Ok(())
    }

    async fn synchronize(&self, _: &SessionKey) -> Result<SessionGuard> {
        assert!(self.0 != "synchronize", "{SECRET}");
        let release = self.0 == "release";
        Ok(SessionGuard::releasing(async move {
            assert!(!release, "{SECRET}");
            Ok(())
        }))
    }
}

fn agent() -> AgentBuilder {
    Agent::builder("fragile").model(ScriptedModel::new(["Hello!"]))
}

async fn events_and_error(agent: AgentBuilder) -> (Vec<String>, Error) {
    let mut stream = agent.build().unwrap().stream_ask("Hi").unwrap();
    let mut kinds = Vec::new();
    while let Some(event) = futures_util::StreamExt::next(&mut stream).await {
        kinds.push(event.kind().to_owned());
    }
    let run = stream.finish().await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Failed));
    (kinds, run.error().unwrap())
}

async fn says(agent: AgentBuilder, culprit: &str) {
    let (_, error) = events_and_error(agent).await;
    assert_eq!(error.kind(), ErrorKind::Error);
    let expected = format!("{culprit} panicked; ");
    assert!(error.message().starts_with(&expected), "{error}");
    assert!(!error.message().contains(SECRET), "{error}");
}

#[tokio::test]
async fn the_error_names_the_code_that_panicked() {
    let model: Arc<dyn Model> = Arc::new(Panicking("model"));
    says(Agent::builder("fragile").model(model), "the model").await;
    says(
        agent().callbacks(Panicking("callbacks")),
        "a callback before_model",
    )
    .await;
    says(
        agent().after_invocation(|_, _| async { panic!("{SECRET}") }),
        "a callback after_invocation",
    )
    .await;
    says(
        agent().tool_provider(Panicking("provider")),
        "a tool provider",
    )
    .await;
    says(
        agent().system_prompt_with(|_| panic!("{SECRET}")),
        "the function that writes the system prompt",
    )
    .await;
    says(
        agent().model_with(|_| panic!("{SECRET}")),
        "the function that chooses the model",
    )
    .await;
    let function = Turn::function(|_| panic!("{SECRET}"));
    says(agent().model(ScriptedModel::new([function])), "the model").await;
}

#[tokio::test]
async fn a_store_that_panics_fails_the_run() {
    for step in ["load", "append", "append later", "synchronize", "release"] {
        let runtime = Runtime::builder().session_store(Arc::new(Panicking(step)));
        let agent = agent().runtime(runtime.build().unwrap());
        says(agent, "the session store").await;
    }
}

#[tokio::test]
async fn the_panic_of_a_model_ends_its_invocation_as_a_failure_does() {
    let model: Arc<dyn Model> = Arc::new(Panicking("model"));
    let (kinds, _) = events_and_error(Agent::builder("fragile").model(model)).await;
    let [.., second_last, last] = &kinds[..] else {
        panic!("{kinds:?}")
    };
    assert_eq!((&**second_last, &**last), ("invocation_error", "run_error"));
}

#[tokio::test]
async fn a_resource_that_panics_does_not_keep_its_run_from_ending() {
    let open = tool_with_schema(
        "open",
        "Opens something.",
        json!({"type": "object"}),
        |_: Value, context: RunContext| async move {
            context.run().register(Panicking("resource"))?;
            Ok::<_, Error>("opened")
        },
    );
    let model = ScriptedModel::new([Turn::tool("open", json!({})), Turn::text("Done.")]);
    let agent = agent().model(model).tool(open).build().unwrap();
    let error = agent.ask("Hi").await.unwrap_err();
    assert!(
        error
            .message()
            .starts_with("a resource that closes panicked"),
        "{error}"
    );
}

#[tokio::test]
async fn a_response_that_is_no_assistants_is_refused() {
    struct Confused;

    #[async_trait]
    impl Model for Confused {
        fn target(&self) -> &'static str {
            "own:confused"
        }

        async fn stream(&self, _: &ModelRequest, _: &EventSender) -> Result<ModelResponse> {
            Ok(ModelResponse {
                message: Message::user("I am the user"),
                stop_reason: StopReason::EndTurn,
                usage: Usage::default(),
                metadata: Map::new(),
            })
        }
    }

    let model: Arc<dyn Model> = Arc::new(Confused);
    let replaced = agent().after_model(|payload, _| async move {
        let mut response = (*payload.response).clone();
        response.message = Message::user("I am the user");
        Ok(Decision::Replace(response))
    });
    for agent in [Agent::builder("fragile").model(model), replaced] {
        let (_, error) = events_and_error(agent).await;
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(
            error.message().contains("of role assistant, not user"),
            "{error}"
        );
    }
    let nameless = Turn::new().call_with_id("", "open", json!({}));
    let (_, error) = events_and_error(agent().model(ScriptedModel::new([nameless]))).await;
    assert!(
        error.message().contains("\"open\" without an id"),
        "{error}"
    );
}

#[tokio::test]
async fn a_deadline_beyond_all_clocks_does_not_pass() {
    let request = Invocation::new("Hi").unwrap();
    let request = request.with_deadline(Deadline::after(Duration::MAX));
    let run = agent()
        .build()
        .unwrap()
        .ask(AskOptions::from(request))
        .await
        .unwrap();
    assert!(run.is_completed(), "{:?}", run.error());
}

#[tokio::test]
async fn a_script_that_never_answers_can_be_stopped() {
    fn again(_: &ModelRequest) -> Turn {
        Turn::function(again)
    }
    let agent = agent()
        .model(ScriptedModel::new([Turn::function(again)]))
        .build()
        .unwrap();
    let mut stream = agent.stream_ask("Hi").unwrap();
    while let Some(event) = futures_util::StreamExt::next(&mut stream).await {
        if matches!(event, StreamEvent::ModelStart { .. }) {
            stream.run().cancel();
        }
    }
    assert_eq!(
        stream.finish().await.unwrap().outcome(),
        Some(Outcome::Cancelled)
    );
}

#[tokio::test]
async fn a_tool_provider_that_never_answers_does_not_outlast_the_deadline() {
    let request = Invocation::new("Hi").unwrap();
    let request = request.with_deadline(Deadline::after(Duration::from_millis(20)));
    let agent = agent().tool_provider(Silent).build().unwrap();
    let run = agent.ask(AskOptions::from(request)).await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Partial));
}

#[test]
fn a_run_does_not_outlast_its_tokio_runtime() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let model = ScriptedModel::new([Turn::text("Too late.").delay(Duration::from_secs(3600))]);
    let agent = agent().model(model).build().unwrap();
    let mut stream = agent.stream_ask("Hi").unwrap();
    let first = runtime();
    first
        .block_on(futures_util::StreamExt::next(&mut stream))
        .unwrap();
    drop(first);
    let run = stream.run();
    let error = runtime().block_on(stream.finish()).unwrap_err();
    assert!(error.message().contains("has shut down"), "{error}");
    assert_eq!(run.outcome(), Some(Outcome::Failed));
}

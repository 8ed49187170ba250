//! Where the system prompt of an agent comes from.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use little_ghost::testing::ScriptedModel;
use little_ghost::{
    Agent, AgentBuilder, Error, ErrorKind, Graph, Invocation, Outcome, Role, Runtime, Swarm,
    TrustedPath, Workflow, json,
};

/// A folder of templates, removed at the end.
struct Views(PathBuf);

impl Views {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder =
            std::env::temp_dir().join(format!("little-ghost-{}-{name}", std::process::id()));
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }
}

impl Drop for Views {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The system message of the one request that the agent sends.
async fn prompt(agent: AgentBuilder, views: &Path, request: Invocation) -> Option<String> {
    let model = ScriptedModel::new(["ok"]);
    let run = ask(agent, views, &model, request).await;
    assert_eq!(run.outcome(), Some(Outcome::Completed), "{:?}", run.error());
    let first = model.requests()[0].messages[0].clone();
    (first.role == Role::System).then(|| first.text())
}

async fn ask(
    agent: AgentBuilder,
    views: &Path,
    model: &ScriptedModel,
    request: Invocation,
) -> little_ghost::Run {
    agent
        .runtime(runtime(views, model))
        .build()
        .unwrap()
        .ask(request)
        .await
        .unwrap()
}

fn runtime(views: &Path, model: &ScriptedModel) -> Arc<Runtime> {
    let model: Arc<dyn little_ghost::Model> = Arc::new(model.clone());
    Runtime::builder()
        .resolver(resolver())
        .model_override(model)
        .prompt_paths(views)
        .build()
        .unwrap()
}

fn resolver() -> little_ghost::provider::ModelResolver {
    little_ghost::provider::ModelResolver::from_value(
        &json!({"providers": {"none": {"adapter": "openai", "api_key": "test-key"}}}),
        little_ghost::provider::Environment::process(),
    )
    .unwrap()
}

fn hello() -> Invocation {
    Invocation::new("Hello").unwrap()
}

#[tokio::test]
async fn the_conventional_template_sees_locals_and_the_request() {
    let views = Views::new(
        "conventional",
        &[(
            "support/system.j2",
            "{{ company }} {{ seats }} {{ agent.description }} {{ invocation.text }} {{ run.session_id }}",
        )],
    );
    let agent = Agent::builder("support")
        .description("Helps.")
        .prompt_local("company", "Northstar")
        .prompt_local_with("seats", |run| {
            Ok(json!(run.invocation().metadata()["seats"]))
        });
    let request = hello()
        .with_session_id("s-1")
        .with_metadata(json!({"seats": 3}).as_object().unwrap().clone());
    let found = prompt(agent, &views.0, request).await;
    assert_eq!(found.as_deref(), Some("Northstar 3 Helps. Hello s-1"));
}

#[tokio::test]
async fn the_last_source_that_was_declared_counts() {
    let views = Views::new(
        "sources",
        &[("support/system.j2", "usual"), ("shared/other.j2", "other")],
    );
    let agent = || Agent::builder("support");
    assert_eq!(
        prompt(agent(), &views.0, hello()).await.as_deref(),
        Some("usual")
    );
    let template = agent()
        .system_prompt("inline")
        .system_template("shared/other");
    assert_eq!(
        prompt(template, &views.0, hello()).await.as_deref(),
        Some("other")
    );
    let inline = agent()
        .system_template("shared/other")
        .system_prompt("inline");
    assert_eq!(
        prompt(inline, &views.0, hello()).await.as_deref(),
        Some("inline")
    );
    let unknown = Agent::builder("other");
    assert_eq!(prompt(unknown, &views.0, hello()).await, None);
}

#[tokio::test]
async fn folders_of_one_request_come_first() {
    let views = Views::new("usual", &[("support/system.j2", "usual")]);
    let own = Views::new("own", &[("support/system.j2", "own")]);
    let request = hello().with_template_paths(vec![TrustedPath::new(&own.0).unwrap()]);
    let found = prompt(Agent::builder("support"), &views.0, request).await;
    assert_eq!(found.as_deref(), Some("own"));
}

#[tokio::test]
async fn a_broken_template_fails_the_run() {
    let views = Views::new("broken", &[("support/system.j2", "{{ company }}")]);
    let model = ScriptedModel::new(["never"]);
    let kind = async |agent: AgentBuilder| {
        let run = ask(agent, &views.0, &model, hello()).await;
        assert_eq!(run.outcome(), Some(Outcome::Failed));
        run.error().unwrap().kind()
    };
    let missing_local = kind(Agent::builder("support")).await;
    assert_eq!(missing_local, ErrorKind::MissingPromptLocal);
    let missing_file = kind(Agent::builder("support").system_template("support/none")).await;
    assert_eq!(missing_file, ErrorKind::MissingPromptTemplate);
    let failing = Agent::builder("support").prompt_local_with("company", |_| {
        Err(Error::new(ErrorKind::Provider, "no company"))
    });
    assert_eq!(kind(failing).await, ErrorKind::Provider);
    assert!(model.requests().is_empty());
}

#[test]
fn what_no_run_could_use_is_refused_at_once() {
    let kind = |agent: AgentBuilder| agent.build().unwrap_err().kind();
    let agent = || Agent::builder("support");
    assert_eq!(
        kind(agent().prompt_local("No name", 1)),
        ErrorKind::Argument
    );
    let keys = std::collections::HashMap::from([((1, 2), 3)]);
    assert_eq!(
        kind(agent().prompt_local("keys", keys)),
        ErrorKind::Argument
    );
    assert_eq!(
        kind(agent().system_template("../x")),
        ErrorKind::InvalidPromptTemplate
    );
}

#[tokio::test]
async fn assemblies_have_locals_for_their_participants() {
    let template = "{{ company }} {{ seats }} {{ tone }}";
    let views = Views::new("assemblies", &[("support/system.j2", template)]);
    let model = ScriptedModel::new(["one", "two"]);
    let support = Agent::builder("support")
        .prompt_local("tone", "own")
        .build()
        .unwrap();
    let other = Agent::builder("other").build().unwrap();
    let swarm = Swarm::builder("desk")
        .member(&support)
        .member(&other)
        .start("support")
        .prompt_local("company", "swarm")
        .prompt_local("tone", "swarm")
        .build()
        .unwrap();
    let graph = Graph::builder("routes")
        .node("ask", &support)
        .node("desk", &swarm)
        .edge(("ask", "desk"))
        .start("ask")
        .finish("desk")
        .prompt_local_with("company", |_| Ok(json!("graph")))
        .build()
        .unwrap();
    let workflow = Workflow::new("whole", move |workflow| {
        let graph = graph.clone();
        async move { Ok(workflow.invoke(&graph)) }
    })
    .prompt_local("company", "workflow")
    .unwrap()
    .prompt_local_with("seats", |run| {
        Ok(json!(run.invocation().metadata()["seats"]))
    })
    .unwrap()
    .describe("All of it.")
    .with_runtime(runtime(&views.0, &model));
    let request = hello().with_metadata(json!({"seats": 3}).as_object().unwrap().clone());
    let run = workflow.ask(request).await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Completed), "{:?}", run.error());
    let requests = model.requests();
    let prompts = requests.iter().map(|request| request.messages[0].text());
    assert_eq!(
        prompts.collect::<Vec<_>>(),
        ["graph 3 own", "swarm 3 own"],
        "the closest one counts"
    );
}

#[tokio::test]
async fn unusable_locals_of_assemblies_are_refused() {
    let body = |workflow: little_ghost::WorkflowContext| async move {
        let agent = Agent::builder("support").build()?;
        Ok(workflow.invoke(&agent))
    };
    let named = Workflow::new("flow", body).prompt_local("No name", 1);
    assert_eq!(named.unwrap_err().kind(), ErrorKind::Argument);
    let agents = ["a", "b"].map(|id| Agent::builder(id).build().unwrap());
    let swarm = Swarm::builder("desk").member(&agents[0]).member(&agents[1]);
    let swarm = swarm.start("a").prompt_local("No name", 1).build();
    assert_eq!(swarm.unwrap_err().kind(), ErrorKind::Argument);

    let views = Views::new("failing", &[("support/system.j2", "{{ company }}")]);
    let model = ScriptedModel::new(["never"]);
    let failing = Workflow::new("flow", body)
        .prompt_local_with("company", |_| {
            Err(Error::new(ErrorKind::Provider, "no company"))
        })
        .unwrap()
        .with_runtime(runtime(&views.0, &model));
    let run = failing.ask(hello()).await.unwrap();
    assert_eq!(run.error().unwrap().kind(), ErrorKind::Provider);
    assert!(model.requests().is_empty());
}

//! Assemblies inside of one another.

use super::{Graph, Swarm, Workflow};
use crate::agent::Agent;
use crate::error::{Error, ErrorKind};

fn endless() -> Workflow {
    Workflow::new("endless", |workflow| async move {
        Ok(workflow.invoke(&endless()))
    })
}

#[tokio::test]
async fn an_assembly_that_contains_itself_without_an_end_fails() {
    let run = endless().ask("Go on").await.unwrap();
    let error = run.error().expect("it cannot end otherwise");
    assert_eq!(error.kind(), ErrorKind::AssemblyLimit);
    assert_eq!(
        error.message(),
        "the workflow \"endless\" is inside of more than 100 others; does one of them contain or call itself without an end?"
    );
}

#[tokio::test]
async fn identifiers_and_names_are_not_blank() {
    let blank = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(
            error.message().contains("is blank; give it a name"),
            "{error}"
        );
    };
    let agent = |id: &str| Agent::builder(id).model("a:b").build();
    let (a, b) = (agent("a").unwrap(), agent("b").unwrap());
    for id in ["", " \n"] {
        blank(agent(id).unwrap_err());
        let swarm = |id: &str, name: &str| {
            let named = crate::assembly::SwarmMember::from(&b).named(name);
            Swarm::builder(id)
                .member(&a)
                .member(named)
                .start("a")
                .build()
        };
        blank(swarm(id, "b").err().unwrap());
        blank(swarm("s", id).err().unwrap());
        let graph = |id: &str, name: &str| {
            let graph = Graph::builder(id).node(name, &a).start(name);
            graph.finish(name).build()
        };
        blank(graph(id, "a").err().unwrap());
        blank(graph("g", id).err().unwrap());
        let nobody = a.clone();
        let workflow = Workflow::new(id, move |workflow| {
            let last = workflow.invoke(&nobody);
            async move { Ok(last) }
        });
        blank(
            workflow
                .ask("Go on")
                .await
                .unwrap()
                .error()
                .unwrap()
                .clone(),
        );
        let (nobody, name) = (a.clone(), id.to_owned());
        let workflow = Workflow::new("w", move |workflow| {
            let last = workflow.invoke(&nobody).named(&*name);
            async move { Ok(last) }
        });
        blank(
            workflow
                .ask("Go on")
                .await
                .unwrap()
                .error()
                .unwrap()
                .clone(),
        );
    }
    let unnamed = crate::agent::AgentBuilder::default().build().unwrap();
    assert_eq!(unnamed.id(), "agent");
}

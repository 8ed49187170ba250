//! Gateways of sandboxes, as hosts make and use them.

mod description;
mod own;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{HostJob, HostQuestions};
use crate::error::Result;
use crate::network::registry::{Registration, register_authorizer, register_gateway};
use crate::network::{Authorizer, Decision, Gateway, Request, declared_gateway};
use crate::sandbox::NetworkPolicy;
use crate::workspace::Workspace;
use description::Description;
use own::{Checked, Own};

/// A decision, `{allowed, status?, reason?, set_headers?, remove_headers?}`, checked and normalized.
///
/// # Errors
/// As [`Decision::from_value`].
pub fn network_decision(value: &Value) -> Result<Value> {
    Ok(Decision::from_value(value)?.to_value())
}

/// A request, `{method, scheme, host, port, path, headers?}`, checked and normalized.
///
/// # Errors
/// As [`Request::from_value`].
pub fn network_request(value: &Value) -> Result<Value> {
    Ok(Request::from_value(value)?.to_value())
}

/// An authorizer of the host, known under its key. It is asked `{op: "authorize", request}` and answers a decision.
pub struct HostAuthorizer(Registration<dyn Authorizer>);

impl HostAuthorizer {
    /// The authorizer that answers these questions.
    ///
    /// # Errors
    /// [`Error`](crate::ErrorKind::Error) in a forked child whose parent was registering one at that moment.
    pub fn new(key: u64, questions: Arc<HostQuestions>) -> Result<Self> {
        register_authorizer(key, Arc::new(Asked(questions))).map(Self)
    }

    /// How a network policy names it.
    #[must_use]
    pub fn declaration(&self) -> Value {
        self.0.declaration()
    }
}

struct Asked(Arc<HostQuestions>);

#[async_trait]
impl Authorizer for Asked {
    async fn authorize(&self, request: Request) -> Result<Decision> {
        let question = json!({"op": "authorize", "request": request.to_value()});
        Decision::from_value(&self.0.ask(question).await?)
    }
}

/// A gateway for a host, known under its key: the engine's own, or the host's.
pub struct HostGateway(Registration<dyn Gateway>);

impl HostGateway {
    /// A gateway of the engine for a policy whose `gateway` names it, with its options.
    ///
    /// With `questions` the host is asked `{op: "validate"}` too before each child, and answers anything or fails.
    ///
    /// # Errors
    /// As [`declared_gateway`].
    pub fn declared(
        key: u64,
        policy: &Value,
        options: &Map<String, Value>,
        workspace: Option<&Arc<Workspace>>,
        questions: Option<Arc<HostQuestions>>,
    ) -> Result<Self> {
        let policy = NetworkPolicy::from_value(policy)?;
        let gateway = declared_gateway(&policy, options, workspace)?;
        match questions {
            None => register_gateway(key, gateway),
            Some(questions) => register_gateway(key, Arc::new(Checked::new(gateway, questions))),
        }
        .map(Self)
    }

    /// A gateway that the host implements. It is asked `{op: "open"}`, `{op: "validate"}` and `{op: "close"}`; to the first
    /// two it answers [`description`](Self::description).
    ///
    /// # Errors
    /// [`Error`](crate::ErrorKind::Error) in a forked child whose parent was registering one at that moment.
    pub fn own(key: u64, questions: Arc<HostQuestions>) -> Result<Self> {
        register_gateway(key, Arc::new(Own::new(questions))).map(Self)
    }

    /// How a network policy names it.
    #[must_use]
    pub fn declaration(&self) -> Value {
        self.0.declaration()
    }

    /// Opens it; null.
    ///
    /// # Errors
    /// As [`HostJob::start`]; the answer has those of the gateway.
    pub fn open(&self) -> Result<HostJob> {
        let gateway = Arc::clone(self.0.object());
        HostJob::start(async move { gateway.open(None).await.map(|()| Value::Null) })
    }

    /// Closes it; null.
    ///
    /// # Errors
    /// As [`HostJob::start`]; the answer has those of the gateway.
    pub fn close(&self) -> Result<HostJob> {
        let gateway = Arc::clone(self.0.object());
        HostJob::start(async move { gateway.close().await.map(|()| Value::Null) })
    }

    /// Whether it is ready for one more child; null.
    ///
    /// # Errors
    /// As [`HostJob::start`]; the answer has those of the gateway.
    pub fn validate(&self) -> Result<HostJob> {
        let gateway = Arc::clone(self.0.object());
        HostJob::start(async move { gateway.validate().await.map(|()| Value::Null) })
    }

    /// `{mounts: [{source, target}], environment, proxy_socket, proxy_mount_path, client_network}`; the last three may be null.
    #[must_use]
    pub fn description(&self) -> Value {
        let gateway = self.0.object();
        Description {
            mounts: gateway.mounts(),
            environment: gateway.environment(),
            proxy_socket: gateway.proxy_socket(),
            proxy_mount_path: gateway.proxy_mount_path(),
            client_network: gateway.client_network(),
        }
        .to_value()
    }
}

impl fmt::Debug for HostAuthorizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HostAuthorizer")
    }
}

impl fmt::Debug for HostGateway {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HostGateway")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers each question with `answer`, forever.
    async fn answering(questions: &HostQuestions, answer: impl Fn(&Value) -> Value) {
        loop {
            for (id, question) in questions.drain().unwrap() {
                questions.complete(id, Ok(answer(&question)));
            }
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_gateway_of_the_host_is_what_it_says() {
        let questions = HostQuestions::new().unwrap();
        let described = json!({"mounts": [{"source": "/a", "target": null}], "environment": {"A": "b"},
            "proxy_mount_path": "/a/p.sock"});
        let gateway = HostGateway::own(1, Arc::clone(&questions)).unwrap();
        let inner = Arc::clone(gateway.0.object());
        let answers = answering(&questions, |question| match question["op"].as_str() {
            Some("open" | "validate") => described.clone(),
            _ => Value::Null,
        });
        tokio::select! {
            opened = inner.open(None) => opened.unwrap(),
            () = answers => {}
        }
        assert_eq!(
            gateway.description(),
            json!({"mounts": [{"source": "/a", "target": "/a"}], "environment": {"A": "b"},
                "proxy_socket": null, "proxy_mount_path": "/a/p.sock", "client_network": null})
        );
    }

    #[tokio::test]
    async fn an_authorizer_of_the_host_decides() {
        let questions = HostQuestions::new().unwrap();
        let authorizer = HostAuthorizer::new(2, Arc::clone(&questions)).unwrap();
        assert_eq!(authorizer.declaration(), json!({"host": 2}));
        let asked = Request::new("GET", "https", "a.example", 443, "/", []).unwrap();
        let answers = answering(
            &questions,
            |question| json!({"allowed": question["request"]["host"] == "a.example"}),
        );
        tokio::select! {
            decision = authorizer.0.object().authorize(asked) => assert!(decision.unwrap().allowed()),
            () = answers => {}
        }
    }
}

//! The application's say about each inspected request.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::decision::Decision;
use super::request::Request;
use crate::error::{Error, ErrorKind, Result};
use crate::panics::caught;

/// Decides about HTTP requests of child processes. It is trusted, and may be asked about several at once.
///
/// Any `Fn(Request) -> impl Future<Output = Result<Decision>>` is one. A failure, a panic and an answer that takes longer
/// than ten seconds deny the request.
#[async_trait]
pub trait Authorizer: Send + Sync {
    /// Decides about one request.
    ///
    /// # Errors
    /// Whatever failed; the request is denied then, and the child is not told why.
    async fn authorize(&self, request: Request) -> Result<Decision>;
}

#[async_trait]
impl<F, Answer> Authorizer for F
where
    F: Fn(Request) -> Answer + Send + Sync,
    Answer: Future<Output = Result<Decision>> + Send,
{
    async fn authorize(&self, request: Request) -> Result<Decision> {
        self(request).await
    }
}

/// An authorizer with the limits of a policy. It always decides.
#[derive(Clone)]
pub(crate) struct Guard {
    authorizer: Arc<dyn Authorizer>,
    mutation_headers: Arc<BTreeSet<String>>,
    patience: Duration,
}

impl Guard {
    /// Longest that an authorizer may take.
    pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

    pub(crate) fn new(
        authorizer: Arc<dyn Authorizer>,
        mutation_headers: BTreeSet<String>,
        patience: Duration,
    ) -> Self {
        Self {
            authorizer,
            mutation_headers: Arc::new(mutation_headers),
            patience,
        }
    }

    /// What the authorizer decides, or a denial when it cannot.
    pub(crate) async fn decide(&self, request: Request) -> Decision {
        let endpoint = format!("{}:{}", request.host(), request.port());
        let asked = caught("the network authorizer", self.authorizer.authorize(request));
        let answer = match tokio::time::timeout(self.patience, asked).await {
            Ok(answer) => answer,
            Err(_) => Err(Error::new(
                ErrorKind::DeadlineExceeded,
                format!("no decision within {} seconds", self.patience.as_secs_f64()),
            )),
        };
        answer
            .and_then(|decision| decision.check(&self.mutation_headers).map(|()| decision))
            .unwrap_or_else(|error| {
                // The message of user code may hold anything, its kind does not.
                let kind = error.class_name();
                tracing::warn!(
                    endpoint,
                    kind,
                    "the network authorizer failed; the request was denied"
                );
                Decision::refusal()
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request::new("GET", "https", "a.example.com", 443, "/", []).unwrap()
    }

    async fn decided<A: Authorizer + 'static>(authorizer: A) -> Decision {
        let named = BTreeSet::from(["authorization".to_owned()]);
        Guard::new(Arc::new(authorizer), named, Duration::from_millis(20))
            .decide(request())
            .await
    }

    #[tokio::test]
    async fn a_decision_within_the_policy_stands() {
        let decision = decided(|request: Request| async move {
            Decision::allow().set_header("authorization", request.host())
        })
        .await;
        assert_eq!(
            decision.set_headers(),
            [("authorization".into(), "a.example.com".into())]
        );
    }

    #[tokio::test]
    async fn whatever_goes_wrong_denies() {
        let failed = decided(|_| async { Err(Error::tool("secret")) }).await;
        let panicked = decided(|_: Request| async { panic!("provoked by a test") }).await;
        let hung = decided(|_| std::future::pending()).await;
        let beyond = decided(|_| async { Decision::allow().set_header("cookie", "a") }).await;
        for decision in [failed, panicked, hung, beyond] {
            assert_eq!(decision, Decision::deny(403).unwrap());
        }
    }
}

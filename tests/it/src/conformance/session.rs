//! The conversation of a case in the runtime's store, before and after its run.

use std::sync::Arc;

use little_ghost::{Runtime, Session, SessionStore, Snapshot};
use serde_json::{Value, json};

use super::case::Case;

fn open(case: &Case, store: Arc<dyn SessionStore>) -> Option<Session> {
    let session = Session::new(case.invocation.session_id.as_ref()?, store);
    let owner = case.session.as_ref().and_then(|spec| spec.actor_id.clone());
    Some(match owner {
        Some(owner) => session.with_actor_id(owner),
        None => session,
    })
}

/// Writes what the store has before the run.
pub(super) async fn prepare(case: &Case, runtime: &Runtime) {
    let Some(spec) = &case.session else { return };
    let session = open(case, Arc::clone(runtime.session_store()));
    let session = session.expect("a case with a session names it in its invocation");
    let snapshot = Snapshot::from_value(&json!({"messages": spec.messages, "state": spec.state}));
    session.replace(snapshot.unwrap()).await.unwrap();
}

/// What the store has after the run.
pub(super) async fn found(case: &Case, store: Arc<dyn SessionStore>) -> Value {
    let Some(session) = case.expect.session.as_ref().and(open(case, store)) else {
        return Value::Null;
    };
    let snapshot = session.load().await.unwrap();
    snapshot.map_or(Value::Null, |snapshot| snapshot.to_value())
}

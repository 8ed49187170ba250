//! Waiting for subagents.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::manager::Manager;
use super::messaging::unknown;
use crate::error::{Error, Result};

impl Manager {
    /// Waits until all of `ids`, or all that are here, have nothing to do; at most as long as the limits say.
    ///
    /// # Errors
    /// [`ErrorKind::Tool`](crate::ErrorKind::Tool) for a subagent that there is not or that this run has not
    /// gone on with, and for one that is named twice.
    pub(crate) async fn wait(&self, ids: Option<&[String]>) -> Result<Value> {
        let ids = match ids {
            Some(ids) => self.known(ids).await?,
            None => {
                let state = self.state.lock();
                state.identities.keys().map(|id| id.to_string()).collect()
            }
        };
        // Before looking, so that nothing that changes meanwhile is missed.
        let mut changes = self.changed.subscribe();
        let finished = async {
            loop {
                changes.borrow_and_update();
                if self.are_finished(&ids) || changes.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(self.limits.wait_timeout, finished).await;
        let status = if self.are_finished(&ids) {
            "finished"
        } else {
            "still_working"
        };
        let state = self.state.lock();
        let found = ids
            .iter()
            .filter_map(|id| state.identities.get(id.as_str()));
        let subagents: Vec<Value> = found.map(|identity| identity.snapshot()).collect();
        Ok(json!({"status": status, "subagents": subagents}))
    }

    async fn known(&self, ids: &[String]) -> Result<Vec<String>> {
        let mut seen = HashSet::new();
        for id in ids {
            if !seen.insert(id) {
                return Err(Error::tool(format!(
                    "{id} is named twice; name each subagent once"
                )));
            }
            if self.state.lock().identities.contains_key(id.as_str()) {
                continue;
            }
            if let Some(ledger) = &self.ledger
                && ledger.records().await?.contains_key(id)
            {
                return Err(Error::tool(format!(
                    "{id} has nothing to do in this run; send it a message first"
                )));
            }
            return Err(unknown(id));
        }
        Ok(ids.to_vec())
    }

    fn are_finished(&self, ids: &[String]) -> bool {
        let state = self.state.lock();
        ids.iter()
            .filter_map(|id| state.identities.get(id.as_str()))
            .all(|identity| identity.status.is_finished())
    }
}

//! The way to the host for one part of a run.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::channel::{HostCallKind, HostChannel, PendingAnswer};
use crate::error::Result;
use crate::event::StreamEvent;

/// The way to the host for one part of a run. Its calls say which part that is, unless it is the run itself.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    pub(super) channel: Arc<HostChannel>,
    scope: u64,
}

impl Door {
    pub(super) fn new(channel: &Arc<HostChannel>, scope: u64) -> Self {
        Self {
            channel: Arc::clone(channel),
            scope,
        }
    }

    /// As [`HostChannel::call`].
    pub(super) async fn call(&self, kind: HostCallKind, payload: Value) -> Result<Value> {
        self.channel.call(kind, self.scoped(payload)).await
    }

    /// As [`HostChannel::open`].
    pub(super) fn open(
        &self,
        kind: HostCallKind,
        payload: Value,
    ) -> Result<(mpsc::UnboundedReceiver<StreamEvent>, PendingAnswer)> {
        self.channel.open(kind, self.scoped(payload))
    }

    /// As [`HostChannel::open_bytes`].
    pub(super) fn open_bytes(
        &self,
        kind: HostCallKind,
        payload: Value,
        limit: u64,
    ) -> Result<(mpsc::UnboundedReceiver<Bytes>, PendingAnswer)> {
        self.channel.open_bytes(kind, self.scoped(payload), limit)
    }

    fn scoped(&self, mut payload: Value) -> Value {
        if self.scope != 0
            && let Some(payload) = payload.as_object_mut()
        {
            payload.insert("scope".into(), json!(self.scope));
        }
        payload
    }
}

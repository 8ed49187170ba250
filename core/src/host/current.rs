//! The host that drives the work of the current task.

use std::future::Future;
use std::sync::Arc;

use futures_util::future::Either;
use tokio::task_local;

use super::channel::HostChannel;

task_local! {
    static HOST: Arc<HostChannel>;
}

/// Makes `channel` the host of `work`.
pub(super) fn scope<F: Future>(
    channel: Arc<HostChannel>,
    work: F,
) -> impl Future<Output = F::Output> {
    HOST.scope(channel, work)
}

/// `work` with the host of the current task, for a task of its own.
pub(crate) fn inherit<F: Future>(work: F) -> impl Future<Output = F::Output> {
    match HOST.try_with(Arc::clone) {
        Ok(host) => Either::Left(HOST.scope(host, work)),
        Err(_) => Either::Right(work),
    }
}

/// Has the host's function `id` make a turn of a scripted model.
#[cfg(feature = "testing")]
pub(crate) async fn scripted_turn(
    id: u64,
    request: &crate::model::ModelRequest,
) -> crate::error::Result<serde_json::Value> {
    use super::channel::HostCallKind;
    use crate::error::{Error, ErrorKind};

    let Ok(host) = HOST.try_with(Arc::clone) else {
        return Err(Error::new(
            ErrorKind::Error,
            "this turn of the scripted model is a function of another language than the agent's",
        ));
    };
    let payload = serde_json::json!({"function": id, "request": request.to_value()});
    host.call(HostCallKind::ScriptedTurn, payload).await
}

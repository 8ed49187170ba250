//! One client connection: its requests, one after the other.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;

use crate::control;
use crate::playback::{self, Next};
use crate::reply::Reply;
use crate::request::{Inbox, Request, write_all};
use crate::scenario::Registry;

pub(crate) async fn serve(stream: TcpStream, registry: Arc<Registry>, id: u64) {
    // Small writes must reach the client as they are written.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let mut inbox = Inbox::default();
    loop {
        let next = match inbox.request(&stream).await {
            Ok(Some(request)) => match answer(&stream, &mut inbox, &registry, &request, id).await {
                Ok(Next::KeepAlive) if request.keep_alive => Next::KeepAlive,
                Ok(Next::Reset) => Next::Reset,
                Ok(_) | Err(_) => Next::Close,
            },
            Ok(None) => Next::Close,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let reply = Reply::error(400, "bad_request", error.to_string());
                let _ = write_all(&stream, &reply.bytes()).await;
                Next::Close
            }
            Err(_) => Next::Close,
        };
        match next {
            Next::KeepAlive => {}
            Next::Close => return,
            Next::Reset => {
                let _ = stream.set_zero_linger();
                return;
            }
        }
    }
}

async fn answer(
    stream: &TcpStream,
    inbox: &mut Inbox,
    registry: &Registry,
    request: &Request,
    connection: u64,
) -> io::Result<Next> {
    let Some((id, path)) = scenario_path(&request.path) else {
        let reply = tokio::select! {
            biased;
            () = inbox.closed(stream) => return Ok(Next::Close),
            reply = control::handle(registry, request) => reply,
        };
        write_all(stream, &reply.bytes()).await?;
        return Ok(Next::KeepAlive);
    };
    let Some(scenario) = registry.get(id) else {
        let reply = Reply::error(404, "no_scenario", format!("there is no scenario {id}"));
        write_all(stream, &reply.bytes()).await?;
        return Ok(Next::KeepAlive);
    };
    match scenario.take(request, path) {
        Ok(exchange) => {
            let ticket = scenario.journal.record(request, path, connection, None);
            Ok(playback::answer(stream, inbox, &scenario, &exchange, &ticket).await)
        }
        Err(refusal) => {
            let message = Some(refusal.message.clone());
            let ticket = scenario.journal.record(request, path, connection, message);
            let bytes = Reply::error(500, refusal.code, refusal.message).bytes();
            playback::write_last(stream, &bytes, &ticket).await?;
            Ok(Next::KeepAlive)
        }
    }
}

/// Splits `/s/<id>/v1/<path>`. Another version than `v1` stays in the path.
fn scenario_path(path: &str) -> Option<(&str, &str)> {
    let (id, path) = path.strip_prefix("/s/")?.split_once('/')?;
    Some((id, path.strip_prefix("v1/").unwrap_or(path)))
}

//! Playing recorded exchanges.

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::Value;

use super::difference::differences;
use super::exchange::{Exchange, Request};
use crate::error::Result;
use crate::http::{Answer, Body, Endpoint, Source, closed};
use crate::testing::scripted_model::count;

/// Differences of a request that are listed.
const LISTED: usize = 12;

/// The exchanges of a cassette, and which of them were asked for.
#[derive(Debug)]
pub(super) struct Player {
    exchanges: Vec<Exchange>,
    ignored: Vec<String>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    used: Vec<bool>,
    complaints: Vec<String>,
}

impl Player {
    pub(super) fn new(exchanges: Vec<Exchange>, ignored: &[String]) -> Self {
        let used = vec![false; exchanges.len()];
        Self {
            exchanges,
            ignored: ignored.to_vec(),
            progress: Mutex::new(Progress {
                used,
                complaints: Vec::new(),
            }),
        }
    }

    /// The first unused exchange that is exactly this request, or what is different about it.
    pub(super) fn find(&self, sent: &Request, endpoint: &Endpoint) -> Result<Answer, String> {
        let sent = self.comparable(sent);
        let mut progress = self.progress.lock();
        let compared: Vec<(usize, bool, Vec<String>)> = self
            .exchanges
            .iter()
            .zip(&progress.used)
            .enumerate()
            .map(|(index, (exchange, used))| {
                let recorded = self.comparable(&exchange.request);
                (index, *used, differences(&recorded, &sent))
            })
            .collect();
        let fitting = compared
            .iter()
            .find(|(_, used, differences)| !used && differences.is_empty());
        if let Some((index, _, _)) = fitting
            && let (Some(used), Some(exchange)) =
                (progress.used.get_mut(*index), self.exchanges.get(*index))
        {
            *used = true;
            return Ok(play(exchange, endpoint));
        }
        let complaint = complaint(&sent, &compared);
        progress.complaints.push(complaint.clone());
        Err(complaint)
    }

    /// The request without what does not count.
    fn comparable(&self, request: &Request) -> Request {
        let mut request = request.clone();
        for pointer in &self.ignored {
            remove(&mut request.body, pointer);
        }
        request
    }

    /// What went wrong while playing: an unknown request, or exchanges that nobody asked for.
    pub(super) fn complaint(&self) -> Option<String> {
        let progress = self.progress.lock();
        if let Some(first) = progress.complaints.first() {
            return Some(first.clone());
        }
        let unused: Vec<String> = self
            .exchanges
            .iter()
            .zip(&progress.used)
            .enumerate()
            .filter(|(_, (_, used))| !**used)
            .map(|(index, (exchange, _))| format!("{} ({})", index + 1, exchange.request))
            .collect();
        if unused.is_empty() {
            return None;
        }
        Some(format!(
            "has {} that nobody asked for: {}",
            count(unused.len(), "exchange"),
            unused.join(", ")
        ))
    }
}

fn complaint(sent: &Request, compared: &[(usize, bool, Vec<String>)]) -> String {
    let nearest = compared
        .iter()
        .min_by_key(|(_, used, differences)| (*used, differences.len()));
    let begin = format!("has no exchange for the request {sent}");
    let played = compared
        .iter()
        .find(|(_, used, differences)| *used && differences.is_empty());
    if let Some((index, _, _)) = played {
        return format!(
            "{begin}: exchange {} is the same, but it was played already",
            index + 1
        );
    }
    let Some((index, used, differences)) = nearest else {
        return format!("{begin}: it is empty");
    };
    let played = if *used { " (played already)" } else { "" };
    let mut text = format!("{begin}; it differs from exchange {}{played} in", index + 1);
    for difference in differences.iter().take(LISTED) {
        text.push_str("\n  ");
        text.push_str(difference);
    }
    if let Some(more) = differences
        .len()
        .checked_sub(LISTED)
        .filter(|more| *more > 0)
    {
        text.push_str(&format!("\n  and {more} more"));
    }
    text
}

fn remove(body: &mut Value, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return;
    };
    if let Some(Value::Object(map)) = body.pointer_mut(parent) {
        map.shift_remove(&key.replace("~1", "/").replace("~0", "~"));
    }
}

fn play(exchange: &Exchange, endpoint: &Endpoint) -> Answer {
    let response = &exchange.response;
    Answer {
        status: response.status,
        headers: response.headers.clone(),
        body: Body::Source(Box::new(Playing {
            chunks: response.chunks.clone().into_iter(),
            complete: response.complete,
            endpoint: endpoint.clone(),
        })),
    }
}

struct Playing {
    chunks: std::vec::IntoIter<Bytes>,
    complete: bool,
    endpoint: Endpoint,
}

#[async_trait]
impl Source for Playing {
    async fn chunk(&mut self) -> Result<Option<Bytes>> {
        match self.chunks.next() {
            Some(bytes) => Ok(Some(bytes)),
            None if self.complete => Ok(None),
            None => Err(closed(&self.endpoint)),
        }
    }
}

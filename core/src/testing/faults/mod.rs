//! Failures of the network and of services, on demand.

mod cut;
mod fault;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::sleep;

pub use fault::Fault;

use super::scripted_model::count;
use super::turn_value::invalid;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Answer, Body, Next, Post, Source, Transport, closed};
use cut::Cut;
use fault::{End, Kind};

/// Which requests of a runtime go wrong, and how. Requests without a fault go on to the network, or to
/// a [`Cassette`](super::Cassette).
///
/// ```
/// use little_ghost::Runtime;
/// use little_ghost::testing::{Fault, Faults};
///
/// # fn main() -> little_ghost::Result<()> {
/// let faults = Faults::new()
///     .on(1, Fault::status(503).header("retry-after", "0")?)
///     .on(2, Fault::drop_after(120));
/// let runtime = Runtime::builder().faults(&faults).build()?;
/// # Ok(())
/// # }
/// ```
///
/// Clones share the count of requests.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    planned: BTreeMap<usize, Fault>,
    always: Option<Fault>,
    sent: Mutex<usize>,
}

impl Faults {
    /// No faults yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Has request number `request`, counted from one, go wrong. Retries count as requests.
    #[must_use]
    pub fn on(self, request: usize, fault: Fault) -> Self {
        self.with(|planned, _| {
            planned.insert(request, fault);
        })
    }

    /// Has every request go wrong that has no fault of its own.
    #[must_use]
    pub fn always(self, fault: Fault) -> Self {
        self.with(|_, always| *always = Some(fault))
    }

    fn with(self, change: impl FnOnce(&mut BTreeMap<usize, Fault>, &mut Option<Fault>)) -> Self {
        let mut planned = self.0.planned.clone();
        let mut always = self.0.always.clone();
        change(&mut planned, &mut always);
        Self(Arc::new(Shared {
            planned,
            always,
            sent: Mutex::default(),
        }))
    }

    /// Reads an array of faults as [`Fault::from_value`] does, each with the number of its request as `on`.
    /// Without `on` a fault is for the request after the last one's; `"always"` is for all others.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for anything else, and for two faults of one request.
    pub fn from_value(value: &Value) -> Result<Self> {
        let list = value
            .as_array()
            .ok_or_else(|| invalid("faults must be an array of objects"))?;
        let mut faults = Self::new();
        let mut next = 1;
        for value in list {
            let fault = Fault::from_value(value)?;
            match value.get("on") {
                Some(Value::String(text)) if text == "always" => faults = faults.always(fault),
                on => {
                    let on = match on {
                        None | Some(Value::Null) => Some(next),
                        Some(on) => on.as_u64().and_then(|on| usize::try_from(on).ok()),
                    };
                    let on = on.filter(|on| *on > 0).ok_or_else(|| {
                        invalid("on must be the number of a request, from 1, or \"always\"")
                    })?;
                    if faults.0.planned.contains_key(&on) {
                        return Err(invalid(format!("two faults are for request {on}")));
                    }
                    faults = faults.on(on, fault);
                    next = on + 1;
                }
            }
        }
        Ok(faults)
    }

    /// How many requests were sent so far, retries included.
    #[must_use]
    pub fn requests(&self) -> usize {
        *self.0.sent.lock()
    }

    /// Checks that every planned fault happened.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] when there were too few requests.
    pub fn verify(&self) -> Result<()> {
        let sent = self.requests();
        match self.0.planned.keys().next_back() {
            Some(last) if *last > sent => Err(Error::new(
                ErrorKind::Error,
                format!(
                    "a fault was planned for request {last}, but only {} sent",
                    if sent == 1 {
                        "1 request was".to_owned()
                    } else {
                        format!("{} were", count(sent, "request"))
                    }
                ),
            )),
            _ => Ok(()),
        }
    }

    fn take(&self) -> Option<Fault> {
        let number = {
            let mut sent = self.0.sent.lock();
            *sent += 1;
            *sent
        };
        let own = self.0.planned.get(&number);
        own.or(self.0.always.as_ref()).cloned()
    }
}

#[async_trait]
impl Transport for Faults {
    async fn send(&self, post: &Post, body: Bytes, next: Next<'_>) -> Result<Answer> {
        let Some(Fault(plan)) = self.take() else {
            return next.send(post, body).await;
        };
        if !plan.delay.is_zero() {
            sleep(plan.delay).await;
        }
        match plan.kind {
            Kind::Answer {
                status,
                headers,
                body,
            } => Ok(Answer {
                status,
                headers,
                body: Body::Source(Box::new(Whole(Some(body)))),
            }),
            Kind::Cut {
                after: 0,
                end: End::Drop,
            } => Err(closed(&post.endpoint)),
            Kind::Cut {
                after: 0,
                end: End::Stall,
            } => std::future::pending().await,
            Kind::Cut { after, end } => {
                let mut answer = next.send(post, body).await?;
                let cut = Cut::new(answer.body, after, end, post.endpoint.clone());
                answer.body = Body::Source(Box::new(cut));
                Ok(answer)
            }
        }
    }
}

/// A body that is there at once.
struct Whole(Option<Bytes>);

#[async_trait]
impl Source for Whole {
    async fn chunk(&mut self) -> Result<Option<Bytes>> {
        Ok(self.0.take().filter(|bytes| !bytes.is_empty()))
    }
}

//! Scenarios: a list of exchanges, where it stands, and its journal.

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;

use crate::exchange::{Exchange, ExchangeSpec};
use crate::journal::Journal;
use crate::request::Request;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioSpec {
    exchanges: Vec<Value>,
    #[serde(default)]
    cycle: bool,
    #[serde(default)]
    unordered: bool,
}

pub(crate) struct Scenario {
    exchanges: Vec<Arc<Exchange>>,
    cycle: bool,
    unordered: bool,
    /// For each exchange: used in this round.
    used: Mutex<Vec<bool>>,
    pub(crate) journal: Arc<Journal>,
    labels: watch::Sender<BTreeSet<String>>,
}

impl Scenario {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, String> {
        let spec: ScenarioSpec = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let mut exchanges = Vec::with_capacity(spec.exchanges.len());
        for (index, exchange) in spec.exchanges.into_iter().enumerate() {
            let exchange = serde_json::from_value::<ExchangeSpec>(exchange)
                .map_err(|error| error.to_string())
                .and_then(Exchange::compile)
                .map_err(|error| format!("exchange {index}: {error}"))?;
            exchanges.push(Arc::new(exchange));
        }
        Ok(Self {
            used: Mutex::new(vec![false; exchanges.len()]),
            exchanges,
            cycle: spec.cycle,
            unordered: spec.unordered,
            journal: Arc::new(Journal::new()),
            labels: watch::Sender::new(BTreeSet::new()),
        })
    }

    /// Takes the exchange that answers this request. One that does not match
    /// is not used up: the mistake shows again at the client's next attempt
    /// instead of shifting every later answer by one.
    pub(crate) fn take(&self, request: &Request, path: &str) -> Result<Arc<Exchange>, Refusal> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if self.cycle && used.iter().all(|used| *used) {
            used.fill(false);
        }
        let mut mismatch = None;
        for (index, (exchange, used)) in self.exchanges.iter().zip(used.iter_mut()).enumerate() {
            if *used {
                continue;
            }
            match exchange.mismatch(path, &request.body) {
                None => {
                    *used = true;
                    return Ok(exchange.clone());
                }
                Some(reason) => mismatch = Some(format!("exchange {index}: {reason}")),
            }
            if !self.unordered {
                break;
            }
        }
        Err(match mismatch {
            Some(message) => Refusal {
                code: "mismatch",
                message,
            },
            None => Refusal {
                code: "exhausted",
                message: format!(
                    "all {} exchanges of this scenario are used up; this request was {} {path}",
                    self.exchanges.len(),
                    request.method,
                ),
            },
        })
    }

    /// Raises a label for good: exchanges that wait for it go on, now or later.
    pub(crate) fn signal(&self, label: String) {
        self.labels.send_modify(|labels| {
            labels.insert(label);
        });
    }

    pub(crate) async fn signalled(&self, label: &str) {
        // The sender lives as long as this scenario, so waiting cannot fail.
        let _ = self
            .labels
            .subscribe()
            .wait_for(|labels| labels.contains(label))
            .await;
    }
}

/// Why no exchange answers a request.
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

/// All scenarios of this server.
pub(crate) struct Registry {
    address: SocketAddr,
    scenarios: RwLock<HashMap<String, Arc<Scenario>>>,
    made: AtomicU64,
}

impl Registry {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            scenarios: RwLock::default(),
            made: AtomicU64::new(0),
        }
    }

    pub(crate) fn add(&self, scenario: Scenario) -> String {
        let id = format!("s{}", self.made.fetch_add(1, Ordering::Relaxed) + 1);
        self.scenarios
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.clone(), Arc::new(scenario));
        id
    }

    pub(crate) fn base_url(&self, id: &str) -> String {
        format!("http://{}/s/{id}/v1/", self.address)
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Scenario>> {
        self.scenarios
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
            .cloned()
    }

    pub(crate) fn remove(&self, id: &str) -> bool {
        self.scenarios
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(id)
            .is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.scenarios
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

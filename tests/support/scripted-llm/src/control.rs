//! The control API under `/_scenarios` and `/_health`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::journal::Wanted;
use crate::reply::Reply;
use crate::request::Request;
use crate::scenario::{Registry, Scenario};

const DEFAULT_WAIT_MS: u64 = 5_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Signal {
    label: String,
}

pub(crate) async fn handle(registry: &Registry, request: &Request) -> Reply {
    let mut path = request.path.trim_matches('/').splitn(3, '/');
    let (root, id, action) = (path.next(), path.next(), path.next());
    match (request.method.as_str(), root, id, action) {
        ("GET", Some("_health"), None, None) => {
            Reply::new(200, json!({"ok": true, "scenarios": registry.len()}))
        }
        ("POST", Some("_scenarios"), None, None) => create(registry, request),
        ("DELETE", Some("_scenarios"), Some(id), None) if registry.remove(id) => {
            Reply::new(200, json!({"deleted": id}))
        }
        (method, Some("_scenarios"), Some(id), action) => match registry.get(id) {
            None => Reply::error(404, "no_scenario", format!("there is no scenario {id}")),
            Some(scenario) => match (method, action) {
                ("GET", Some("journal")) => Reply::new(200, scenario.journal.json()),
                ("GET", Some("wait")) => wait(&scenario, request).await,
                ("POST", Some("signal")) => signal(&scenario, request),
                _ => unknown(request),
            },
        },
        _ => unknown(request),
    }
}

fn create(registry: &Registry, request: &Request) -> Reply {
    match Scenario::parse(&request.body) {
        Ok(scenario) => {
            let id = registry.add(scenario);
            let base_url = registry.base_url(&id);
            Reply::new(200, json!({"id": id, "base_url": base_url}))
        }
        Err(message) => Reply::error(400, "bad_scenario", message),
    }
}

fn signal(scenario: &Scenario, request: &Request) -> Reply {
    match serde_json::from_slice::<Signal>(&request.body) {
        Ok(Signal { label }) => {
            scenario.signal(label);
            Reply::new(200, json!({"ok": true}))
        }
        Err(error) => Reply::error(400, "bad_signal", error.to_string()),
    }
}

async fn wait(scenario: &Scenario, request: &Request) -> Reply {
    let number = |key: &str, default: u64| match request.parameter(key) {
        None => Ok(default),
        Some(text) => text
            .parse()
            .map_err(|_| format!("{key} must be a whole number, not {text:?}")),
    };
    let parsed = (|| {
        let count =
            |key| number(key, 0).map(|value: u64| usize::try_from(value).unwrap_or(usize::MAX));
        let wanted = Wanted {
            requests: count("requests")?,
            disconnects: count("disconnects")?,
            answered: count("answered")?,
        };
        Ok::<_, String>((wanted, number("timeout_ms", DEFAULT_WAIT_MS)?))
    })();
    let (wanted, timeout) = match parsed {
        Ok(parsed) => parsed,
        Err(message) => return Reply::error(400, "bad_wait", message),
    };
    let limit = Duration::from_millis(timeout);
    let reached = tokio::time::timeout(limit, scenario.journal.reached(wanted)).await;
    Reply::new(
        if reached.is_ok() { 200 } else { 408 },
        scenario.journal.json(),
    )
}

fn unknown(request: &Request) -> Reply {
    Reply::error(
        404,
        "no_route",
        format!("no such route: {} {}", request.method, request.path),
    )
}

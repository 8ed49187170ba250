//! Cases in which several agents answer together, described in `tests/conformance/ASSEMBLIES.md`.

mod body;
mod case;
mod cast;
mod check;
mod direct;
mod host;
mod host_flow;
mod host_table;
mod notation;
mod observation;
mod script;
mod steps;
mod template;

pub use case::{AssemblyCase, load};

use little_ghost::Runtime;
use serde_json::json;

use super::Door;
use crate::Server;
use observation::Observation;

/// Every way in which `case` did not go through `door` as it should; empty when it did.
pub async fn differences(case: &AssemblyCase, door: Door) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(invalid) = &case.expect.invalid {
        let refusal = match door {
            Door::Agent => direct::refusal(case),
            Door::Host => host::checked(case).err(),
        };
        check::refusal(&mut found, invalid, refusal.as_ref());
    }
    if let Some(mermaid) = &case.expect.mermaid {
        let picture = match door {
            Door::Agent => direct::mermaid(case),
            Door::Host => host::checked(case).unwrap().unwrap_or_default(),
        };
        let lines: Vec<&str> = picture.lines().collect();
        check::same(&mut found, "mermaid", mermaid, &json!(lines));
    }
    if case.invocation.is_some() {
        check::run(&mut found, case, &observe(case, door).await);
    }
    found
}

async fn observe(case: &AssemblyCase, door: Door) -> Observation {
    let script = json!({"exchanges": script::exchanges(case), "unordered": true});
    let scenario = Server::shared().script(&script).await;
    let runtime = Runtime::from_value(&json!({"providers": {"scripted": {
        "adapter": "openai_compatible", "api": "chat_completions",
        "base_url": scenario.base_url, "api_key": "test-key",
    }}}));
    let runtime = runtime.unwrap();
    case.prepare_session(&runtime).await;
    let mut seen = match door {
        Door::Agent => direct::run(case, runtime.clone(), &scenario).await,
        Door::Host => host::run(case, runtime.clone(), &scenario).await,
    };
    seen.session = case.found_session(&runtime).await;
    seen.journal = match case.expect.broken_off.len() {
        0 => scenario.journal().await,
        count => scenario.wait(&format!("disconnects={count}")).await,
    };
    seen
}

//! The conformance suite: `tests/conformance/*.json`, described in the README there.

pub mod assembly;
mod behaviour;
mod case;
mod check;
pub mod code_mode;
mod compact;
mod direct;
mod host;
pub(crate) mod mask;
mod observation;
mod session;
pub mod subagents;
mod toolbox;

pub use case::{Case, load};
pub use check::differences;
pub use observation::Observation;

use std::sync::Arc;

use little_ghost::{Error, Runtime};
use serde_json::{Map, Value};

use crate::{Scenario, Server};

/// Which door of the crate a case goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// `Agent` and `RunStream`.
    Agent,
    /// `HostRun`, driven as Ruby and Python drive it.
    Host,
}

/// Runs `case` through `door` and returns what there was to see.
pub async fn observe(case: &Case, door: Door) -> Observation {
    let scenario = Server::shared().script(&case.script()).await;
    let mut observation = match runtime(case, &scenario) {
        Err(error) => Observation::refused(&error),
        Ok(runtime) => {
            session::prepare(case, &runtime).await;
            let store = Arc::clone(runtime.session_store());
            let mut observation = match door {
                Door::Agent => direct::run(case, runtime, &scenario).await,
                Door::Host => host::run(case, runtime, &scenario).await,
            };
            observation.session = session::found(case, store).await;
            observation
        }
    };
    observation.journal = match case.expect.disconnects() {
        0 => scenario.journal().await,
        count => scenario.wait(&format!("disconnects={count}")).await,
    };
    observation
}

fn runtime(case: &Case, scenario: &Scenario) -> Result<Arc<Runtime>, Error> {
    Runtime::from_value(&Value::Object(configuration(case, &scenario.base_url)))
}

/// Stands for the address of the scenario in the options of a connection.
const BASE_URL: &str = "$base_url";

/// `{providers, models, default_model}` of a case, with its one connection, `scripted`.
fn configuration(case: &Case, base_url: &str) -> Map<String, Value> {
    let mut connection = Map::new();
    for (key, value) in [
        ("adapter", "openai_compatible"),
        ("base_url", base_url),
        ("api_key", "test-key"),
    ] {
        connection.insert(key.to_owned(), value.into());
    }
    for (key, value) in &case.provider {
        connection.insert(key.clone(), value.clone());
    }
    connection.retain(|_, value| !value.is_null());
    for value in connection.values_mut().filter(|value| *value == BASE_URL) {
        *value = base_url.into();
    }
    let mut configuration = Map::new();
    let providers = Map::from_iter([("scripted".to_owned(), connection.into())]);
    configuration.insert("providers".to_owned(), providers.into());
    if let Some(models) = &case.models {
        configuration.insert("models".to_owned(), models.clone().into());
    }
    if let Some(default_model) = &case.default_model {
        configuration.insert("default_model".to_owned(), default_model.clone().into());
    }
    configuration
}

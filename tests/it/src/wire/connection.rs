//! The connection of a case: its own options, the address of the server, and credentials of no value.

use std::sync::Arc;

use little_ghost::Error;
use little_ghost::catalog::Catalog;
use little_ghost::provider::{Environment, ModelResolverBuilder, ResolvedModel};
use serde_json::{Map, Value, json};

use super::case::Case;

/// The name of the connection and of the role.
const NAME: &str = "wire";

/// The model of `case`, by the scripted server at `base_url`.
///
/// Neither the environment nor the bundled catalog has a say: they differ between machines and days.
pub fn model(case: &Case, base_url: &str) -> Result<Arc<ResolvedModel>, Error> {
    let mut profile = json!({"target": format!("{NAME}:{}", case.tape.model)});
    if let Some(details) = &case.tape.details {
        profile["details"] = json!(details);
    }
    let configuration = json!({
        "providers": {NAME: options(case, base_url)},
        "models": {NAME: profile},
    });
    ModelResolverBuilder::from_value(&configuration, Environment::empty())?
        .catalog(Arc::new(Catalog::empty()))
        .build()?
        .resolve_name(NAME)
}

fn options(case: &Case, base_url: &str) -> Map<String, Value> {
    let mut options = case.tape.connection.clone();
    let mut default = |name: &str, value: &str| {
        options.entry(name).or_insert_with(|| json!(value));
    };
    match &*case.adapter {
        "bedrock" => {
            default("endpoint", base_url);
            default("region", "us-east-1");
            if !options.contains_key("api_key") {
                let keys =
                    json!({"access_key_id": "AKIDEXAMPLE", "secret_access_key": "test-secret-key"});
                options.entry("credentials").or_insert(keys);
            }
        }
        "vertex_ai" => {
            default("base_url", base_url);
            default("project", "test-project");
            default("access_token", "test-token");
        }
        _ => {
            default("base_url", base_url);
            default("api_key", "test-key");
        }
    }
    // Null stands for an option that is not given at all.
    options.retain(|_, value| !value.is_null());
    options
}

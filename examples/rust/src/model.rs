//! Which model answers.

use std::env;
use std::sync::Arc;

use little_ghost::provider::{ModelResolver, ProviderConfig};
use little_ghost::{Result, Runtime};

/// The server that `LITTLE_GHOST_DEMO_BASE_URL` names, else the default model of the first key
/// in the environment.
pub fn runtime() -> Result<Arc<Runtime>> {
    let setting = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let Some(base_url) = setting("LITTLE_GHOST_DEMO_BASE_URL") else {
        return Runtime::shared();
    };
    let model = setting("LITTLE_GHOST_DEMO_MODEL").unwrap_or_else(|| "default".into());
    let api = setting("LITTLE_GHOST_DEMO_API").unwrap_or_else(|| "chat_completions".into());
    let server = ProviderConfig::openai_compatible(base_url).option("api", api);
    let models = ModelResolver::builder()
        .provider("local", server)
        .default_model(format!("local:{model}"));
    Ok(Runtime::new(models.build()?))
}

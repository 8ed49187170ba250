//! The lists of models that services keep themselves.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::source::CatalogSource;
use super::{AnthropicModels, GeminiModels, OpenRouterModels};

/// The source for a connection with these options; none when the service behind `adapter` has no list that says
/// more than the models' names.
pub(crate) fn own_models(
    adapter: &str,
    connection: &str,
    options: &Map<String, Value>,
) -> Option<Arc<dyn CatalogSource>> {
    Some(match adapter {
        "anthropic" => Arc::new(AnthropicModels::from_options(connection, options)),
        "gemini" => Arc::new(GeminiModels::from_options(connection, options)),
        "openrouter" => Arc::new(OpenRouterModels::from_options(connection, options)),
        _ => return None,
    })
}

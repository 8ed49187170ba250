//! The lists of models that services keep themselves.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::source::CatalogSource;
use super::{AnthropicModels, BedrockModels, GeminiModels, OpenRouterModels};
use crate::error::Result;

/// The source for a connection with these options; none when the service behind `adapter` has no list that says
/// more than the models' names, or nobody says where it is.
///
/// # Errors
/// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) for an invalid option.
pub(crate) fn own_models(
    adapter: &str,
    connection: &str,
    options: &Map<String, Value>,
) -> Result<Option<Arc<dyn CatalogSource>>> {
    Ok(Some(match adapter {
        "anthropic" => Arc::new(AnthropicModels::from_options(connection, options)),
        "bedrock" => match BedrockModels::from_options(connection, options)? {
            Some(source) => Arc::new(source),
            None => return Ok(None),
        },
        "gemini" => Arc::new(GeminiModels::from_options(connection, options)),
        "openrouter" => Arc::new(OpenRouterModels::from_options(connection, options)),
        _ => return Ok(None),
    }))
}

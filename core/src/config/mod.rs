//! Configuration files: YAML, and where an application keeps its own.

mod files;
mod yaml;

pub use files::{ConfigurationFiles, MODELS_PATH, PROVIDERS_PATH};
pub use yaml::{parse_yaml, read_yaml};

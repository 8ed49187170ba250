//! Fresh facts about the models of the configured connections.

use std::sync::Arc;

use super::ModelResolver;
use crate::catalog::{Catalog, CatalogSource, ModelsDev, Refreshed, own_models};
use crate::error::Error;

impl ModelResolver {
    /// The facts that limits, modalities and capabilities are taken from.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Fetches fresh facts about one target or all models. A source that fails changes nothing.
    ///
    /// The sources are the configured ones, or else models.dev and then, for each connection, the list that
    /// its service keeps itself: OpenRouter, Anthropic, Gemini, Bedrock. Nothing else in the library fetches facts.
    ///
    /// ```no_run
    /// # async fn example() -> little_ghost::Result<()> {
    /// let runtime = little_ghost::Runtime::shared()?;
    /// let refreshed = runtime.resolver().refresh(None).await;
    /// println!("{} models, {} sources failed", refreshed.updated.len(), refreshed.errors.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn refresh(&self, target: Option<&str>) -> Refreshed {
        if !self.sources.is_empty() {
            return self.catalog.refresh(&self.sources, target).await;
        }
        let mut errors = Vec::new();
        let sources = self.usual_sources(&mut errors);
        let mut refreshed = self.catalog.refresh(&sources, target).await;
        refreshed.errors.extend(errors);
        refreshed
    }

    /// The sources that there are without any of the application's; `errors` says what is wrong with others.
    fn usual_sources(&self, errors: &mut Vec<(String, Error)>) -> Vec<Arc<dyn CatalogSource>> {
        let adapters = self
            .connections
            .iter()
            .map(|(name, config)| (name.clone(), config.adapter().to_owned()));
        let mut sources: Vec<Arc<dyn CatalogSource>> = vec![Arc::new(ModelsDev::new(adapters))];
        for (name, config) in &self.connections {
            let adapter = config.adapter();
            // What the application calls by that name may be another service.
            let replaced = self.adapters.iter().any(|(known, _)| known == adapter)
                || self.host_adapters.iter().any(|known| known == adapter);
            if replaced {
                continue;
            }
            let options = self.with_environment_key(adapter, config.options().clone());
            match own_models(adapter, name, &options) {
                Ok(source) => sources.extend(source),
                Err(error) => errors.push((format!("{adapter}:{name}"), error)),
            }
        }
        sources
    }
}

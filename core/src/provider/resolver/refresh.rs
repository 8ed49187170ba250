//! Fresh facts about the models of the configured connections.

use std::sync::Arc;

use super::ModelResolver;
use crate::catalog::{Catalog, CatalogSource, ModelsDev, Refreshed, own_models};

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
        if self.sources.is_empty() {
            self.catalog.refresh(&self.usual_sources(), target).await
        } else {
            self.catalog.refresh(&self.sources, target).await
        }
    }

    fn usual_sources(&self) -> Vec<Arc<dyn CatalogSource>> {
        let adapters = self
            .connections
            .iter()
            .map(|(name, config)| (name.clone(), config.adapter().to_owned()));
        let mut sources: Vec<Arc<dyn CatalogSource>> = vec![Arc::new(ModelsDev::new(adapters))];
        for (name, config) in &self.connections {
            let options = self.with_environment_key(config.adapter(), config.options().clone());
            sources.extend(own_models(config.adapter(), name, &options));
        }
        sources
    }
}

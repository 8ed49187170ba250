//! What is known about models: limits, modalities, features, prices.
//!
//! A [`Catalog`] layers refreshed facts over a snapshot that is compiled in. Nothing is fetched
//! unless the application asks for it with
//! [`ModelResolver::refresh`](crate::provider::ModelResolver::refresh).

mod anthropic;
mod bedrock;
pub(crate) mod date;
mod details;
mod gemini;
mod listing;
mod models_dev;
mod openrouter;
mod own;
mod price;
mod rates;
mod record;
mod snapshot;
mod source;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::RwLock;

pub use anthropic::AnthropicModels;
pub use bedrock::BedrockModels;
pub(crate) use bedrock::{Inquiry, Question};
pub use details::ModelDetails;
pub use gemini::GeminiModels;
pub use models_dev::ModelsDev;
pub use openrouter::OpenRouterModels;
pub(crate) use own::own_models;
pub use record::{MergeStrategy, ModelRecord};
pub use source::{CatalogSource, Refreshed};

pub(crate) use rates::Prices;

use crate::error::Result;
use bedrock::base_model;
use record::Facts;
use snapshot::Snapshot;

/// How long to wait for the refreshed facts. Their holder needs microseconds, so a longer wait
/// means that the holder was lost in a fork; then the snapshot alone answers.
const LOCK_PATIENCE: Duration = Duration::from_millis(50);

/// Facts about models, by target.
///
/// ```
/// use little_ghost::catalog::Catalog;
///
/// let details = Catalog::new().details("openai:gpt-5.6-luna", None);
/// assert!(details.is_known());
/// assert_eq!(details.max_output_tokens(), Some(128_000));
/// ```
pub struct Catalog {
    snapshot: Snapshot,
    /// For each target the records of the sources that know it, in the order of the sources.
    refreshed: RwLock<HashMap<String, Vec<Layer>>>,
    /// Counts what was taken over.
    edition: AtomicU64,
}

/// What one source says about one model.
#[derive(Clone, Debug)]
struct Layer {
    source: String,
    record: ModelRecord,
    strategies: Arc<[(String, MergeStrategy)]>,
}

impl Catalog {
    /// The snapshot that is compiled in.
    #[must_use]
    pub fn new() -> Self {
        Self::over(Snapshot::bundled())
    }

    /// A catalog that knows nothing yet.
    #[must_use]
    pub fn empty() -> Self {
        Self::over(Snapshot::empty())
    }

    /// A catalog over another snapshot, in the format of the one that is compiled in:
    /// `{"source": {"observed_at", ...}, "models": {"adapter:model-id": {attributes}}}`.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) when it is none.
    pub fn from_snapshot(text: &str) -> Result<Self> {
        Snapshot::parse(text).map(Self::over)
    }

    /// The text of the snapshot that is compiled in.
    #[must_use]
    pub fn bundled_snapshot() -> &'static str {
        snapshot::BUNDLED
    }

    fn over(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            refreshed: RwLock::default(),
            edition: AtomicU64::new(0),
        }
    }

    /// A number that changes with what the catalog knows.
    pub(crate) fn edition(&self) -> u64 {
        self.edition.load(Ordering::Acquire)
    }

    /// What is known about `target`, written `connection:model-id`. `adapter` is that of the
    /// connection; the snapshot names its models by adapters, and without one the connection's
    /// name is taken for it.
    #[must_use]
    pub fn details(&self, target: &str, adapter: Option<&str>) -> ModelDetails {
        let (connection, model) = target.split_once(':').unwrap_or((target, ""));
        let adapter = adapter.unwrap_or(connection);
        // From general to special: a profile of Bedrock has the facts of its model, too.
        let models = match base_model(model) {
            base if adapter == "bedrock" && base != model => vec![base, model],
            _ => vec![model],
        };
        let named = |name: &str| -> Vec<String> {
            let target = |model: &&str| format!("{name}:{model}");
            models.iter().map(target).collect()
        };
        let mut facts = Facts::default();
        let general = named(adapter);
        let known = general.iter().rev();
        if let Some(record) = known.filter_map(|name| self.snapshot.record(name)).next() {
            facts.merge(self.snapshot.name(), &record, &[]);
        }
        if let Some(refreshed) = self.refreshed.try_read_for(LOCK_PATIENCE) {
            let mut names = general;
            if adapter != connection {
                names.extend(named(connection));
            }
            for layer in names
                .iter()
                .filter_map(|name| refreshed.get(name))
                .flatten()
            {
                facts.merge(&layer.source, &layer.record, &layer.strategies);
            }
        }
        facts.into_details(target)
    }

    /// Takes the records of a source over what was known. Either all of them are taken or, when one is
    /// not usable, none. Returns their targets.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) for a record that is not usable.
    pub fn apply(
        &self,
        source: &str,
        records: Vec<ModelRecord>,
        strategies: &[(String, MergeStrategy)],
    ) -> Result<Vec<String>> {
        for record in &records {
            record.check(source)?;
        }
        let strategies: Arc<[_]> = strategies.into();
        let mut refreshed = self.refreshed.write();
        let mut targets = Vec::with_capacity(records.len());
        for record in records {
            let layer = Layer {
                source: source.to_owned(),
                strategies: Arc::clone(&strategies),
                record: record.normalized(),
            };
            targets.push(layer.record.target.clone());
            let layers = refreshed.entry(layer.record.target.clone()).or_default();
            match layers.iter_mut().find(|known| known.source == source) {
                Some(known) => *known = layer,
                None => layers.push(layer),
            }
        }
        self.edition.fetch_add(1, Ordering::Release);
        Ok(targets)
    }

    /// Asks each source in turn and takes over what it answers. A source that fails changes nothing.
    pub async fn refresh(
        &self,
        sources: &[Arc<dyn CatalogSource>],
        target: Option<&str>,
    ) -> Refreshed {
        let mut refreshed = Refreshed::default();
        for source in sources {
            let taken = source
                .refresh(target)
                .await
                .and_then(|records| self.apply(source.name(), records, &source.merge_strategies()));
            match taken {
                Ok(targets) => refreshed.updated.extend(targets),
                Err(error) => refreshed.errors.push((source.name().to_owned(), error)),
            }
        }
        refreshed.updated.sort_unstable();
        refreshed.updated.dedup();
        refreshed
    }
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Catalog")
            .field("snapshot", &self.snapshot.name())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

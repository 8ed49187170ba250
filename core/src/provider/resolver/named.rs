//! Models that were asked for by name before.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Map;

use super::ModelResolver;
use crate::error::Result;
use crate::provider::resolved::ResolvedModel;

/// Names kept. Applications have a few; the bound is for those that make them up.
const CAPACITY: usize = 1_024;

/// Models by the name that they were asked for, for as long as the catalog says the same.
#[derive(Default)]
pub(super) struct Named(Mutex<HashMap<String, (u64, Arc<ResolvedModel>)>>);

impl ModelResolver {
    /// The model of a role or a target, built once.
    pub(super) fn named(&self, name: &str) -> Result<Arc<ResolvedModel>> {
        let edition = self.catalog.edition();
        // Never waited for: in a forked child the lock may have lost its holder.
        let known = self.named.0.try_lock().and_then(|all| {
            let (of, model) = all.get(name)?;
            (*of == edition).then(|| Arc::clone(model))
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let model = self.build(self.select_name(name, &Map::new())?)?;
        if let Some(mut all) = self.named.0.try_lock() {
            if all.len() >= CAPACITY {
                all.clear();
            }
            all.insert(name.to_owned(), (edition, Arc::clone(&model)));
        }
        Ok(model)
    }
}

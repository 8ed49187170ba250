//! Listing subagents, those of earlier runs too.

use serde_json::{Value, json};

use super::cursor::Cursor;
use super::declaration::Kind;
use super::identity::dormant;
use super::manager::Manager;
use crate::error::{Error, Result};

/// Entries of a page, unless the model says how many.
pub(crate) const DEFAULT_LIMIT: u64 = 20;
/// Entries of the longest page.
pub(super) const MAX_LIMIT: u64 = 100;

impl Manager {
    /// One page of the subagents, those first that changed last.
    ///
    /// # Errors
    /// [`ErrorKind::Tool`](crate::ErrorKind::Tool) for a kind that there is not, an unusable limit or
    /// cursor; what the session store fails with.
    pub(crate) async fn list(
        &self,
        kind: Option<&str>,
        limit: Option<u64>,
        cursor: Option<&str>,
    ) -> Result<Value> {
        if let Some(kind) = kind {
            self.kind(kind)?;
        }
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Error::tool(format!(
                "limit must be 1 to {MAX_LIMIT}, not {limit}"
            )));
        }
        let after = cursor.map(Cursor::decode).transpose()?;
        let mut entries = self.entries(kind).await?;
        entries.sort_by(|(left, _), (right, _)| right.cmp(left));
        let mut page = entries
            .into_iter()
            .filter(|(place, _)| {
                after
                    .as_ref()
                    .is_none_or(|after| after.precedes(&place.updated_at, &place.id))
            })
            .peekable();
        let mut subagents = Vec::new();
        let mut last = None;
        while subagents.len() < usize::try_from(limit).unwrap_or(usize::MAX)
            && let Some((place, snapshot)) = page.next()
        {
            subagents.push(snapshot);
            last = Some(place);
        }
        let mut answer = json!({"status": "ok", "subagents": subagents});
        if let (Some(_), Some(last), Some(answer)) = (page.peek(), last, answer.as_object_mut()) {
            answer.insert("next_cursor".into(), json!(last.encode()));
        }
        Ok(answer)
    }

    async fn entries(&self, kind: Option<&str>) -> Result<Vec<(Cursor, Value)>> {
        let stored = match &self.ledger {
            Some(ledger) => ledger.records().await?,
            None => Default::default(),
        };
        let wanted = |name: &str| kind.is_none_or(|kind| kind == name);
        let state = self.state.lock();
        let here = state
            .identities
            .values()
            .filter(|identity| wanted(&identity.kind.kind))
            .map(|identity| {
                let place = Cursor {
                    updated_at: identity.updated_at.clone(),
                    id: identity.path.to_string(),
                };
                (place, identity.snapshot())
            });
        let dormant = stored
            .iter()
            .filter(|(path, record)| {
                wanted(&record.kind)
                    && self.restorable(&record.kind).is_some()
                    && !state.identities.contains_key(path.as_str())
                    && super::path::is_immediate_child(path, &self.path)
            })
            .map(|(path, record)| {
                let place = Cursor {
                    updated_at: record.updated_at.clone(),
                    id: path.clone(),
                };
                (place, dormant(path, record))
            });
        Ok(here.chain(dormant).collect())
    }

    /// The kind, if conversations of it may be gone on with.
    pub(super) fn restorable(&self, name: &str) -> Option<&Kind> {
        let mut kinds = self.kinds.iter();
        kinds.find(|kind| *kind.kind == *name && kind.persist)
    }
}

//! What a registry keeps of one conversation.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};

/// The version of the registry's form.
const VERSION: u64 = 2;
/// Conversations that a registry keeps.
const MAX_CONVERSATIONS: usize = 20;

/// What a registry keeps of one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) conversation_id: String,
    pub(super) kind: String,
    pub(super) latest_turn: u64,
    /// ISO 8601, in UTC, to the microsecond, so that texts sort as times do.
    pub(super) updated_at: String,
    /// Messages of the transcript that count.
    pub(super) message_count: usize,
    /// The state that goes with them, and where it is.
    pub(super) commit_id: String,
    pub(super) commit_slot: u8,
}

/// The conversations of a registry, by path.
pub(super) type Records = BTreeMap<String, Record>;

/// Reads the state of a registry's session.
///
/// # Errors
/// [`ErrorKind::Protocol`] for anything that no registry wrote.
pub(super) fn read(state: &Map<String, Value>) -> Result<Records> {
    if state.get("version").and_then(Value::as_u64) != Some(VERSION) {
        return Err(damaged("its version is not known"));
    }
    let Some(Value::Object(conversations)) = state.get("conversations") else {
        return Err(damaged("it has no conversations"));
    };
    conversations
        .iter()
        .map(|(path, value)| Ok((path.clone(), Record::from_value(path, value)?)))
        .collect()
}

/// The state of a registry with the newest of `records`.
pub(super) fn write(records: &mut Records) -> Map<String, Value> {
    while records.len() > MAX_CONVERSATIONS {
        let oldest = records
            .iter()
            .min_by_key(|(path, record)| (record.updated_at.clone(), (*path).clone()))
            .map(|(path, _)| path.clone());
        let Some(oldest) = oldest else { break };
        records.remove(&oldest);
    }
    let conversations: Map<String, Value> = records
        .iter()
        .map(|(path, record)| (path.clone(), record.to_value()))
        .collect();
    let mut state = Map::new();
    state.insert("version".into(), json!(VERSION));
    state.insert("conversations".into(), Value::Object(conversations));
    state
}

impl Record {
    fn from_value(path: &str, value: &Value) -> Result<Self> {
        super::path::check(path).map_err(|_| damaged("a path is not usable"))?;
        let text = |key: &str| {
            let text = value.get(key).and_then(Value::as_str);
            text.filter(|text| !text.is_empty() && text.len() <= 256)
                .map(str::to_owned)
                .ok_or_else(|| damaged(&format!("{path} has no {key}")))
        };
        let number = |key: &str| {
            value
                .get(key)
                .and_then(Value::as_u64)
                .ok_or_else(|| damaged(&format!("{path} has no {key}")))
        };
        let conversation_id = text("conversation_id")?;
        uuid::Uuid::parse_str(&conversation_id)
            .map_err(|_| damaged(&format!("the conversation_id of {path} is no UUID")))?;
        let slot = number("commit_slot")?;
        if slot > 1 {
            return Err(damaged(&format!(
                "the commit_slot of {path} is neither 0 nor 1"
            )));
        }
        Ok(Self {
            conversation_id,
            kind: text("kind")?,
            latest_turn: number("latest_turn")?,
            updated_at: text("updated_at")?,
            message_count: usize::try_from(number("message_count")?)
                .map_err(|_| damaged("a count is too large"))?,
            commit_id: text("commit_id")?,
            commit_slot: u8::from(slot == 1),
        })
    }

    fn to_value(&self) -> Value {
        json!({
            "conversation_id": self.conversation_id, "kind": self.kind,
            "latest_turn": self.latest_turn, "updated_at": self.updated_at,
            "message_count": self.message_count, "commit_id": self.commit_id,
            "commit_slot": self.commit_slot,
        })
    }
}

/// What is stored of subagents is not what was written.
pub(super) fn damaged(problem: &str) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!(
            "the stored conversations of subagents are damaged: {problem}; remove the sessions whose \
             identifiers begin with lg_subagent_, or use another session_id"
        ),
    )
}

/// Now, as texts that sort as times do: `2026-11-30T14:02:46.000123Z`.
pub(super) fn now() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        second / 3_600,
        second / 60 % 60,
        second % 60,
        since.subsec_micros()
    )
}

/// Year, month and day that many days after 1 January 1970, by the usual arithmetic on eras of 400 years.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(59), (1970, 3, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(20_787), (2026, 11, 30));
        assert!(now().as_str() > "2024" && now().len() == 27);
    }

    fn record(second: usize) -> Record {
        Record {
            conversation_id: uuid::Uuid::new_v4().to_string(),
            kind: "research".into(),
            latest_turn: 1,
            updated_at: format!("2026-01-01T00:00:{second:02}.000000Z"),
            message_count: 2,
            commit_id: "c".into(),
            commit_slot: 1,
        }
    }

    #[test]
    fn a_registry_keeps_the_newest_and_is_read_back() {
        let mut records: Records = (0..30)
            .map(|second| (format!("/root/task_{second}"), record(second)))
            .collect();
        let state = write(&mut records);
        assert_eq!(records.len(), MAX_CONVERSATIONS);
        assert!(!records.contains_key("/root/task_9") && records.contains_key("/root/task_10"));
        assert_eq!(read(&state).unwrap(), records);
    }

    #[test]
    fn a_damaged_registry_is_refused() {
        let mut one: Records = [("/root/a".to_owned(), record(1))].into();
        let whole = Value::Object(write(&mut one));
        let damages: [(&str, Value); 8] = [
            ("/version", json!(3)),
            ("/conversations", json!([])),
            ("/conversations/~1root~1a", json!("x")),
            ("/conversations/~1root~1a/conversation_id", json!("../etc")),
            ("/conversations/~1root~1a/kind", json!("")),
            ("/conversations/~1root~1a/message_count", json!(-1)),
            ("/conversations/~1root~1a/commit_slot", json!(2)),
            ("/conversations/~1root~1a/updated_at", json!(null)),
        ];
        for (pointer, value) in damages {
            let mut state = whole.clone();
            *state.pointer_mut(pointer).unwrap() = value;
            let error = read(state.as_object().unwrap()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Protocol, "{pointer}");
        }
        let mut astray = whole.clone();
        let entry = astray["conversations"]["/root/a"].take();
        astray["conversations"] = json!({"/etc/passwd": entry});
        assert!(read(astray.as_object().unwrap()).is_err());
    }
}

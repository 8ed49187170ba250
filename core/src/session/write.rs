//! The smallest write that brings a store up to date.

use super::Snapshot;

/// What has to be written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Write {
    /// Nothing: the store has it all.
    Unchanged,
    /// New messages after the `expected_count` that the store has; state and metadata as they are now.
    Append {
        addition: Snapshot,
        expected_count: usize,
    },
    /// Everything: earlier messages have changed.
    Replace(Snapshot),
}

/// Compares what the store has with what it should have; `next` holds only what may be kept.
pub(crate) fn plan(persisted: Option<&Snapshot>, next: &Snapshot) -> Write {
    let known = persisted.map_or(&[][..], |snapshot| &snapshot.messages);
    if persisted == Some(next) {
        return Write::Unchanged;
    }
    match next.messages.strip_prefix(known) {
        Some(tail) => Write::Append {
            addition: Snapshot {
                messages: tail.to_vec(),
                state: next.state.clone(),
                metadata: next.metadata.clone(),
            },
            expected_count: known.len(),
        },
        None => Write::Replace(next.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::Message;

    fn snapshot(texts: &[&str]) -> Snapshot {
        Snapshot {
            messages: texts.iter().map(|text| Message::user(*text)).collect(),
            ..Snapshot::default()
        }
    }

    #[test]
    fn writes_no_more_than_is_new() {
        let two = snapshot(&["a", "b"]);
        assert_eq!(plan(Some(&two), &two), Write::Unchanged);
        assert_eq!(
            plan(Some(&two), &snapshot(&["a", "b", "c"])),
            Write::Append {
                addition: snapshot(&["c"]),
                expected_count: 2
            }
        );
        assert_eq!(
            plan(Some(&two), &snapshot(&["a", "c"])),
            Write::Replace(snapshot(&["a", "c"]))
        );
        assert_eq!(
            plan(None, &two),
            Write::Append {
                addition: two.clone(),
                expected_count: 0
            }
        );
    }

    #[test]
    fn a_change_of_state_alone_is_written() {
        let before = snapshot(&["a"]);
        let mut after = before.clone();
        after.state.insert("step".into(), json!(2));
        let Write::Append {
            addition,
            expected_count,
        } = plan(Some(&before), &after)
        else {
            panic!("nothing to append");
        };
        assert!(addition.messages.is_empty());
        assert_eq!((addition.state, expected_count), (after.state.clone(), 1));
    }
}

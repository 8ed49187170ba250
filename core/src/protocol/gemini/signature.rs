//! Signatures and parts that must go back unchanged, as the conversation keeps them.
//!
//! A signature belongs to the very part that carried it, and any part can carry one. Thoughts have
//! a field for it. Texts, calls and images do not, so a reasoning block in front of them holds it in
//! its details, and so it holds whole parts that only the service understands.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::message::{Content, Reasoning};

/// Type of a detail with the signature of the block that follows.
const SIGNATURE: &str = "gemini.signature";

/// Type of a detail that is a part of its own.
const PART: &str = "gemini.part";

/// The field of a part that carries a signature.
pub(super) const FIELD: &str = "thoughtSignature";

/// What tells the service not to look for a signature, because the call is another model's.
pub(super) const NOT_OURS: &str = "skip_thought_signature_validator";

/// Keeps the signature of a block that is added next.
pub(super) fn keep(content: &mut Vec<Content>, signature: &str) {
    push(content, json!({"type": SIGNATURE, FIELD: signature}));
}

/// Keeps the signature of a call, which is found again by its id.
pub(super) fn keep_for_call(content: &mut Vec<Content>, id: &str, signature: &str) {
    push(
        content,
        json!({"type": SIGNATURE, "id": id, FIELD: signature}),
    );
}

/// Keeps a part that only the service understands.
pub(super) fn keep_part(content: &mut Vec<Content>, part: Value) {
    push(content, json!({"type": PART, "part": part}));
}

fn push(content: &mut Vec<Content>, detail: Value) {
    if let Some(Content::Reasoning(last)) = content.last_mut() {
        last.details.get_or_insert_default().push(detail);
        return;
    }
    content.push(Content::Reasoning(Reasoning {
        details: Some(vec![detail]),
        ..Reasoning::default()
    }));
}

/// What a detail stands for.
pub(super) enum Kept<'a> {
    /// The signature of the next block.
    Signature(&'a str),
    /// A part of its own.
    Part(&'a Value),
}

/// What the details of a reasoning block stand for. Those of other formats, and signatures of
/// calls, are left out.
pub(super) fn kept(reasoning: &Reasoning) -> impl Iterator<Item = Kept<'_>> {
    reasoning.details.iter().flatten().filter_map(|detail| {
        match detail.get("type").and_then(Value::as_str) {
            Some(SIGNATURE) if detail.get("id").is_none() => detail
                .get(FIELD)
                .and_then(Value::as_str)
                .map(Kept::Signature),
            Some(PART) => detail.get("part").map(Kept::Part),
            _ => None,
        }
    })
}

/// The signatures of the calls in `content`, by their ids.
pub(super) fn of_calls(content: &[Content]) -> HashMap<&str, &str> {
    let reasoning = content.iter().filter_map(|block| match block {
        Content::Reasoning(reasoning) => reasoning.details.as_ref(),
        _ => None,
    });
    reasoning
        .flatten()
        .filter_map(|detail| {
            let text = |name| detail.get(name).and_then(Value::as_str);
            (text("type") == Some(SIGNATURE)).then_some(())?;
            Some((text("id")?, text(FIELD)?))
        })
        .collect()
}

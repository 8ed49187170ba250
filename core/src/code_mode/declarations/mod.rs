//! How tools are declared to a model, in the language that it writes.

mod property;
mod python;
mod ruby;
#[cfg_attr(
    not(feature = "code-mode"),
    allow(dead_code, reason = "for JavaScript only")
)]
mod typescript;

pub(super) use python::declare as python;
pub(super) use ruby::declare as ruby;
pub(super) use typescript::declare as typescript;

use serde_json::Value;

use super::CatalogEntry;

/// The description of a tool as comment lines.
fn comment(mark: &str, text: &str) -> String {
    let lines = text
        .trim()
        .lines()
        .map(|line| format!("{mark} {}", line.trim_end()));
    lines.collect::<Vec<_>>().join("\n")
}

/// The schema of what a tool returns, where the application says so.
fn returned(tool: &CatalogEntry) -> Option<&Value> {
    let specification = &tool.specification;
    specification
        .get("output_schema")
        .or_else(|| specification.get("returns"))
        .filter(|schema| !schema.is_null())
}

//! One JSON Schema, in the dialect of each service.
//!
//! Services that enforce a schema while they generate refuse a request whose schema has a keyword
//! they do not know, and each knows others. What a service cannot be told is left out or widened
//! and reported; the caller checks the answer against the original all the same.
//!
//! [`Dialect`] names what services understand, `rules` is the table behind it, `compiler` walks a
//! schema. The others each know one part of JSON Schema.

mod arrays;
mod compiler;
mod keywords;
mod limits;
mod literals;
mod merging;
mod objects;
mod plain;
#[cfg(test)]
mod properties;
mod reductions;
mod references;
mod root;
mod rules;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::tool::ToolDefinition;
use compiler::Compiler;
pub(crate) use reductions::Reductions;

/// What a service understands of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// OpenAI's strict mode: results, and tools with `strict`.
    ///
    /// Every property must be required there. One that may be absent becomes one that may be null;
    /// [`ToolDefinition::without_nulls`](crate::tool::ToolDefinition) takes those nulls out again.
    OpenAiStrict,
    /// Parameters of tools that OpenAI-style services do not enforce.
    OpenAiTool,
    /// Anthropic's `output_config.format`, and tools with `strict`.
    Anthropic,
    /// Anthropic's tools without `strict`.
    AnthropicTool,
    /// Gemini's `responseJsonSchema` and `parametersJsonSchema`.
    Gemini,
    /// Converse's `outputConfig`, and a `toolSpec` with `strict`.
    Bedrock,
    /// Converse's `toolSpec` without `strict`.
    BedrockTool,
}

/// A schema as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reduced {
    pub(crate) schema: Value,
    /// Paths of what was left out, widened or narrowed, such as `$.properties.name.maxLength`.
    pub(crate) dropped: Vec<String>,
    /// Whether a service may be asked to enforce the schema. It may not when that would make
    /// something impossible that the schema is about, such as free keys, or when the schema
    /// exceeds the service's limits.
    pub(crate) enforceable: bool,
}

/// How often a recursive schema is unfolded where a service knows no recursion.
const LEVELS: usize = 4;

/// Reduces `schema` to what `dialect` understands. Equal schemas give equal bytes.
pub(crate) fn reduce(dialect: Dialect, schema: &Value) -> Reduced {
    let Some(rules) = dialect.rules() else {
        return plain::reduce(schema);
    };
    let mut levels = LEVELS;
    loop {
        let compiler = Compiler::new(rules, schema, levels);
        let (reduced, exhausted, _) = compiler.run();
        // Many branches unfold to very much: less deeply, then.
        if !exhausted || levels == 1 {
            return reduced;
        }
        levels -= 1;
    }
}

/// The input schema of a tool as it is sent, and whether the service is asked to enforce it: in
/// `strict` when the tool wants that and it is possible, else in `plain`.
pub(crate) fn tool_schema(
    strict: Dialect,
    plain: Dialect,
    definition: &ToolDefinition,
) -> (Value, bool) {
    if definition.is_strict() {
        let reduced = definition.reduced(strict);
        if reduced.enforceable {
            return (reduced.schema.clone(), true);
        }
    }
    (definition.reduced(plain).schema.clone(), false)
}

/// The schema of a result as it is sent, and whether the service is asked to enforce it.
pub(crate) fn result_schema(strict: Dialect, plain: Dialect, schema: &Value) -> (Value, bool) {
    let reduced = reduce(strict, schema);
    if reduced.enforceable {
        (reduced.schema, true)
    } else {
        (reduce(plain, schema).schema, false)
    }
}

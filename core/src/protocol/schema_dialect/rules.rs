//! The table of dialects.

use super::Dialect;

/// What one service enforces.
#[derive(Debug)]
pub(super) struct Rules {
    /// Keywords it knows, besides those that give a schema its structure.
    pub(super) keywords: &'static [&'static str],
    /// String formats it knows.
    pub(super) formats: &'static [&'static str],
    /// Whether objects must say `additionalProperties: false`.
    pub(super) closed: bool,
    /// Whether every property must be required.
    pub(super) all_required: bool,
    /// Whether `type` may be a list.
    pub(super) type_lists: bool,
    /// What `enum` and `const` may be.
    pub(super) literals: Literals,
    /// Whether it knows `prefixItems`.
    pub(super) tuples: bool,
    /// What `minItems` may be at most; `None` for anything.
    pub(super) most_min_items: Option<u64>,
    pub(super) recursion: Recursion,
    /// Whether `{"$ref": "#"}` stands for the whole schema.
    pub(super) root_reference: bool,
    /// Whether the whole must be an object, and no choice of objects.
    pub(super) object_root: bool,
    pub(super) limits: Option<Limits>,
}

/// What a service takes for `enum` and `const`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Literals {
    /// Strings, numbers, booleans and null, beside their `type`.
    Typed,
    /// The same, in place of a `type`.
    Untyped,
    /// Strings and numbers in `enum`, and no `const`.
    Listed,
}

/// What a service makes of a schema that contains itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recursion {
    /// It knows recursion.
    Free,
    /// It unfolds it somewhat, so that what contains it must not be required.
    Optional,
    /// It refuses it.
    Refused,
}

/// The largest schema that a service takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) properties: usize,
    pub(super) depth: usize,
    pub(super) values: usize,
    /// Bytes of all names and values together.
    pub(super) text: usize,
}

const OPENAI: Rules = Rules {
    keywords: &[
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    formats: &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ],
    closed: true,
    all_required: true,
    type_lists: true,
    literals: Literals::Typed,
    tuples: false,
    most_min_items: None,
    recursion: Recursion::Free,
    root_reference: true,
    object_root: true,
    limits: Some(Limits {
        properties: 5000,
        depth: 10,
        values: 1000,
        text: 120_000,
    }),
};

const ANTHROPIC: Rules = Rules {
    keywords: &["format", "minItems"],
    formats: &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ],
    closed: true,
    all_required: false,
    type_lists: false,
    literals: Literals::Untyped,
    tuples: false,
    most_min_items: Some(1),
    recursion: Recursion::Refused,
    root_reference: false,
    object_root: true,
    limits: None,
};

const GEMINI: Rules = Rules {
    keywords: &["format", "minItems", "maxItems", "minimum", "maximum"],
    formats: &["date-time", "date", "time"],
    closed: false,
    all_required: false,
    type_lists: true,
    literals: Literals::Listed,
    tuples: true,
    most_min_items: None,
    recursion: Recursion::Optional,
    root_reference: false,
    object_root: false,
    limits: None,
};

impl Dialect {
    /// What the service enforces; `None` when it enforces nothing.
    pub(super) const fn rules(self) -> Option<&'static Rules> {
        match self {
            Dialect::OpenAiStrict => Some(&OPENAI),
            // Converse enforces schemas as the models' vendor does.
            Dialect::Anthropic | Dialect::Bedrock => Some(&ANTHROPIC),
            Dialect::Gemini => Some(&GEMINI),
            Dialect::OpenAiTool | Dialect::AnthropicTool | Dialect::BedrockTool => None,
        }
    }
}

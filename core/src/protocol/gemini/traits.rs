//! In what the generations of Gemini models differ.

/// What requests take into account of a model. It follows from the model's name, because no field
/// of the service says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traits {
    /// How much to think is a level; before, it was a budget of tokens.
    pub(super) thinking_level: bool,
    /// The model is one of the larger kind, which always thinks.
    pub(super) pro: bool,
    /// Tool results have a place for images and documents.
    pub(super) result_parts: bool,
    /// A call in the conversation must carry a signature.
    pub(super) wants_signatures: bool,
    /// The form of the answer can be set while tools are offered.
    pub(super) schema_beside_tools: bool,
}

impl Traits {
    /// The traits of the model called `id`, such as `gemini-3.1-pro-preview`. A name without a
    /// number, such as `gemini-flash-latest`, is one of the newest.
    pub(crate) fn of(id: &str) -> Self {
        let id = id.rsplit('/').next().unwrap_or_default();
        let gemini = id.strip_prefix("gemini-");
        let digits = id.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let end = digits.find(|letter: char| !letter.is_ascii_digit());
        let generation: Option<u32> =
            digits
                .get(..end.unwrap_or(digits.len()))
                .and_then(|number| {
                    // A date or a build is no generation.
                    number.parse().ok().filter(|generation| *generation < 100)
                });
        let recent = gemini.is_some() && generation.is_none_or(|generation| generation >= 3);
        Self {
            thinking_level: gemini.is_none() || recent,
            pro: id.split(['-', '.']).any(|word| word == "pro"),
            result_parts: recent,
            wants_signatures: recent,
            schema_beside_tools: recent,
        }
    }
}

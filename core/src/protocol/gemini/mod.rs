//! Google's `generateContent` format, of the Gemini API and of Vertex AI.

mod answer;
mod answer_tool;
mod calls;
mod contents;
mod generation;
mod names;
mod partial_call;
mod request;
mod response;
mod signature;
mod stream;
#[cfg(test)]
mod tests;
mod thinking;
mod tool_results;
mod traits;

pub(crate) use request::render_request;
pub(crate) use stream::GeminiDecoder;
pub(crate) use traits::Traits;

/// The method that streams an answer, behind the model in the path.
pub(crate) const METHOD: &str = "streamGenerateContent";

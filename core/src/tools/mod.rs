//! Tools that come with the engine. Their names, schemas, descriptions and texts are the same in every
//! language.

mod filesystem;
mod operation;
mod sandbox_tool;
mod shell;
#[cfg(all(test, feature = "testing"))]
mod tests;

pub use filesystem::Filesystem;
pub use operation::Operation;
pub use sandbox_tool::SandboxTool;

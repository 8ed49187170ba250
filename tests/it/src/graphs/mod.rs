//! Random graphs, and what is plainly known about them.

mod case;
mod checker;
mod generator;
mod walk;

pub use case::{Case, Route};
pub use checker::checked;
pub use generator::generate;
pub use walk::walked;

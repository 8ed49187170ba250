//! Where named files are looked for: ordered folders, and the walls around them.

mod path_set;
mod root;

pub use path_set::PathSet;
pub use root::Root;

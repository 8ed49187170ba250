//! A test kit.
mod faults;
mod scripted_model;
mod turn;
mod turn_value;
pub use faults::{Fault, Faults};
pub use scripted_model::ScriptedModel;
pub use turn::Turn;

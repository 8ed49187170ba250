//! The only door to Ruby and Python.
//!
//! Core never calls into a host language. Everything a host supplies is a trait
//! object here; [`HostChannel`] turns each use of it into a [`HostCall`] item in the run's
//! queue and awaits the answer. The host drains the queue with [`HostRun::drain`], runs user
//! code on its own thread, fiber or task, and answers with [`HostRun::complete`].

mod channel;

mod signal;

pub use channel::{HostCall, HostCallKind, HostFailure};

pub use signal::WakeSignal;

pub(crate) use channel::HostChannel;

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

pub(crate) mod folder;
mod policy;
mod scope;
mod unrestricted;

//! In what services differ that speak the Responses format.

/// The differences that requests take into account. The default suits any service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// Whether the service returns encrypted reasoning when a request that sets the reasoning
    /// effort asks for it. Models without reasoning refuse to be asked, so the setting is the sign
    /// that this model has it.
    pub(crate) encrypted_reasoning: bool,
}

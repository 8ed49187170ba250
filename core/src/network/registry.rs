//! Gateways and authorizers of a host, which a declaration names as `{"host": key}`.

use std::sync::Arc;

use serde_json::Value;

use super::{Authorizer, Gateway};
use crate::error::Result;
pub(crate) use crate::support::Registration;
use crate::support::Registry;

static AUTHORIZERS: Registry<dyn Authorizer> = Registry::new("network authorizer");
static GATEWAYS: Registry<dyn Gateway> = Registry::new("network gateway");

pub(crate) fn register_authorizer(
    key: u64,
    authorizer: Arc<dyn Authorizer>,
) -> Result<Registration<dyn Authorizer>> {
    AUTHORIZERS.add(key, authorizer)
}

pub(crate) fn register_gateway(
    key: u64,
    gateway: Arc<dyn Gateway>,
) -> Result<Registration<dyn Gateway>> {
    GATEWAYS.add(key, gateway)
}

pub(super) fn authorizer(declared: &Value) -> Result<Option<Arc<dyn Authorizer>>> {
    AUTHORIZERS.find(declared)
}

pub(super) fn gateway(declared: &Value) -> Result<Option<Arc<dyn Gateway>>> {
    GATEWAYS.find(declared)
}

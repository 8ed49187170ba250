//! Filtered egress for the child processes of a sandbox.
//!
//! A [`Gateway`] is a proxy that lets only the destinations of an allowlist through. It is one half of the enforcement:
//! the other is a network namespace without any way out but the gateway's socket, which the sandbox's backend makes.
//! Variables that name a proxy enforce nothing by themselves.
//!
//! | gateway | runs the proxy |
//! | --- | --- |
//! | [`EnvoyGateway`] | itself: one Envoy for as long as it is open, as a process or in a container |
//! | [`ExternalGateway`] | not at all: the application does, and answers for it |
//!
//! With [`Inspection::Http`](crate::sandbox::Inspection) a gateway also reads the requests, and an [`Authorizer`] of the
//! application decides about each of them by a [`Decision`].
//!
//! Nothing here concerns providers, callbacks or ordinary tools: they use the network of the application's process.

mod authority;
mod authorizer;
mod decision;
mod declared;
mod directory;
mod endpoint;
mod environment;
mod envoy;
mod external;
mod gateway;
mod header;
pub(crate) mod registry;
mod request;

pub use authorizer::Authorizer;
pub use decision::Decision;
pub use declared::declared_gateway;
pub use endpoint::Endpoint;
pub use environment::{PROXY_PORT, proxy_environment};
pub use envoy::{EnvoyGateway, EnvoyGatewayBuilder, EnvoyRuntime, Pull};
pub use external::ExternalGateway;
pub use gateway::{Gateway, GatewayMount};
pub use request::Request;

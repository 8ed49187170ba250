//! The part of Envoy's configuration that ends TLS, asks the authorizer, and opens TLS again.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::bootstrap::{
    assignment, connection_manager, of_type, pipe, upstream_name, virtual_host,
};
use crate::network::Endpoint;
use crate::network::authority::Leaf;

/// The name of the listener that inspects, and of the cluster that leads to it.
pub(super) const LISTENER: &str = "inspection";
const AUTHORIZER: &str = "authorizer";
/// What clients are offered, the first that they know. A request is denied before its body was read; with HTTP/2, Envoy
/// ends such a stream by a reset, and many clients lose the answer with it. HTTP/2 is for those who know nothing else.
const PROTOCOLS: [&str; 2] = ["http/1.1", "h2"];

/// How requests are inspected.
pub(super) struct Inspected<'a> {
    /// The socket of the listener that inspects.
    pub(super) socket: &'a Path,
    /// The socket of the authorizer.
    pub(super) authorizer_socket: &'a Path,
    /// What the authorizer sees.
    pub(super) forward_headers: &'a [String],
    /// What the authorizer may set.
    pub(super) mutation_headers: &'a [String],
    /// Seconds after which a request without a decision is denied.
    pub(super) patience: u64,
    /// A certificate for each allowed destination, in their order.
    pub(super) leaves: &'a [Leaf],
    /// A file with the authorities that upstream servers must be vouched for by.
    pub(super) roots: &'a Path,
}

impl Inspected<'_> {
    /// One chain for each host; a client that names another one, or none, is disconnected.
    pub(super) fn listener(&self, allow: &[Endpoint]) -> Value {
        let chains: Vec<Value> = allow
            .iter()
            .zip(self.leaves)
            .enumerate()
            .map(|(index, (endpoint, leaf))| self.chain(index, endpoint, leaf))
            .collect();
        json!({
            "name": LISTENER,
            "address": pipe(self.socket, true),
            "listener_filters": [{
                "name": "envoy.filters.listener.tls_inspector",
                "typed_config": {"@type": of_type("envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector")},
            }],
            "filter_chains": chains,
        })
    }

    fn chain(&self, index: usize, endpoint: &Endpoint, leaf: &Leaf) -> Value {
        let route = json!({
            "match": {"prefix": "/"},
            "route": {"cluster": upstream_name(index), "timeout": "0s"},
            "request_headers_to_remove": ["x-forwarded-proto"],
        });
        let names = [endpoint.host().to_owned(), endpoint.to_string()];
        let host = virtual_host(index, &names, &[route]);
        json!({
            "filter_chain_match": {"server_names": [endpoint.host()], "transport_protocol": "tls"},
            "transport_socket": {
                "name": "envoy.transport_sockets.tls",
                "typed_config": {
                    "@type": of_type("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"),
                    "common_tls_context": {
                        "alpn_protocols": PROTOCOLS,
                        "tls_certificates": [{
                            "certificate_chain": {"inline_string": leaf.certificate},
                            "private_key": {"inline_string": leaf.key},
                        }],
                    },
                },
            },
            "filters": [connection_manager(LISTENER, &[host], &[self.authorization(index)])],
        })
    }

    /// The filter that asks. The path's first segment says which destination it is about; the client has no say in that.
    fn authorization(&self, index: usize) -> Value {
        let answered = json!({
            "allowed_upstream_headers": exactly(self.mutation_headers),
            "allowed_client_headers": exactly(&["content-type".to_owned()]),
        });
        let config = json!({
            "@type": of_type("envoy.extensions.filters.http.ext_authz.v3.ExtAuthz"),
            "transport_api_version": "V3",
            "failure_mode_allow": false,
            "status_on_error": {"code": "Forbidden"},
            "validate_mutations": true,
            "allowed_headers": exactly(self.forward_headers),
            "disallowed_headers": exactly(&self.unforwarded()),
            "http_service": {
                "server_uri": {
                    "uri": "http://authorizer",
                    "cluster": AUTHORIZER,
                    "timeout": format!("{}s", self.patience),
                },
                "path_prefix": format!("/{index}"),
                "authorization_response": set(answered),
            },
        });
        json!({"name": "envoy.filters.http.ext_authz", "typed_config": set(config)})
    }

    /// Envoy forwards `authorization` unasked.
    fn unforwarded(&self) -> Vec<String> {
        let credentials = "authorization".to_owned();
        if self.forward_headers.contains(&credentials) {
            Vec::new()
        } else {
            vec![credentials]
        }
    }

    pub(super) fn clusters(&self) -> Vec<Value> {
        [
            (LISTENER, self.socket),
            (AUTHORIZER, self.authorizer_socket),
        ]
        .into_iter()
        .map(|(name, socket)| {
            json!({
                "name": name,
                "type": "STATIC",
                "connect_timeout": "5s",
                "load_assignment": assignment(name, &pipe(socket, false)),
            })
        })
        .collect()
    }

    /// TLS to the upstream server, which must prove that it is the allowed host.
    pub(super) fn upstream_tls(&self, endpoint: &Endpoint) -> Map<String, Value> {
        let http = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
        let mut tls = Map::new();
        tls.insert(
            "transport_socket".into(),
            json!({
                "name": "envoy.transport_sockets.tls",
                "typed_config": {
                    "@type": of_type("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"),
                    "sni": endpoint.host(),
                    "common_tls_context": {"validation_context": {
                        "trusted_ca": {"filename": self.roots.to_string_lossy()},
                        "match_typed_subject_alt_names": [
                            {"san_type": "DNS", "matcher": {"exact": endpoint.host()}},
                        ],
                    }},
                },
            }),
        );
        tls.insert(
            "typed_extension_protocol_options".into(),
            json!({http: {"@type": of_type(http), "auto_config": {}}}),
        );
        tls
    }
}

/// The fields that are set: an empty list of names cannot be, but leaving it out means none as well.
fn set(mut fields: Value) -> Value {
    if let Value::Object(fields) = &mut fields {
        fields.retain(|_, value| !value.is_null());
    }
    fields
}

/// Matches these names; null for none.
fn exactly(names: &[String]) -> Value {
    if names.is_empty() {
        return Value::Null;
    }
    let patterns: Vec<Value> = names
        .iter()
        .map(|name| json!({"exact": name, "ignore_case": true}))
        .collect();
    json!({"patterns": patterns})
}

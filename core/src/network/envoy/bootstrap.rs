//! The configuration that Envoy starts with. Everything in it is static: nothing can change it later.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::inspection::Inspected;
use crate::network::Endpoint;

/// What a child reads about a destination that is not allowed.
const DENIAL: &str = "denied by the network policy\n";
/// Connections at once of all children together. An inspected one counts twice.
const CONNECTIONS: u32 = 1_000;

/// What to configure.
pub(super) struct Bootstrap<'a> {
    pub(super) allow: &'a [Endpoint],
    /// The socket that children reach.
    pub(super) proxy_socket: &'a Path,
    /// Servers that resolve names, in place of the system's.
    pub(super) dns: &'a [SocketAddr],
    /// Addresses that need no resolving.
    pub(super) addresses: &'a [(Endpoint, SocketAddr)],
    /// How requests are inspected, if they are.
    pub(super) inspected: Option<Inspected<'a>>,
}

impl Bootstrap<'_> {
    pub(super) fn to_value(&self) -> Value {
        let mut listeners = vec![self.proxy()];
        let mut clusters: Vec<Value> = self.upstreams();
        if let Some(inspected) = &self.inspected {
            listeners.push(inspected.listener(self.allow));
            clusters.extend(inspected.clusters());
        }
        json!({
            "static_resources": {"listeners": listeners, "clusters": clusters},
            "typed_dns_resolver_config": self.resolver(),
            "overload_manager": {"resource_monitors": [{
                "name": "envoy.resource_monitors.global_downstream_max_connections",
                "typed_config": {
                    "@type": of_type("envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig"),
                    "max_active_downstream_connections": CONNECTIONS,
                },
            }]},
        })
    }

    /// The proxy itself: what is not routed is denied.
    fn proxy(&self) -> Value {
        let mut hosts: Vec<Value> = self
            .allow
            .iter()
            .enumerate()
            .map(|(index, endpoint)| match &self.inspected {
                // TLS ends in the listener that inspects, and plain HTTP goes nowhere.
                Some(_) => virtual_host(
                    index,
                    &[endpoint.to_string()],
                    &[tunnel(super::inspection::LISTENER)],
                ),
                None => self.passed_on(index, endpoint),
            })
            .collect();
        let denied = json!({"status": 403, "body": {"inline_string": DENIAL}});
        hosts.push(json!({
            "name": "denied",
            "domains": ["*"],
            "routes": [
                {"match": {"connect_matcher": {}}, "direct_response": denied},
                {"match": {"prefix": "/"}, "direct_response": denied},
            ],
        }));
        let mut manager = connection_manager("proxy", &hosts, &[]);
        if let Some(config) = manager
            .pointer_mut("/typed_config")
            .and_then(Value::as_object_mut)
        {
            config.insert(
                "upgrade_configs".into(),
                json!([{"upgrade_type": "CONNECT"}]),
            );
        }
        json!({
            "name": "proxy",
            "address": pipe(self.proxy_socket, true),
            "filter_chains": [{"filters": [manager]}],
        })
    }

    /// An allowed destination that is not inspected: tunnels to it, and plain HTTP requests.
    fn passed_on(&self, index: usize, endpoint: &Endpoint) -> Value {
        let mut names = vec![endpoint.to_string()];
        // Clients leave the usual port out of the name.
        if endpoint.port() == 80 {
            names.push(endpoint.host().to_owned());
        }
        let cluster = upstream_name(index);
        let plain = json!({
            "match": {"prefix": "/"},
            "route": {"cluster": cluster, "timeout": "0s"},
            "request_headers_to_remove": ["x-forwarded-proto"],
        });
        virtual_host(index, &names, &[tunnel(&cluster), plain])
    }

    fn upstreams(&self) -> Vec<Value> {
        self.allow
            .iter()
            .enumerate()
            .map(|(index, endpoint)| {
                let mut cluster = self.upstream(index, endpoint);
                if let Some(inspected) = &self.inspected {
                    cluster.extend(inspected.upstream_tls(endpoint));
                }
                Value::Object(cluster)
            })
            .collect()
    }

    fn upstream(&self, index: usize, endpoint: &Endpoint) -> Map<String, Value> {
        let fixed = self
            .addresses
            .iter()
            .find(|(fixed, _)| fixed == endpoint)
            .map(|(_, address)| address);
        let address = match fixed {
            Some(address) => socket_address(&address.ip().to_string(), address.port()),
            None => socket_address(endpoint.host(), endpoint.port()),
        };
        let name = upstream_name(index);
        let mut cluster = Map::new();
        cluster.insert("name".into(), json!(name));
        cluster.insert("connect_timeout".into(), json!("10s"));
        cluster.insert("load_assignment".into(), assignment(&name, &address));
        let kind = if fixed.is_some() {
            "STATIC"
        } else {
            "LOGICAL_DNS"
        };
        cluster.insert("type".into(), json!(kind));
        if fixed.is_none() {
            cluster.insert("dns_lookup_family".into(), json!("ALL"));
            cluster.insert("respect_dns_ttl".into(), json!(true));
            let again = json!({"base_interval": "1s", "max_interval": "10s"});
            cluster.insert("dns_failure_refresh_rate".into(), again);
        }
        cluster
    }

    fn resolver(&self) -> Value {
        let mut config = json!({
            "@type": of_type("envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig"),
            // An allowed name is complete: no domain is added to it.
            "dns_resolver_options": {"no_default_search_domain": true},
            "query_timeout_seconds": 2,
            "query_tries": 2,
        });
        if let (false, Some(config)) = (self.dns.is_empty(), config.as_object_mut()) {
            let servers: Vec<Value> = self
                .dns
                .iter()
                .map(|server| socket_address(&server.ip().to_string(), server.port()))
                .collect();
            config.insert("resolvers".into(), json!(servers));
        }
        json!({"name": "envoy.network.dns_resolver.cares", "typed_config": config})
    }
}

/// The cluster of the allowed destination at `index`.
pub(super) fn upstream_name(index: usize) -> String {
    format!("upstream-{index}")
}

/// What reads HTTP from a connection and routes it. No header of Envoy's own reaches anybody.
pub(super) fn connection_manager(name: &str, hosts: &[Value], filters: &[Value]) -> Value {
    let mut filters = filters.to_vec();
    filters.push(json!({
        "name": "envoy.filters.http.router",
        "typed_config": {
            "@type": of_type("envoy.extensions.filters.http.router.v3.Router"),
            "suppress_envoy_headers": true,
        },
    }));
    json!({
        "name": "envoy.filters.network.http_connection_manager",
        "typed_config": {
            "@type": of_type("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
            "stat_prefix": name,
            "codec_type": "AUTO",
            // Authorizer and upstream server see one and the same path.
            "normalize_path": true,
            "http_filters": filters,
            "route_config": {"virtual_hosts": hosts},
            "server_header_transformation": "PASS_THROUGH",
            "generate_request_id": false,
            "use_remote_address": false,
            "skip_xff_append": true,
            "request_headers_timeout": "30s",
            "stream_idle_timeout": "3600s",
            "common_http_protocol_options": {"idle_timeout": "3600s"},
        },
    })
}

pub(super) fn virtual_host(index: usize, names: &[String], routes: &[Value]) -> Value {
    json!({"name": format!("allowed-{index}"), "domains": names, "routes": routes})
}

fn tunnel(cluster: &str) -> Value {
    json!({
        "match": {"connect_matcher": {}},
        "route": {
            "cluster": cluster,
            "timeout": "0s",
            "upgrade_configs": [{"upgrade_type": "CONNECT", "connect_config": {}}],
        },
    })
}

pub(super) fn assignment(name: &str, address: &Value) -> Value {
    json!({
        "cluster_name": name,
        "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
    })
}

/// A Unix socket; one to listen on gets mode 0600.
pub(super) fn pipe(path: &Path, listen: bool) -> Value {
    let path = path.to_string_lossy();
    if listen {
        json!({"pipe": {"path": path, "mode": 0o600}})
    } else {
        json!({"pipe": {"path": path}})
    }
}

fn socket_address(host: &str, port: u16) -> Value {
    json!({"socket_address": {"address": host, "port_value": port}})
}

pub(super) fn of_type(name: &str) -> String {
    format!("type.googleapis.com/{name}")
}

# frozen_string_literal: true

require "test_helper"
require "socket"

class NetworkGatewayTest < Minitest::Test
  Network = LittleGhost::Network
  ALLOWLIST = {mode: :allowlist, allow: ["api.example.com:443"]}.freeze

  def test_gateways_enforce_allowlists
    gateway = Network::Gateway.new(policy: ALLOWLIST)
    assert_predicate gateway.policy, :allowlist?
    assert_same gateway, gateway.open
    assert_equal [{}, [], nil, nil], [gateway.environment, gateway.mounts, gateway.client_network, gateway.validate!]
    assert_raises(LittleGhost::PolicyError) { Network::Gateway.new(policy: :none) }
  end

  def test_envoy_checks_what_it_is_given
    envoy = Network::EnvoyGateway.new(policy: ALLOWLIST)
    assert_equal [:auto, [], nil], [envoy.runtime, envoy.mounts, envoy.proxy_socket]
    assert_equal "http://127.0.0.1:3128", envoy.environment["HTTPS_PROXY"]
    refute envoy.environment.key?("SSL_CERT_FILE")
    assert_equal "/run/little-ghost/network/proxy.sock", envoy.proxy_mount_path
    assert_raises(LittleGhost::PolicyError) { Network::EnvoyGateway.new(policy: {mode: :allowlist, allow: ["10.0.0.1:443"]}) }
    assert_raises(LittleGhost::PolicyError) { Network::EnvoyGateway.new(policy: ALLOWLIST, runtime: :podman) }
    assert_raises(LittleGhost::CapabilityError) { Network::EnvoyGateway.new(policy: ALLOWLIST, transport: :tcp) }
  end

  def test_a_missing_envoy_is_named
    gateway = Network::EnvoyGateway.new(policy: ALLOWLIST, envoy: "/nowhere/envoy", runtime: :native)
    error = assert_raises(LittleGhost::DependencyError) { gateway.open }
    assert_includes error.message, "/nowhere/envoy"
    unpinned = Network::EnvoyGateway.new(policy: ALLOWLIST, runtime: :docker, image: "envoyproxy/envoy:v1")
    assert_includes assert_raises(LittleGhost::DependencyError) { unpinned.open }.message, "pin it by digest"
  end

  def test_envoy_lets_allowed_destinations_through
    server = TCPServer.new("127.0.0.1", 0)
    allowed = "localhost:#{server.addr[1]}"
    gateway = Network::EnvoyGateway.new(policy: {mode: :allowlist, allow: [allowed]}, envoy: envoy)
    gateway.open
    gateway.validate!
    assert_equal File.dirname(gateway.proxy_socket), gateway.mounts.first[:source]
    assert_equal "403", status(gateway, "other.example:443")
    assert_equal "200", status(gateway, allowed)
    assert server.accept
    directory = File.dirname(gateway.proxy_socket, 2)
    gateway.close
    gateway.close
    refute_path_exists directory
    assert_raises(LittleGhost::DependencyError) { gateway.validate! }
  ensure
    gateway&.close
    server&.close
  end

  private

  def envoy
    ENV["LITTLE_GHOST_ENVOY"] || skip("LITTLE_GHOST_ENVOY names no Envoy; script/install/envoy fetches one")
  end

  def status(gateway, destination)
    socket = UNIXSocket.new(gateway.proxy_socket)
    socket.write("CONNECT #{destination} HTTP/1.1\r\nhost: #{destination}\r\n\r\n")
    socket.gets.split[1]
  ensure
    socket&.close
  end
end

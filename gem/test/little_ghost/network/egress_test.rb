# frozen_string_literal: true

require "test_helper"
require "socket"
require_relative "../../support/premises"

# What programs under Bubblewrap reach, with a real Envoy.
class NetworkEgressTest < Minitest::Test
  include Premises

  Network = LittleGhost::Network
  API = {mode: :allowlist, allow: ["api.example.com:443"]}.freeze

  def setup
    super
    skip "no Bubblewrap here" unless LittleGhost::Sandboxes::Bubblewrap.probe[:available]
    skip "curl and socat are needed in /usr/bin" unless %w[curl socat].all? { |name| File.executable?("/usr/bin/#{name}") }
    skip "LITTLE_GHOST_ENVOY names no Envoy; script/install/envoy fetches one" unless envoy
  end

  def teardown
    @sandbox&.close
    super
  end

  def test_programs_reach_what_is_allowed_only
    port = serve("hello")
    open_sandbox({mode: :allowlist, allow: ["localhost:#{port}"]}, gateway_options: {envoy: envoy})
    assert_equal "hello", through_proxy("http://localhost:#{port}/").stdout
    refused = through_proxy("http://other.example:#{port}/")
    refute_predicate refused, :success?
    assert_includes refused.stderr, "403"
    refute_predicate curl("--noproxy", "*", "http://127.0.0.1:#{port}/"), :success?
  end

  def test_an_authorizer_decides
    seen = Queue.new
    authorizer = lambda do |request|
      seen << request
      raise "secret" if request.path == "/raise"

      Network::Decision.deny(status: 451, reason: "not here")
    end
    open_sandbox({**API, inspection: :http, authorizer: authorizer}, gateway_options: {envoy: envoy})
    assert_equal "451", curl("-o", "/dev/null", "-w", "%{http_code}", "https://api.example.com/a?b").stdout
    assert_equal ["GET", "https", "api.example.com", 443, "/a?b"], seen.pop.to_h.values_at(:method, :scheme, :host, :port, :path)
    failed = curl("-w", "%{http_code}", "https://api.example.com/raise").stdout
    assert_includes failed, "403"
    refute_includes failed, "secret"
  end

  def test_a_gateway_that_was_made_before
    asked = Queue.new
    authorizer = lambda do |request|
      asked << request.path
      Network::Decision.deny
    end
    gateway = Network::EnvoyGateway.new(policy: {**API, inspection: :http, authorizer: authorizer}, envoy: envoy)
    open_sandbox({**API, inspection: :http, authorizer: authorizer, gateway: gateway})
    assert_equal "403", curl("-o", "/dev/null", "-w", "%{http_code}", "https://api.example.com/made").stdout
    assert_equal "/made", asked.pop
    @sandbox.close
    assert_raises(LittleGhost::DependencyError) { gateway.validate! }
  end

  def test_a_gateway_of_the_application
    port = serve("hello")
    inner = Network::EnvoyGateway.new(policy: {mode: :allowlist, allow: ["localhost:#{port}"]}, envoy: envoy)
    own = Class.new(Network::Gateway) do
      attr_accessor :inner, :down

      def open(run: nil) = inner.open
      def close = inner.close
      def mounts = inner.mounts
      def environment = inner.environment
      def proxy_socket = inner.proxy_socket
      def proxy_mount_path = inner.proxy_mount_path

      def validate!
        raise LittleGhost::DependencyError, "the proxy is down" if down
      end
    end
    gateway = own.new(policy: inner.policy)
    gateway.inner = inner
    open_sandbox({mode: :allowlist, allow: ["localhost:#{port}"], gateway: gateway})
    assert_equal "hello", through_proxy("http://localhost:#{port}/").stdout
    gateway.down = true
    assert_includes assert_raises(LittleGhost::DependencyError) { through_proxy("http://localhost:#{port}/") }.message, "the proxy is down"
    2.times { @sandbox.close }
    assert_raises(LittleGhost::Error) { through_proxy("http://localhost:#{port}/") }
  end

  def test_sandboxes_share_an_authorizer
    asked = Queue.new
    authorizer = lambda do |request|
      asked << request.path
      Network::Decision.deny(status: 451)
    end
    policy = {**API, inspection: :http, authorizer: authorizer}
    workspace = open_workspace
    first, second = Array.new(2) { open_sandbox(policy, workspace: workspace, gateway_options: {envoy: envoy}) }
    first.close
    assert_equal "451", curl("-o", "/dev/null", "-w", "%{http_code}", "https://api.example.com/second").stdout
    assert_equal "/second", asked.pop
  ensure
    [first, second].compact.each(&:close)
  end

  def test_a_proxy_of_the_application
    port = serve("hello")
    policy = {mode: :allowlist, allow: ["localhost:#{port}"]}
    proxy = Network::EnvoyGateway.new(policy: policy, envoy: envoy).open
    shared = File.dirname(proxy.proxy_socket)
    workspace = open_workspace(paths: {proxy: shared})
    ready = true
    gateway = Network::ExternalGateway.new(
      policy: policy, workspace: workspace, runtime_paths: [:proxy], proxy_mount_path: proxy.proxy_socket,
      environment: proxy.environment, validate: -> { ready || raise(LittleGhost::DependencyError, "not ready") }
    )
    open_sandbox({**policy, gateway: gateway}, workspace: workspace, runtime_paths: {proxy: :read_only})
    assert_equal "hello", through_proxy("http://localhost:#{port}/").stdout
    ready = false
    assert_includes assert_raises(LittleGhost::DependencyError) { through_proxy("http://localhost:#{port}/") }.message, "not ready"
  ensure
    proxy&.close
  end

  private

  def envoy = ENV.fetch("LITTLE_GHOST_ENVOY", nil)

  def open_sandbox(network, workspace: open_workspace, runtime_paths: {}, **options)
    policy = {files: {root: :read_write}, runtime_paths: runtime_paths, network: network}
    @sandbox = LittleGhost::Sandboxes::Bubblewrap.new(workspace: workspace, policy: policy, **options)
    @sandbox.open
  end

  # Programs take localhost for their own, so that curl has to be told.
  def through_proxy(url)
    curl("--noproxy", "", "--proxytunnel", url)
  end

  def curl(*arguments)
    @sandbox.execute_program(["/usr/bin/curl", "-sS", "--max-time", "20", *arguments], timeout: 30)
  end

  # A server that answers each request with +body+; returns its port.
  def serve(body)
    server = TCPServer.new("127.0.0.1", 0)
    Thread.new do
      Thread.current.report_on_exception = false
      while (client = server.accept)
        client.gets("\r\n\r\n")
        client.write("HTTP/1.1 200 OK\r\ncontent-length: #{body.bytesize}\r\nconnection: close\r\n\r\n#{body}")
        client.close
      end
    end
    server.addr[1]
  end
end

# frozen_string_literal: true

require "test_helper"

class SandboxValuesTest < Minitest::Test
  Sandbox = LittleGhost::Sandbox

  def test_policies
    plain = Sandbox::Policy.new
    assert_equal [{root: :read_only}, {}, :isolated, nil], [plain.files, plain.runtime_paths, plain.root_filesystem, plain.network]
    refute_predicate plain, :workspace_writable?
    policy = Sandbox::Policy.coerce({"files" => {"root" => "read_write"}, :network => :none}, runtime_paths: {home: :read_only})
    assert_predicate policy, :workspace_writable?
    assert_predicate policy.network, :none?
    assert_equal({home: :read_only}, policy.runtime_paths)
    assert_same policy, Sandbox::Policy.coerce(policy)
    assert_equal policy, Sandbox::Policy.coerce(policy, root_filesystem: :isolated)
    refute_equal policy, plain
    assert_predicate policy, :frozen?
    assert_equal "/x", Sandbox::Policy.new(environment: {inherit: true, set: {HOME: "/x"}}).environment.values["HOME"]
  end

  def test_what_no_policy_says
    [
      {files: {root: :execute}}, {root_filesystem: :some}, {surprise: 1}, {files: Object.new}, {network: :sometimes},
      {network: {mode: :allowlist}}, {network: {mode: :none, allow: ["a.example"]}}, {network: {mode: :none, surprise: 1}}, {environment: 3},
      {environment: {inherit: 3}}, {environment: {"A=B" => "c"}}, {files: {a: :read_only}, runtime_paths: {a: :read_only}}
    ].each do |options|
      assert_raises(LittleGhost::PolicyError, options.inspect) { Sandbox::Policy.coerce(options) }
    end
  end

  def test_networks
    policy = Sandbox::NetworkPolicy.coerce({mode: :allowlist, allow: ["API.example:443", "a.example:443"]})
    assert_equal ["a.example:443", "api.example:443"], policy.allow
    assert_equal [:allowlist, :connect, nil, true], [policy.mode, policy.inspection, policy.authorizer, policy.allowlist?]
    assert_equal policy, Sandbox::NetworkPolicy.new(mode: "allowlist", allow: ["a.example:443", "api.example:443"])
    assert_equal 1, [policy, Sandbox::NetworkPolicy.coerce(policy)].uniq.length
    assert_predicate Sandbox::NetworkPolicy.coerce(:inherit), :inherit?
    authorizer = ->(request) { request }
    inspected = Sandbox::NetworkPolicy.new(mode: :allowlist, allow: ["a.example:443"], inspection: :http, authorizer: authorizer)
    assert_same authorizer, inspected.authorizer
    refute_equal policy, inspected
  end

  def test_environments_hide_their_values
    policy = Sandbox::EnvironmentPolicy.coerce({TOKEN: "secret-value"})
    assert_equal({"TOKEN" => "secret-value"}, policy.to_h)
    refute_predicate policy, :inherit?
    refute_includes policy.inspect, "secret-value"
    assert_includes policy.inspect, "TOKEN"
    assert_same policy, Sandbox::EnvironmentPolicy.coerce(policy)
    assert_predicate Sandbox::EnvironmentPolicy.new(inherit: true, values: {A: 1}), :inherit?
  end

  def test_policies_hide_the_values_of_their_environment
    policy = LittleGhost::Sandbox::Policy.new(environment: {set: {"TOKEN" => "s3cret"}}, network: :none)
    assert_includes policy.inspect, "TOKEN"
    refute_includes policy.inspect, "s3cret"
  end

  def test_limits
    limits = Sandbox::Limits.coerce({"read_bytes" => 5})
    assert_equal [5, 1_000_000, 10_000, 1_000_000], [limits.read_bytes, limits.write_bytes, limits.list_entries, limits.output_bytes]
    assert_same limits, Sandbox::Limits.coerce(limits)
    [{read_bytes: 0}, {read_bytes: "5"}, {reads: 5}].each do |values|
      assert_raises(ArgumentError) { Sandbox::Limits.new(**values) }
    end
  end

  def test_capabilities
    all = Sandbox::Capabilities.new
    assert all.supports?(:read) && all.include?(:filesystem_read) && all.supports?("process_spawn")
    refute all.supports?(:process_tree_ownership) || all.supports?(:flying)
    assert all.supports?(:network, :inherit)
    refute all.supports?(:network, :none)
    some = Sandbox::Capabilities.new(features: %i[read list], network_modes: [:none], isolation: :container)
    assert_equal %i[filesystem_read filesystem_list], some.features
    both = some.intersect(all)
    assert_equal [some.features, [], :container], [both.features, both.network_modes, both.isolation]
    assert_raises(ArgumentError) { Sandbox::Capabilities.new(features: [:flying]) }
  end

  def test_executions
    done = Sandbox::Execution.new(stdout: "a", stderr: "", exit_code: 0)
    assert_predicate done, :success?
    refute_predicate done.with(exit_code: 1), :success?
    refute_predicate done.with(error: IOError.new), :success?
    refute_predicate done.with(exit_code: nil), :success?
  end
end

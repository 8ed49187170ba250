# frozen_string_literal: true

require "test_helper"
require_relative "../../support/premises"

class SandboxScopeTest < Minitest::Test
  include Premises

  def sandbox
    @sandbox ||= unrestricted(
      {"a.txt" => "a"}, paths: {source: "source", home: "home"},
      policy: {files: {root: :read_write, source: :read_only}, runtime_paths: {home: :read_write}},
      profiles: {reader: {files: [:source]}, maker: ->(policy:, **) { {files: policy.files.keys} }, wrong: {surprise: 1}}
    )
  end

  def test_it_only_leaves_things_out
    scope = sandbox.scope(files: {root: :read_only}, runtime_paths: [], capabilities: %i[filesystem_read filesystem_list])
    assert_equal [{root: :read_only}, {}], [scope.files, scope.runtime_paths]
    refute scope.writable? || scope.supports?(:execute)
    assert_equal "a", scope.read("a.txt")
    assert_raises(LittleGhost::ToolError) { scope.write("a.txt", "b") }
    assert_raises(LittleGhost::ToolError) { scope.execute("true", timeout: 5) }
    refute scope.allows?(:write, "a.txt")
    refute scope.allows?(:write)
    assert_same scope, scope.open
    assert_nil scope.close
    assert_equal [sandbox.workspace, sandbox.effective_policy], [scope.workspace, scope.policy]
    assert_same scope, scope.validate!
    {files: {source: :read_write}, runtime_paths: [:source], network: {mode: :allowlist, allow: ["a.example:1"]}}.each do |key, value|
      assert_raises(LittleGhost::CapabilityError, key.to_s) { sandbox.scope(key => value) }
    end
    assert_raises(LittleGhost::CapabilityError) { scope.scope(files: {root: :read_write}) }
    assert_equal({root: :read_only}, scope.scope(files: [:root]).files)
    assert_equal({home: :read_write}, sandbox.scope(files: []).runtime_paths)
  end

  def test_programs_in_a_scope
    scope = sandbox.scope(files: [:source])
    assert_equal "hi\n", scope.execute("echo hi", timeout: 5).stdout
    session = scope.start_program(["/bin/cat"])
    session.close
    refuses = sandbox.scope(capabilities: %i[filesystem_read process_execute])
    assert_raises(LittleGhost::CapabilityError, LittleGhost::ToolError) { refuses.execute("true", timeout: 5) }
  end

  def test_profiles
    assert_equal({source: :read_only}, sandbox.scope(:reader).files)
    assert_equal({root: :read_write, source: :read_only}, sandbox.scope("maker").files)
    assert_raises(LittleGhost::PolicyError) { sandbox.scope(:other) }
    assert_raises(LittleGhost::PolicyError) { sandbox.scope(:wrong) }
    assert_raises(ArgumentError) { sandbox.scope(:reader, network: false) }
  end
end

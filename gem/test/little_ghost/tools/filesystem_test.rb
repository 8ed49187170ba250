# frozen_string_literal: true

require "test_helper"
require_relative "../../support/premises"

class FilesystemToolsTest < Minitest::Test
  include Premises

  def registry(sandbox, *tools)
    LittleGhost::ToolRegistry.new(tools, binding: LittleGhost::Tool::Binding.new(sandbox: sandbox))
  end

  def test_what_can_be_read_can_be_listed
    tools = registry(unrestricted({"a.txt" => "hello"}), LittleGhost::Tools::Filesystem)
    assert_equal %w[read_file list_files], tools.names
    assert_equal "hello", tools.fetch("read_file").execute({"path" => "a.txt"}).value
    assert_equal "a.txt", tools.fetch("list_files").execute({}).value
    failed = tools.fetch("read_file").execute({"path" => "missing"})
    assert_equal :error, failed.status
    assert_instance_of LittleGhost::ToolError, failed.error
    assert_equal :error, tools.fetch("read_file").execute({"file" => "a.txt"}).status
  end

  def test_what_can_be_written_can_be_replaced
    sandbox = writable
    tools = registry(sandbox, LittleGhost::Tools::Filesystem::Exclusive)
    assert_equal %w[read_file list_files write_file replace_in_file], tools.names
    assert(tools.all?(&:exclusive?))
    refute(registry(sandbox, LittleGhost::Tools::Filesystem).any?(&:exclusive?))
    assert_equal :success, tools.fetch("write_file").execute({"path" => "b", "content" => "one"}).status
    assert_equal :success, tools.fetch("replace_in_file").execute({"path" => "b", "old_text" => "one", "new_text" => "two"}).status
    assert_equal "two", File.read(File.join(sandbox.workspace.root, "b"))
  end

  def test_a_sandbox_is_needed
    assert_raises(LittleGhost::ConfigurationError) { registry(nil, LittleGhost::Tools::Filesystem) }
  end

  def test_a_cancelled_context
    token = LittleGhost::Support::CancellationToken.new.cancel
    tool = registry(unrestricted({"a" => ""}), LittleGhost::Tools::Filesystem).fetch("read_file")
    context = LittleGhost::RunContext.new(cancellation_token: token)
    begin
      assert_equal "", tool.execute({"path" => "a"}, context: context).value
    rescue LittleGhost::CancelledError
      assert_predicate token, :cancelled?
    end
  end

  def test_descriptions
    schema = LittleGhost::Tools::Filesystem::WriteFile.input_schema
    assert_equal [%w[path content], false], schema.values_at("required", "additionalProperties")
    refute_empty LittleGhost::Tools::Filesystem::ReplaceInFile.description
  end
end

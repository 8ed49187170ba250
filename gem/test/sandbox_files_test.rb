# frozen_string_literal: true

require "test_helper"
require "json"
require "fileutils"
require "tmpdir"

# The cases of tests/conformance/sandbox/files.json.
class SandboxFilesTest < Minitest::Test
  Native = LittleGhost::Native

  cases = JSON.parse(File.read(File.expand_path("../../tests/conformance/sandbox/files.json", __dir__)))
  cases.each do |found|
    define_method("test_#{found.fetch("name").tr(" ", "_")}") { check(found) }
  end

  private

  def check(found)
    Dir.mktmpdir("little-ghost-files-") do |folder|
      prepare(found, folder)
      workspace = opened(found, folder)
      options = found.fetch("policy").merge("limits" => found["limits"])
      sandbox = Native::Sandbox.build("unrestricted", workspace, options)
      seen = found.fetch("calls").map { |call| outcome(sandbox, call) }
      assert_equal(found.fetch("calls").map { |call| call.slice("text", "error") }, seen)
      found.fetch("after", {}).each { |path, content| assert_equal(content, File.read(File.join(folder, path)), path) }
    end
  end

  def prepare(found, folder)
    FileUtils.mkdir_p(File.join(folder, "root"))
    found.fetch("files", {}).each do |path, content|
      FileUtils.mkdir_p(File.dirname(File.join(folder, path)))
      File.write(File.join(folder, path), content)
    end
    found.fetch("links", {}).each { |path, content| File.symlink(content, File.join(folder, path)) }
    found.fetch("hard_links", {}).each { |path, other| File.link(File.join(folder, other), File.join(folder, path)) }
  end

  def opened(found, folder)
    paths = found.fetch("paths", {}).transform_values do |path|
      path.start_with?("../") ? File.join(folder, path.delete_prefix("../")) : path
    end
    workspace = Native::Workspace.new({ "root" => File.join(folder, "root"), "paths" => paths })
    assert Native::JobWait.answer(workspace.begin_opening)
    Native::JobWait.answer(workspace.record)
    workspace
  end

  def outcome(sandbox, call)
    job = sandbox.perform({ "op" => "tool", "name" => call.fetch("tool"), "input" => call.fetch("input") })
    { "text" => Native::JobWait.answer(job) }
  rescue LittleGhost::ToolError => error
    { "error" => error.message }
  rescue StandardError => error
    { "error" => "The tool failed unexpectedly (#{error.class.name})." }
  end
end

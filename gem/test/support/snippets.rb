# frozen_string_literal: true

require "json"
require "open3"
require "rbconfig"
require "tmpdir"

# The Ruby blocks of the README and the guides, and how they run: see tests/snippets/snippets.json.
module Snippets
  ROOT = File.expand_path("../../..", __dir__)
  RUNNER = File.join(__dir__, "snippet_runner.rb")
  SUITE = JSON.parse(File.read(File.join(ROOT, "tests/snippets/snippets.json")))
  NEW_PROCESS = "<!-- snippet: new process -->"
  # In Ruby, a tool is named after its class.
  TOOL_NAMES = /"(help_center_lookup|order_status)"/

  # Files with Ruby blocks, and what these print.
  def self.files
    SUITE.fetch("output").filter_map { |file, output| [file, output["ruby"]] if output["ruby"] }
  end

  # The exchanges of a model that answers every question of the snippets.
  def self.exchanges
    named = JSON.generate(SUITE.fetch("exchanges")).gsub(TOOL_NAMES, '"\1_tool"')
    JSON.parse(named) * SUITE.fetch("copies")
  end

  # Groups of blocks, {file, line, code}; each group runs in one process.
  def self.groups(file)
    groups = [[]]
    lines = File.readlines(File.join(ROOT, file), chomp: true)
    lines.each_with_index do |line, index|
      groups << [] if line == NEW_PROCESS
      next unless line == "```ruby"

      code = lines.drop(index + 1).take_while { |inner| inner != "```" }.join("\n")
      groups.last << {file: file, line: index + 2, code: code}
    end
    groups.reject(&:empty?)
  end

  # Runs +blocks+ and returns [stdout, stderr, status].
  def self.run(blocks, base_url)
    code = JSON.generate(base_url: base_url, blocks: blocks).gsub(SUITE.fetch("local_server"), base_url)
    Dir.mktmpdir do |folder|
      Open3.capture3(RbConfig.ruby, "-I", File.join(ROOT, "gem/lib"), RUNNER, stdin_data: code, chdir: folder)
    end
  end
end

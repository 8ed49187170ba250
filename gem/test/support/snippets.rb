# frozen_string_literal: true

require "fileutils"
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
  # The block that follows is the content of this file in the program's folder.
  FILE = /\A<!-- snippet: file (\S+) -->\z/
  # A connection of the text leads to the scripted server as well.
  CONNECTION = "adapter: :openrouter,"
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

  # The files that the blocks of +document+ read, path => content.
  def self.materials(document)
    lines = File.readlines(File.join(ROOT, document), chomp: true)
    lines.each_with_index.filter_map do |line, index|
      path = line[FILE, 1] or next
      [path, lines.drop(index + 2).take_while { |inner| inner != "```" }.join("\n")]
    end.to_h
  end

  # Runs +blocks+ in a folder of their own and returns [stdout, stderr, status].
  def self.run(blocks, base_url)
    blocks = blocks.map { |block| block.merge(code: connected(block.fetch(:code), base_url)) }
    Dir.mktmpdir do |folder|
      materials(blocks.first.fetch(:file)).each do |path, content|
        FileUtils.mkdir_p(File.join(folder, File.dirname(path)))
        File.write(File.join(folder, path), content)
      end
      Open3.capture3(
        {"OPENROUTER_API_KEY" => "test-key"}, RbConfig.ruby, "-I", File.join(ROOT, "gem/lib"), RUNNER,
        stdin_data: JSON.generate(base_url: base_url, blocks: blocks), chdir: folder
      )
    end
  end

  def self.connected(code, base_url)
    code.gsub(SUITE.fetch("local_server"), base_url).gsub(CONNECTION, "#{CONNECTION} base_url: #{base_url.inspect},")
  end
end

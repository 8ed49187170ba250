# frozen_string_literal: true

require "test_helper"
require_relative "support/snippets"

# The Ruby blocks of the README and the guides run, and print what they should.
class SnippetsTest < Minitest::Test
  include ScriptedRuns

  Snippets.files.each do |file, expected|
    define_method(:"test_#{file}") do
      scenario = script(*Snippets.exchanges, unordered: true)
      printed = Snippets.groups(file).map do |blocks|
        output, errors, status = Snippets.run(blocks, scenario.base_url)
        assert_predicate status, :success?, errors
        assert_empty errors
        output
      end.join
      position = 0
      expected.each do |part|
        found = printed.index(part, position)
        refute_nil found, "#{part.inspect} is not in #{printed[position..].inspect}"
        position = found + part.length
      end
      assert_empty(scenario.requests.filter_map { |request| request["error"] })
    end
  end

  # The example answers with the demo's settings, and says by its status when it could not.
  def test_the_example
    scenario = script(*Snippets.exchanges, unordered: true)
    output, errors, status = example(scenario.base_url)
    assert_predicate status, :success?, errors
    assert_includes output, "[looking up: help_center_lookup_tool]"
    assert_includes output, "Yes, items can be returned within 30 days.\n[completed, 117 tokens]"

    output, errors, status = example(scenario.base_url, "Where is order 481?")
    assert_predicate status, :success?, errors
    assert_includes scenario.requests.last.fetch("body").to_s, "out for delivery"
    assert_includes output, "Order 481 is out for delivery."

    _, errors, status = example(script({status: 401, body: {error: {message: "bad key"}}}).base_url)
    assert_equal 1, status.exitstatus
    assert_includes errors, "HTTPError"
  end

  private

  def example(base_url, *arguments)
    environment = {
      "LITTLE_GHOST_DEMO_BASE_URL" => base_url, "LITTLE_GHOST_DEMO_MODEL" => "scripted",
      "LITTLE_GHOST_DEMO_API" => "chat_completions"
    }
    program = File.join(Snippets::ROOT, "examples/ruby/support_agent.rb")
    Open3.capture3(environment, RbConfig.ruby, "-I", File.join(Snippets::ROOT, "gem/lib"), program, *arguments)
  end
end

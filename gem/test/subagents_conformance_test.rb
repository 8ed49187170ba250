# frozen_string_literal: true

require_relative "test_helper"
require_relative "conformance/subagents"

class SubagentsConformanceTest < Minitest::Test
  Conformance::Subagents.cases.each do |spec|
    define_method("test_#{spec["name"]}") do
      differences = Conformance::Subagents.new(spec).differences
      assert_empty differences, "#{spec["about"]}\n#{differences.join("\n")}"
    end
  end
end

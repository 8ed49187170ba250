# frozen_string_literal: true

require_relative "test_helper"
require_relative "conformance/suite"

# Every conformance case, through the gem's public API. <tt>CASE=part of a name</tt> runs only those.
class ConformanceTest < Minitest::Test
  CASES = Conformance.cases.select { |found| found["name"].include?(ENV.fetch("CASE", "")) }

  CASES.each do |test_case|
    define_method("test_#{test_case["name"].tr(" ", "_")}") do
      differences = Conformance.differences(test_case)
      assert_empty differences, "#{test_case["name"]}: #{differences.join("\n")}"
    end
  end

  Minitest.after_run { puts "#{CASES.size} conformance cases in Ruby" }
end

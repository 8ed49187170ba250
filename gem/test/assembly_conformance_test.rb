# frozen_string_literal: true

require_relative "test_helper"
require_relative "conformance/assembly/suite"

# Every conformance case of several agents, through the gem's public API. <tt>CASE=part of a name</tt> runs only those.
class AssemblyConformanceTest < Minitest::Test
  CASES = Conformance::Assembly.cases.select { |found| found["name"].include?(ENV.fetch("CASE", "")) }

  CASES.each do |test_case|
    define_method("test_#{test_case["name"].gsub(/\W+/, "_")}") do
      differences = Timeout.timeout(30) { Conformance::Assembly.differences(test_case) }
      assert differences.empty?, "#{test_case["name"]}: #{differences.join("\n")}"
    end
  end

  Minitest.after_run { puts "#{CASES.size} conformance cases of assemblies in Ruby" }
end

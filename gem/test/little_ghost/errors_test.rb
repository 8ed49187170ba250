# frozen_string_literal: true

require_relative "../test_helper"

class ErrorsTest < Minitest::Test
  ROOTS = {"Error" => StandardError, "ArgumentError" => StandardError}.freeze

  def test_every_kind_of_the_engine_has_its_class_with_the_right_parent
    classes = LittleGhost::Native::Failure.classes
    LittleGhost::Native.error_kinds.each do |name, parent|
      next if name == "HostError"

      expected = parent ? classes.fetch(parent) : ROOTS.fetch(name)
      assert_equal expected, classes.fetch(name).superclass, name
    end
    assert_operator LittleGhost::Native.error_kinds.length, :>, 30
  end

  def test_every_class_has_a_kind
    classes = LittleGhost::Native::Failure.classes.values
    ours = [LittleGhost, LittleGhost::Providers].flat_map { |scope| scope.constants.map { |name| scope.const_get(name) } }
    ours.select { |value| value.is_a?(Class) && value <= StandardError }.each { |error| assert_includes classes, error }
  end

  def test_http_error
    error = LittleGhost::Providers::HTTPError.new("status 503", status: 503, body: "x" * 5000)
    assert_equal [503, 4096, true], [error.status, error.body.bytesize, error.retryable?]
    {nil => true, 408 => true, 409 => true, 429 => true, 500 => true, 400 => false, 404 => false}.each do |status, expected|
      assert_equal expected, LittleGhost::Providers::HTTPError.new("m", status: status).retryable?, status.inspect
    end
  end

  def test_structured_result_error
    error = LittleGhost::StructuredResultError.new("bad", schema_name: "s", validation_errors: ["$.a"])
    assert_equal ["s", ["$.a"], true], [error.schema_name, error.validation_errors, error.validation_errors.frozen?]
  end

  def test_errors_of_the_engine_become_exceptions_with_their_facts
    build = LittleGhost::Native::Failure.method(:build)
    error = build.call("kind" => "HTTPError", "message" => "m", "status" => 500, "body" => "b")
    assert_equal [LittleGhost::Providers::HTTPError, 500, "b"], [error.class, error.status, error.body]
    error = build.call("kind" => "StructuredResultError", "message" => "m", "data" => {"schema_name" => "s", "validation_errors" => ["e"]})
    assert_equal ["s", ["e"]], [error.schema_name, error.validation_errors]
    assert_instance_of ArgumentError, build.call("kind" => "ArgumentError", "message" => "m")
  end

  def test_a_panic_becomes_an_exception
    script = <<~RUBY
      require "little_ghost"
      begin
        LittleGhost::Native.provoke_panic
      rescue LittleGhost::Error => error
        puts error.message
      end
    RUBY
    output = IO.popen([RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__), "-e", script, err: File::NULL], &:read)
    assert_match(/panicked.*provoked/, output)
  end
end

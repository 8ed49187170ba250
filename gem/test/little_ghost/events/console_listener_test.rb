# frozen_string_literal: true

require_relative "../../test_helper"
require "json"
require "stringio"

class ConsoleListenerTest < Minitest::Test
  def test_one_redacted_line_each
    io = StringIO.new
    reporter = LittleGhost::Events::Reporter.new(listeners: [LittleGhost::Events::ConsoleListener.new(io: io)])
    reporter.emit(:warn, "a", {api_key: "hidden-value", text: "two\nlines"})
    reporter.emit(:info, "b")
    lines = io.string.lines.map { |line| JSON.parse(line) }
    assert_equal [%w[a warn], %w[b info]], lines.map { |line| line.values_at("name", "level") }
    assert_equal "two\nlines", lines.first["payload"]["text"]
    refute_match(/hidden-value/, io.string)
  end

  def test_the_console_of_the_process
    before, LittleGhost::Events.reporter = LittleGhost::Events.reporter, LittleGhost::Events::Reporter.new
    configuration = LittleGhost::Configuration.new
    out, err = capture_io do
      configuration.log_events_to :stderr
      LittleGhost::Events.info("a")
      configuration.log_events_to = :stdout
      LittleGhost::Events.info("b")
      assert_equal :stdout, LittleGhost::Configuration.new.log_events_to
      configuration.log_events_to nil
      LittleGhost::Events.info("c")
    end
    assert_match(/"a"/, err)
    assert_match(/"b"/, out)
    refute_match(/"c"/, out + err)
  ensure
    LittleGhost::Events.console_output = nil
    LittleGhost::Events.reporter = before
  end
end

# frozen_string_literal: true

require "test_helper"

class ProcessSessionTest < Minitest::Test
  ProcessSession = LittleGhost::Sandbox::ProcessSession

  def start(*command, **options)
    session = ProcessSession.new(command: command, **options)
    (@sessions ||= []) << session
    session
  end

  def teardown
    @sessions&.each(&:close)
  end

  def test_streams_and_status
    session = start("/bin/cat")
    assert_predicate session, :alive?
    assert_equal 3, session.write("a\xFF\n".b)
    assert_equal "a\xFF\n".b, session.read(timeout: 5).stdout
    session.close_write
    status = session.wait(timeout: 5)
    assert_instance_of Process::Status, status
    assert_equal [0, session.pid, true], [status.exitstatus, status.pid, status.success?]
    refute_predicate session, :alive?
    assert_predicate session.read(timeout: 1), :eof?
    assert_raises(IOError) { session.write("more") }
    2.times { session.close }
  end

  def test_the_environment_is_clean
    session = start("/usr/bin/env", environment: {A: 1})
    session.wait(timeout: 5)
    assert_equal "A=1\n", session.read(timeout: 1).stdout
  end

  def test_a_code_and_a_signal
    assert_equal 7, start("/bin/sh", "-c", "exit 7").wait(timeout: 5).exitstatus
    status = start("/bin/sleep", "60").terminate
    assert_predicate status, :signaled?
    assert_equal Signal.list["TERM"], status.termsig
  end

  def test_waiting_has_an_end
    session = start("/bin/sleep", "60")
    assert_raises(LittleGhost::ToolError) { session.wait(timeout: 0.05, terminate: false) }
    assert_predicate session, :alive?
    assert_raises(LittleGhost::ToolError) { session.wait(timeout: 0.05) }
    refute_predicate session, :alive?
  end

  def test_a_context_ends_waiting
    token = LittleGhost::Support::CancellationToken.new
    context = LittleGhost::RunContext.new(cancellation_token: token)
    session = start("/bin/sleep", "60")
    waiter = Thread.new { assert_raises(LittleGhost::CancelledError) { session.wait(context: context) } }
    token.cancel
    waiter.join
    refute_predicate session, :alive?
    late = LittleGhost::RunContext.new(deadline: Time.now)
    assert_raises(LittleGhost::DeadlineExceededError) { start("/bin/sleep", "60").wait(context: late, terminate: false) }
  end

  def test_timeout_leaves_a_wait
    session = start("/bin/sleep", "60")
    assert_raises(Timeout::Error) { Timeout.timeout(0.05) { session.wait } }
    assert_predicate session, :alive?
  end

  def test_output_has_a_limit
    session = start("/bin/sh", "-c", "exec yes", output_bytes: 1_000)
    error = assert_raises(LittleGhost::ToolError) { loop { session.read(timeout: 5) } }
    assert_match(/1000|1,000/, error.message)
  end

  def test_an_own_reader_of_memory
    reader = ->(_pid) { 2_000 }
    session = start("/bin/sleep", "60", memory_bytes: 1_000, memory_reader: reader)
    error = assert_raises(LittleGhost::ToolError) { loop { session.read(timeout: 0.05) } }
    assert_match(/1000 bytes of memory/, error.message)
    assert_same error, assert_raises(LittleGhost::ToolError) { session.alive? }
    failing = start("/bin/sleep", "60", memory_bytes: 1_000, memory_reader: ->(_pid) { raise IOError })
    assert_raises(LittleGhost::ToolError) { loop { failing.read(timeout: 0.05) } }
  end

  def test_what_cannot_start
    assert_raises(LittleGhost::Error) { ProcessSession.new(command: ["/nowhere/at/all"]) }
    assert_raises(ArgumentError) { ProcessSession.new(command: []) }
    assert_raises(ArgumentError) { ProcessSession.new(command: "exit 0") }
    assert_raises(ArgumentError) { ProcessSession.new(command: ["/bin/true"], output_bytes: 0) }
  end
end

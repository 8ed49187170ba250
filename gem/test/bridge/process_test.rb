# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/subprocess"

# Signals, exits and forks, each in a process of its own.
class ProcessTest < Minitest::Test
  include ScriptedRuns
  include Subprocess

  def read_until(io, text)
    seen = []
    until seen.last == text
      seen << io.gets&.chomp
      flunk "ended before #{text}: #{seen.join("; ")}" if seen.last.nil?
    end
  end

  def test_an_interrupt
    output, status = ruby(silent_script, <<~RUBY) do |io|
      begin
        AGENT.stream_ask("hi").each { |event| puts event.type }
      rescue Interrupt
        puts "interrupted"
      end
    RUBY
      read_until(io, "text_delta")
      Process.kill(:INT, io.pid)
      # The server never goes on: whoever waited for it would not say this.
      assert_equal "interrupted\n", io.gets
    end
    assert_predicate status, :success?, output
  end

  def test_an_uncaught_interrupt_ends_the_process_by_the_signal
    scenario = silent_script
    _output, status = ruby(scenario, 'AGENT.stream_ask("hi").each { |event| puts event.type }') do |io|
      read_until(io, "text_delta")
      Process.kill(:INT, io.pid)
    end
    assert_equal Signal.list["INT"], status.termsig
    scenario.wait(disconnects: 1)
  end

  def test_a_trapped_signal_does_not_end_a_run
    scenario = script({chat: {text: ["a", {wait_for: "go"}, "b"]}})
    output, = ruby(scenario, <<~RUBY) do |io|
      trap(:USR1) { $stderr.syswrite("trapped\n") }
      puts AGENT.stream_ask("hi").each { |event| puts event.type }.response
    RUBY
      read_until(io, "text_delta")
      Process.kill(:USR1, io.pid)
      assert_equal "trapped\n", io.gets
      scenario.signal("go")
    end
    assert_equal "ab", output.lines.last.chomp
  end

  def test_an_exit_does_not_wait_for_blocked_runs
    output, status = ruby(silent_script, <<~RUBY)
      silent = Thread::Queue.new
      3.times { Thread.new { AGENT.stream_ask("hi").each { |event| silent << 1 if event.type == :text_delta } } }
      AGENT.start_execution({message: "hi"}) { |event| silent << 1 if event.type == :text_delta }
      4.times { silent.pop }
      stream = AGENT.stream_ask("hi")
      event = stream.next until event&.type == :text_delta
      at_exit { at_exit { puts "left" } }
      exit 7
    RUBY
    assert_equal [7, "left\n"], [status.exitstatus, output.lines.last], output
  end

  def test_forked_children_run_with_inherited_and_new_agents
    scenario = script({chat: {text: "hello"}}, cycle: true)
    output, status = ruby(scenario, <<~'RUBY')
      answers = [AGENT.ask("hi").response]
      pids = 8.times.map do
        fork do
          fresh = Tester.new(runtime: LittleGhost::Runtime.new(configuration: CONFIGURATION))
          exit!(2) unless AGENT.ask("inherited").response == "hello"
          exit(fresh.ask("new").response == "hello" ? 0 : 1)
        end
      end
      codes = pids.map { |pid| Process.wait2(pid).last.exitstatus }
      puts "#{answers} #{codes.tally} #{AGENT.ask("again").response}"
    RUBY
    assert_equal "[\"hello\"] {0=>8} hello", output.chomp
    assert_predicate status, :success?
    requests = scenario.requests
    assert_equal 18, requests.length
    # A socket of the parent is never used by a child.
    parents = [requests.first, requests.last].map { |request| request["connection"] }
    children = requests[1..-2].map { |request| request["connection"] }
    assert_empty parents & children
  end

  def test_a_run_of_the_parent_raises_in_the_child
    output, = ruby(silent_script, <<~'RUBY')
      stream = AGENT.stream_ask("hi")
      event = stream.next until event&.type == :text_delta
      dormant = RUNTIME.build_run({message: "hi"}, entrypoint_class: Tester)
      pid = fork do
        [-> { stream.next }, -> { dormant.call }].each do |action|
          action.call
        rescue LittleGhost::Error => error
          puts [Process.ppid, Process.pid].all? { |id| error.message.include?(id.to_s) }
        end
      end
      Process.wait(pid)
      puts "parent"
    RUBY
    assert_equal %w[true true parent], output.split
  end

  def test_a_child_that_leaves_a_run_of_the_parent_does_not_disturb_it
    scenario = script({chat: {text: ["a", {wait_for: "go"}, "b"]}})
    output, = ruby(scenario, <<~'RUBY') do |io|
      run = AGENT.stream_ask("hi").each do |event|
        if event.type == :text_delta && event.data[:text] == "a"
          Process.wait(fork { exit(0) })
          puts "forked"
        end
      end
      puts run.response
    RUBY
      assert_equal "forked\n", io.gets
      scenario.signal("go")
    end
    assert_equal "ab\n", output
  end

  def test_a_daemon
    scenario = script({chat: {text: "hello"}}, cycle: true)
    output, = ruby(scenario, <<~RUBY)
      AGENT.ask("before")
      Process.daemon(true, true)
      puts AGENT.ask("after").response
    RUBY
    assert_equal "hello\n", output
    assert_equal 2, scenario.requests.length
  end

  def test_loading_loads_little_and_starts_nothing
    library = File.expand_path("../../lib", __dir__)
    program = <<~RUBY
      before = $LOADED_FEATURES.dup
      require "little_ghost"
      puts Thread.list.length
      puts File.exist?("/proc/self/task") ? Dir.children("/proc/self/task").length : 1
      puts $LOADED_FEATURES - before
    RUBY
    alone = 'puts File.exist?("/proc/self/task") ? Dir.children("/proc/self/task").length : 1'
    expected = IO.popen([RbConfig.ruby, "-e", alone], &:read).to_i
    threads, tasks, *features = IO.popen([RbConfig.ruby, "-I", library, "-e", program], &:readlines).map(&:chomp)
    assert_equal [1, expected], [Integer(threads), Integer(tasks)]
    assert_empty(features.reject { |feature| feature.include?("little_ghost") })
    # Everything else waits until it is named.
    assert_operator features.length, :<=, 12, features.join("\n")
  end
end

# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/subprocess"

class BlockingPoolTest < Minitest::Test
  include ScriptedRuns
  include Subprocess

  SCHEDULED = <<~RUBY
    require "async"
    def scheduled(&block) = Async { |task| block.call(task) }.wait
  RUBY

  def test_outside_a_scheduler_the_block_runs_here
    thread = nil
    assert_equal 7, LittleGhost.offload_blocking { thread = Thread.current; 7 }
    assert_same Thread.current, thread
    assert_raises(ArgumentError) { LittleGhost.offload_blocking }
    assert_raises(KeyError) { LittleGhost.offload_blocking { raise KeyError } }
  end

  def test_inside_a_scheduler
    output, status = ruby(script({chat: {text: "a"}}), SCHEDULED + <<~'RUBY')
      LittleGhost.configure { |config| config.blocking_pool_capacity 2 }
      barrier = Thread::Queue.new
      threads = scheduled do |task|
        LittleGhost::ExecutionState.with({tenant: "t"}) do
          # Each waits for the other, so both really run at once and off this thread.
          jobs = 2.times.map do |n|
            task.async do
              LittleGhost.offload_blocking { barrier << n; Thread.pass until barrier.length == 2; [Thread.current, LittleGhost::ExecutionState[:tenant]] }
            end
          end
          jobs.map(&:wait)
        end
      end
      p threads.map(&:first).uniq.length, threads.map(&:first).include?(Thread.current), threads.map(&:last)
      scheduled { LittleGhost.offload_blocking { raise KeyError, "mine" } rescue p $!.class }
      finished = false
      scheduled do |task|
        gate = Thread::Queue.new
        started = Thread::Queue.new
        job = task.async { LittleGhost.offload_blocking { started << 1; gate.pop; finished = true } }
        started.pop
        task.async { job.stop }
        gate << 1
        job.wait
      end
      p finished
      begin
        LittleGhost.configuration.blocking_pool_capacity = 3
      rescue LittleGhost::ConfigurationError => error
        puts error.message
      end
    RUBY
    assert_predicate status, :success?, output
    assert_equal ["2", "false", '["t", "t"]', "KeyError", "true"], output.lines.map(&:chomp)[0..4]
    assert_match(/has started/, output)
  end
end

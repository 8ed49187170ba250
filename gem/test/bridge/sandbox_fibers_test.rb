# frozen_string_literal: true

require "test_helper"
require "async"
require_relative "../support/premises"

# Waiting for programs, processes and code mode leaves other fibers alone.
class SandboxFibersTest < Minitest::Test
  include ScriptedRuns
  include Premises

  def test_programs_overlap
    sandbox = writable
    meet = ->(own, other) { "touch #{own}; while [ ! -e #{other} ]; do sleep 0.01; done; echo #{own}" }
    outputs = Sync do |task|
      [%w[a b], %w[b a]].map { |own, other| task.async { sandbox.execute(meet.call(own, other), timeout: 20).stdout } }.map(&:wait)
    end
    assert_equal %W[a\n b\n], outputs
  end

  def test_a_stopped_task_leaves_a_process
    session = LittleGhost::Sandbox::ProcessSession.new(command: ["/bin/sleep", "60"])
    Sync do |task|
      waiting = task.async { session.wait }
      waiting.stop
      assert_predicate session, :alive?
    end
    session.close
  end

  def test_code_mode_in_fibers
    tool = define_tool("double", n: {type: "integer"}) { |input| input["n"] * 2 }
    broker = LittleGhost::CodeMode::Broker.new(registry: LittleGhost::ToolRegistry.new([tool]))
    values = Sync do |task|
      [1, 2].map do |number|
        task.async do
          session = LittleGhost::CodeMode::RubyEngine.new.open_session(broker: broker, sandbox_factory: :unrestricted)
          session.execute(source: "tools.double(n: #{number})", catalog: broker.catalog).value
        ensure
          session&.close
        end
      end.map(&:wait)
    end
    assert_equal [2, 4], values
  end
end

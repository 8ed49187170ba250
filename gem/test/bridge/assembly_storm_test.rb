# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/participants"
require "async"

# Many graphs with many branches at once, some of which are cancelled, late, broken or left: every run ends once, and nothing
# is left behind.
class AssemblyStormTest < Minitest::Test
  include ScriptedRuns
  include Participants

  SEED = 20_481
  BRANCHES = (1..8).map { |number| :"branch_#{number}" }.freeze
  TERMINAL = %i[run_stop run_error run_partial run_cancel].freeze

  def test_on_threads
    graphs = Array.new(10) { |number| storm(Random.new(SEED + number)) }
    storms(graphs) do
      Array.new(10) { |row| Thread.new { graphs.map.with_index { |graph, number| ask(graph, Random.new(row * 100 + number)) } } }.flat_map(&:value)
    end
  end

  def test_on_scheduled_fibers
    graphs = Array.new(10) { |number| storm(Random.new(SEED + number)) }
    storms(graphs) do
      Timeout.timeout(60) { Sync { |task| Array.new(100) { |number| task.async { ask(graphs[number % 10], Random.new(number)) } }.map(&:wait) } }
    end
  end

  private

  # Every run ends, in more than one way, and leaves no thread and no descriptor behind.
  def storms(graphs)
    # Warm: Timeout has a thread of its own that stays.
    Timeout.timeout(60) { ask(graphs.first, Random.new(SEED)) }
    threads, descriptors = Thread.list, open_descriptors
    outcomes = yield
    assert_equal 100, outcomes.length
    assert_operator outcomes.uniq.length, :>=, 3
    left = (Thread.list - threads).reject { |thread| thread.join(5) }
    assert_empty(left.map { |thread| thread.backtrace.first(5) })
    GC.start
    assert_operator open_descriptors, :<=, descriptors + 2
  end

  def open_descriptors
    Dir.children("/proc/self/fd").length
  rescue Errno::ENOENT
    0
  end

  def storm(random)
    tool = define_tool("work") do |_, context:|
      context.cancellation_token.wait(random.rand * 0.01)
      raise "broken" if random.rand < 0.05
    end
    source, last = echo("source"), echo("last")
    nested = workflow("nested") { invoke(last, input: parallel(invoke(source), invoke(last)).join) }
    branches = BRANCHES.map do |name|
      turns = random.rand < 0.03 ? [RuntimeError.new("broken")] : [{tool: "work", input: {}}, "done"]
      name == :branch_3 ? nested : participant(name.to_s, *turns) { tools tool }
    end
    graph do
      node :source, source
      BRANCHES.zip(branches) { |name, branch| node name, branch }
      node :last, last
      start :source
      edge :source, BRANCHES, max_concurrency: 4
      edge BRANCHES, :last
      finish :last
    end
  end

  def ask(graph, random)
    token = LittleGhost::Support::CancellationToken.new
    options = random.rand < 0.2 ? {deadline_at: Time.now + random.rand * 0.05} : {}
    cancel_at, leave_at = [0.2, 0.1].map { |share| random.rand < share ? random.rand(1..30) : nil }
    types = []
    graph.stream_ask("go", cancellation_token: token, **options).each do |event|
      types << event.type
      token.cancel if types.length == cancel_at
      return :left if types.length == leave_at
    end
    assert_equal [types.last], types & TERMINAL
    types.last
  end
end

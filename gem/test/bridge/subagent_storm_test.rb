# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/participants"
require "async"

# Many agents with many subagents at once, some of which are cancelled, late, broken or left: every run ends once, every
# turn that began ends, and nothing is left behind.
class SubagentStormTest < Minitest::Test
  include ScriptedRuns
  include Participants

  TERMINAL = %i[run_stop run_error run_partial run_cancel].freeze
  ENDS = %w[turn_finished turn_failed cancelled].freeze

  def test_on_threads
    lead = storm
    ask(lead, Random.new(1))
    before = Thread.list
    outcomes = Array.new(8) { |row| Thread.new { Array.new(8) { |number| ask(lead, Random.new(row * 100 + number)) } } }.flat_map(&:value)
    assert_operator outcomes.uniq.length, :>=, 3, outcomes.tally
    left = (Thread.list - before).reject { |thread| thread.join(5) }
    assert_empty(left.map { |thread| thread.backtrace.first(5) })
  end

  def test_on_scheduled_fibers
    lead = storm
    outcomes = Timeout.timeout(60) { Sync { |task| Array.new(40) { |number| task.async { ask(lead, Random.new(number)) } }.map(&:wait) } }
    assert_operator outcomes.uniq.length, :>=, 3, outcomes.tally
  end

  private

  # Its model looks only at the request, so that any number of runs may share it.
  def storm
    work = define_tool("work") do |_, context:|
      context.cancellation_token.wait(rand * 0.01)
      raise "broken" if rand < 0.1
    end
    helper = participant("helper", ->(request) { request.messages.last.role == :tool ? "done" : {tool: "work", input: {}} }) { tools work }
    spawns = Array.new(6) { |number| {tool: "spawn_subagent", input: {kind: "helper", task_name: "task_#{number}", task: "Work.", mode: number.even? ? "async" : "sync"}} }
    more = Array.new(6) { |number| {tool: "send_message_to_subagent", input: {subagent_id: "/root/task_#{number}", message: "More.", mode: "async"}} }
    turns = [{tools: spawns}, {tools: more}, {tool: "wait_for_subagents", input: {}}, "done"]
    participant("lead", ->(request) { turns.fetch(request.messages.count { |message| message.role == :assistant }) }) { subagent helper }
  end

  def ask(lead, random)
    token = LittleGhost::Support::CancellationToken.new
    options = random.rand < 0.2 ? {deadline_at: Time.now + random.rand * 0.1} : {}
    cancel_at, leave_at = [0.2, 0.1].map { |share| random.rand < share ? random.rand(1..60) : nil }
    types = []
    turns = []
    lead.stream_ask("go", cancellation_token: token, **options).each do |event|
      types << event.type
      turns << event.data[:event] if event.type == :subagent
      token.cancel if types.length == cancel_at
      return :left if types.length == leave_at
    end
    assert_equal [types.last], types & TERMINAL
    begun, ended = [["turn_started"], ENDS].map { |names| turns.select { |turn| names.include?(turn[:event]) }.map { |turn| turn.values_at(:subagent_id, :turn) } }
    assert_empty begun - ended
    types.last
  end
end

# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/participants"
require "async"
require "tmpdir"

class DelegationTest < Minitest::Test
  include ScriptedRuns
  include Participants

  WAIT = {tool: "wait_for_subagents", input: {}}.freeze

  def spawning(name, mode = "sync", kind: "helper")
    {tool: "spawn_subagent", input: {kind: kind, task_name: name, task: "Do #{name}.", mode: mode}}
  end

  def saying(name, text, mode = "sync")
    {tool: "send_message_to_subagent", input: {subagent_id: "/root/#{name}", message: text, mode: mode}}
  end

  # What the tools answered, as the model read it.
  def answers(agent)
    results = agent.requests.last.messages.flat_map(&:content).grep(LittleGhost::Content::ToolResult)
    results.map { |result| JSON.parse(result.content, symbolize_names: true) rescue result.content }
  end

  def told(agent, message = "Go", **options)
    events = []
    run = agent.stream_ask(message, **options).each { |event| events << event.data[:event] if event.type == :subagent }
    [run, events]
  end

  def test_a_subagent_answers_and_goes_on
    helper = participant("helper", "It is late.", "Still late.")
    lead = participant("lead", spawning("look"), saying("look", "And now?", "async"), WAIT, "Done.") { subagent helper }
    run, events = told(lead)
    assert_equal "Done.", run.response
    first, _, waited = answers(lead)
    assert_equal({status: "finished", subagent_id: "/root/look", kind: "helper", turn: 1, response: "It is late."}, first)
    assert_equal "Still late.", waited[:subagents].first[:response]
    assert_equal ["Be helper.", "Do look.", "It is late.", "And now?"], helper.requests[1].messages.map(&:text)
    assert_equal %w[spawned turn_started turn_finished message_queued turn_started turn_finished], events.map { |event| event[:event] }
    assert(events.all?(&:frozen?))
    assert_equal %w[spawn_subagent send_message_to_subagent interject_subagent wait_for_subagents list_subagents],
      lead.requests.first.tools.map { |tool| tool[:name] || tool["name"] }
  end

  def test_code_of_turns_overlaps_on_threads_and_fibers
    [:thread, :fiber].each do |backend|
      meet = meeting(2)
      helper = participant("helper", ->(request) { request.messages.last.role == :tool ? "met" : {tool: "meet", input: {}} }) do
        tools LittleGhost::Tool.define(name: "meet", description: "Meets.") { meet.call }
      end
      lead = participant("lead", spawning("one", "async"), spawning("two", "async"), WAIT, "Done.") { subagent helper }
      run = backend == :fiber ? Sync { lead.ask("Go") } : lead.ask("Go")
      assert_equal "Done.", run.response, run.error
      assert_equal %w[met met], answers(lead).last[:subagents].map { |subagent| subagent[:response] }
    end
  end

  def test_a_lone_turn_stays_on_the_callers_thread
    threads = []
    helper = participant("helper", {tool: "look", input: {}}, "ok") do
      tools LittleGhost::Tool.define(name: "look", description: "Looks.") { threads << Thread.current && nil }
    end
    lead = participant("lead", spawning("one"), "Done.") { subagent helper }
    lead.ask("Go")
    assert_equal [Thread.current], threads
  end

  def test_state_paths_locals_and_settings
    seen = []
    helper = participant("helper", {tool: "count", input: {}}, "1", {tool: "count", input: {}}, "2") do
      system_prompt { |locals| "#{locals[:company]} #{locals[:agent].agent_path} #{locals[:invocation].message.text} #{locals[:run].class}" }
      count = LittleGhost::Tool.define(name: "count", description: "Counts.") do |_, context:|
        context.state["n"] = context.state.fetch("n", 0) + 1
        seen << [context.state["n"], context.conversation_id&.length]
        "counted"
      end
      tools count
    end
    lead = participant("lead", spawning("look"), saying("look", "More"), "Done.") do
      subagent helper
      prompt_local :company, "Northstar"
    end
    lead.ask("Go", settings: {temperature: 0.5}, context: {n: 40})
    assert_equal [[1, 36], [2, 36]], seen
    assert_equal ["Northstar /root/look Do look. LittleGhost::Run", "Northstar /root/look More LittleGhost::Run"],
      helper.requests.values_at(0, 2).map { |request| request.messages.first.text }
    assert_equal 0.5, helper.requests.first.settings["temperature"] || helper.requests.first.settings[:temperature]
  end

  def test_overrides_factories_and_resolvers
    helper = participant("helper", "Own.")
    other = LittleGhost::Testing::ScriptedModel.new("Other.", repeat: true)
    look = LittleGhost::Tool.define(name: "look", description: "Looks.") {}
    made = []
    lead = participant("lead", spawning("one", kind: "changed"), spawning("two", kind: "made"), spawning("three", kind: "resolved"), "Done.") do
      subagent helper, kind: "changed", model: ->(_run) { other }, tools: [look]
      subagent helper, kind: "made", factory: ->(path, run) { made << [path, run.class] and helper.new(agent_path: path) }
      subagents do |_run|
        [
          LittleGhost::Subagents::Definition.new(kind: "resolved", description: "R", factory: ->(path) { helper.new(agent_path: path) }),
          LittleGhost::Subagents::Definition.new(kind: "made", description: "Loses", factory: ->(_) { raise "never" })
        ]
      end
    end
    run = lead.ask("Go")
    assert_equal "Done.", run.response
    assert_equal %w[Other. Own. Own.], answers(lead).map { |answer| answer[:response] }
    assert_equal [["/root/two", LittleGhost::Run]], made
    assert_equal %w[look], other.requests.first.tools.map { |tool| tool[:name] || tool["name"] }
  end

  def test_what_a_factory_must_not_do
    helper = participant("helper", "Own.")
    {"elsewhere" => ->(_, _) { helper.new(agent_path: "/root/x") }, "stranger" => ->(_, _) { "agent" }, "broken" => ->(_, _) { raise "s3cret" }}.each do |kind, factory|
      lead = participant("lead", spawning("one", kind: kind), "Done.") { subagent helper, kind: kind, factory: factory }
      run, events = told(lead)
      assert_equal "Done.", run.response
      assert_equal "failed", answers(lead).first[:status]
      refute_includes answers(lead).to_s, "s3cret"
      assert_equal %w[factory_failed], events.map { |event| event[:event] }
    end
  end

  def test_declarations_are_checked_inherited_and_fixed
    helper = participant("helper", "a")
    parent = agent_class { subagent helper, kind: "one" }
    child = Class.new(parent) { subagents helper, kind: "two" }
    assert_equal %w[one two], child.declared_subagents.map(&:kind)
    assert_equal %w[one], parent.declared_subagents.map(&:kind)
    assert_raises(ArgumentError) { child.subagent helper, kind: "one" }
    assert_raises(ArgumentError) { child.subagent String }
    assert_raises(ArgumentError) { child.subagent workflow { } }
    assert_raises(ArgumentError) { child.subagent helper, kind: "x", tools: ["look"] }
    assert_raises(ArgumentError) { child.assembly_as_tool workflow { }, model: "small" }
    assert_equal 30.0, parent.subagent_long_poll_duration
    assert_equal 2.0, parent.subagent_long_poll_duration(2)
    assert_equal 2.0, child.subagent_long_poll_duration
    [0, -1, Float::INFINITY, "1"].each { |bad| assert_raises(ArgumentError) { child.subagent_long_poll_duration(bad) } }
    fixed = child.definition.implementation
    child.subagent helper, kind: "three"
    assert_equal %w[one two], fixed.declared_subagents.map(&:kind)
    assert_raises(FrozenError) { fixed.subagent helper, kind: "four" }
    assert_raises(FrozenError) { fixed.tools LittleGhost::Tool }
    assert_raises(FrozenError) { fixed.before_model { nil } }
    assert_equal child.system_prompt, fixed.system_prompt
  end

  def test_agents_as_tools_take_part_in_the_run
    inner = participant("inner", {tool: "look", input: {}}, "found") do
      tools LittleGhost::Tool.define(name: "look", description: "Looks.") { |_, context:| context.state["key"] }
    end
    chooser = participant("chooser", "small") { system_prompt { |locals| "For #{locals[:company]}" } }
    other = LittleGhost::Testing::ScriptedModel.new({text: "changed", usage: {input_tokens: 5}})
    lead = participant("lead", {tool: "inner", input: {input: "481"}}, {tool: "choose", input: {input: "x"}}, {tool: "flow", input: {input: "y"}}, "Done.") do
      agent_as_tool inner
      agent_as_tool chooser, name: "choose", description: "Chooses.", model: ->(_) { other }
      prompt_local :company, "Northstar"
    end
    flow = workflow { invoke(inner, input: input.text) }
    lead.assembly_as_tool flow
    run = lead.ask("Go", context: {key: "481"})
    assert_equal ["found", "changed", "found"], answers(lead)
    assert_equal 5, run.usage.input_tokens
    assert_equal "For Northstar", other.requests.first.messages.first.text
    assert_equal "481", inner.requests[1].messages.last.content.first.content
  end

  def test_conversations_go_on_in_a_later_run
    Dir.mktmpdir do |folder|
      make = lambda do |turns, own, **options|
        helper = participant("helper", *own)
        lead = participant("lead", *turns) { subagent helper }
        runtime = LittleGhost::Runtime.new(configuration: LittleGhost::Configuration.new(session_store: {provider: LittleGhost::SessionStores::Filesystem, root: folder}, **options))
        [lead, helper, lead.new(runtime: runtime)]
      end
      _, _, first = make.call([spawning("look"), "Done."], ["Noted."])
      first.ask("Go", session_id: "s", actor_id: "a")
      lead, helper, second = make.call([{tool: "list_subagents", input: {}}, saying("look", "Which?"), "Done."], ["Blue."])
      run, events = told(second, session_id: "s", actor_id: "a")
      assert_equal "Done.", run.response
      listed, answered = answers(lead).last(2)
      assert_equal [true, "/root/look"], listed[:subagents].first.values_at(:resumed, :subagent_id)
      assert_equal [2, "Blue."], answered.values_at(:turn, :response)
      assert_equal ["Be helper.", "Do look.", "Noted.", "Which?"], helper.requests.first.messages.map(&:text)
      assert(events.all? { |event| event[:resumed] })
    end
  end

  def test_a_store_in_ruby_keeps_them_too
    kept = {}
    store = Class.new(LittleGhost::SessionStore) do
      define_method(:initialize) do |**|
        super()
        @kept = kept
      end

      def load(id, actor_id: nil) = @kept[id]

      def append(id, messages:, state:, metadata:, expected_count:, actor_id: nil)
        before = @kept[id]&.fetch(:messages) || []
        @kept[id] = {messages: before + messages, state: state, metadata: metadata}
      end

      def replace(id, messages:, state:, metadata:, actor_id: nil)
        @kept[id] = {messages: messages, state: state, metadata: metadata}
      end
    end
    helper = participant("helper", "Noted.", "Blue.")
    lead = participant("lead", spawning("look"), "Done.", saying("look", "Which?"), "Done.") { subagent helper }
    agent = lead.new(runtime: LittleGhost::Runtime.new(configuration: LittleGhost::Configuration.new(session_store: {provider: store})))
    2.times { assert_equal "Done.", agent.ask("Go", session_id: "s").response }
    assert_equal ["Be helper.", "Do look.", "Noted.", "Which?"], helper.requests.last.messages.map(&:text)
    assert_equal 5, kept.length
    kept.find { |id, _| id.start_with?("lg_subagent_registry_") }.last[:state]["version"] = 9
    broken = participant("lead", saying("look", "Which?"), "Done.") { subagent helper }
    run = broken.new(runtime: agent.runtime).ask("Go", session_id: "s")
    assert_includes answers(broken).last, "ProtocolError"
    assert_equal "Done.", run.response
  end

  def stuck_lead(close_timeout: nil)
    begun = Queue.new
    ended = Queue.new
    helper = participant("helper", {tool: "hang", input: {}}) do
      tools LittleGhost::Tool.define(name: "hang", description: "Hangs.") {
        begin
          begun << Thread.current
          sleep
        ensure
          ended << Thread.current
        end
      }
    end
    lead = participant("lead", spawning("look", "async"), ->(_) { begun.empty? ? WAIT : "Done." }) do
      subagent helper
      subagent_long_poll_duration 0.01
    end
    [lead, begun, ended]
  end

  def test_code_that_does_not_stop_is_killed
    threads = Thread.list
    lead, begun, ended = stuck_lead
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    run, events = told(lead)
    assert_predicate run, :completed?
    assert_equal "cancelled", events.last[:event]
    assert_same begun.pop(timeout: 5), ended.pop(timeout: 5)
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - started, :<, 4.5
    assert_empty Thread.list - threads
  end

  def test_code_in_fibers_is_stopped_too
    lead, begun, ended = stuck_lead
    run = Sync { lead.ask("Go") }
    assert_predicate run, :completed?
    refute_empty begun
    refute_empty ended
  end

  class Recorder < LittleGhost::Instrumentation::Subscriber
    attr_reader :seen

    def initialize = @seen = []

    def start(name, attributes) = @seen << [:start, name, attributes]

    def finish(name, attributes) = @seen << [:finish, name, attributes]

    def emit(name, attributes) = @seen << [:emit, name, attributes]
  end

  def test_turns_are_measured
    recorder = Recorder.new
    helper = participant("helper", "ok", RuntimeError.new("no"))
    lead = participant("lead", spawning("look"), saying("look", "More"), "Done.") { subagent helper }
    LittleGhost::Instrumentation.subscribed(recorder) { lead.ask("Go") }
    turns = recorder.seen.select { |phase, name, _| phase == :finish && name == :subagent }.map(&:last)
    assert_equal [["/root/look", 1, "completed"], ["/root/look", 2, "error"]], turns.map { |turn| [turn[:agent_id], turn[:turn], turn[:outcome].to_s] }
    tools = recorder.seen.select { |phase, name, _| phase == :finish && name == :tool }.map { |_, _, tool| tool[:operation_id] }
    assert_equal tools, turns.map { |turn| turn[:parent_operation_id] }
    agents = recorder.seen.select { |phase, name, _| phase == :start && name == :agent }.map { |_, _, agent| agent[:parent_operation_id] }
    assert_equal turns.map { |turn| turn[:operation_id] }, agents.last(2)
    assert_equal %i[subagent_spawned subagent_turn_started subagent_finished subagent_turn_started subagent_finished],
      recorder.seen.filter_map { |phase, name, _| name if phase == :emit && name.start_with?("subagent") }
  end

  def test_cancelling_and_deadlines_reach_subagents
    slow = participant("helper", {text: "late", delay: 20})
    lead = participant("lead", spawning("look"), "Done.") { subagent slow }
    token = LittleGhost::Support::CancellationToken.new
    assert_quick(2) do
      run = lead.stream_ask("Go", cancellation_token: token).each { |event| token.cancel if event.type == :subagent && event.data[:event][:event] == "turn_started" }
      assert_predicate run, :cancelled?
    end
    lead = participant("lead", spawning("look"), "Done.") { subagent slow }
    assert_quick(3) { assert_predicate lead.ask("Go", deadline_at: Time.now + 0.3), :partial? }
    lead = participant("lead", spawning("look"), "Done.") { subagent slow }
    assert_quick(2) { lead.stream_ask("Go").each { |event| break if event.type == :subagent && event.data[:event][:event] == "turn_started" } }
  end
end

# frozen_string_literal: true

require_relative "../test_helper"

class RunTest < Minitest::Test
  include ScriptedRuns

  def add_tool(&work)
    define_tool("add", a: {type: "integer"}, b: {type: "integer"}, &(work || ->(input) { input["a"] + input[:b] }))
  end

  # Role and text of each message in a request.
  def sent(body)
    body["messages"].map { |message| [message["role"], Array(message["content"]).map { |part| part.is_a?(Hash) ? part["text"] : part }.join] }
  end

  def test_ask
    scenario = script({chat: {text: ["Hel", "lo"], usage: {prompt_tokens: 7, completion_tokens: 2}}})
    run = agent_for(scenario).ask("hi", context: {account: "a-1"}, actor_id: "u")
    assert_predicate run, :completed?
    assert_equal ["completed", "Hello", nil, 9], [run.outcome, run.response, run.error, run.usage.total_tokens]
    assert_equal [:end_turn, "Hello", "Hello", %i[system user assistant]],
      [run.result.stop_reason, run.result.text, run.result.output, run.result.messages.map(&:role)]
    assert_same run.result, run.result
    assert_equal({"account" => "a-1"}, run.result.state)
    assert_equal "u", run.invocation.actor_id
    assert_equal run.agent_class, run.entrypoint_class
    refute run.include_agent_events?
    body = scenario.requests.first["body"]
    assert_equal [["system", "Be brief."], ["user", "hi"]], sent(body)
  end

  def test_stream
    scenario = script({chat: {text: ["Hel", "lo"], reasoning: "hm", usage: {prompt_tokens: 7, completion_tokens: 2}}})
    events = []
    run = agent_for(scenario).stream_ask("hi").each { |event| events << event }
    assert_equal %i[run_start invocation_start model_start message_start reasoning_delta text_delta text_delta usage
      message_stop model_stop invocation_stop run_stop], events.map(&:type)
    data = events.to_h { |event| [event.type, event.data] }
    assert_equal [run.invocation.run_id, run.invocation.session_id], data[:run_start].values_at(:run_id, :thread_id)
    assert_equal %w[Hel lo], events.filter_map { |event| event.data[:text] if event.type == :text_delta }
    assert_equal({agent_id: "tester"}, data[:invocation_start])
    assert_instance_of LittleGhost::Usage, data[:usage][:usage]
    assert_equal [:end_turn, "Hello"], [data[:message_stop][:response].stop_reason, data[:model_stop][:response].message.text]
    assert_same data[:invocation_stop][:result], data[:run_stop][:result]
    assert_same run.result, data[:run_stop][:result]
    assert_equal %w[completed Hello], data[:run_stop].values_at(:outcome, :response)
    assert(events.all? { |event| event.frozen? && event.data.frozen? })
    assert_equal StreamEventCopy.of(events.first), events.first
  end

  # An event that the extension built equals one that Ruby built.
  module StreamEventCopy
    def self.of(event) = LittleGhost::StreamEvent.build(event.type, **event.data)
  end

  def test_a_tool_runs_on_the_callers_thread
    scenario = script(tool_calls(["add", {a: 1, b: 2}]), {chat: {text: "3"}})
    seen = nil
    tool = add_tool do |input, context:|
      seen = [Thread.current, Fiber.current, input.class, context.state["count"], context.agent_operation_id]
      context.state[:count] = 1
      input["a"] + input[:b]
    end
    events = []
    run = agent_for(scenario, tool).stream_ask("add", context: {"count" => 0}).each { |event| events << event }
    assert_equal [Thread.current, Fiber.current, LittleGhost::DataMap, 0], seen.first(4)
    assert_kind_of String, seen.last
    assert_equal({"count" => 1}, run.result.state)
    stop = events.find { |event| event.type == :tool_stop }
    assert_equal ["call_1", "3", :success], [stop.data[:tool_use].id, stop.data[:result].content, stop.data[:result].status]
    assert_equal({"a" => 1, "b" => 2}, events.find { |event| event.type == :tool_start }.data[:tool_use].input)
    assert_equal "3", scenario.requests.last["body"]["messages"].last["content"]
  end

  def test_tool_failures_reach_the_model_but_not_their_secrets
    scenario = script(
      tool_calls(["add", {a: 1, b: 2}]), tool_calls(["add", {a: "x", b: 2}]), tool_calls(["add", {a: 3, b: 4}]),
      tool_calls(["nothing", {}]), {chat: {text: "sorry"}}
    )
    answers = [-> { raise LittleGhost::ToolError, "no sums today" }, -> { raise "secret" }]
    events = []
    run = agent_for(scenario, add_tool { answers.shift.call }).stream_ask("add").each { |event| events << event }
    assert_predicate run, :completed?
    results = events.filter_map { |event| event.data[:result] if event.type == :tool_stop }
    assert_equal [:error] * 4, results.map(&:status)
    contents = results.map(&:content)
    assert_equal "no sums today", contents[0]
    assert_match(/\$\.a/, contents[1])
    assert_match(/RuntimeError/, contents[2])
    assert_match(/nothing/, contents[3])
    refute_match(/secret/, contents.join)
  end

  def test_tool_values_reach_the_model
    values = [
      {481 => {nil => 1}}, "caf\xE9", "caf\u00e9".b, "h\u00e9".encode("UTF-16LE"), 2**70, :sent, Time.at(0).utc,
      [Time.at(0).utc], Class.new { def to_s = 5 }.new
    ]
    expected = [
      '{"481":{"":1}}', "caf\uFFFD", "caf\u00e9", "h\u00e9", (2**70).to_s, "sent", "1970-01-01 00:00:00 UTC",
      '["1970-01-01 00:00:00 UTC"]', /\A#<#<Class/
    ]
    scenario = script(*values.map { tool_calls(["value", {}]) }, {chat: {text: "done"}})
    tool = define_tool("value") { values.shift }
    results = agent_for(scenario, tool).stream_ask("go").filter_map { |event| event.data[:result] if event.type == :tool_stop }
    assert_equal [:success], results.map(&:status).uniq
    expected.zip(results) { |content, result| assert_operator content, :===, result.content }
  end

  def test_declarations_that_are_no_data
    agent = agent_for(script({chat: {text: "a"}})) { model provider: "scripted", model: "m", seed: Object.new }
    run = agent.ask("hi")
    assert_predicate run, :failed?
    assert_match(/Object/, run.error.message)
  end

  def test_the_binding_gives_tools_their_run
    scenario = script(tool_calls(["who", {}]), {chat: {text: "ok"}})
    seen = nil
    tool = Class.new(LittleGhost::Tool) do
      tool_name "who"
      description "Who."
      define_method(:call) { |_input| seen = [run, agent, runtime, context.cancellation_token.cancelled?] }
    end
    agent = agent_for(scenario, tool)
    run = agent.ask("who?")
    assert_same run, seen[0]
    assert_same run.entrypoint, seen[1]
    assert_same run.runtime, seen[2]
    assert_equal "ok", run.response
    refute_same agent, seen[1]
    assert_raises(LittleGhost::Error) { seen[1].ask("again") }
  end

  def test_models_and_prompts_from_blocks
    scenario = script({chat: {text: "a"}}, {chat: {text: "b"}})
    agent = agent_for(scenario) do
      model { |invocation| {provider: "scripted", model: invocation.context["model"], temperature: 0.5} }
      system_prompt { |locals| "Serve #{locals[:invocation].actor_id} with #{locals[:agent].class.agent_id}; #{locals[:run].class}" }
    end
    assert_equal "a", agent.ask("hi", actor_id: "u7", context: {model: "big"}).response
    body = scenario.requests.first["body"]
    assert_equal "big", body["model"]
    assert_in_delta 0.5, body["temperature"]
    assert_equal ["system", "Serve u7 with tester; LittleGhost::Run"], sent(body).first
  end

  def test_history_and_attachments_are_sent
    scenario = script({chat: {text: "a"}})
    history = [LittleGhost::Message.new(role: :user, content: "before"), {role: "assistant", content: "yes"}]
    image = LittleGhost::Content::Image.new(data: "\x89PNG\xFF".b, media_type: "image/png")
    agent_for(scenario).ask(["look", image], history: history)
    messages = scenario.requests.first["body"]["messages"]
    assert_equal %w[system user assistant user], messages.map { |message| message["role"] }
    assert_includes JSON.generate(messages.last), "data:image/png;base64,iVBOR/8="
  end

  def test_bad_input_raises_before_a_run_exists
    agent = agent_for(script({chat: {text: "a"}}))
    assert_raises(LittleGhost::InvocationError) { agent.ask("  ") }
    assert_raises(LittleGhost::InvocationError) { agent.ask({session_id: "s"}) }
    assert_raises(LittleGhost::InvocationError) { agent.ask("a", include_agent_events: "yes") }
    assert_raises(LittleGhost::InvocationError) { agent.ask("a", deadline_at: "soon") }
    {
      {message: "a\xFF"} => /UTF-8/, {message: "a", history: [{role: :user, content: "\xFF"}]} => /UTF-8/,
      {message: "a", settings: {temperature: Float::NAN}} => /JSON/, {message: "a", session_id: Object.new} => /Object/
    }.each do |payload, pattern|
      assert_match(pattern, assert_raises(LittleGhost::InvocationError, payload.inspect) { agent.ask(payload) }.message)
    end
    assert_match(/cancellation_token/, assert_raises(ArgumentError) { agent.ask("a", cancellation_token: "t") }.message)
    stream = agent.stream_ask("")
    assert_raises(LittleGhost::InvocationError) { stream.each {} }
  end

  def test_failures_inside_a_run_are_recorded
    scenario = script({status: 400, body: {error: {message: "no"}}})
    run = agent_for(scenario).ask("hi")
    assert_equal ["failed", "", true], [run.outcome, run.response, run.failed?]
    assert_instance_of LittleGhost::Providers::HTTPError, run.error
    assert_equal 400, run.error.status
    run = agent_for(scenario) { model "nowhere:model" }.ask("hi")
    assert_kind_of LittleGhost::ConfigurationError, run.error
    run = agent_for(scenario) { limits nonsense: 1 }.ask("hi")
    assert_kind_of ArgumentError, run.error
    run = agent_for(scenario).ask("hi", context: {a: :symbol})
    assert_instance_of ArgumentError, run.error
  end

  def test_an_exception_keeps_its_identity
    problem = KeyError.new("mine")
    events = []
    run = agent_for(script({chat: {text: "a"}})) { system_prompt { raise problem } }.stream_ask("hi").each { |event| events << event }
    assert_predicate run, :failed?
    assert_same problem, run.error
    assert_equal %i[run_start run_error], events.map(&:type)
    assert_same problem, events.last.data[:error]
    refute_match(/mine/, events.last.data[:message])
  end

  def test_executes_once
    run = agent_for(script({chat: {text: "a"}})).stream_ask("hi").each {}
    assert_raises(LittleGhost::Error) { run.call }
    stream = agent_for(script({chat: {text: "a"}})).stream_ask("hi")
    stream.each {}
    assert_raises(LittleGhost::Error) { stream.each {} }
  end

  def test_deadlines
    events = []
    scenario = silent_script
    run = agent_for(scenario).stream_ask("hi", deadline: Time.now - 1).each { |event| events << event.type }
    assert_equal %i[run_start invocation_error run_partial], events
    assert_equal ["partial", ""], [run.outcome, run.response]
    assert_instance_of LittleGhost::DeadlineExceededError, run.error
    assert_empty scenario.requests
    run = agent_for(scenario).ask("hi", deadline_at: Time.now + 0.3)
    assert_predicate run, :partial?
    assert_equal "first", run.response
    scenario.wait(disconnects: 1)
  end

  def test_a_lone_tool_is_told_when_the_deadline_passes
    told = nil
    waiting = define_tool("waiting") { |_input, context:| told = context.cancellation_token.wait(30) }
    run = agent_for(script(tool_calls(["waiting", {}])), waiting).ask("hi", deadline_at: Time.now + 0.2)
    assert_predicate run, :partial?
    assert told
    refute_predicate run.cancellation_token, :cancelled?
  end

  def test_a_consumer_registers_while_it_reads
    closed = 0
    stream = agent_for(script({chat: {text: "quick"}})).stream_ask("hi")
    stream.each do |event|
      stream.run.register { closed += 1 } unless event.type == :run_stop
    end
    assert_operator closed, :>, 5
    assert_raises(LittleGhost::Error) { stream.run.register { closed += 1 } }
  end

  def test_cancellation_by_token
    scenario = silent_script
    token = LittleGhost::Support::CancellationToken.new
    run = agent_for(scenario).stream_ask("hi", cancellation_token: token).each do |event|
      token.cancel if event.type == :text_delta
    end
    assert_predicate run, :cancelled?
    assert_equal ["", nil], [run.response, run.result]
    assert_instance_of LittleGhost::CancelledError, run.error
    assert_same token, run.cancellation_token
    scenario.wait(disconnects: 1)
  end

  def test_resources_close_in_reverse_order
    closed = []
    resource = Struct.new(:name, :closed) { def close = closed << name }
    tool = Class.new(LittleGhost::Tool) do
      tool_name "open"
      description "Opens."
      define_method(:call) do |_input|
        raise "not the resource" unless run.register(resource.new("one", closed)).name == "one"

        run.register { closed << "two" }
        nil
      end
      define_method(:close) { closed << "tool" }
    end
    run = agent_for(script(tool_calls(["open", {}]), {chat: {text: "ok"}}), tool).ask("go")
    assert_predicate run, :completed?
    assert_equal %w[two one tool], closed
    assert_raises(LittleGhost::Error) { run.register { nil } }
    assert_raises(ArgumentError) { run.register(Object.new) }
    assert_raises(ArgumentError) { run.register(nil) }
    assert_nil run.close
  end

  def test_a_dormant_run_can_be_closed
    closed = []
    run = runtime_for(script({chat: {text: "a"}})).build_run({message: "a"}, entrypoint_class: agent_class)
    run.register { closed << 1 }
    run.register { closed << 2 }
    2.times { run.close }
    assert_equal [2, 1], closed
    assert_raises(LittleGhost::Error) { run.call }
  end

  def test_one_that_is_left_before_it_begins_is_closed
    closed = []
    run = runtime_for(script({chat: {text: "a"}})).build_run({message: "a"}, entrypoint_class: agent_class)
    run.register { closed << 1 }
    # As Timeout and Thread#raise do at any point.
    run.define_singleton_method(:engine_hooks) { raise IOError, "late" }
    left = Thread.new { assert_raises(IOError) { run.call } }
    assert left.join(5), "it waits for ever"
    assert_equal [1], closed
  end

  def test_a_cleanup_failure_is_raised_after_everything_is_closed
    closed = []
    problem = LittleGhost::CleanupError.new("stuck")
    tool = define_tool("open") { |_input, context:| nil }
    run = runtime_for(script({chat: {text: "ok"}})).build_run({message: "a"}, entrypoint_class: agent_class(tool))
    run.register { closed << 1 }
    run.register { raise "other" }
    run.register { raise problem }
    events = []
    raised = assert_raises(LittleGhost::CleanupError) { run.each { |event| events << event } }
    assert_same problem, raised
    assert_equal [1], closed
    assert_equal ["failed", ""], [run.outcome, run.response]
    assert_equal [:run_error, true], [events.last.type, events.last.data[:cleanup_failed]]
  end

  def test_once
    run = runtime_for(script({chat: {text: "a"}})).build_run({message: "a"}, entrypoint_class: agent_class)
    assert_raises(RuntimeError) { run.once(:a) { raise "again" } }
    count = 0
    values = 8.times.map { Thread.new { run.once(:a) { count += 1 } } }.map(&:value)
    assert_equal [1, [1]], [count, values.compact]
    assert_equal :other, run.once(:b) { :other }
  end

  def test_context
    run = runtime_for(script({chat: {text: "a"}})).build_run({message: "a", deadline_at: Time.now + 60}, entrypoint_class: agent_class)
    context = run.context(state: {a: 1})
    assert_equal [1, run.cancellation_token, run.invocation.deadline_at], [context.state[:a], context.cancellation_token, context.deadline]
    refute_same context.state, run.context.state
  end

  def test_the_base_agent_is_an_assistant
    scenario = script({chat: {text: "hello"}})
    assert_equal "hello", LittleGhost::Agent.new(runtime: runtime_for(scenario)).ask("hi").response
    assert_match(/assistant/, sent(scenario.requests.first["body"]).first.last)
  end

  def test_call_and_stream
    agent = agent_for(script({chat: {text: "a"}}, cycle: true))
    assert_equal "a", agent.call("hi").response
    assert_equal "a", agent.stream("hi").each {}.response
    assert_equal "s", agent.ask({message: "hi", session_id: "s"}).invocation.session_id
    assert_equal "t", agent.ask({"message" => "hi", "session_id" => "s"}, session_id: "t").invocation.session_id
  end
end

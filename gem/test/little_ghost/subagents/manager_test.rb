# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/participants"
require "async"

class SubagentsManagerTest < Minitest::Test
  include Participants

  Manager = LittleGhost::Subagents::Manager
  Path = LittleGhost::Subagents::AgentPath

  def definition(helper, **options)
    LittleGhost::Subagents::Definition.new(
      kind: "research", description: "Looks.", factory: ->(agent_path) { helper.new(agent_path: agent_path) }, **options
    )
  end

  def managed(*turns, **options)
    helper = turns.first.is_a?(Class) ? turns.first : participant("helper", *turns)
    manager = Manager.new([definition(helper)], **options)
    yield manager, helper
  ensure
    manager&.close
  end

  def spawn(manager, name, mode = "sync", **options)
    manager.spawn(kind: "research", task_name: name, task: "Do #{name}.", mode: mode, **options)
  end

  def test_paths
    assert_equal "/root/review_api", Path.join("/root", "review_api")
    assert_equal "/root/a", Path.validate!("/root/a")
    assert_equal "a_1", Path.validate_name!("a_1")
    assert Path.immediate_child?("/root/a", "/root")
    refute Path.immediate_child?("/root/a/b", "/root")
    ["", "A", "a b", "root", "x" * 41, nil].each { |bad| assert_raises(ArgumentError, bad.inspect) { Path.validate_name!(bad) } }
    ["/", "root", "/root/", "/root/A", nil].each { |bad| assert_raises(ArgumentError, bad.inspect) { Path.validate!(bad) } }
  end

  def test_definitions
    helper = participant("helper", "a")
    subject = definition(helper, persist: false)
    assert_equal ["research", "Looks.", false, false], [subject.kind, subject.description, subject.persist, subject.accepts_conversation_id]
    assert_predicate subject, :frozen?
    [{kind: ""}, {kind: 3}, {factory: nil}, {persist: nil}].each do |bad|
      assert_raises(ArgumentError) { LittleGhost::Subagents::Definition.new(kind: "k", description: "d", factory: -> {}, **bad) }
    end
  end

  def test_factories_get_what_they_take
    helper = participant("helper", "a")
    seen = []
    factory = lambda do |path, conversation_id, runtime:|
      seen << [path, conversation_id.length, runtime.class]
      helper.new(agent_path: path)
    end
    subject = LittleGhost::Subagents::Definition.new(kind: "k", description: "d", factory: factory, accepts_conversation_id: true)
    manager = Manager.new([subject])
    assert_equal "a", manager.spawn(kind: "k", task_name: "one", task: "Go", mode: "sync")[:response]
    assert_equal [["/root/one", 36, LittleGhost::Runtime]], seen
  ensure
    manager&.close
  end

  def test_turns_and_answers
    managed("One.", "Two.", "Three.") do |manager, helper|
      assert_equal({status: "finished", subagent_id: "/root/look", kind: "research", turn: 1, response: "One."}, spawn(manager, "look"))
      assert_equal "working", manager.send_message(subagent_id: "/root/look", message: "More", mode: "async")[:status]
      assert_equal "finished", manager.wait(subagent_ids: ["/root/look"])[:status]
      assert_equal "Three.", spawn(manager, "other")[:response]
      page = manager.list(limit: 1)
      assert_equal %w[/root/other], page[:subagents].map { |subagent| subagent[:subagent_id] }
      rest = manager.list(limit: 1, cursor: page[:next_cursor])
      assert_equal [%w[/root/look], nil], [rest[:subagents].map { |subagent| subagent[:subagent_id] }, rest[:next_cursor]]
      assert_equal 3, helper.requests.length
    end
  end

  def test_mistakes
    managed("One.") do |manager|
      spawn(manager, "look")
      [
        -> { spawn(manager, "look") }, -> { spawn(manager, "Bad name") }, -> { spawn(manager, "x", "later") },
        -> { manager.spawn(kind: "nope", task_name: "x", task: "y", mode: "sync") },
        -> { manager.wait(subagent_ids: ["/root/none"]) }, -> { manager.wait(subagent_ids: %w[/root/look /root/look]) },
        -> { manager.list(cursor: "x") }, -> { manager.list(limit: 101) }, -> { manager.interject(subagent_id: "/root/look", message: "Hi") }
      ].each { |mistake| assert_raises(LittleGhost::ToolError, &mistake) }
      assert_equal "invalid_request", manager.spawn(kind: "research", task_name: "x", task: 3, mode: "sync")[:status]
      assert_equal({status: "finished", subagents: []}, manager.wait(subagent_ids: []))
    end
    assert_raises(ArgumentError) { Manager.new([]) }
    assert_raises(ArgumentError) { Manager.new([definition(participant("h"))] * 2) }
    assert_raises(ArgumentError) { Manager.new([definition(participant("h"))], max_turns: 0) }
    assert_raises(ArgumentError) { Manager.new([definition(participant("h"))], parent_agent_path: "/x") }
  end

  def test_limits_and_order
    helper = participant("helper", ->(request) { {text: "done: #{request.messages.last.text}", delay: 0.02} })
    managed(helper, max_queued_turns_per_identity: 3, max_identities: 1) do |manager|
      spawn(manager, "look", "async")
      answers = Array.new(6) { |number| manager.send_message(subagent_id: "/root/look", message: "Message #{number}", mode: "async") }
      assert_includes answers.map { |answer| answer[:status] }, "capacity_reached"
      refused = answers.find { |answer| answer[:status] == "capacity_reached" }
      assert_equal [3, "/root/look"], [refused[:limit], refused[:subagent][:subagent_id]]
      manager.wait
      asked = helper.requests.last.messages.select { |message| message.role == :user }.map(&:text)
      assert_equal asked.sort_by { |text| text[/\d+/].to_i }, asked
      assert_equal ["capacity_reached", 1], spawn(manager, "two").values_at(:status, :limit)
    end
  end

  def test_sessions_and_observers
    store = LittleGhost::SessionStores::Memory.new
    session = -> { LittleGhost::Session.new(id: "s", store: store, actor_id: "a") }
    seen = []
    managed("One.", parent_session: session.call, observer: ->(event) { seen << event[:event] and raise "ignored" }) { |manager| spawn(manager, "look") }
    assert_equal %w[spawned turn_started turn_finished], seen
    managed("Two.", parent_session: session.call) do |manager, helper|
      assert_equal [true], manager.list[:subagents].map { |subagent| subagent[:resumed] }
      assert_equal "Two.", manager.send_message(subagent_id: "/root/look", message: "More", mode: "sync")[:response]
      assert_equal ["Be helper.", "Do look.", "One.", "More"], helper.requests.first.messages.map(&:text)
    end
    registry = store.load(Manager.registry_session_id(session.call), actor_id: "a")
    conversation = registry[:state]["conversations"]["/root/look"]
    assert_equal [2, 4], conversation.values_at("latest_turn", "message_count")
    assert_equal "subagent_registry", registry[:metadata]["little_ghost_kind"]
    assert_equal Manager.parent_link(session.call), registry[:metadata]["little_ghost_parent_link"]
    id = conversation["conversation_id"]
    assert_equal 4, store.load(Manager.conversation_session_id(id), actor_id: "a")[:messages].length
    assert store.load(Manager.commit_session_id(id, conversation["commit_slot"]), actor_id: "a")
    assert_raises(ArgumentError) { Manager.commit_session_id(id, 2) }
  end

  def test_the_tools_belong_to_the_manager
    managed("One.") do |manager|
      first, *rest = manager.tools
      outcome = first.execute({kind: "research", task_name: "look", task: "Go", mode: "sync"})
      assert_equal [:success, "One."], [outcome.status, outcome.value[:response]]
      assert_equal :error, first.execute({kind: "research"}).status
      rest.each(&:close)
      assert_equal 1, manager.list[:subagents].length
      first.close
      assert_raises(LittleGhost::ToolError) { manager.list }
    end
  end

  def test_closing_stops_everything
    begun = Queue.new
    helper = participant("helper", {tool: "hang", input: {}}) do
      tools LittleGhost::Tool.define(name: "hang", description: "Hangs.") { (begun << Thread.current) && sleep }
    end
    threads = Thread.list.length
    manager = Manager.new([definition(helper)], close_timeout: 0.4)
    spawn(manager, "look", "async")
    thread = begun.pop(timeout: 5)
    manager.close
    refute_predicate thread, :alive?
    assert_operator Thread.list.length, :<=, threads
    assert_raises(LittleGhost::ToolError) { spawn(manager, "more") }
    manager.close
  end

  def test_it_works_among_fibers
    helper = participant("helper", {text: "late", delay: 0.05})
    Sync do |task|
      manager = Manager.new([definition(helper)])
      beats = 0
      heart = task.async { loop { sleep 0.005; beats += 1 } }
      assert_equal "late", spawn(manager, "look")[:response]
      assert_operator beats, :>, 2
      manager.close
      heart.stop
    end
  end

  def test_cancelling_the_manager_or_the_caller
    helper = participant("helper", {text: "late", delay: 20})
    token = LittleGhost::Support::CancellationToken.new
    manager = Manager.new([definition(helper)], cancellation_token: token)
    spawn(manager, "look", "async")
    token.cancel
    assert_raises(LittleGhost::CancelledError) { manager.wait }
    manager.close
    managed(helper) do |other|
      spawn(other, "look", "async")
      caller_token = LittleGhost::Support::CancellationToken.new.cancel
      error = assert_raises(LittleGhost::Error) { other.interject(subagent_id: "/root/look", message: "Hi", cancellation_token: caller_token) }
      assert_includes [LittleGhost::CancelledError, LittleGhost::ToolError], error.class
    end
  end
end

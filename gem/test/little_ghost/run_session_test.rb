# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require "async"
require_relative "../support/recording_store"

# Runs that continue conversations.
class RunSessionTest < Minitest::Test
  include ScriptedRuns

  def sent(request)
    request["body"]["messages"].map { |message| [message["role"], Array(message["content"]).map { |part| part.is_a?(Hash) ? part["text"] : part }.join] }
  end

  # Runs the block with an agent for each kind of store.
  def each_kind(*exchanges, **settings)
    Dir.mktmpdir do |folder|
      [
        nil, {provider: RecordingStore},
        {provider: LittleGhost::SessionStores::Filesystem, root: File.join(folder, "sessions")}
      ].each do |declaration|
        scenario = script(*exchanges)
        agent = agent_for(scenario, *settings[:tools], session_store: declaration, **settings.except(:tools))
        yield agent, scenario
      end
    end
  end

  def test_a_later_run_continues
    each_kind({chat: {text: "Hi Ada"}}, {chat: {text: "Ada"}}) do |agent, scenario|
      first = agent.ask("I am Ada", session_id: "c", actor_id: "u", context: {language: "en", n: 1})
      assert_equal ["completed", nil], [first.outcome, first.error]
      assert_equal ["I am Ada", "Hi Ada"], first.session.history.map(&:text)
      assert_equal({"language" => "en", "n" => 1}, first.session.state.to_h)
      second = agent.ask("Who am I?", session_id: "c", actor_id: "u", history: ["ignored".then { |text| {role: "user", content: text} }], context: {n: 2})
      assert_equal "Ada", second.response
      assert_equal [%w[system Be\ brief.], %w[user I\ am\ Ada], %w[assistant Hi\ Ada], ["user", "Who am I?"]], sent(scenario.requests.last)
      assert_equal({"language" => "en", "n" => 2}, second.result.state.to_h)
      assert_equal 4, second.session.history.length
      assert_equal ["c", "u", second.operation_id], [second.session.id, second.session.actor_id, second.session.operation_id]
      assert_same agent.runtime.session_store, second.session.store
    end
  end

  def test_state_that_tools_change_is_kept
    count = define_tool("count") { |_, context:| context.state[:n] = context.state[:n].to_i + 1 }
    calls = {chat: {tool_calls: [{id: "a", name: "count", arguments: {}}]}}
    each_kind(calls, {chat: {text: "1"}}, calls, {chat: {text: "2"}}, tools: [count]) do |agent, _|
      2.times { agent.ask("count", session_id: "c") }
      session = LittleGhost::Session.new(id: "c", store: agent.runtime.session_store)
      assert_equal({"n" => 2}, session.state.to_h)
      assert_equal %i[user assistant tool assistant] * 2, session.history.map(&:role)
    end
  end

  def test_each_run_without_an_id_is_a_conversation_of_its_own
    each_kind({chat: {text: "a"}}, {chat: {text: "b"}}) do |agent, scenario|
      2.times { agent.ask("hello") }
      assert_equal [2, 2], scenario.requests.map { |request| sent(request).length }
    end
  end

  def test_another_actor_gets_a_failed_run
    each_kind({chat: {text: "a"}}) do |agent, scenario|
      next if agent.runtime.session_store.is_a?(RecordingStore)

      agent.ask("mine", session_id: "c", actor_id: "u")
      run = agent.ask("theirs", session_id: "c", actor_id: "v")
      assert_equal ["failed", LittleGhost::Error], [run.outcome, run.error.class]
      assert_equal 1, scenario.requests.length
    end
  end

  def test_the_actor_is_what_the_configuration_derives
    each_kind({chat: {text: "a"}}, session_actor: ->(invocation) { "tenant-#{invocation[:tenant]}" }) do |agent, _|
      run = agent.ask("hi", session_id: "c", actor_id: "ignored", tenant: 5)
      assert_equal ["completed", "tenant-5"], [run.outcome, run.session.actor_id]
    end
  end

  def test_a_failed_run_leaves_the_last_checkpoint
    each_kind({chat: {text: "Hi"}}, {status: 400, body: "{}"}, {chat: {text: "again"}}) do |agent, scenario|
      agent.ask("one", session_id: "c")
      assert_equal "failed", agent.ask("two", session_id: "c").outcome
      assert_equal "again", agent.ask("three", session_id: "c").response
      assert_equal %w[one Hi two three], sent(scenario.requests.last).drop(1).map(&:last)
    end
  end

  def test_checkpoints_of_a_run
    add = define_tool("add") { 3 }
    scenario = script({chat: {tool_calls: [{id: "a", name: "add", arguments: {}}]}}, {chat: {text: "3"}})
    agent = agent_for(scenario, add, session_store: {provider: RecordingStore})
    agent.ask("1 + 2?", session_id: "c", context: {n: 1})
    written = agent.runtime.session_store.calls
    assert_equal [
      [:load, 0], [:append, 0], [:append, 1], [:append, 3]
    ], written.filter_map { |call| [call[0], call[0] == :append ? call[4] : 0] if call[0] != :operation }
  end

  # Stores that fail at one operation.
  class Failing < RecordingStore
    def initialize(at:)
      super()
      @at = at
    end

    def synchronize(id, actor_id: nil)
      raise KeyError, "no lock" if @at == :synchronize
      return if @at == :never

      result = yield
      raise KeyError, "no unlock" if @at == :unlock
      result
    end

    def load(...) = @at == :load ? raise(KeyError, "gone") : super
    def append(...) = @at == :append ? raise(KeyError, "full") : super
  end

  def test_a_store_that_fails_makes_a_failed_run
    {synchronize: KeyError, never: LittleGhost::Error, load: KeyError, append: KeyError, unlock: KeyError}.each do |at, error|
      scenario = script({chat: {text: "a"}})
      events = []
      run = agent_for(scenario, session_store: {provider: Failing, at: at}).stream_ask("hi").each { |event| events << event.type }
      assert_equal ["failed", error], [run.outcome, run.error.class], at
      assert_equal %i[run_start run_error], events if %i[synchronize never load].include?(at)
      assert_equal at == :unlock ? 1 : 0, scenario.requests.length, at
      assert_equal (at == :unlock ? ["a"] : []), [run.result&.text].compact
    end
  end

  # A store whose lock the test can see.
  class Locked < RecordingStore
    attr_reader :log

    def synchronize(id, actor_id: nil)
      (@log ||= []) << :enter
      yield
    ensure
      @log << :leave
    end
  end

  def test_the_work_is_inside_the_stores_own_lock
    agent = agent_for(script({chat: {text: "3"}}), session_store: {provider: Locked})
    store = agent.runtime.session_store
    agent.stream_ask("hi").each { |event| store.log << event.type if %i[run_start invocation_stop run_stop].include?(event.type) && store.log }
    assert_equal %i[enter invocation_stop leave run_stop], store.log
  end

  def test_leaving_early_leaves_the_lock
    agent = agent_for(silent_script, session_store: {provider: Locked})
    store = agent.runtime.session_store
    agent.stream_ask("hi").each { |event| break if event.type == :text_delta }
    assert_equal %i[enter leave], store.log
    assert_raises(Timeout::Error) { Timeout.timeout(0.1) { agent.ask("hi") } }
    error = assert_raises(KeyError) { agent.stream_ask("hi").each { |event| raise KeyError if event.type == :text_delta } }
    assert_equal KeyError, error.class
    assert_equal %i[enter leave] * 3, store.log
  end

  def test_runs_of_one_conversation_take_turns
    each_kind(*([{chat: {text: "a"}}] * 6)) do |agent, scenario|
      6.times.map { Thread.new { agent.ask("hi", session_id: "c") } }.each do |thread|
        assert_nil thread.value.error
      end
      assert_equal [2, 4, 6, 8, 10, 12], scenario.requests.map { |request| sent(request).length }.sort
    end
  end

  def test_scheduled_fibers_take_turns
    each_kind(*([{chat: {text: "a"}}] * 4)) do |agent, scenario|
      other = 0
      Sync do |task|
        runs = Array.new(4) { task.async { agent.ask("hi", session_id: "c") } }
        agent.runtime.session_store.synchronize("d") { task.async { other += 1 }.wait }
        assert(runs.map(&:wait).all?(&:completed?))
      end
      assert_equal [1, [2, 4, 6, 8]], [other, scenario.requests.map { |request| sent(request).length }.sort]
    end
  end

  # What a file of another process holds up holds up that fiber only.
  def test_a_fiber_that_waits_for_another_process_lets_others_go_on
    Dir.mktmpdir do |folder|
      store = LittleGhost::SessionStores::Filesystem.new(root: File.join(folder, "sessions"))
      reader, writer = IO.pipe
      holder = fork do
        writer.close
        File.open(Dir[folder + "/sessions/*.lock"].first) do |file|
          file.flock(File::LOCK_EX)
          reader.read
        end
        exit!(0)
      end if store.replace("c", messages: [], state: {}, metadata: {})
      reader.close
      lock = File.open(Dir[folder + "/sessions/*.lock"].first)
      Thread.pass while lock.flock(File::LOCK_EX | File::LOCK_NB) && lock.flock(File::LOCK_UN)
      order = []
      Sync do |task|
        waiting = task.async { store.load("c") and order << :loaded }
        task.async { order << :other and writer.close }.wait
        waiting.wait
      end
      assert_equal %i[other loaded], order
      Process.wait(holder)
    end
  end

  # Chooses the first stored message only.
  class Forgetful < LittleGhost::Runtime::Hook
    def session_history(run, stored:, fallback:)
      return if run.invocation[:plain]

      stored.first(1) + fallback
    end
  end

  def test_a_hook_chooses_the_history
    each_kind({chat: {text: "a"}}, {chat: {text: "b"}}, {chat: {text: "c"}}, runtime_hooks: [Forgetful]) do |agent, scenario|
      agent.ask("one", session_id: "c")
      agent.ask("two", session_id: "c", history: [{role: "user", content: "given"}])
      run = agent.ask("three", session_id: "c", plain: true)
      assert_equal [%w[one], %w[one given two], %w[one given two b three]],
        scenario.requests.map { |request| sent(request).drop(1).map(&:last) }
      assert_equal %w[one given two b three c], run.session.history.map(&:text)
    end
  end

  # Words its errors itself.
  class Polite < LittleGhost::Runtime::Hook
    def error_message(error, run) = "#{error.class.name} in #{run.session.id}"
  end

  def test_a_hook_words_the_error
    events = []
    agent = agent_for(script({chat: {text: "a"}}), session_store: {provider: Failing, at: :load}, runtime_hooks: [Polite])
    agent.stream_ask("hi", session_id: "c").each { |event| events << event }
    assert_equal "KeyError in c", events.last.data[:message]
  end

  def test_a_deadline_ends_the_wait_for_the_session
    agent = agent_for(silent_script)
    waiting = Queue.new
    holder = Thread.new { agent.stream_ask("hi", session_id: "c").each { |event| waiting << true if event.type == :text_delta } }
    waiting.pop
    run = agent.ask("hi", session_id: "c", deadline_at: Time.now + 0.05)
    assert_equal "partial", run.outcome
  ensure
    holder.kill.join
  end

  def test_declarations_that_are_no_store
    [{provider: String}, {provider: LittleGhost::SessionStores::Filesystem}, {provider: LittleGhost::SessionStores::Filesystem, root: ""}].each do |declaration|
      assert_raises(LittleGhost::ConfigurationError) { runtime_for(script, session_store: declaration) }
    end
  end
end

# frozen_string_literal: true

require "test_helper"

class AgentCodeModeTest < Minitest::Test
  include ScriptedRuns

  CodeMode = LittleGhost::CodeMode

  def exec(source)
    tool_calls(["exec", {source: source}])
  end

  def doubling
    @doubling ||= define_tool("double", n: {type: "integer"}) { |input| {twice: input["n"] * 2} }
  end

  def code_agent(scenario, *tools, settings: {code_mode: {sandbox: :unrestricted}}, **options, &block)
    agent_for(scenario, *tools, **settings) do
      code_mode(**options)
      class_eval(&block) if block
    end
  end

  def reports(request)
    request["body"]["messages"].filter_map { |message| message["content"] if message["role"] == "tool" }
  end

  def test_a_program_calls_tools_of_the_agent
    scenario = script(exec("tools.double(n: 21)"), {chat: {text: "42"}})
    seen = []
    agent = code_agent(scenario, doubling) { before_tool { |payload| seen << payload[:tool_use].name; nil } }
    events = agent.stream_ask("double 21").to_a
    assert_equal "42", events.last.data[:response]
    assert_equal %w[exec wait stop], scenario.requests.first["body"]["tools"].map { |tool| tool["function"]["name"] }.sort_by { |name| %w[exec wait stop].index(name) || 9 }
    assert_match(/tools\.double\(/, texts(scenario.requests.first).first)
    assert_match(/"status":"completed".*"value":\{"twice":42\}/, reports(scenario.requests.last).first)
    assert_includes seen, "double"
    started = events.select { |event| event.type == :tool_start }.map { |event| event.data[:tool_use].name }
    assert_equal ["double"], started
  end

  def test_except_and_collisions
    confirm = define_tool("confirm") { |_| "yes" }
    scenario = script({chat: {text: "a"}})
    code_agent(scenario, doubling, confirm, except: ["confirm"]).ask("a")
    assert_includes scenario.requests.first["body"]["tools"].map { |tool| tool["function"]["name"] }, "confirm"
    taken = define_tool("exec") { |_| "" }
    run = code_agent(script, taken).ask("a")
    assert_instance_of LittleGhost::ConfigurationError, run.error
  end

  def test_declarations
    assert_raises(ArgumentError) { agent_class { code_mode surprise: 1 } }
    run = code_agent(script, engine: :cobol).ask("a")
    assert_instance_of LittleGhost::ConfigurationError, run.error
    builder = LittleGhost::AgentBuilder.new(id: "coder")
    assert_same builder, builder.code_mode
    inherited = Class.new(agent_class { code_mode limits: {programs: 2} })
    assert_equal({limits: {programs: 2}}, inherited.code_mode_declaration)
  end

  def test_a_javascript_program
    scenario = script(exec("return (await tools.double({n: 4})).twice"), {chat: {text: "8"}})
    run = code_agent(scenario, doubling, engine: :javascript).ask("double 4")
    assert_predicate run, :completed?
    assert_match(/"status":"completed"/, reports(scenario.requests.last).first)
  end

  # A language of one word: a tool's name and a number.
  class Word < CodeMode::Engine
    attr_reader :closed, :opened

    def language = :word

    def instructions(catalog:) = "Write one word of #{catalog.map { |tool| tool["name"] }.join}."

    def open_session(broker:, sandbox_factory:, limits:)
      (@opened ||= []) << [limits, sandbox_factory.respond_to?(:call)]
      WordSession.new(broker, self)
    end

    def session_closed
      @closed = (@closed || 0) + 1
    end
  end

  class WordSession < CodeMode::Session
    def initialize(broker, engine)
      super()
      @broker = broker
      @engine = engine
    end

    def execute(source:, catalog:, context: nil, **)
      name, number = source.split
      called = @broker.call(name, {"n" => Integer(number)})
      CodeMode::ProgramResult.new(output: context.class.name, value: called.value, status: called.error ? :error : :completed, error: called.error)
    end

    def close = @engine.session_closed
  end

  def test_an_engine_of_the_application
    engine = Word.new
    scenario = script(exec("double 3"), exec("missing 3"), {chat: {text: "6"}})
    run = code_agent(scenario, doubling, engine: engine, limits: {words: 1}).ask("a")
    assert_predicate run, :completed?
    assert_equal [[[{words: 1}, true]], 1], [engine.opened, engine.closed]
    assert_match(/Write one word of double/, texts(scenario.requests.first).first)
    first, second = reports(scenario.requests.last)
    assert_equal({"status" => "completed", "output" => "LittleGhost::RunContext", "value" => {"twice" => 6}}, JSON.parse(first))
    assert_match(/not available/, second)
  end

  def test_a_sandbox_of_the_application
    made = []
    factory = lambda do |workspace:, **|
      LittleGhost::Sandboxes::Unrestricted.new(workspace: workspace, policy: {files: {root: :read_write}}).tap { |one| made << one }
    end
    scenario = script(exec("tools.double(n: 1)"), {chat: {text: "2"}})
    assert_predicate code_agent(scenario, doubling, sandbox: factory).ask("a"), :completed?
    assert_equal 1, made.length
  end

  # A sandbox of the application that says when it is opened and closed.
  class Told < LittleGhost::Sandboxes::Unrestricted
    def self.seen = @seen ||= []

    def own_engine? = false

    def open(run: nil)
      Told.seen << :open
      super
    end

    def close
      Told.seen << :close
      super
    end
  end

  def test_sandboxes_of_the_application_end_with_the_run
    Told.seen.clear
    scenario = script(exec("1"), {chat: {text: "a"}}, exec("2"), {chat: {text: "b"}})
    agent = code_agent(scenario, doubling, sandbox: Told)
    assert_predicate agent.ask("a"), :completed?
    assert_equal %i[open close], Told.seen
    assert_predicate agent.ask("b"), :completed?
    assert_equal %i[open close open close], Told.seen
  end

  def test_objects_of_the_application_serve_the_sandboxes_of_programs
    skip "no bubblewrap here" unless LittleGhost::Sandbox.probe(:bubblewrap)[:available]
    seen = []
    wrapper = lambda do |argv:, **|
      seen << argv.first
      argv
    end
    scenario = script(exec("1"), {chat: {text: "a"}})
    run = code_agent(scenario, doubling, sandbox: {provider: :native, command_wrapper: wrapper}).ask("a")
    assert_predicate run, :completed?
    assert_match(/"status":"completed"/, reports(scenario.requests.last).first)
    assert_equal [LittleGhost::Sandboxes::Bubblewrap::DEFAULT_EXECUTABLE], seen
  end

  def test_the_model_reads_how_its_program_broke_the_connection
    broken = 'LittleGhostProgram::OUTPUT.write([1].pack("N") + "3"); LittleGhostProgram::OUTPUT.flush; sleep'
    scenario = script(exec(broken), {chat: {text: "a"}})
    assert_predicate code_agent(scenario, doubling).ask("a"), :completed?
    assert_match(/broke the connection.*an object of type text, call, done or error, not 3\..*show what you have with text/, reports(scenario.requests.last).first)
  end

  def test_leaving_a_run_ends_its_program
    marker = File.join(Dir.tmpdir, "little-ghost-#{Process.pid}-#{object_id}")
    tool = define_tool("began") { |_| throw :left }
    scenario = script(exec("system('sleep 300 & echo $! > #{marker}'); tools.began"), {chat: {text: "a"}})
    catch(:left) { code_agent(scenario, tool).ask("a") }
    pid = Integer(File.read(marker))
    Timeout.timeout(10) { Thread.pass while alive?(pid) }
  ensure
    File.delete(marker) if marker && File.exist?(marker)
  end

  def alive?(pid)
    Process.kill(0, pid) && !File.read("/proc/#{pid}/stat").include?(") Z")
  rescue Errno::ESRCH, Errno::ENOENT
    false
  end
end

# frozen_string_literal: true

require "test_helper"

# The library's own engines, used without an agent.
class CodeModeSessionTest < Minitest::Test
  include ScriptedRuns

  CodeMode = LittleGhost::CodeMode

  def broker(*tools)
    CodeMode::Broker.new(registry: LittleGhost::ToolRegistry.new(tools))
  end

  def session(engine: CodeMode::RubyEngine.new, tools: [], sandbox: :unrestricted, **limits)
    @broker = broker(*tools)
    engine.open_session(broker: @broker, sandbox_factory: sandbox, limits: limits)
  end

  def run_program(source, **options)
    opened = session(**options)
    opened.execute(source: source, catalog: @broker.catalog)
  ensure
    opened&.close
  end

  def doubling
    define_tool("double", n: {type: "integer"}) { |input| {twice: input["n"] * 2} }
  end

  def test_a_ruby_program_calls_tools
    result = run_program("text(tools.double(n: 2)['twice']); tools.call('double', {n: 4})", tools: [doubling])
    assert_equal [:completed, "4", {"twice" => 8}, nil], [result.status, result.output, result.value, result.error]
  end

  def test_a_javascript_program_calls_tools
    source = "const all = await Promise.all([1, 2].map((n) => tools.double({n}))); text('done'); return all.map((one) => one.twice)"
    result = run_program(source, engine: CodeMode::JavascriptEngine.new, tools: [doubling])
    assert_equal [:completed, "done"], [result.status, result.output]
  end

  def test_calls_overlap
    arrived = Thread::Queue.new
    tool = define_tool("meet", n: {type: "integer"}) do |input|
      arrived << input["n"]
      Timeout.timeout(10) { Thread.pass until arrived.length == 2 }
      input["n"]
    end
    result = run_program("tools.parallel(-> { tools.meet(n: 1) }, -> { tools.meet(n: 2) })", tools: [tool])
    assert_equal [:completed, [1, 2]], [result.status, result.value]
  end

  def test_failures
    result = run_program("raise IOError, 'no'", tools: [doubling])
    assert_equal [:error, "IOError: no"], [result.status, result.error]
    rescued = run_program("begin; tools.double(n: 'x'); rescue => e; text('rescued'); end; nil", tools: [doubling])
    assert_equal [:completed, "rescued"], [rescued.status, rescued.output]
    assert_raises(ArgumentError) { session(surprise: 1) }
    opened = session(programs: 1)
    assert_raises(LittleGhost::ToolError) { opened.wait }
    opened.execute(source: "1", catalog: [])
    assert_raises(LittleGhost::ToolError) { opened.execute(source: "1", catalog: []) }
    2.times { opened.close }
    assert_raises(LittleGhost::ToolError) { opened.execute(source: "1", catalog: []) }
  end

  def test_cancelling_and_interrupting
    token = LittleGhost::Support::CancellationToken.new
    tool = define_tool("started") { |_| token.cancel && nil }
    opened = session(tools: [tool])
    context = LittleGhost::RunContext.new(cancellation_token: token)
    assert_raises(LittleGhost::CancelledError) do
      opened.execute(source: "tools.started; sleep", catalog: @broker.catalog, context: context)
    end
    stopped = opened.stop
    assert_equal :terminated, stopped.status
    assert_raises(Timeout::Error) { Timeout.timeout(1) { opened.execute(source: "sleep", catalog: []) } }
    opened.close
  end

  def test_a_sandbox_that_the_application_makes
    seen = []
    factory = lambda do |workspace:, required_runtime_paths:|
      seen << [workspace.class, required_runtime_paths.class]
      LittleGhost::Sandboxes::Unrestricted.new(workspace: workspace, policy: {files: {root: :read_write}})
    end
    assert_equal 3, run_program("1 + 2", sandbox: factory).value
    assert_equal [[LittleGhost::Workspace, Array]], seen
  end

  # Starts programs by itself.
  class Own < LittleGhost::Sandbox
    class << self
      attr_accessor :commands
    end

    def start_program(command, environment: {}, output_bytes: nil, **)
      self.class.commands = [*self.class.commands, command.first]
      ProcessSession.new(command: command, environment: environment, chdir: workspace.root, output_bytes: 10_000_000)
    end
  end

  def test_a_sandbox_of_the_application
    result = run_program("text(Dir.pwd); tools.double(n: 21)", sandbox: Own, tools: [doubling])
    assert_equal [:completed, {"twice" => 42}], [result.status, result.value]
    assert_equal 1, Own.commands.length
    refute_path_exists result.output
  end

  def test_javascript_in_a_sandbox_of_the_application
    program = "text((await tools.double({n: 21})).twice)"
    result = run_program(program, engine: CodeMode::JavascriptEngine.new, sandbox: Class.new(Own), tools: [doubling])
    assert_equal [:completed, "42"], [result.status, result.output]
  end

  def test_the_native_sandbox
    skip "no native sandbox here" unless LittleGhost::Sandbox.probe(:native)[:available]
    result = run_program("text(File.exist?('/etc/shadow') ? 'seen' : 'hidden'); tools.double(n: 1)", sandbox: :native, tools: [doubling])
    assert_equal [:completed, "hidden", {"twice" => 2}], [result.status, result.output, result.value]
  end

  def test_what_unwinds_a_tool_unwinds_the_caller
    unwinding = Class.new(Exception) # rubocop:disable Lint/InheritException
    tool = define_tool("leave") { raise unwinding, "away" }
    error = assert_raises(unwinding) { run_program("begin; tools.leave; rescue; sleep; end", tools: [tool]) }
    assert_equal "away", error.message
  end

  def test_a_tool_whose_thread_ends_fails
    tool = define_tool("vanish") { Thread.current.kill }
    error = assert_raises(LittleGhost::Error) { run_program("tools.vanish", tools: [tool]) }
    assert_includes error.message, "ended before it had a result"
  end

  def test_sessions_hide_the_environment_of_programs
    opened = session(sandbox: {provider: :unrestricted, environment: {set: {"TOKEN" => "s3cret"}}})
    refute_includes opened.inspect, "s3cret"
  ensure
    opened&.close
  end

  def test_whole_numbers_are_not_rounded
    echo = define_tool("echo", n: {}) { |input| input["n"].to_s }
    value = run_program("[2**63, {'n' => [2**64, -10**400]}, tools.echo(n: 10**30), 'text']", tools: [echo]).value
    assert_equal [2**63, {"n" => [(2**64).to_s, (-10**400).to_s]}, (10**30).to_s, "text"], value
  end

  def test_arguments_by_place_are_refused
    result = run_program("tools.double(2)", tools: [doubling])
    assert_equal "ArgumentError: tools.double takes keywords or one Hash with its arguments", result.error
  end
end

# frozen_string_literal: true

require "test_helper"
require_relative "../support/premises"

class SandboxTest < Minitest::Test
  include Premises

  # Puts a word in front of every command, and counts.
  class Counting < LittleGhost::Sandbox
    attr_reader :started

    def start_program(command, environment: {}, output_bytes: limits.output_bytes, scope: nil)
      (@started ||= []) << [command, scope&.files]
      ProcessSession.new(command: ["/usr/bin/env", *command], environment: environment, output_bytes: output_bytes, chdir: workspace.root)
    end
  end

  def test_files
    sandbox = writable({"a.txt" => "héllo"})
    assert_equal "héllo", sandbox.read("a.txt")
    assert_match(/b\.txt/, sandbox.write("b.txt", "one two"))
    assert_equal "a.txt\nb.txt", sandbox.list
    sandbox.replace("b.txt", "two", 'three \0')
    assert_equal 'one three \0', sandbox.read("b.txt")
    File.symlink("/etc/passwd", File.join(sandbox.workspace.root, "link"))
    ["link", "missing", "/etc/passwd"].each { |path| assert_raises(LittleGhost::ToolError, ArgumentError) { sandbox.read(path) } }
    assert_raises(KeyError) { sandbox.read("workspace://other/a") }
    assert sandbox.writable? && sandbox.allows?(:write, "c.txt")
    refute sandbox.allows?(:write, "../c.txt")
    error = assert_raises(LittleGhost::ToolError) { sandbox.replace("b.txt", "absent", "x") }
    refute_includes error.message, @folder
  end

  def test_content_that_is_no_text_leaves_the_file_alone
    sandbox = writable({"a.txt" => "a"})
    [nil, 5, :b].each { |content| assert_raises(ArgumentError) { sandbox.write("a.txt", content) } }
    assert_equal "a", sandbox.read("a.txt")
  end

  def test_providers_that_are_none
    assert_raises(ArgumentError) { LittleGhost::Sandbox.register_provider(:number, 5) }
    assert_raises(ArgumentError) { LittleGhost::Workspace.register_provider(:number, 5) }
    assert_raises(LittleGhost::DependencyError) { LittleGhost::Sandbox.probe(nil) }
  end

  def test_a_policy_that_only_reads
    sandbox = unrestricted({"a.txt" => "a"}, limits: {read_bytes: 3})
    refute_predicate sandbox, :writable?
    refute sandbox.supports?(:write)
    assert_raises(LittleGhost::ToolError) { sandbox.write("b.txt", "b") }
    File.write(File.join(sandbox.workspace.root, "long"), "long")
    assert_raises(LittleGhost::ToolError) { sandbox.read("long") }
    assert_equal [:read_write, :inherit], [sandbox.effective_policy.root_filesystem, sandbox.effective_policy.network.mode]
    assert_equal :isolated, sandbox.policy.root_filesystem
    assert_raises(LittleGhost::CapabilityError) { unrestricted(policy: {network: :none}) }
    assert_raises(LittleGhost::PolicyError) { unrestricted(policy: {files: {other: :read_only}}) }
  end

  def test_programs
    sandbox = unrestricted({"a.txt" => "a"}, policy: {environment: {B: "2"}})
    done = sandbox.execute("cat a.txt; echo $A$B $HOME; echo oops >&2; exit 3", timeout: 5, environment: {"A" => "1"})
    assert_equal ["a12\n", "oops\n", 3, false], [done.stdout, done.stderr, done.exit_code, done.success?]
    assert_equal "#{sandbox.workspace.root}\n", sandbox.execute_program(["/bin/sh", "-c", "pwd"], timeout: 5).stdout
    assert_raises(LittleGhost::ToolError) { sandbox.execute_program(["/bin/sleep", "9"], timeout: 0.05) }
    assert_raises(LittleGhost::ToolError) { sandbox.execute_program([], timeout: 1) }
    cut = sandbox.execute("yes | head -c 5000", timeout: 5, max_output_bytes: 10).stdout
    assert_match(/truncated/, cut)
    session = sandbox.start_program(["/bin/cat"])
    session.write("x")
    assert_equal "x", session.read(timeout: 5).stdout
    session.close
    assert_raises(LittleGhost::CapabilityError) { sandbox.start_program(["/bin/true"], allow_subprocesses: false) }
  end

  def test_cancelling_and_interrupting_a_program
    sandbox = unrestricted
    token = LittleGhost::Support::CancellationToken.new
    started = File.join(sandbox.workspace.root, "started")
    thread = Thread.new do
      assert_raises(LittleGhost::CancelledError) do
        sandbox.execute("touch started; sleep 60", timeout: 60, context: LittleGhost::RunContext.new(cancellation_token: token))
      end
    end
    Thread.pass until File.exist?(started)
    token.cancel
    thread.join
    assert_raises(Timeout::Error) { Timeout.timeout(0.1) { sandbox.execute("sleep 60", timeout: 60) } }
    late = LittleGhost::RunContext.new(deadline: Time.now)
    assert_raises(LittleGhost::DeadlineExceededError) { sandbox.execute("sleep 60", timeout: 60, context: late) }
  end

  def test_a_sandbox_of_the_application
    sandbox = Counting.new(workspace: open_workspace({"a.txt" => "a"}), policy: {files: {root: :read_write}})
    assert_equal "a", sandbox.read("a.txt")
    assert sandbox.supports?(:execute) && sandbox.supports?(:write)
    done = sandbox.execute_program(["A=1", "/bin/sh", "-c", "echo $A; pwd; echo no >&2; exit 4"], timeout: 5)
    assert_equal ["1\n#{sandbox.workspace.root}\n", "no\n", 4], [done.stdout, done.stderr, done.exit_code]
    scope = sandbox.scope(files: {root: :read_only})
    assert_predicate scope.execute("exit 0", timeout: 5), :success?
    assert_equal [[nil], [{root: :read_only}]], sandbox.started.map { |_, files| [files] }
    assert_raises(LittleGhost::ToolError) { sandbox.execute_program(["/bin/sleep", "60"], timeout: 0.05) }
    assert_raises(LittleGhost::AbstractMethodError) { LittleGhost::Sandbox.new(workspace: sandbox.workspace).start_program(["a"]) }
    refute LittleGhost::Sandbox.new(workspace: sandbox.workspace).supports?(:execute)
  end

  def test_a_sandbox_of_the_application_that_starts_nothing
    sandbox = Class.new(LittleGhost::Sandbox) { def start_program(command, **) = nil }.new(workspace: unrestricted.workspace)
    error = assert_raises(TypeError) { sandbox.execute("true", timeout: 5) }
    assert_includes error.message, "must return a ProcessSession, got NilClass"
  end

  def test_the_exception_of_a_sandbox_of_the_application_comes_back
    problem = IOError.new("no container")
    sandbox = Class.new(LittleGhost::Sandbox) { define_method(:start_program) { |_command, **| raise problem } }.new(workspace: open_workspace)
    assert_same problem, assert_raises(IOError) { sandbox.execute("true", timeout: 5) }
  end

  def test_probing
    assert LittleGhost::Sandbox.probe(:unrestricted).fetch(:available)
    elsewhere = LittleGhost::Sandbox.probe(:native, platform: "plan9")
    assert_equal [false, []], [elsewhere[:available], elsewhere[:capabilities].features]
    seatbelt = LittleGhost::Sandbox.probe(:seatbelt, platform: "x86_64-linux")
    refute seatbelt[:available]
    assert_equal :seatbelt, seatbelt[:capabilities].isolation
    assert_raises(LittleGhost::DependencyError) { LittleGhost::Sandbox.probe(:cloud) }
    LittleGhost::Sandbox.register_provider(:counting_for_tests, Counting)
    assert LittleGhost::Sandbox.probe(:counting_for_tests).fetch(:available)
    assert_same Counting, LittleGhost::Sandbox.resolve_provider(:counting_for_tests)
  end
end

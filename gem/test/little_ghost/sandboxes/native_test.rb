# frozen_string_literal: true

require "test_helper"
require_relative "../../support/premises"

# The sandbox of this system, where it has one.
class NativeSandboxTest < Minitest::Test
  include Premises

  def setup
    super
    skip "no native sandbox here" unless LittleGhost::Sandbox.probe(:native)[:available]
  end

  def native(**options)
    LittleGhost::Sandboxes::Native.new(workspace: open_workspace({"a.txt" => "a"}, paths: options.delete(:paths) || {}), **options).open
  end

  def test_what_a_program_cannot_reach
    outside = File.join(@folder, "outside")
    File.write(outside, "secret")
    sandbox = native(policy: {files: {root: :read_only}})
    assert_equal "a", sandbox.execute("cat a.txt", timeout: 10).stdout
    refute_predicate sandbox.execute("cat #{outside}", timeout: 10), :success?
    refute_predicate sandbox.execute("echo b > b.txt", timeout: 10), :success?
    assert_empty sandbox.execute("env | grep GEM", timeout: 10).stdout
    assert_equal "a", sandbox.read("a.txt")
    refute_predicate sandbox, :writable?
    assert_equal :none, sandbox.effective_policy.network.mode
  ensure
    sandbox&.close
  end

  def test_writing_scopes_and_processes
    sandbox = native(policy: {files: {root: :read_write}, runtime_paths: {home: :read_write}}, paths: {home: "home"})
    assert_predicate sandbox.execute("echo b > b.txt && touch $LITTLE_GHOST_WORKSPACE_HOME/c", timeout: 10), :success?
    assert_equal "b\n", sandbox.read("b.txt")
    scope = sandbox.scope(files: {root: :read_only})
    refute_predicate scope.execute("echo c > b.txt", timeout: 10), :success?
    session = sandbox.start_program(["/bin/cat"])
    session.write("x")
    assert_equal "x", session.read(timeout: 10).stdout
    session.close_write
    assert_equal 0, session.wait(timeout: 10).exitstatus
    session.close
    assert_raises(LittleGhost::ToolError) { sandbox.execute("sleep 60", timeout: 0.2) }
  ensure
    sandbox&.close
  end
end

# What is special about Bubblewrap.
class BubblewrapSandboxTest < Minitest::Test
  include Premises

  def setup
    super
    skip "no bubblewrap here" unless LittleGhost::Sandbox.probe(:bubblewrap)[:available]
  end

  def bubblewrap(**options)
    @sandbox = LittleGhost::Sandboxes::Bubblewrap.new(workspace: open_workspace, policy: {files: {root: :read_write}}, **options).open
  end

  def teardown
    @sandbox&.close
    super
  end

  def test_what_it_says_of_itself
    sandbox = bubblewrap
    assert sandbox.supports?(:process_tree_ownership) && sandbox.supports?(:network, :none)
    assert_equal :namespace, sandbox.capabilities.isolation
    assert_includes sandbox.effective_policy.walls, :namespaces
    assert_raises(LittleGhost::CapabilityError) { sandbox.start_program(["/bin/true"], allow_subprocesses: false) }
    refute LittleGhost::Sandboxes::Bubblewrap.probe(executable: "/nowhere/at/all")[:available]
    refute LittleGhost::Sandboxes::Bubblewrap.probe(platform: "arm64-darwin24")[:available]
    missing = LittleGhost::Sandboxes::Bubblewrap.new(workspace: sandbox.workspace, bubblewrap: "/nowhere/at/all")
    assert_raises(LittleGhost::DependencyError) { missing.open }
    assert_raises(ArgumentError) { bubblewrap(proc: :sometimes) }
  end

  def test_its_arguments
    sandbox = bubblewrap(uid: 1000, masks: ["/usr/share"])
    arguments = sandbox.bubblewrap_args(environment: {"A" => "1"})
    assert_includes arguments.each_cons(3).to_a, ["--bind", sandbox.workspace.root, sandbox.workspace.root]
    assert_includes arguments.each_cons(3).to_a, ["--setenv", "A", "1"]
    assert_includes arguments.each_cons(2).to_a, ["--uid", "1000"]
    assert_includes arguments, "--unshare-net"
    refute_includes sandbox.bubblewrap_args(mounts: []).each_cons(3).to_a, ["--bind", sandbox.workspace.root, sandbox.workspace.root]
  end

  # What a process that becomes +command+ prints, and how it ends.
  def become(*command, sandbox: @sandbox, **options)
    reader, writer = IO.pipe
    pid = fork do
      $stdout.reopen(writer)
      $stderr.reopen(writer)
      sandbox.exec_program(command, **options)
    rescue LittleGhost::Error => error
      puts "#{error.class}: #{error.message}"
    ensure
      exit!(99)
    end
    writer.close
    [reader.read, Process.wait2(pid).last.exitstatus]
  end

  STATUS = "grep -E '^(NoNewPrivs|Seccomp|CapEff):' /proc/self/status"

  def test_replacing_a_process
    sandbox = bubblewrap
    output, status = become("/bin/sh", "-c", "pwd; id -u; exit 7", cwd: ".")
    assert_equal ["#{sandbox.workspace.root}\n#{Process.uid}\n", 7], [output, status]
  end

  def test_a_replaced_process_has_the_walls_of_other_programs
    sandbox = bubblewrap
    File.write(File.join(@folder, "outside"), "secret")
    output, = become("/bin/sh", "-c", STATUS)
    assert_equal sandbox.execute(STATUS, timeout: 10).stdout, output
    assert_match(/^Seccomp:\t2$/, output)
    refute_includes become("/bin/sh", "-c", "cat #{@folder}/outside; unshare -U id").first, "secret"
    assert_equal "FOO=bar\n", become("/bin/sh", "-c", "env | grep -E 'FOO|HOME'", environment: {"FOO" => "bar"}).first
  end

  def test_a_scope_is_for_a_replaced_process_too
    sandbox = bubblewrap
    output, = become("/bin/sh", "-c", "echo x > x && echo written", scope: sandbox.scope(files: {root: :read_only}))
    refute_includes output, "written"
    unable = sandbox.scope(capabilities: %i[filesystem_read])
    assert_match(/\ALittleGhost::ToolError: .*process_execute/, become("/bin/true", scope: unable).first)
    missing = LittleGhost::Sandboxes::Bubblewrap.new(workspace: sandbox.workspace, bubblewrap: "/nowhere/at/all")
    assert_match(/\ALittleGhost::Error: cannot become the program/, become("/bin/true", sandbox: missing).first)
  end

  def test_words_in_front
    sandbox = bubblewrap(command_wrapper: ["/usr/bin/nice", "-n", "5"])
    assert_equal "5\n", sandbox.execute("nice", timeout: 10).stdout
    assert_equal "5\n", become("/usr/bin/nice").first
    assert_raises(ArgumentError) { bubblewrap(command_wrapper: "nice") }
  end

  def test_a_callable_in_front
    seen = []
    wrapper = lambda do |argv:, workspace:, scope:|
      seen << [argv.first, workspace, scope&.files, scope&.network&.mode]
      ["/usr/bin/nice", "-n", "4", *argv]
    end
    sandbox = bubblewrap(command_wrapper: wrapper)
    assert_equal "4\n", sandbox.execute("nice", timeout: 10).stdout
    scope = sandbox.scope(files: {root: :read_only}, network: false)
    assert_equal "4\n", scope.execute_program(["/usr/bin/nice"], timeout: 10).stdout
    executable = LittleGhost::Sandboxes::Bubblewrap::DEFAULT_EXECUTABLE
    assert_equal [[executable, sandbox.workspace, nil, nil], [executable, sandbox.workspace, {root: :read_only}, :none]], seen
    # Also in a child of this process, where no thread answers yet.
    assert_equal "4\n", become("/usr/bin/nice").first
  end

  def test_a_callable_that_fails
    answer = -> { raise LittleGhost::PolicyError, "not today" }
    sandbox = bubblewrap(command_wrapper: ->(**) { answer.call })
    assert_equal "not today", assert_raises(LittleGhost::PolicyError) { sandbox.execute("true", timeout: 10) }.message
    ["nice", [], [1], nil].each do |wrong|
      answer = -> { wrong }
      assert_includes assert_raises(ArgumentError) { sandbox.execute("true", timeout: 10) }.message, "command wrapper"
    end
    sandbox.close
    assert_includes assert_raises(LittleGhost::Error) { sandbox.execute("true", timeout: 10) }.message, "open the sandbox"
  end
end

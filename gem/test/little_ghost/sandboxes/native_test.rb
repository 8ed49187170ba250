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

  def test_replacing_a_process
    sandbox = bubblewrap
    reader, writer = IO.pipe
    pid = fork do
      $stdout.reopen(writer)
      sandbox.exec_program(["/bin/sh", "-c", "pwd; id -u"], cwd: ".")
    end
    writer.close
    assert_equal "#{sandbox.workspace.root}\n#{Process.uid}\n", reader.read
    Process.wait(pid)
  end
end

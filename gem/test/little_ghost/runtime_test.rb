# frozen_string_literal: true

require_relative "../test_helper"
require "fileutils"
require "tmpdir"

class RuntimeTest < Minitest::Test
  include ScriptedRuns

  # Says into +log+ when it is opened and closed.
  module Logged
    def open(run: nil)
      @log << "open #{@name} #{run.class.name}"
      super
    end

    def close
      @log << "close #{@name}"
      super
    end
  end

  class Room < LittleGhost::Workspace
    ROOT = Dir.mktmpdir("little-ghost-test-")
    Minitest.after_run { FileUtils.remove_entry(ROOT) }

    include Logged

    def initialize(name, log)
      super(root: ROOT)
      @name = name
      @log = log
    end
  end

  class Guard < LittleGhost::Sandbox
    include Logged

    def initialize(workspace, log)
      super(workspace: workspace)
      @name = "sandbox"
      @log = log
    end
  end

  def test_workspaces_and_sandboxes_that_are_declared
    log = []
    seen = []
    settings = {
      workspace: ->(invocation:) { Room.new("workspace for #{invocation.actor_id}", log) },
      sandbox: {
        provider: lambda do |workspace:, mode:, invocation:, runtime:|
          seen << [workspace.class, mode, invocation.class, runtime.class]
          Guard.new(workspace, log)
        end,
        mode: :strict
      }
    }
    agent = agent_for(script({chat: {text: "a"}}), **settings) do
      system_prompt { |locals| log << "build"; [locals[:run].workspace, locals[:agent].sandbox].map(&:class).join }
    end
    run = agent.ask("hi", actor_id: "u")
    assert_predicate run, :completed?
    assert_equal [[Room, :strict, LittleGhost::Invocation, LittleGhost::Runtime]], seen
    assert_equal ["open workspace for u LittleGhost::Run", "open sandbox LittleGhost::Run", "build", "close sandbox", "close workspace for u"], log
  end

  def test_given_resources_stay_the_callers
    log = []
    runtime = runtime_for(script({chat: {text: "a"}}), workspace: -> (**) { flunk })
    run = runtime.build_run({message: "hi"}, entrypoint_class: agent_class, workspace: Room.new("mine", log))
    assert_predicate run.call, :completed?
    assert_empty log
  end

  def test_unknown_providers
    [:cloud, {provider: :cloud}].each do |declaration|
      runtime = LittleGhost::Configuration.new(sandbox: declaration).runtime
      assert_equal declaration, runtime.sandbox_declaration
      error = assert_raises(LittleGhost::DependencyError) { runtime.build_run({message: "a"}, entrypoint_class: LittleGhost::Agent) }
      assert_match(/sandbox/, error.message)
    end
    [->(**) { 3 }, {mode: :strict}, 3].each do |declaration|
      runtime = LittleGhost::Configuration.new(sandbox: declaration).runtime
      assert_raises(LittleGhost::ConfigurationError) { runtime.build_run({message: "a"}, entrypoint_class: LittleGhost::Agent) }
    end
  end

  def test_what_is_built_from_declarations
    runtime = LittleGhost::Configuration.new(
      workspace: {root: "tmp/agent-runs", paths: {notes: "notes"}},
      sandbox: {provider: :unrestricted, files: {notes: :read_write}, limits: {read_bytes: 5}}
    ).runtime
    workspace = runtime.build_workspace
    assert_equal File.join(runtime.root, "tmp/agent-runs/notes"), workspace.path(:notes)
    sandbox = runtime.build_sandbox(workspace: workspace)
    assert_instance_of LittleGhost::Sandboxes::Unrestricted, sandbox
    assert_equal [{notes: :read_write}, 5], [sandbox.policy.files, sandbox.limits.read_bytes]
    class_made = runtime.build(sandbox: {provider: LittleGhost::Sandbox, policy: {files: {root: :read_write}}})
    assert_predicate class_made.build_sandbox(workspace: workspace).policy, :workspace_writable?
    both = runtime.build(sandbox: {provider: :unrestricted, policy: {}, files: {root: :read_only}})
    assert_raises(LittleGhost::PolicyError) { both.build_sandbox(workspace: workspace) }
  end

  def test_a_run_without_declarations_has_them_when_they_are_asked_for
    runtime = runtime_for(script({chat: {text: "a"}}, {chat: {text: "b"}}))
    run = runtime.build_run({message: "a"}, entrypoint_class: agent_class)
    assert_predicate run.call, :completed?
    assert_equal [nil, nil], [run.workspace, run.sandbox]
    seen = nil
    asking = agent_class { system_prompt { |locals| (seen = locals[:run].sandbox).list && "" } }
    run = runtime.build_run({message: "a"}, entrypoint_class: asking)
    assert_predicate run.call, :completed?
    assert_instance_of LittleGhost::Sandboxes::Unrestricted, seen
    assert_same seen, run.sandbox
    assert_equal runtime.root.to_s, run.workspace.root
    refute_predicate seen, :writable?
  end

  def test_a_given_sandbox_brings_its_workspace
    room = Room.new("mine", []).open
    guard = LittleGhost::Sandbox.new(workspace: room)
    runtime = runtime_for(script({chat: {text: "a"}}))
    run = runtime.build_run({message: "a"}, entrypoint_class: agent_class, sandbox: guard)
    assert_equal [room, guard], [run.workspace, run.sandbox]
    run.close
  end

  def test_a_failed_build_closes_what_it_made
    log = []
    hook = Class.new(LittleGhost::Runtime::Hook) { def prepare_run(run) = raise(KeyError, "no tenant") }
    runtime = LittleGhost::Configuration.new(workspace: ->(**) { Room.new("workspace", log) }, runtime_hooks: [hook]).runtime
    assert_raises(KeyError) { runtime.build_run({message: "a"}, entrypoint_class: LittleGhost::Agent) }
    assert_equal ["close workspace"], log
    runtime = runtime.build(sandbox: ->(**) { raise "full" }, runtime_hooks: [])
    assert_raises(RuntimeError) { runtime.build_run({message: "a"}, entrypoint_class: LittleGhost::Agent) }
    assert_equal ["close workspace"] * 2, log
  end

  def test_what_it_is_made_of
    Dir.mktmpdir do |root|
      root = File.realpath(root)
      runtime = LittleGhost::Configuration.new(root: root, prompt_paths: ["app/prompts", "/shared"], code_mode: {except: []}).runtime
      assert_equal [root, root], [runtime.root.to_s, runtime.loader.root]
      assert_equal [["#{root}/app/prompts", root], ["/shared", nil]], runtime.prompt_paths.map { |path| [path.path, path.boundary] }
      assert_equal ["#{root}/app/skills"], runtime.skill_paths.map(&:path)
      assert_equal({except: []}, runtime.code_mode_configuration)
      assert_raises(ArgumentError) { runtime.build(concurrency_backend: :process) }
    end
  end

  def test_the_startup_is_told
    events = []
    listener = Object.new.tap { |object| object.define_singleton_method(:emit) { |event| events << event } }
    LittleGhost::Events.subscribed(listener) do
      LittleGhost::Configuration.new(service_name: "shop").runtime
      assert_raises(LittleGhost::ConfigurationError) { LittleGhost::Configuration.new(models_path: "none.yml").runtime }
    end
    payloads = events.map { |event| event[:payload] }
    assert_equal ["little_ghost.runtime.startup"], events.map { |event| event[:name] }.uniq
    assert_equal [["starting", "shop"], ["ready", "shop"], ["starting", "little-ghost"], ["failed", "little-ghost"]],
      payloads.map { |payload| payload.values_at(:status, :service_name) }
    assert_equal ["complete", "configuration"], payloads.values_at(1, 3).map { |payload| payload[:phase] }
    assert_equal "LittleGhost::ConfigurationError", payloads.last[:error_type]
    assert_operator payloads[1][:duration_ms], :>=, 0
  end

  def test_an_unwound_startup_leaves_no_operation_open
    root = Dir.mktmpdir
    FileUtils.mkdir_p(File.join(root, "app/tools"))
    File.write(File.join(root, "app/tools/leaving_tool.rb"), "throw :gone")
    subscriber = LittleGhost::Instrumentation::Subscriber.new
    before = LittleGhost::ExecutionState.capture
    LittleGhost::Instrumentation.subscribed(subscriber) do
      catch(:gone) { LittleGhost::Configuration.new(root: root).runtime }
      refute_predicate LittleGhost::Instrumentation.notifier, :active?
    end
    assert_equal before, LittleGhost::ExecutionState.capture
  ensure
    FileUtils.rm_rf(root)
  end
end

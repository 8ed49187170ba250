# frozen_string_literal: true

require "test_helper"
require "pathname"
require_relative "../support/premises"

class WorkspaceTest < Minitest::Test
  include Premises

  def test_paths_are_absolute_and_named
    Dir.mkdir(File.join(@folder, "source"))
    made = workspace(paths: {skills: "skills", "source" => Pathname.new(@folder).join("source")})
    root = File.join(@folder, "root")
    assert_equal root, made.root
    assert_equal({skills: "#{root}/skills", source: "#{@folder}/source"}, made.paths)
    assert_predicate made.paths, :frozen?
    refute_path_exists root
    assert_same made, made.open
    assert_path_exists made.path(:skills)
    assert_equal "#{root}/skills/a.md", made.resolve("workspace://skills/a.md")
    assert_equal "#{root}/notes/a.md", made.resolve("notes/a.md")
    assert_equal [root, "#{root}/skills"], [made.resolve("."), made.resolve("workspace://skills")]
    assert_equal "workspace://skills/a.md", made.reference("#{root}/skills/a.md")
    assert_equal ".", made.reference(root)
    assert_equal root, made.environment["LITTLE_GHOST_WORKSPACE_ROOT"]
    assert_equal "#{root}/skills", made.environment["LITTLE_GHOST_WORKSPACE_SKILLS"]
    assert_equal "#<LittleGhost::Workspace #{root}>", made.inspect
    made.close
    assert_path_exists root
  end

  def test_what_is_no_path_is_refused
    made = open_workspace
    ["", "/etc/passwd", "../x", "a/../../b", "workspace://", "a\0b"].each do |reference|
      assert_raises(ArgumentError, reference.inspect) { made.resolve(reference) }
    end
    assert_raises(KeyError) { made.resolve("workspace://other/x") }
    assert_raises(KeyError) { made.path(:other) }
    assert_raises(ArgumentError) { made.reference("/etc") }
    assert_raises(ArgumentError) { workspace(paths: {skills: "../out"}) }
    assert_raises(ArgumentError) { workspace(setup: 3) }
    assert_raises(ArgumentError) { workspace(paths: {missing: "/nowhere/at/all"}).open }
  end

  def test_setup_and_teardown_are_called_once_with_what_they_take
    calls = []
    made = workspace(
      setup: ->(workspace:, run:) { calls << [:setup, workspace.root, run, File.exist?(workspace.root)] },
      teardown: ->(workspace:, **) { calls << [:teardown, workspace.class] }
    )
    2.times { made.open(run: :a_run) }
    2.times { made.close }
    assert_equal [[:setup, made.root, :a_run, false], [:teardown, LittleGhost::Workspace]], calls
    assert_raises(LittleGhost::Error) { made.open }
  end

  def test_a_failed_opening_is_torn_down_and_raises_the_same_exception
    torn_down = []
    problem = IOError.new("no disk")
    made = workspace(setup: ->(**) { raise problem }, teardown: -> (**) { torn_down << 1 })
    assert_same problem, assert_raises(IOError) { made.open }
    made.close
    assert_equal [1], torn_down
  end

  def test_an_interrupted_opening_is_torn_down_by_closing
    torn_down = []
    made = workspace(setup: ->(**) { Thread::Queue.new.pop }, teardown: ->(**) { torn_down << 1 })
    assert_raises(Timeout::Error) { Timeout.timeout(0.05) { made.open } }
    made.close
    assert_equal [1], torn_down
  end

  def test_a_replaced_directory_is_noticed
    made = open_workspace(paths: {skills: "skills"})
    assert_same made, made.validate!
    File.rename(made.path(:skills), File.join(@folder, "moved"))
    Dir.mkdir(made.path(:skills))
    assert_raises(LittleGhost::ToolError) { made.validate! }
  end

  def test_providers
    assert_same LittleGhost::Workspace, LittleGhost::Workspace.resolve_provider(:directory)
    error = assert_raises(LittleGhost::DependencyError) { LittleGhost::Workspace.resolve_provider(:cloud) }
    assert_match(/:cloud.*directory/, error.message)
    mine = Class.new(LittleGhost::Workspace)
    LittleGhost::Workspace.register_provider(:mine_for_tests, mine)
    assert_same mine, LittleGhost::Workspace.resolve_provider("mine_for_tests")
  end

  def test_many_threads_open_it_once
    count = 0
    made = workspace(setup: ->(**) { count += 1 })
    8.times.map { Thread.new { made.open } }.each(&:join)
    assert_equal 1, count
  end
end

# frozen_string_literal: true

require_relative "../../test_helper"
require "tmpdir"

class LoaderTest < Minitest::Test
  Loader = LittleGhost::Support::Loader

  def setup
    @root = File.realpath(Dir.mktmpdir)
    @name = "Loaded#{object_id}"
    @part = "loaded#{object_id}"
  end

  def teardown
    FileUtils.remove_entry(@root)
  end

  def write(name, text)
    path = File.join(@root, name)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
    path
  end

  def loader(**options) = Loader.new(root: @root, **options)

  # Ruby itself warns of such files.
  def quietly
    verbose, $VERBOSE = $VERBOSE, nil
    yield
  ensure
    $VERBOSE = verbose
  end

  def test_constants_by_path
    path = write("app/tools/#{@part}/refund_tool.rb", "module #{@name}; class RefundTool; AGENT = TriageAgent; end; end")
    write("app/agents/#{@part}/triage_agent.rb", "class #{@name}::TriageAgent; end")
    subject = loader.setup
    assert_equal path, subject.registered_constants["#{@name}::RefundTool"]
    refute subject.loaded_constant?("#{@name}::RefundTool")
    tool = subject.constant("#{@name}::RefundTool")
    assert_same Object.const_get("#{@name}::TriageAgent"), tool::AGENT
    assert subject.loaded_constant?("#{@name}::RefundTool")
    loader.setup.eager_load
    assert_raises(NameError) { subject.constant("#{@name}::Nothing") }
  end

  def test_a_namespace_with_a_file_of_its_own
    write("app/agents/#{@part}.rb", "module #{@name}; SETTING = 1; end")
    write("app/agents/#{@part}/one_agent.rb", "class #{@name}::OneAgent; VALUE = #{@name}::SETTING; end")
    loader.setup.eager_load
    assert_equal 1, Object.const_get(@name)::OneAgent::VALUE
  end

  def test_files_that_define_something_else
    write("app/tools/#{@part}_tool.rb", "class Other#{@name}; end")
    error = assert_raises(Loader::ExpectedConstantError) { quietly { loader.setup.eager_load } }
    assert_match(/#{@name}Tool/, error.message)
    write("lib/#{@part}_broken.rb", "nonsense_method_or_name")
    assert_match(/nonsense/, assert_raises(NameError) { loader(directories: ["lib"]).setup.eager_load }.message)
  end

  def test_conflicts
    write("app/tools/string.rb", "class String; end")
    assert_match(/String/, assert_raises(Loader::ConflictError) { loader.setup }.message)
    File.delete(File.join(@root, "app/tools/string.rb"))
    write("app/tools/#{@part}.rb", "")
    write("app/agents/#{@part}.rb", "")
    assert_raises(Loader::ConflictError) { loader.setup }
    File.delete(File.join(@root, "app/agents/#{@part}.rb"))
    write("app/tools/Bad-Name.rb", "")
    assert_raises(Loader::ConflictError) { loader.setup }
  end

  def test_files
    path = write("data/a/one.txt", "é")
    write("secret.txt", "secret")
    File.symlink(File.join(@root, "secret.txt"), File.join(@root, "data/leak.txt"))
    subject = Loader.new(paths: [File.join(@root, "none"), File.join(@root, "data")])
    assert_equal [path, path, "é", [path]], [subject.find("a/one.txt"), subject.fetch("a/one.txt"), subject.read("a/one.txt"), subject.glob("**/*.txt")]
    assert_nil subject.find("leak.txt")
    assert_nil subject.find("none.txt")
    assert_raises(LoadError) { subject.fetch("none.txt") }
    ["/etc/passwd", "../secret.txt", "a/../../secret.txt", ""].each { |name| assert_raises(ArgumentError, name) { subject.find(name) } }
    assert_equal [nil, %w[app/agents app/assemblies app/tools]], [subject.root, subject.directories]
  end

  def test_a_runtime_loads_the_application
    write("app/agents/#{@part}_agent.rb", "class #{@name}Agent < LittleGhost::Agent; end")
    runtime = LittleGhost::Configuration.new(root: @root).runtime
    assert runtime.loader.loaded_constant?("#{@name}Agent")
  end
end

# frozen_string_literal: true

require_relative "../test_helper"
require "tmpdir"

class PromptResolverTest < Minitest::Test
  def setup
    @folder = File.realpath(Dir.mktmpdir)
    @root = File.join(@folder, "prompts")
    write("support/system", "You help <%= product %>.\n<%- 2.times do |n| -%>\n- <%= n %>\n<%- end -%>\n")
  end

  def teardown
    FileUtils.remove_entry(@folder)
  end

  def write(name, text, root = @root)
    path = File.join(root, "#{name}.erb")
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
    path
  end

  def resolver(*paths, **options)
    LittleGhost::PromptResolver.new(paths: [*paths, @root], **options)
  end

  def test_rendering
    assert_equal "You help Acme.\n- 0\n- 1\n", resolver.render("support/system", locals: {product: "Acme"})
    assert_equal "You help Acme.\n- 0\n- 1\n", resolver.render("support/system.erb", locals: {"product" => "Acme"})
  end

  def test_partials
    write("support/main", "<%= partial 'rules', locals: {n: 1} %> <%= partial 'shared/voice' %>")
    write("support/_rules", "rule <%= n %>")
    write("shared/_voice", "é")
    assert_equal "rule 1 é", resolver.render("support/main", locals: {hidden: 1})
    write("support/_rules", "<%= hidden %>")
    assert_match(/hidden/, assert_raises(LittleGhost::MissingPromptLocalError) { resolver.render("support/main", locals: {hidden: 1}) }.message)
  end

  def test_earlier_roots_win
    trusted = File.join(@folder, "trusted")
    other = File.join(@folder, "other")
    write("support/system", "other", other)
    write("support/system", "trusted", trusted)
    assert_equal "other", resolver(other).render("support/system")
    path = LittleGhost::TrustedPath.new(path: trusted)
    assert_equal "trusted", resolver(other).render("support/system", invocation_paths: [path])
    assert_raises(ArgumentError) { resolver.render("support/system", invocation_paths: [trusted]) }
    assert_raises(ArgumentError) { LittleGhost::TrustedPath.new(path: File.join(@folder, "none")) }
  end

  def test_unsafe_names
    ["", "/etc/passwd", "../system", "support/../../x", "a\0b", "support//system", "./system", "..\\x"].each do |name|
      assert_raises(LittleGhost::InvalidPromptTemplateError, name.inspect) { resolver.render(name) }
    end
    assert_match(/none\.erb/, assert_raises(LittleGhost::MissingPromptTemplateError) { resolver.render("support/none") }.message)
  end

  def test_links_out_of_the_root
    write("secret", "secret", @folder)
    File.symlink(File.join(@folder, "secret.erb"), File.join(@root, "leak.erb"))
    assert_raises(LittleGhost::MissingPromptTemplateError) { resolver.render("leak") }
    root = LittleGhost::Lookup::Root.new(path: @root, boundary: File.join(@folder, "application"))
    error = assert_raises(LittleGhost::InvalidPromptTemplateError) { LittleGhost::PromptResolver.new(paths: [root]).render("support/system") }
    assert_match(/leads out/, error.message)
  end

  def test_cycles_and_depth
    write("a", "<%= partial 'b' %>")
    write("_b", "<%= partial 'c' %>")
    write("_c", "<%= partial 'b' %>")
    assert_match(/itself: a -> _b -> _c -> _b/, assert_raises(LittleGhost::InvalidPromptTemplateError) { resolver.render("a") }.message)
    write("_c", "deep")
    assert_equal "deep", resolver(max_depth: 3).render("a")
    assert_match(/deeper/, assert_raises(LittleGhost::InvalidPromptTemplateError) { resolver(max_depth: 2).render("a") }.message)
  end

  def test_locals
    assert_raises(LittleGhost::MissingPromptLocalError) { resolver.render("support/system") }
    ["Product", "a-b", "a b", "1a", "class", "self"].each do |name|
      assert_raises(ArgumentError, name) { resolver.render("support/system", locals: {name => 1}) }
    end
    write("mistake", "<%= nil.upcase %>")
    refute_kind_of LittleGhost::Error, assert_raises(NoMethodError) { resolver.render("mistake") }
    problem = KeyError.new("mine")
    write("raising", "<%= raise problem %>")
    assert_same problem, assert_raises(KeyError) { resolver.render("raising", locals: {problem: problem}) }
  end

  def test_changed_files_are_read_again
    subject = resolver
    assert_equal "You help A.\n- 0\n- 1\n", subject.render("support/system", locals: {product: "A"})
    write("support/system", "Now <%= product %>")
    assert_equal "Now A", subject.render("support/system", locals: {product: "A"})
  end

  def test_mistakes_name_the_file_and_line
    path = write("lines", "one\ntwo\n<%= raise 'x' %>\n")
    assert_includes assert_raises(RuntimeError) { resolver.render("lines") }.backtrace.first, "#{path}:3"
    write("syntax", "<% if %>")
    assert_match(/syntax\.erb/, assert_raises(LittleGhost::PromptTemplateError) { resolver.render("syntax") }.message)
  end

  def test_constants_are_the_applications
    write("constants", "<%= Message rescue 'none' %> <%= LittleGhost::VERSION %>")
    assert_equal "none #{LittleGhost::VERSION}", resolver.render("constants")
  end

  def test_a_file_in_another_encoding_is_named
    File.binwrite(write("support/old", ""), "caf\xE9")
    error = assert_raises(LittleGhost::PromptTemplateError) { resolver.render("support/old") }
    assert_match(%r{support/old.erb is not valid UTF-8}, error.message)
  end
end

# frozen_string_literal: true

require_relative "../test_helper"
require "tmpdir"

# How prompts are found; what they render is in prompt_resolver_test.rb.
class PromptFilesTest < Minitest::Test
  def setup
    @folder = File.realpath(Dir.mktmpdir)
    @resolver = LittleGhost::PromptResolver.new(paths: [@folder])
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def write(name, text)
    path = File.join(@folder, name)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
  end

  def test_finds_prompts_and_partials
    write("support/system.erb", '<%= partial "voice" %> <%= partial "shared/rules", locals: {product: product} %>')
    write("support/_voice.erb", "Be brief.")
    write("shared/_rules.erb", "Rules of <%= product %>.")
    assert_equal "Be brief. Rules of Acme.", @resolver.render("support/system", locals: {product: "Acme"})
    assert_equal "Be brief. Rules of Acme.", @resolver.render("support/system.erb", locals: {product: "Acme"})
  end

  def test_refuses_unsafe_names
    write("a.erb", "x")
    write("b.erb", '<%= partial "../a" %>')
    ["", "/a", "../a", "x/../a", "a\0", "b"].each do |name|
      assert_raises(LittleGhost::InvalidPromptTemplateError, name.inspect) { @resolver.render(name) }
    end
  end

  def test_says_where_it_looked
    error = assert_raises(LittleGhost::MissingPromptTemplateError) { @resolver.render("missing") }
    assert_includes error.message, @folder
    assert_includes error.message, "missing.erb"
  end

  def test_passes_over_links_that_lead_out
    Dir.mktmpdir do |outside|
      File.write(File.join(outside, "a.erb"), "secret")
      File.symlink(File.join(outside, "a.erb"), File.join(@folder, "a.erb"))
      assert_raises(LittleGhost::MissingPromptTemplateError) { @resolver.render("a") }
    end
  end

  def test_a_root_must_stay_inside_its_boundary
    Dir.mktmpdir do |outside|
      File.write(File.join(outside, "a.erb"), "secret")
      File.symlink(outside, File.join(@folder, "prompts"))
      root = LittleGhost::Lookup::Root.new(path: File.join(@folder, "prompts"), boundary: @folder)
      assert_raises(LittleGhost::InvalidPromptTemplateError) { LittleGhost::PromptResolver.new(paths: [root]).render("a") }
    end
  end
end

# frozen_string_literal: true

require "fileutils"
require "tmpdir"

# A folder for each test, and workspaces in it.
module Premises
  def setup
    super
    @folder = File.realpath(Dir.mktmpdir("little-ghost-test-"))
  end

  def teardown
    FileUtils.remove_entry(@folder)
    super
  end

  def workspace(**options)
    LittleGhost::Workspace.new(root: File.join(@folder, "root"), **options)
  end

  # An open workspace with these files in its root.
  def open_workspace(files = {}, **options)
    workspace(**options).open.tap do |open|
      files.each { |name, content| File.write(File.join(open.root, name), content) }
    end
  end

  def unrestricted(files = {}, paths: {}, **options)
    LittleGhost::Sandboxes::Unrestricted.new(workspace: open_workspace(files, paths: paths), **options).open
  end

  def writable(files = {}, **options)
    unrestricted(files, policy: {files: {root: :read_write}}, **options)
  end
end

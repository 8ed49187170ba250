# frozen_string_literal: true

module LittleGhost
  # The host paths of a Run, by stable names: a root, and named paths in it or elsewhere. A Sandbox decides who may do
  # what there.
  #
  #   workspace = LittleGhost::Workspace.new(root: "./tmp/support-run", paths: {skills: "skills"})
  #   workspace.open
  #   workspace.resolve("workspace://skills/refunds.md") # => "/.../tmp/support-run/skills/refunds.md"
  #
  # Opening creates the root and relative paths; absolute paths must exist. Closing removes nothing: a +teardown+ may.
  # Whoever shares a writable root among Runs has to keep them apart.
  class Workspace
    @providers = Native::ProviderNames.new("workspace provider", directory: Native::ProviderNames::Builtin.new(-> { Workspace }))

    class << self
      # Registers what makes workspaces under the name that configurations use: a class, or a callable. Raises
      # ArgumentError for anything else.
      def register_provider(name, implementation)
        providers.register_maker(name, implementation)
      end

      # What is registered as +name+. Raises DependencyError when nothing is.
      def resolve_provider(name)
        providers.resolve(name)
      end

      private

      def providers
        Workspace.instance_variable_get(:@providers)
      end
    end

    # The absolute root, a String.
    attr_reader :root
    # The named paths, absolute, as a frozen Hash of Symbols and Strings.
    attr_reader :paths
    attr_reader :native # :nodoc:

    # Makes all paths absolute. Relative ones must stay below +root+. +setup+ is called once when the workspace opens,
    # before anything is created, and +teardown+ once when it closes or opening it failed; both get the keywords
    # +workspace+ and +run+ as far as they take them. Raises ArgumentError for unusable names and paths.
    def initialize(root:, paths: {}, setup: nil, teardown: nil)
      [setup, teardown].compact.each do |code|
        raise ArgumentError, "setup and teardown take callables, got #{code.class}" unless code.respond_to?(:call)
      end
      @setup = setup
      @teardown = teardown
      named = paths.to_h { |name, path| [name.to_s, path_text(path)] }
      hold(Native::Workspace.new({"root" => path_text(root), "paths" => named}))
    end

    # The workspace that the engine says is +number+; it is open.
    def self.adopt(number) # :nodoc:
      allocate.tap { |workspace| workspace.send(:hold, Native::Workspace.adopt(number)) }
    end

    # Sets the workspace up, creates what is missing, and records which directories the names stand for. Later calls
    # change nothing. Raises what +setup+ raises, and ArgumentError for an absolute path that does not exist and for two names
    # of one directory; the teardown has run then.
    def open(run: nil)
      set_up(run) if claim
      self
    end

    # Calls the teardown, once. Files stay unless it removes them.
    def close
      provision(@teardown, @run) if Native::JobWait.finish(native.begin_closing)
      nil
    end

    # The path called +name+. Raises KeyError when there is none.
    def path(name)
      paths.fetch(name.to_sym) { raise KeyError, "the workspace has no path named #{name.to_s.inspect}; it has #{paths.keys.join(", ")}" }
    end

    # The host path of a logical one: relative to the root, or <tt>workspace://name/path</tt>. It only looks at the
    # text; what a model chose is opened by the operations of a Sandbox. Raises ArgumentError for an empty or absolute path and
    # for <tt>..</tt>, and KeyError for an unknown name.
    def resolve(reference)
      native.resolve(reference.to_s)
    end

    # The logical path of a host path, by the longest path that contains it; "." for the root. Raises ArgumentError for
    # one outside.
    def reference(physical_path)
      native.reference(path_text(physical_path))
    end

    # Variables that tell child processes where the root and the named paths are, a frozen Hash.
    attr_reader :environment

    # Raises ToolError when a directory is no longer the one that it was when the workspace opened. Returns +self+.
    def validate!
      native.validate
      self
    end

    # Names the root.
    def inspect
      "#<#{self.class} #{root}>"
    end

    private

    def hold(native)
      @native = native
      info = native.info
      @root = info["root"].freeze
      @paths = info["paths"].to_h { |name, path| [name.to_sym, path.freeze] }.freeze
      @environment = info["environment"].freeze
    end

    # Whether this caller has to open it. Others have waited for whoever did.
    def claim
      job = native.begin_opening
      claimed = nil
      claimed = Native::JobWait.finish(job)
    ensure
      native.cut_off if claimed.nil? && job&.outcome&.first
    end

    def set_up(run)
      @run = run
      settled = false
      provision(@setup, run)
      Native::JobWait.finish(native.record)
      settled = true
    rescue StandardError, ScriptError
      settled = true
      abandon(run)
      raise
    ensure
      native.cut_off unless settled
    end

    # The first failure is the one to tell.
    def abandon(run)
      provision(@teardown, run)
    rescue StandardError, ScriptError
      nil
    ensure
      native.give_up
    end

    def provision(code, run)
      Native::Keywords.call(code, workspace: self, run: run) if code
    end

    def path_text(path)
      path.respond_to?(:to_path) ? path.to_path : String(path)
    end
  end
end

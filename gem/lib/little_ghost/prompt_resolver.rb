# frozen_string_literal: true

module LittleGhost
  # Renders prompts that are kept as ERB files.
  #
  #   resolver = LittleGhost::PromptResolver.new(paths: ["app/prompts"])
  #   resolver.render("support/system", locals: {product: "Acme"})
  #
  # A name is relative to the roots, which are searched in order for <tt>name.erb</tt>; files that leave
  # their root through symbolic links are passed over. In a prompt,
  # <tt>partial "shared/rules", locals: {product: product}</tt> renders <tt>shared/_rules.erb</tt>; a name
  # without a slash is looked up beside the prompt. A partial has only the locals that it is given.
  #
  # Prompts run as Ruby in this process: every root must be the application's own.
  class PromptResolver
    autoload :Files, "little_ghost/prompt_resolver/files"
    autoload :Template, "little_ghost/prompt_resolver/template"
    autoload :View, "little_ghost/prompt_resolver/view"

    DEFAULT_MAX_DEPTH = 20

    # Searches +paths+, a PathSet or paths. Prompts may be nested +max_depth+ deep.
    def initialize(paths: [], max_depth: DEFAULT_MAX_DEPTH)
      @paths = paths.is_a?(PathSet) ? paths : PathSet.new(paths)
      @max_depth = Integer(max_depth)
      @templates = {}
      @lock = Mutex.new
    end

    # The text of the prompt +name+. +invocation_paths+, TrustedPath values, are searched first. Raises
    # InvalidPromptTemplateError for an unsafe name, a cycle or too deep nesting,
    # MissingPromptTemplateError when there is no file, MissingPromptLocalError when the prompt uses a name
    # that it was not given, and ArgumentError for other arguments that make no sense.
    def render(name, locals: {}, invocation_paths: [])
      Session.new(self, Files.new(invocation_roots(invocation_paths) + @paths.to_a)).render(name, locals)
    end

    # Tells from where a prompt is rendered: its files, and the prompts that are being rendered.
    class Session # :nodoc:
      def initialize(resolver, files, stack = [])
        @resolver = resolver
        @files = files
        @stack = stack
      end

      def render(name, locals, partial: false)
        logical = partial ? Files.partial(name, @stack.last&.first) : Native::Text.utf8(name.to_s)
        path = @files.find(logical)
        @resolver.check_stack(logical, path, @stack)
        nested = Session.new(@resolver, @files, @stack + [[logical, path]])
        @resolver.template(path).render(nested, logical, locals)
      end
    end
    private_constant :Session

    def check_stack(name, path, stack) # :nodoc:
      if stack.any? { |_, rendering| rendering == path }
        raise InvalidPromptTemplateError, "prompt #{name} renders itself: #{(stack.map(&:first) + [name]).join(" -> ")}"
      end
      return if stack.length < @max_depth

      raise InvalidPromptTemplateError, "prompt #{name} is nested deeper than #{@max_depth} prompts"
    end

    # The compiled file; compiled again when it changed.
    def template(path) # :nodoc:
      stat = File.stat(path)
      version = [stat.mtime, stat.size]
      @lock.synchronize do
        known = @templates[path]
        return known if known && known.version == version
      end
      Template.new(path, version).tap { |made| @lock.synchronize { @templates[path] = made } }
    end

    # Says nothing of the prompts.
    def inspect
      "#<#{self.class} #{@paths.map(&:path).join(", ")}>"
    end

    private

    def invocation_roots(paths)
      Array(paths).map do |path|
        unless path.is_a?(TrustedPath)
          raise ArgumentError, "prompt paths of one request must be LittleGhost::TrustedPath values, got #{path.class}"
        end

        Lookup::Root.new(path: path.path)
      end
    end
  end
end

# frozen_string_literal: true

module LittleGhost
  # The exact set of tools that a model can call during one run.
  #
  #   registry = LittleGhost::ToolRegistry.new([HelpCenterLookupTool], binding: LittleGhost::Tool::Binding.new)
  #   registry.names # => ["help_center_lookup_tool"]
  #
  # Entries are Tool classes, Tool instances, nested Arrays, nil, or provider classes with
  # <tt>tools(binding)</tt>. Tools that the registry built are its own and are closed with it.
  class ToolRegistry
    include Enumerable

    # Builds and checks +tools+. Raises ConfigurationError for an unusable or repeated name.
    def initialize(tools = [], binding: Tool::Binding.new)
      @binding = binding
      @tools = {}
      @owned = []
      register(tools)
    end

    # Adds what +tool+ stands for and returns +self+. With +replace+, a tool of the same name gives way.
    def register(tool, replace: false)
      built = []
      entries = resolve(tool, built)
      added = check(entries, replace)
      replaced = added.filter_map { |name, entry| @tools[name] unless @tools[name].equal?(entry) }
      discarded = (replaced & @owned) + (built - added.values)
      owned = (@owned + built) - discarded
      announce(owned)
      @tools.update(added)
      @owned = owned
      close_all(discarded)
      self
    rescue StandardError
      close_all(built - @owned) if built
      raise
    end

    # Yields each tool.
    def each(&block)
      return enum_for(:each) unless block

      @tools.each_value(&block)
      self
    end

    # The tool called +name+. Raises ToolError when there is none.
    def fetch(name)
      @tools.fetch(name.to_s) { raise ToolError, "there is no tool called #{name}" }
    end

    # The frozen list of names.
    def names
      @tools.keys.freeze
    end

    # The frozen list of model-facing specifications.
    def specifications
      map(&:specification).freeze
    end

    # Closes the registry's own tools once, last built first. Every tool is tried before the first
    # CleanupError, or else the first exception, is raised.
    def close
      owned = @owned
      @owned = []
      close_all(owned)
      nil
    end

    # Calls the block once one of its own tools has something to release, now or after a later #register.
    def when_closable(&told) # :nodoc:
      @told = told
      announce(@owned)
    end

    private

    # Before they are added: where it is too late to close them, they are not.
    def announce(owned)
      return if @told.nil? || owned.all? { |tool| tool.method(:close).owner.equal?(Tool) }

      @told.call
      @told = nil
    end

    def resolve(entry, built)
      case entry
      when nil then []
      when Array then entry.flat_map { |nested| resolve(nested, built) }
      when Tool then [entry]
      else from_class(entry, built)
      end
    end

    def from_class(entry, built)
      if entry.is_a?(Class) && entry <= Tool
        return [] unless entry.available?(@binding)

        [entry.new(binding: @binding).tap { |tool| built << tool }]
      elsif entry.respond_to?(:tools) && !(entry.is_a?(Class) && entry <= Assembly)
        resolve(entry.tools(@binding), built)
      else
        raise ConfigurationError, "#{entry.inspect} is neither a Tool nor a provider with tools(binding)"
      end
    end

    def check(entries, replace)
      entries.each_with_object({}) do |tool, added|
        tool.definition
        name = tool.tool_name
        if !replace && (@tools.key?(name) || added.key?(name))
          raise ConfigurationError, "there are two tools called #{name.inspect}; give one of them another tool_name"
        end

        added[name] = tool
      end
    end

    def close_all(tools)
      problems = tools.reverse.filter_map do |tool|
        tool.close
        nil
      rescue StandardError => error
        error
      end
      first = problems.find { |problem| problem.is_a?(CleanupError) } || problems.first
      raise first if first
    end
  end
end

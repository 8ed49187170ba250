# frozen_string_literal: true

module LittleGhost
  module Native
    # What is around a participant of an assembly: the prompt locals from there, the assemblies that it is described
    # inside of, its company, and the graphs that the outermost of those has further in, described.
    class Surroundings < Data.define(:locals, :enclosing, :company, :inner) # :nodoc:
      # Whether others may be at work at the same time. Known at last when the calls are made.
      class Company # :nodoc:
        def initialize(crowded = false)
          @crowded = crowded
        end

        def crowded? = @crowded

        def crowd
          @crowded = true
        end
      end

      def initialize(locals: {}, enclosing: [].freeze, company: Company.new, inner: [])
        super
      end

      # Inside of +implementation+, which adds prompt locals, and among whose participants some may overlap. Raises
      # ConfigurationError for an assembly inside of itself, and AssemblyLimitError for one inside of too many others.
      def inside(implementation, locals, overlapping: false)
        if enclosing.include?(implementation)
          raise ConfigurationError, "the #{implementation.assembly_kind} #{implementation.assembly_id.inspect} contains itself"
        end

        Native.check_nesting(implementation.assembly_kind.name, implementation.assembly_id, enclosing.length)
        with(
          locals: self.locals.merge(locals), enclosing: [*enclosing, implementation].freeze,
          company: overlapping ? Company.new(true) : company, inner: enclosing.empty? ? [] : inner
        )
      end

      # The description of the graph that these are inside of. Only the outermost is whole, with the others beside it, so that
      # it is no deeper for them: they are told by their places.
      def describe(graph)
        return {**graph, "inner" => inner} if enclosing.one?

        inner << graph
        {"kind" => "inner", "place" => inner.length - 1}
      end

      # For one call by the body of a workflow here, which may well invoke itself.
      def for_call(locals)
        Surroundings.new(locals: self.locals.merge(locals), company: Company.new(company.crowded?))
      end
    end
  end
end

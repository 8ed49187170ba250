# frozen_string_literal: true

module LittleGhost
  module Native
    # What is around a participant of an assembly: the prompt locals from there, the assemblies that it is described
    # inside of, and its company.
    class Surroundings < Data.define(:locals, :enclosing, :company) # :nodoc:
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

      def initialize(locals: {}, enclosing: [].freeze, company: Company.new)
        super
      end

      # Inside of +implementation+, which adds prompt locals, and among whose participants some may overlap. Raises
      # ConfigurationError for an assembly inside of itself.
      def inside(implementation, locals, overlapping: false)
        if enclosing.include?(implementation)
          raise ConfigurationError, "the #{implementation.assembly_kind} #{implementation.assembly_id.inspect} contains itself"
        end

        with(
          locals: self.locals.merge(locals), enclosing: [*enclosing, implementation].freeze,
          company: overlapping ? Company.new(true) : company
        )
      end

      # For one call by the body of a workflow here, which may well invoke itself.
      def for_call(locals)
        Surroundings.new(locals: self.locals.merge(locals), company: Company.new(company.crowded?))
      end
    end
  end
end

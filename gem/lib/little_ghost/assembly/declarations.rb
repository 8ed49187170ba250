# frozen_string_literal: true

module LittleGhost
  class Assembly
    # What classes of coordinating assemblies declare. Subclasses add to what their parents declare; a snapshot has
    # everything itself, and is closed.
    module Declarations # :nodoc:
      # A class with what is declared now, which nothing declared later changes. +id+ and +text+ are its identity.
      def snapshot(id = assembly_id, text = description)
        entries = settled_declarations
        Class.new(self) do
          @assembly_id = id.dup.freeze
          @description = text.dup.freeze
          @declarations = entries
          @complete = true
          freeze
        end
      end

      protected

      # Everything declared, inherited first.
      def declarations
        return @declarations if @complete

        own = @declarations || {}
        return own unless superclass.singleton_class.include?(Declarations)

        superclass.declarations.merge(own) { |_, inherited, added| added.is_a?(Array) ? inherited + added : added }
      end

      private

      # One more of +name+.
      def add_declaration(name, value)
        frozen_error if frozen?
        own = @declarations || {}
        own = declarations if @complete
        @declarations = own.merge(name => [*own[name], value].freeze).freeze
        self
      end

      # The only one of +name+.
      def set_declaration(name, value)
        frozen_error if frozen?
        @declarations = (@declarations || {}).merge(name => value).freeze
        value
      end

      def declared(name)
        declarations.fetch(name, [])
      end

      # Reads +name+, or assigns the value that is not nil.
      def declared_value(name, value)
        value.nil? ? declarations[name] : set_declaration(name, yield(value))
      end

      def frozen_error
        raise FrozenError.new("this definition is fixed; declare on the class or builder that it comes from", receiver: self)
      end

      def settled_declarations
        settled = declarations.transform_values do |value|
          value.is_a?(Array) ? value.map { |entry| settled_entry(entry) }.freeze : value
        end
        settled.freeze
      end

      # An entry that refers to a builder, with what that declares now.
      def settled_entry(entry)
        return entry unless entry.respond_to?(:assembly) && entry.assembly.is_a?(AssemblyBuilder)

        entry.with(assembly: entry.assembly.definition)
      end

      def natural(name, value)
        return value if value.is_a?(Integer) && value.positive?

        raise ArgumentError, "#{name} must be an Integer of at least 1, got #{value.inspect}"
      end

      def flag(name, value)
        return value if value == true || value == false

        raise ArgumentError, "#{name} must be true or false, got #{value.inspect}"
      end
    end
  end
end

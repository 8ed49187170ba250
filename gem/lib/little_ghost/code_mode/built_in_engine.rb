# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # An engine of the library's own.
    class BuiltInEngine < Engine # :nodoc:
      # The one that names stand for.
      def self.shared
        @shared ||= new
      end

      def instructions(catalog:)
        specifications = catalog.map { |tool| Native::ToolValue.data(tool) }
        Native.code_mode_instructions(declaration, specifications).fetch("instructions")
      end

      def open_session(broker:, sandbox_factory:, limits: {})
        BuiltInSession.new(declaration, broker, sandbox_factory, limits)
      end

      # As the engine knows it.
      def declaration
        {"name" => language.name}
      end
    end
  end
end

# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # Code mode of one agent: what the application declares for all, and what its class declares over it.
    class Declaration # :nodoc:
      OPTIONS = %i[engine except sandbox limits].freeze
      private_constant :OPTIONS

      # Raises ArgumentError for an unknown option.
      def self.check(options)
        unknown = options.keys - OPTIONS
        return options if unknown.empty?

        raise ArgumentError, "code_mode has no option #{unknown.first.inspect}; use #{OPTIONS.join(", ")}"
      end

      attr_reader :engine, :except, :factory, :limits

      def initialize(own, runtime)
        declared = self.class.check((runtime.code_mode_configuration || {}).to_h.transform_keys(&:to_sym)).merge(own)
        @engine = CodeMode.resolve_engine(declared[:engine] || :ruby)
        @except = Array(declared[:except]).map(&:to_s)
        @limits = (declared[:limits] || {}).to_h
        @factory = SandboxFactory.new(declared[:sandbox] || :native, runtime: runtime)
      end

      # As the engine reads it.
      def to_engine
        {
          "engine" => engine.is_a?(BuiltInEngine) ? engine.declaration : {"key" => 0, "language" => engine.language.to_s},
          "sandbox" => factory.declaration, "limits" => Native::ToolValue.data(limits), "except" => @except
        }
      end
    end
  end
end

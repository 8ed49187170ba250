# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # Code mode of one agent: what the application declares for all, and what its class declares over it.
    class Declaration # :nodoc:
      OPTIONS = %i[engine except sandbox limits].freeze
      private_constant :OPTIONS

      class << self
        # Checks what can be without a run: the options, limits of an engine that is named beside them, and the sandbox.
        # Raises ArgumentError, and what is wrong with the sandbox.
        def check(options)
          unknown = options.keys - OPTIONS
          raise ArgumentError, "code_mode has no option #{unknown.first.inspect}; use #{OPTIONS.join(", ")}" if unknown.any?

          limits = options[:limits]
          unless limits.nil? || limits.respond_to?(:to_hash)
            raise ArgumentError, "code_mode limits must be a Hash, such as {wall_seconds: 60}, got #{limits.class}"
          end

          sandbox = SandboxFactory.new(options[:sandbox]).declaration if options[:sandbox]
          Native.code_mode_check({"engine" => known_engine(options[:engine]), "sandbox" => sandbox, "limits" => Native::ToolValue.data(limits.to_h)}.compact)
          options
        end

        # As check, for Configuration#code_mode. Raises ConfigurationError for anything but a Hash of these options.
        def check_configured(value)
          return if value.nil?
          raise ConfigurationError, "code_mode must be a Hash, such as {engine: :ruby}, got #{value.class}" unless value.respond_to?(:to_hash)

          unknown = value.to_hash.keys.map(&:to_sym) - OPTIONS
          raise ConfigurationError, "code_mode has no option #{unknown.first.inspect}; use #{OPTIONS.join(", ")}" if unknown.any?

          check(value.to_hash.transform_keys(&:to_sym))
          value
        end

        private

        # The one of the library's own that is named; another may be registered yet.
        def known_engine(engine)
          engine = CodeMode.resolve_engine(engine) if engine && CodeMode.own_engine?(engine)
          engine.declaration if engine.is_a?(BuiltInEngine)
        end
      end

      attr_reader :engine, :except, :factory, :limits

      def initialize(own, runtime)
        declared = (runtime.code_mode_configuration || {}).to_h.transform_keys(&:to_sym).merge(own)
        @engine = CodeMode.resolve_engine(declared[:engine] || :ruby)
        @except = Array(declared[:except]).map(&:to_s)
        @limits = (declared[:limits] || {}).to_h
        @factory = SandboxFactory.new(declared[:sandbox] || :native, runtime: runtime).check
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

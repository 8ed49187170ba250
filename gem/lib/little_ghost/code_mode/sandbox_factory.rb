# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # Makes the sandboxes of programs from a declaration: a provider's name, a class, a Hash with +provider+ and options, or a
    # callable.
    class SandboxFactory # :nodoc:
      def self.coerce(value)
        value.is_a?(SandboxFactory) ? value : new(value)
      end

      def initialize(declared, runtime: nil)
        @declared = declared
        @runtime = runtime
      end

      # As the engine reads it: data, or that this process makes the sandboxes.
      def declaration
        provider, options = split
        return {"host" => true} unless own?(provider) && plain?(options)

        {**Native::ToolValue.data(options), "provider" => provider.to_s}
      end

      # Raises DependencyError for the name of a provider that nobody registered. Returns the factory.
      def check
        provider, = split
        Sandbox.resolve_provider(provider) if provider.is_a?(Symbol) || provider.is_a?(String)
        self
      end

      # A sandbox over +workspace+, for programs that need those paths besides.
      def call(workspace:, required_runtime_paths: [])
        provider, options = split
        provider = Sandbox.resolve_provider(provider) if provider.is_a?(Symbol) || provider.is_a?(String)
        return checked(provider, provider.new(**with_paths(options, required_runtime_paths), workspace: workspace)) if provider.is_a?(Class)

        arguments = {workspace: workspace, required_runtime_paths: required_runtime_paths.map(&:to_sym), runtime: @runtime, **options}
        checked(provider, Native::Keywords.call(provider, **arguments))
      end

      # Shows who makes the sandboxes, not of what: an environment may hold secrets.
      def inspect
        "#<#{self.class} #{split.first.inspect}>"
      end

      private

      def split
        return [@declared, {}] unless @declared.is_a?(Hash)

        options = @declared.to_h.transform_keys(&:to_sym)
        [options.delete(:provider) || :native, Sandbox::Policy.split(options)]
      end

      # Whether the engine has that sandbox itself.
      def own?(provider)
        (provider.is_a?(Symbol) || provider.is_a?(String)) && Sandbox.own_provider?(provider)
      end

      # Whether everything in +value+ is data.
      def plain?(value)
        case value
        when Hash then value.each_value.all? { |nested| plain?(nested) }
        when Array then value.all? { |nested| plain?(nested) }
        when nil, true, false, String, Symbol, Numeric then true
        else false
        end
      end

      # Programs may write their workspace and have no network, unless something else was declared.
      def with_paths(options, names)
        given = options[:policy]
        given = given.is_a?(Sandbox::Policy) ? given.to_options : given.to_h.transform_keys(&:to_sym)
        paths = names.to_h { |name| [name.to_sym, :read_only] }.merge((given[:runtime_paths] || {}).to_h.transform_keys(&:to_sym))
        {**options, policy: {files: {root: :read_write}, **given.compact, runtime_paths: paths}}
      end

      def checked(provider, sandbox)
        return sandbox if sandbox.is_a?(Sandbox)

        raise ConfigurationError, "the sandbox of code mode must be a LittleGhost::Sandbox, got #{sandbox.class} from #{provider.inspect}"
      end
    end
  end
end

# frozen_string_literal: true

module LittleGhost
  class Runtime
    # Makes the workspace or the sandbox of a run from what the application declared: the name of a provider, a class, a
    # callable, or a Hash with one of them as +provider+ and its options.
    class Resources # :nodoc:
      def initialize(type, declaration, runtime)
        @type = type
        @declaration = declaration
        @runtime = runtime
      end

      # With +workspace+ for a sandbox, and +invocation+.
      def build(invocation: nil, **arguments)
        provider, options = read
        provider = @type.resolve_provider(provider) if provider.is_a?(Symbol) || provider.is_a?(String)
        made(make(provider, options, arguments, invocation))
      end

      private

      def read
        return [@declaration, {}] unless @declaration.is_a?(Hash)

        options = @declaration.to_h.transform_keys(&:to_sym)
        [options.delete(:provider) || default, options]
      end

      def default
        return :directory if @type == Workspace

        raise ConfigurationError, "the #{kind} declaration needs a provider"
      end

      def make(provider, options, arguments, invocation)
        if provider.is_a?(Class)
          provider.new(**options(provider, options), **arguments)
        elsif provider.respond_to?(:call)
          Native::Keywords.call(provider, runtime: @runtime, invocation: invocation, **options, **arguments)
        else
          raise ConfigurationError, "#{provider.inspect} makes no #{kind}; declare a provider's name, a class or a callable"
        end
      end

      # A directory is the application's unless it says otherwise; what a policy has may stand beside other options.
      def options(provider, options)
        return {**options, root: root(options[:root])} if provider <= Workspace
        return options unless provider <= Sandbox

        Sandbox::Policy.split(options)
      end

      def root(path)
        base = @runtime.root.to_s
        path.nil? ? base : File.expand_path(path, base)
      end

      def made(resource)
        return resource if resource.is_a?(@type) || (@type == Sandbox && resource.is_a?(Sandbox::Scope))

        raise ConfigurationError, "the #{kind} declaration must make a #{@type}, got #{resource.class}"
      end

      def kind
        @type.name.split("::").last.downcase
      end
    end
  end
end

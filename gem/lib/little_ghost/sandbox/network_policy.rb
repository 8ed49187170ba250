# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # Where child processes may connect to. It concerns neither providers nor tools in this process.
    class NetworkPolicy
      # Destinations of an allowlist, a frozen Array of Strings.
      attr_reader :allow
      # What decides about requests when they are looked into, or nil.
      attr_reader :authorizer
      # Names of headers that the authorizer sees.
      attr_reader :forward_headers
      # What enforces the allowlist, or nil for the sandbox's own choice.
      attr_reader :gateway
      # How much a gateway looks at: +:connect+ or +:http+.
      attr_reader :inspection
      # +:none+, +:inherit+ or +:allowlist+.
      attr_reader :mode
      # Names of headers that the authorizer may set.
      attr_reader :mutation_headers

      # +value+ itself, or the policy of a mode or a Hash.
      def self.coerce(value)
        case value
        when NetworkPolicy then value
        when Hash then of(value.transform_keys(&:to_sym))
        else of({mode: value})
        end
      end

      def self.of(options) # :nodoc:
        unknown = options.keys - %i[mode allow inspection gateway authorizer forward_headers mutation_headers]
        Declared.read("network", {"mode" => "none"}.merge(unknown.to_h { |key| [key.to_s, true] })) unless unknown.empty?
        new(mode: options[:mode], **options.except(:mode).compact)
      end
      private_class_method :of

      # Raises PolicyError for what is unknown or does not go together.
      def initialize(mode:, allow: [], inspection: :connect, gateway: nil, authorizer: nil, forward_headers: [], mutation_headers: [])
        @gateway = gateway
        @authorizer = authorizer
        given = {"allow" => allow, "forward_headers" => forward_headers, "mutation_headers" => mutation_headers}.reject { |_, list| list.respond_to?(:empty?) && list.empty? }
        given["inspection"] = inspection unless inspection.to_s == "connect"
        @declaration = Declared.read(
          "network",
          given.merge("mode" => mode, "gateway" => Declared.stand_in(gateway), "authorizer" => Declared.stand_in(authorizer))
        ).freeze
        @mode = @declaration["mode"].to_sym
        @inspection = (@declaration["inspection"] || "connect").to_sym
        @allow, @forward_headers, @mutation_headers = @declaration.values_at("allow", "forward_headers", "mutation_headers").map { |list| (list || []).freeze }
        freeze
      end

      attr_reader :declaration # :nodoc:

      # Whether connections have to pass the gateway of an allowlist.
      def allowlist? = mode == :allowlist

      # Whether child processes reach what the host reaches.
      def inherit? = mode == :inherit

      # Whether there is no network.
      def none? = mode == :none

      # Whether both are enforced alike.
      def ==(other)
        other.is_a?(NetworkPolicy) && declaration == other.declaration
      end
      alias_method :eql?, :==

      # See #==.
      def hash
        declaration.hash
      end
    end
  end
end

# frozen_string_literal: true

module LittleGhost
  module Network
    # A proxy that lets only the destinations of an allowlist through. Subclass it for a proxy of your own; the sandbox opens
    # it, asks #validate! before each program, and closes it, on threads of its own.
    #
    #   class TeamGateway < LittleGhost::Network::Gateway
    #     def mounts = [{source: "/run/team-proxy"}]
    #     def proxy_mount_path = "/run/team-proxy/proxy.sock"
    #     def validate! = TeamProxy.check!
    #   end
    #
    #   network = {mode: :allowlist, allow: ["api.example.com:443"]}
    #   config.sandbox = {provider: :native, network: {**network, gateway: TeamGateway.new(policy: network)}}
    class Gateway
      # The Sandbox::NetworkPolicy that it enforces.
      attr_reader :policy

      # +policy+ is a Sandbox::NetworkPolicy or a Hash. Raises PolicyError unless it is an allowlist.
      def initialize(policy:)
        @policy = Sandbox::NetworkPolicy.coerce(policy)
        return if @policy.allowlist?

        raise PolicyError, "a network gateway enforces an allowlist: give it a policy with that mode"
      end

      # The container network that only programs of the sandbox are on, or nil.
      def client_network
      end

      # Stops what it owns. Closing it again does nothing.
      def close
      end

      # Variables for programs, a Hash of Strings.
      def environment
        {}
      end

      # What programs must see, read-only: Hashes with a +source+ on the host, and a +target+ where that is another path.
      def mounts
        []
      end

      # Starts what it owns, for +run+ if it is for one, and returns the gateway.
      def open(run: nil)
        self
      end

      # The path of the proxy's Unix socket as programs see it.
      def proxy_mount_path
      end

      # The path of that socket on the host, or nil.
      def proxy_socket
      end

      # Raises when the gateway is not ready for one more program, which is not started then.
      def validate!
      end

      # Makes it known to the engine, for sandboxes that are built.
      def register # :nodoc:
        @answering ||= Native::Answering.new { |question| perform(question) }
        @registered ||= Native::Gateway.own(Native::HostObjects.key(self), @answering.questions)
      end

      # Answers for it until #detach of the same user.
      def attach(user) # :nodoc:
        register
        @answering&.start(user)
      end

      def detach(user) # :nodoc:
        @answering&.stop(user)
      end

      # Names its destinations.
      def inspect
        "#<#{self.class} #{policy.allow.join(", ")}>"
      end

      private

      def perform(question)
        case question["op"]
        when "open" then open.then { described }
        when "validate" then validate!.then { described }
        when "close" then close.then { nil }
        end
      end

      def described
        {
          "mounts" => mounts.map { |mount| mount.to_h.transform_keys(&:to_s).transform_values(&:to_s) },
          "environment" => environment.to_h { |name, value| [name.to_s, value.to_s] },
          "proxy_socket" => proxy_socket&.to_s, "proxy_mount_path" => proxy_mount_path&.to_s,
          "client_network" => client_network&.to_s
        }
      end
    end
  end
end

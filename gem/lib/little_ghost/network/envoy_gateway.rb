# frozen_string_literal: true

module LittleGhost
  module Network
    # Runs one Envoy for as long as it is open, as a process or in a container of Docker.
    #
    # Without inspection it sees where connections go, not what goes through them. With +inspection: :http+ it ends TLS with
    # certificates of an authority that is made for this gateway and vouches for the allowed hosts only, has the policy's
    # authorizer decide about each request, and opens TLS again to the server, which must prove who it is. Programs are told
    # to trust the authority by variables; those that pin certificates or have a store of their own may not work.
    #
    # The authorizer is called on threads of its own, several at once. Its failures, and ten seconds without an answer, deny.
    class EnvoyGateway < Gateway
      include EngineGateway

      # No image is a good choice for everybody, so that Docker needs one that you pinned.
      ENVOY_IMAGE = nil

      # Who was asked to run Envoy: +:auto+, +:native+ or +:docker+.
      attr_reader :runtime

      # +envoy+ and +docker+ are paths, or names on the PATH. +:auto+ takes Docker when there is no Envoy and there is an
      # +image+, which must be pinned by digest; +pull+ is +:if_missing+, +:always+ or +:never+. +dns+ are addresses of
      # servers to resolve names with, in place of the system's. +transport+ can only be +:unix+. Raises PolicyError for
      # destinations other than DNS names with ports, and for inspection of other ports than 443.
      def initialize(policy:, runtime: :auto, transport: :unix, envoy: "envoy", docker: "docker", image: ENVOY_IMAGE,
        pull: :if_missing, dns: [])
        super(policy: policy)
        @runtime = runtime.to_sym
        @authorization = Native::Authorization.of(self.policy.authorizer) if self.policy.authorizer
        build_engine(
          "envoy", nil,
          "runtime" => runtime, "transport" => transport, "envoy" => envoy.to_s, "docker" => docker.to_s, "image" => image,
          "pull" => pull, "dns" => dns.to_a
        )
      end

      # Stops Envoy, and removes its sockets, keys and container.
      def close
        super
      end

      # Variables that name the proxy and, with inspection, what to trust.
      def environment
        super
      end

      # The directory with the proxy's socket and, with inspection, the certificate of the authority. Empty before #open.
      def mounts
        super
      end

      # Starts Envoy and waits until it denies what it must. Raises DependencyError when it cannot.
      def open(run: nil)
        super
      end

      # The path of the proxy's socket as programs see it.
      def proxy_mount_path
        super
      end

      def attach(user) # :nodoc:
        @authorization&.attach(user)
      end

      def detach(user) # :nodoc:
        @authorization&.detach(user)
      end
    end
  end
end
